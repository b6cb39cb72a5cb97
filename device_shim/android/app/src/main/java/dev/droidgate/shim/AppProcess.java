package dev.droidgate.shim;

import android.app.KeyguardManager;
import android.content.Context;
import android.os.Handler;
import android.os.Looper;
import android.os.SystemClock;
import dev.droidgate.shim.core.Clock;
import java.util.UUID;

/** The process that the app runs in: its threads, its clock and what Android gives it. */
public abstract class AppProcess implements Clock {
    public final Context context;
    public final Handler main = new Handler(Looper.getMainLooper());

    /** The engine's thread: requests of one caller go the way in their order, and two ends of a call never compete. */
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

    /** Returns whether nobody can see or answer anything that is shown. */
    public boolean isLocked() {
        KeyguardManager keyguard = context.getSystemService(KeyguardManager.class);
        return keyguard != null && keyguard.isDeviceLocked();
    }
}
