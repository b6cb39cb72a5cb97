package dev.droidgate.shim.windows;

import android.app.Notification;
import android.app.NotificationManager;
import android.app.PendingIntent;
import android.content.Context;
import android.content.Intent;
import android.os.SystemClock;
import dev.droidgate.shim.AppProcess;
import java.security.SecureRandom;
import java.util.HashMap;
import java.util.Map;
import java.util.function.Consumer;

/**
 * Opens windows of the shim from the background, as far as Android allows it (shim.md 4).
 *
 * <p>A window of ours that is visible, the agent's bind flag and SYSTEM_ALERT_WINDOW are reasons for which
 * Android lets one start pass; a start that it blocks only shows by nothing opening (reference
 * android-runtime 1.2). So there is one try that is watched, and then a notification.
 */
public final class WindowOpener {
    public static final String KEY = "opening";

    public static final String NOT_OPENED =
            "Android does not let the shim open a window or show a notification now; "
                    + "allow its notifications, or open its app and retry";

    private static final long WATCH_MS = 2_500;

    private final AppProcess process;
    private final SecureRandom random = new SecureRandom();
    private final Map<String, Opening> openings = new HashMap<>();

    public WindowOpener(AppProcess process) {
        this.process = process;
        // What a process before this one has asked for, nobody waits for any more.
        manager().cancelAll();
    }

    /** A window that shall open. */
    private static final class Opening {
        final String key;
        final Intent intent;
        final String title;
        final Consumer<Boolean> failed;
        Runnable timer;

        Opening(String key, Intent intent, String title, Consumer<Boolean> failed) {
            this.key = key;
            this.intent = intent;
            this.title = title;
            this.failed = failed;
        }
    }

    /**
     * Opens a window, which has to pass its key to {@link #opened}.
     *
     * @param window the class of its activity
     * @param title of the notification that the user may have to tap
     * @param until when it is too late
     * @param seen whether a window would be seen; otherwise there is a notification at once
     * @param failed run when it has not opened until then, or cannot: takes whether the user saw a
     *     notification
     */
    public void open(
            String window, String key, String title, long until, boolean seen, Consumer<Boolean> failed) {
        Intent intent = new Intent().setClassName(process.context, window);
        intent.setFlags(Intent.FLAG_ACTIVITY_NEW_TASK | Intent.FLAG_ACTIVITY_MULTIPLE_TASK);
        intent.putExtra(KEY, key);
        Opening opening = new Opening(key, intent, title, failed);
        synchronized (this) {
            openings.put(key, opening);
            arm(opening, () -> notify(opening, until), seen ? WATCH_MS : 0);
        }
        try {
            if (seen) {
                process.context.startActivity(intent);
            }
        } catch (RuntimeException refused) {
            // Older releases throw where newer ones only log; the notification is next in both cases.
            return;
        }
    }

    private void arm(Opening opening, Runnable next, long delay) {
        opening.timer = next;
        process.main.postDelayed(next, delay);
    }

    private void notify(Opening opening, long until) {
        NotificationManager manager = manager();
        synchronized (this) {
            if (openings.get(opening.key) != opening) {
                return;
            }
            long left = until - SystemClock.elapsedRealtime();
            if (left > 0 && manager.areNotificationsEnabled()) {
                arm(opening, () -> fail(opening, true), left);
                manager.notify(opening.key, 1, notification(opening));
                return;
            }
        }
        fail(opening, false);
    }

    private Notification notification(Opening opening) {
        int flags = PendingIntent.FLAG_IMMUTABLE | PendingIntent.FLAG_ONE_SHOT;
        return Notifications.builder(process.context, true)
                .setContentTitle(opening.title)
                .setAutoCancel(true)
                .setContentIntent(
                        PendingIntent.getActivity(
                                process.context, random.nextInt(), opening.intent, flags))
                .build();
    }

    private void fail(Opening opening, boolean notified) {
        if (close(opening.key)) {
            opening.failed.accept(notified);
        }
    }

    /** Takes a window that has opened; returns false where it is too late or not needed any more. */
    public boolean opened(String key) {
        return close(key);
    }

    /** Gives up opening a window. */
    public void cancel(String key) {
        close(key);
    }

    private boolean close(String key) {
        Opening opening;
        synchronized (this) {
            opening = openings.remove(key);
        }
        if (opening == null) {
            return false;
        }
        process.main.removeCallbacks(opening.timer);
        manager().cancel(key, 1);
        return true;
    }

    private NotificationManager manager() {
        return (NotificationManager) process.context.getSystemService(Context.NOTIFICATION_SERVICE);
    }
}
