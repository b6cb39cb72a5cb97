package dev.droidgate.runtime;

import static org.robolectric.Shadows.shadowOf;

import android.os.Looper;
import android.os.SystemClock;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.json.JSONObject;

/** The main thread of all shims: takes what the phone sends, and lets their handlers run. */
final class Loop {
    /** How long the thread sleeps before it looks for what other threads have posted. */
    private static final long SOON = 2;

    private static final long LATER = 25;
    private static final long LIVELY_NANOS = 2_000_000_000L;

    private final Wire wire = new Wire();
    private final LinkedBlockingQueue<JSONObject> inbox = new LinkedBlockingQueue<>();
    private final Map<Integer, ShimProcess> processes = new ConcurrentHashMap<>();
    private volatile boolean open = true;
    private volatile long now;
    private long reportedDue = -1;

    void run() throws InterruptedException {
        Thread reader = new Thread(this::read, "phone");
        reader.setDaemon(true);
        reader.start();
        wire.send(Values.object("op", "ready"));
        long lively = System.nanoTime();
        while (open) {
            long pause = System.nanoTime() - lively < LIVELY_NANOS ? SOON : LATER;
            JSONObject request = inbox.poll(pause, TimeUnit.MILLISECONDS);
            advance();
            if (request != null) {
                lively = System.nanoTime();
                handle(request);
            }
            settle();
        }
    }

    private void read() {
        try {
            wire.read(this::take);
        } catch (Exception broken) {
            broken.printStackTrace();
        } finally {
            open = false;
        }
    }

    private void take(JSONObject request) {
        now = Math.max(now, request.optLong("now"));
        if (request.optBoolean("binder")) {
            Thread thread = new Thread(() -> handle(request), "binder");
            thread.setDaemon(true);
            thread.start();
        } else {
            inbox.add(request);
        }
    }

    private void advance() {
        if (now > SystemClock.uptimeMillis()) {
            SystemClock.setCurrentTimeMillis(now);
        }
    }

    private void handle(JSONObject request) {
        try {
            wire.answer(request, perform(request));
        } catch (Throwable thrown) {
            if (!(thrown instanceof SecurityException) && !(thrown instanceof java.io.IOException)) {
                thrown.printStackTrace();
            }
            wire.refuse(request, thrown);
        }
    }

    private Object perform(JSONObject request) throws Exception {
        int number = request.optInt("process", -1);
        switch (request.getString("op")) {
            case "tick":
                // What is due has to be on the clock of the phone that is followed now.
                reportedDue = -1;
                return null;
            case "open":
                // Its phone may be another one, which does not know yet what is due.
                reportedDue = -1;
                processes.put(number, new ShimProcess(wire, request));
                return null;
            case "close":
                ShimProcess ended = processes.remove(number);
                if (ended != null) {
                    ended.end();
                }
                return null;
            default:
                ShimProcess process = processes.get(number);
                if (process == null) {
                    throw new IllegalStateException("the process has ended");
                }
                try {
                    return Operations.run(process, request);
                } finally {
                    process.reportFiles();
                }
        }
    }

    /** Lets everything happen that is due, and reports when there will be more. */
    private void settle() {
        try {
            do {
                shadowOf(Looper.getMainLooper()).idle();
            } while (closeFinished());
        } catch (RuntimeException thrown) {
            thrown.printStackTrace();
            blame(thrown);
        }
        for (ShimProcess process : processes.values()) {
            process.reportFiles();
        }
        long due = shadowOf(Looper.getMainLooper()).getNextScheduledTaskTime().toMillis();
        if (due != reportedDue) {
            reportedDue = due;
            wire.send(Values.object("op", "due", "at", due));
        }
    }

    private boolean closeFinished() {
        boolean any = false;
        for (ShimProcess process : processes.values()) {
            any |= process.screens.closeFinished();
        }
        return any;
    }

    /** What a handler throws ends the process whose code it is, and none where that one has ended. */
    private void blame(Throwable thrown) {
        StringBuilder trace = new StringBuilder();
        for (Throwable cause = thrown; cause != null; cause = cause.getCause()) {
            trace.append(cause).append('\n');
        }
        for (ShimProcess process : processes.values()) {
            if (process.hasThrown(thrown) || (processes.size() == 1 && !ShimProcess.isOfAShim(thrown))) {
                wire.send(Values.object("op", "crash", "process", process.number, "text", trace.toString()));
            }
        }
    }
}
