package dev.droidgate.shim;

import android.util.Log;
import java.util.ArrayDeque;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.Executor;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

/**
 * The engine's thread. Its own tasks come first, in the order given; then requests, one of each caller in
 * turn, so that a caller with many delays another one by one request at most. Nothing that goes wrong ends
 * the process.
 */
public final class Worker implements Executor {
    private static final int MOST_OF_CALLER = 32;
    private static final int MOST = 128;
    private static final long IDLE_SECONDS = 10;

    private final ThreadPoolExecutor thread =
            new ThreadPoolExecutor(
                    1,
                    1,
                    IDLE_SECONDS,
                    TimeUnit.SECONDS,
                    new LinkedBlockingQueue<>(),
                    new ThreadPoolExecutor.DiscardPolicy());

    private final Queue<Runnable> tasks = new ArrayDeque<>();

    /** Requests by caller, the caller whose turn is next first. */
    private final Map<Object, Queue<Runnable>> requests = new LinkedHashMap<>();

    private int waiting;

    Worker() {
        thread.allowCoreThreadTimeOut(true);
    }

    /** Does something before all requests that wait. */
    @Override
    public void execute(Runnable task) {
        synchronized (this) {
            tasks.add(task);
        }
        thread.execute(this::runNext);
    }

    /** Takes a caller's request, without waiting; returns whether there is room for it. */
    public boolean bring(Object caller, Runnable request) {
        synchronized (this) {
            Queue<Runnable> own = requests.get(caller);
            if (waiting >= MOST || own != null && own.size() >= MOST_OF_CALLER) {
                return false;
            }
            if (own == null) {
                own = new ArrayDeque<>();
                requests.put(caller, own);
            }
            own.add(request);
            waiting++;
        }
        thread.execute(this::runNext);
        return true;
    }

    private void runNext() {
        try {
            next().run();
        } catch (RuntimeException unexpected) {
            Log.w("droidgate", "something went wrong", unexpected);
        }
    }

    private synchronized Runnable next() {
        if (!tasks.isEmpty()) {
            return tasks.remove();
        }
        Iterator<Map.Entry<Object, Queue<Runnable>>> callers = requests.entrySet().iterator();
        Map.Entry<Object, Queue<Runnable>> first = callers.next();
        callers.remove();
        Runnable request = first.getValue().remove();
        if (!first.getValue().isEmpty()) {
            requests.put(first.getKey(), first.getValue());
        }
        waiting--;
        return request;
    }
}
