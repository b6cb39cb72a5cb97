package dev.droidgate.shim.windows;

import android.app.Notification;
import android.content.Context;
import android.os.Build;

/** What the app's notifications have in common. */
public final class Notifications {
    private Notifications() {}

    /** Begins a notification; an urgent one is shown over whatever is on the screen. */
    @SuppressWarnings("deprecation")
    public static Notification.Builder builder(Context context, boolean urgent) {
        Notification.Builder builder =
                Build.VERSION.SDK_INT >= 26
                        ? NotificationChannels.builder(context, urgent)
                        : new Notification.Builder(context)
                                .setPriority(
                                        urgent
                                                ? Notification.PRIORITY_HIGH
                                                : Notification.PRIORITY_LOW);
        return builder.setSmallIcon(android.R.drawable.ic_menu_share)
                .setVisibility(Notification.VISIBILITY_PRIVATE);
    }
}
