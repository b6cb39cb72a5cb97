package dev.droidgate.shim;

import android.os.Looper;
import android.util.Log;
import dev.droidgate.shim.core.CallFailure;
import dev.droidgate.shim.core.Incoming;
import java.util.Map;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

/**
 * Answers to requests that are refused unread (shim.md 2), on a thread of their own. When many wait, the
 * thread that brings another one answers it itself: that slows down only its sender.
 */
public final class Refusals {
    private static final int MOST_WAITING = 256;
    private static final long IDLE_SECONDS = 10;

    private final Worker calls;

    private final ThreadPoolExecutor thread =
            new ThreadPoolExecutor(
                    1,
                    1,
                    IDLE_SECONDS,
                    TimeUnit.SECONDS,
                    new ArrayBlockingQueue<>(MOST_WAITING),
                    this::newThread,
                    this::runHere);

    Refusals(Worker calls) {
        this.calls = calls;
        thread.allowCoreThreadTimeOut(true);
    }

    /** Nobody whose request is carried out waits for a refusal. */
    private Thread newThread(Runnable work) {
        Thread made = new Thread(work, "refusals");
        made.setPriority(Thread.MIN_PRIORITY);
        return made;
    }

    /** The main thread, which brings starts as slowly as Android does, leaves it to the engine's. */
    private void runHere(Runnable refusal, ThreadPoolExecutor full) {
        if (Looper.myLooper() == Looper.getMainLooper()) {
            calls.execute(refusal);
        } else if (!full.isShutdown()) {
            refusal.run();
        }
    }

    void refuse(Reply reply, Map<String, Object> extras, CallFailure busy) {
        Map<String, Object> beginning = Incoming.beginning(extras);
        thread.execute(
                () -> {
                    try {
                        Incoming refused = Incoming.refused(reply.bound, beginning, busy);
                        reply.answer(refused.failed(), busy.token);
                    } catch (RuntimeException unexpected) {
                        Log.w("droidgate", "an answer was not sent", unexpected);
                    }
                    Thread.yield();
                });
    }
}
