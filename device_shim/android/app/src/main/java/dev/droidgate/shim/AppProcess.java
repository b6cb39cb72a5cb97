package dev.droidgate.shim;

import android.app.KeyguardManager;
import android.content.Context;
import android.os.Handler;
import android.os.Looper;
import android.os.PowerManager;
import android.os.SystemClock;
import dev.droidgate.shim.core.Clock;
import java.util.UUID;

/** The process that the app runs in: its threads, its clock and what Android gives it. */
public abstract class AppProcess implements Clock {
    public final Context context;
    public final Handler main = new Handler(Looper.getMainLooper());

    /**
     * The engine's thread: requests of one caller go the way in their order, and two ends of a call never
     * compete.
     */
    public final Worker calls = new Worker();

    /** Unlike that of any other process. */
    public final String process = UUID.randomUUID().toString();

    AppProcess(Context context) {
        this.context = context;
    }

    @Override
    public long now() {
        return SystemClock.elapsedRealtime();
    }

    /**
     * Returns whether a window that opens now is seen: the screen is on, without a keyguard, also one that a
     * swipe opens.
     */
    public boolean isSeen() {
        return context.getSystemService(PowerManager.class).isInteractive()
                && !context.getSystemService(KeyguardManager.class).isKeyguardLocked();
    }

    /** Returns whether a window can be seen only after somebody has unlocked the phone. */
    public boolean isLocked() {
        return context.getSystemService(KeyguardManager.class).isDeviceLocked();
    }
}
