package dev.droidgate.shim.windows;

import android.app.Notification;
import android.app.NotificationChannel;
import android.app.NotificationManager;
import android.content.Context;

/** Notifications as Android 8 requires them (API 26): loaded only there. */
public final class NotificationChannels {
    private static final String CALLS = "calls";
    private static final String QUESTIONS = "questions";

    private NotificationChannels() {}

    static Notification.Builder builder(Context context, boolean urgent) {
        String id = urgent ? QUESTIONS : CALLS;
        int importance =
                urgent ? NotificationManager.IMPORTANCE_HIGH : NotificationManager.IMPORTANCE_LOW;
        NotificationChannel channel =
                new NotificationChannel(id, urgent ? Texts.QUESTIONS : Texts.CALLS, importance);
        context.getSystemService(NotificationManager.class).createNotificationChannel(channel);
        return new Notification.Builder(context, id);
    }
}
