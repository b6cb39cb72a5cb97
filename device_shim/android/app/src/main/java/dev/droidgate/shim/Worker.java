package dev.droidgate.shim;

import android.util.Log;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.Semaphore;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

/** One thread, which does what it is given in the order given; nothing that goes wrong ends the process. */
final class Worker extends ThreadPoolExecutor {
    private static final int MOST_BROUGHT = 64;
    private static final long IDLE_SECONDS = 10;

    private final Semaphore room = new Semaphore(MOST_BROUGHT);

    Worker() {
        super(1, 1, IDLE_SECONDS, TimeUnit.SECONDS, new LinkedBlockingQueue<>(), new DiscardPolicy());
        allowCoreThreadTimeOut(true);
    }

    @Override
    public void execute(Runnable task) {
        super.execute(
                () -> {
                    try {
                        task.run();
                    } catch (RuntimeException unexpected) {
                        Log.w("droidgate", "something went wrong", unexpected);
                    }
                });
    }

    /** Takes what comes from outside; whoever brings more than there is room for has to wait, never this thread. */
    void bring(Runnable task) {
        room.acquireUninterruptibly();
        execute(
                () -> {
                    room.release();
                    task.run();
                });
    }
}
