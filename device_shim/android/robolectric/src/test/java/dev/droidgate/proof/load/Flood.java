package dev.droidgate.proof.load;

import static org.robolectric.Shadows.shadowOf;

import android.content.Intent;
import android.os.Bundle;
import android.os.Handler;
import android.os.HandlerThread;
import android.os.IBinder;
import android.os.Looper;
import android.os.Message;
import android.os.Messenger;
import android.os.RemoteException;
import dev.droidgate.proof.phone.CallersOfThreads;
import dev.droidgate.proof.phone.Phone;
import dev.droidgate.shim.frontends.ToolService;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;

/** One app sends as fast as it can while an agent makes one call after the other. */
final class Flood {
    private static final long PATIENCE_SECONDS = 120;
    private static final long PAUSE_NANOS = 50_000;
    private static final int LEAST_CALLS = 20;

    private final int stranger;
    private final int agent;
    private final IBinder shim;
    private final HandlerThread answers = new HandlerThread("answers");

    /** What came of it: times in milliseconds, of calls in nanoseconds. */
    record Result(int requests, int answered, double seconds, double longestSlice, long[] calls) {}

    Flood(Phone phone, int stranger, int agent) {
        this.stranger = stranger;
        this.agent = agent;
        shim = phone.service(ToolService.class).onBind(new Intent());
        answers.start();
    }

    Result run(int count, int length, boolean toFloor) throws InterruptedException {
        IBinder target = toFloor ? new Messenger(new Handler(Looper.getMainLooper())).getBinder() : shim;
        AtomicInteger answered = new AtomicInteger();
        String text = "a".repeat(length);
        Thread sender =
                new Thread(
                        () -> {
                            CallersOfThreads.UID.set(stranger);
                            Messenger replyTo = replyTo(answered::incrementAndGet);
                            for (int sent = 0; sent < count; sent++) {
                                send(target, replyTo, "f" + sent, text);
                            }
                        });
        List<Long> calls = new ArrayList<>();
        Thread caller = new Thread(() -> call(calls, sender));
        long begin = System.nanoTime();
        sender.start();
        if (!toFloor) {
            caller.start();
        }
        long longest = 0;
        long end = begin + TimeUnit.SECONDS.toNanos(PATIENCE_SECONDS);
        while (sender.isAlive() || caller.isAlive() || !toFloor && answered.get() < count) {
            long before = System.nanoTime();
            shadowOf(Looper.getMainLooper()).runOneTask();
            longest = Math.max(longest, System.nanoTime() - before);
            if (before > end) {
                break;
            }
            LockSupport.parkNanos(PAUSE_NANOS);
        }
        shadowOf(Looper.getMainLooper()).idle();
        double seconds = (System.nanoTime() - begin) / 1e9;
        long[] nanos = calls.stream().mapToLong(Long::longValue).toArray();
        return new Result(count, answered.get(), seconds, longest / 1e6, nanos);
    }

    /** Calls for as long as the flood lasts, waiting for each answer. */
    private void call(List<Long> calls, Thread flood) {
        CallersOfThreads.UID.set(agent);
        int number = 0;
        do {
            CountDownLatch answered = new CountDownLatch(1);
            long begin = System.nanoTime();
            send(shim, replyTo(answered::countDown), "c" + number++, "UTC");
            try {
                answered.await(PATIENCE_SECONDS, TimeUnit.SECONDS);
            } catch (InterruptedException stopped) {
                return;
            }
            calls.add(System.nanoTime() - begin);
        } while (flood.isAlive() || number < LEAST_CALLS);
    }

    private Messenger replyTo(Runnable answered) {
        return new Messenger(
                new Handler(answers.getLooper()) {
                    @Override
                    public void handleMessage(Message message) {
                        answered.run();
                    }
                });
    }

    private static void send(IBinder target, Messenger replyTo, String id, String text) {
        Bundle data = new Bundle();
        data.putString(
                "mobile-mcp-request",
                "{\"mobile-mcp-request\":{\"version\":\"1.0\",\"request\":{\"id\":\"" + id
                        + "\",\"capability\":{\"id\":\"clock.now\",\"args\":{\"zone\":\"" + text + "\"}}}}}");
        Message message = Message.obtain(null, 1);
        message.setData(data);
        message.replyTo = replyTo;
        try {
            new Messenger(target).send(message);
        } catch (RemoteException gone) {
            throw new IllegalStateException(gone);
        }
    }
}
