package dev.droidgate.proof.phone;

import android.os.Binder;
import android.os.Process;
import org.robolectric.annotation.Implementation;
import org.robolectric.annotation.Implements;
import org.robolectric.shadows.ShadowBinder;

/** Each thread calls as an app of its own, as Binder threads do. */
@Implements(Binder.class)
public final class CallersOfThreads extends ShadowBinder {
    /** The uid that this thread calls as; null for the test's own. */
    public static final ThreadLocal<Integer> UID = new ThreadLocal<>();

    @Implementation
    protected static int getCallingUid() {
        Integer uid = UID.get();
        return uid == null ? Process.myUid() : uid;
    }
}
