package dev.droidgate.shim.backends;

import android.app.Activity;
import android.app.ComponentCaller;

/** Who set an activity's result, as Android 15 reports it (API 35): loaded only there. */
public final class ResultCallers {
    private ResultCallers() {}

    /** Returns the uid, -1 where Android does not report it; only within onActivityResult. */
    static int uidOf(Activity activity) {
        try {
            ComponentCaller caller = activity.getCurrentCaller();
            return caller == null ? -1 : caller.getUid();
        } catch (RuntimeException unknown) {
            return -1;
        }
    }
}
