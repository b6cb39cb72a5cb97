package dev.droidgate.runtime.shadows;

import org.robolectric.annotation.Implementation;
import org.robolectric.annotation.Implements;

/** Who set the result that an activity receives. */
@Implements(className = "android.app.ComponentCaller", isInAndroidSdk = false)
public final class CallersOnPhone {
    /** Set before each result, on the main thread. */
    public static int uid = -1;

    @Implementation
    protected int getUid() {
        return uid;
    }
}
