package dev.droidgate.robolectric;

import android.os.Binder;
import android.os.Process;
import org.robolectric.annotation.Implementation;
import org.robolectric.annotation.Implements;
import org.robolectric.shadows.ShadowBinder;

/** Who calls, of each thread its own caller. */
@Implements(Binder.class)
public final class BinderOnPhone extends ShadowBinder {
    /** The uid that the running transaction is of. */
    public static final ThreadLocal<Integer> CALLER = new ThreadLocal<>();

    @Implementation
    protected static int getCallingUid() {
        Integer caller = CALLER.get();
        return caller == null ? Process.myUid() : caller;
    }

    @Implementation
    protected static int getCallingUidOrThrow() {
        return getCallingUid();
    }
}
