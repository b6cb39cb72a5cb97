package dev.droidgate.runtime.shadows;

import android.app.Notification;
import android.app.NotificationManager;
import dev.droidgate.runtime.ProcessLink;
import org.robolectric.annotation.Implementation;
import org.robolectric.annotation.Implements;
import org.robolectric.annotation.RealObject;
import org.robolectric.shadows.ShadowNotificationManager;

/** The phone's notification shade. */
@Implements(NotificationManager.class)
public final class NotificationsOnPhone extends ShadowNotificationManager {
    @RealObject private NotificationManager manager;

    @Override
    @Implementation
    protected void notify(String tag, int number, Notification notification) {
        ProcessLink process = ProcessLink.ownerOf(manager);
        if (process != null) {
            process.ask(
                    "notify",
                    "key", tag + " " + number,
                    "title", String.valueOf(notification.extras.get(Notification.EXTRA_TITLE)),
                    "text", notification.extras.getCharSequence(Notification.EXTRA_TEXT, "").toString(),
                    "token",
                            notification.contentIntent == null
                                    ? null
                                    : PendingIntentOnPhone.tokenOf(notification.contentIntent),
                    "cancel_on_tap", (notification.flags & Notification.FLAG_AUTO_CANCEL) != 0);
        }
    }

    @Override
    @Implementation
    protected void cancel(String tag, int number) {
        ProcessLink process = ProcessLink.ownerOf(manager);
        if (process != null) {
            process.ask("cancel_notification", "key", tag + " " + number);
        }
    }

    @Override
    @Implementation
    protected void cancelAll() {
        ProcessLink process = ProcessLink.ownerOf(manager);
        if (process != null) {
            process.ask("cancel_notifications");
        }
    }

    @Override
    @Implementation
    protected boolean areNotificationsEnabled() {
        ProcessLink process = ProcessLink.ownerOf(manager);
        return process != null && Boolean.TRUE.equals(process.ask("may_notify"));
    }
}
