package dev.droidgate.runtime.shadows;

import org.robolectric.annotation.Implementation;
import org.robolectric.annotation.Implements;

/** Who set the result that an activity receives, as Android reports it from release 15 on. */
@Implements(className = "android.app.ComponentCaller", minSdk = 35, isInAndroidSdk = false)
public final class CallersOnPhone {
    /** Set before each result, on the main thread. */
    public static int uid = -1;

    @Implementation
    protected int getUid() {
        return uid;
    }
}
