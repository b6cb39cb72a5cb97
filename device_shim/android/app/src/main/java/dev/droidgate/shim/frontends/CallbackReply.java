package dev.droidgate.shim.frontends;

import android.app.PendingIntent;
import android.content.Intent;
import android.os.Build;
import android.os.Bundle;
import android.util.Log;
import dev.droidgate.shim.Caller;
import dev.droidgate.shim.Reply;
import dev.droidgate.shim.Shim;
import dev.droidgate.shim.core.CallFailure;
import dev.droidgate.shim.core.FailureTokens;
import dev.droidgate.shim.platform.Extras;
import dev.droidgate.shim.platform.Names;
import java.util.Map;

/** The answer to a started service: the callback is sent with the answer's extras. */
public final class CallbackReply extends Reply {
    private static final CallFailure IMMUTABLE =
            new CallFailure(
                    FailureTokens.INVALID_ARGUMENT,
                    "the callback is immutable, so it cannot carry the answer; make it with FLAG_MUTABLE");

    private final Shim shim;
    private final PendingIntent callback;
    private final Runnable acknowledge;

    /**
     * Makes a reply.
     *
     * @param acknowledge reports to the service that this start is done
     */
    CallbackReply(Shim shim, PendingIntent callback, Runnable acknowledge) {
        super(Caller.unresolved(callback.getCreatorUid()), false);
        this.shim = shim;
        this.callback = callback;
        this.acknowledge = acknowledge;
    }

    @Override
    public void send(Map<String, String> extras, String token) {
        deliver(entry, extras, answer -> deliver(shim, callback, answer));
        acknowledge.run();
    }

    /** Without options: what Android would let this app start is not lent to the callback. */
    private static boolean deliver(Shim shim, PendingIntent callback, Map<String, String> extras) {
        try {
            callback.send(shim.context, 0, new Intent().putExtras(Extras.bundle(extras)));
            return true;
        } catch (PendingIntent.CanceledException | RuntimeException undelivered) {
            Log.w("droidgate", "an answer was not delivered", undelivered);
            return false;
        }
    }

    @Override
    public CallFailure obstacle() {
        return Build.VERSION.SDK_INT >= 31 && callback.isImmutable() ? IMMUTABLE : null;
    }

    @Override
    public void save(Bundle out) {
        out.putParcelable(Names.CALLBACK, callback);
    }

    /** Answers what a process before this one left open, unless somebody has answered it. */
    public static void interrupt(Shim shim, Bundle saved, String entry) {
        PendingIntent callback = in(saved);
        if (callback != null && entry != null) {
            shim.calls.execute(
                    () -> {
                        if (shim.journal.claim(callback.getCreatorUid(), entry)) {
                            deliver(shim, callback, Reply.interrupted(entry));
                            shim.writeJournal();
                        }
                    });
        }
    }

    /**
     * Returns the callback of a request, null where it has none that may be sent: one that is an activity
     * would open a window in the shim's name.
     */
    static PendingIntent in(Bundle extras) {
        Object value = extras == null ? null : Extras.any(extras, Names.CALLBACK);
        if (!(value instanceof PendingIntent)) {
            return null;
        }
        PendingIntent callback = (PendingIntent) value;
        boolean isActivity = Build.VERSION.SDK_INT >= 31 && callback.isActivity();
        // The system knows no callback that no app has made.
        return isActivity || callback.getCreatorUid() < 0 ? null : callback;
    }
}
