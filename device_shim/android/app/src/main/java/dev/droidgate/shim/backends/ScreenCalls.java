package dev.droidgate.shim.backends;

import android.content.Intent;
import dev.droidgate.shim.AppProcess;
import dev.droidgate.shim.CallControl;
import dev.droidgate.shim.Reply;
import dev.droidgate.shim.core.BackendAnswer.ActivityAnswer;
import dev.droidgate.shim.core.CallFailure;
import dev.droidgate.shim.core.CallPermission;
import dev.droidgate.shim.core.FailureTokens;
import dev.droidgate.shim.platform.Extras;
import dev.droidgate.shim.platform.Failures;
import dev.droidgate.shim.platform.Names;
import dev.droidgate.shim.windows.Texts;
import dev.droidgate.shim.windows.WindowOpener;
import java.util.ArrayDeque;
import java.util.Collections;
import java.util.Deque;
import java.util.Map;
import java.util.UUID;

/** Calls that need the screen, one after the other: two on one screen would answer in any order. */
public final class ScreenCalls {
    private static final int MOST_WAITING = 8;
    private static final long NEW_TASK_MS = 300;

    /**
     * How long before its deadline a call ends that waits for a tap, but at most a fifth: then it is a
     * timeout.
     */
    private static final long EARLY_MS = 1_000;

    /** The manifest names it, and Android makes it. */
    private static final String WINDOW = "dev.droidgate.shim.backends.TrampolineActivity";

    private static final String NEW_TASK =
            "callee_in_new_task: the app opened in a task of its own, which returns no result; "
                    + "the call may run";
    private static final String UNTAPPED = "nobody tapped the notification that opens the app";
    private static final String LOCKED =
            "the phone is locked, and this app needs its screen; unlock it and retry";

    private final AppProcess process;
    private final CallControl control;
    private final WindowOpener windows;
    private final Deque<ScreenCall> waiting = new ArrayDeque<>();
    private ScreenCall active;

    public ScreenCalls(AppProcess process, CallControl control, WindowOpener windows) {
        this.process = process;
        this.control = control;
        this.windows = windows;
    }

    /** A call, from its place in the queue to its answer. */
    static final class ScreenCall {
        final String key = UUID.randomUUID().toString();
        final long number;
        final Reply reply;
        final CallPermission permission;
        final Intent intent;
        final long until;
        private Runnable closing;
        private long begin;

        ScreenCall(long number, Reply reply, CallPermission permission, Intent intent, long until) {
            this.number = number;
            this.reply = reply;
            this.permission = permission;
            this.intent = intent;
            this.until = until;
        }
    }

    /**
     * Takes a call.
     *
     * @throws CallFailure {@code needs_user} or {@code busy}
     */
    void call(long number, Reply reply, CallPermission permission, Intent intent) throws CallFailure {
        if (process.isLocked()) {
            throw new CallFailure(FailureTokens.NEEDS_USER, LOCKED);
        }
        reply.stage = Reply.STAGE_WINDOW;
        ScreenCall call =
                new ScreenCall(
                        number, reply, permission, intent, process.now() + permission.route.deadlineMs);
        synchronized (this) {
            if (active == null) {
                active = call;
            } else if (waiting.size() >= MOST_WAITING) {
                throw new CallFailure(
                        FailureTokens.BUSY, "too many calls wait for the screen; retry when one has ended");
            } else {
                waiting.add(call);
            }
        }
        reply.whenAnswered(() -> ended(call));
        begin(call);
    }

    private void begin(ScreenCall call) {
        synchronized (this) {
            if (active != call) {
                return;
            }
        }
        if (process.isLocked()) {
            fail(call, FailureTokens.NEEDS_USER, LOCKED);
            return;
        }
        if (!mayLeave(call)) {
            return;
        }
        long left = call.until - process.now();
        windows.open(
                WINDOW,
                call.key,
                Texts.TAP_TO_GO_ON,
                call.until - Math.min(EARLY_MS, left / 5),
                true,
                notified ->
                        fail(
                                call,
                                FailureTokens.NEEDS_USER,
                                notified ? UNTAPPED : WindowOpener.NOT_OPENED));
        // It may have ended meanwhile.
        if (call.reply.isAnswered()) {
            windows.cancel(call.key);
        }
    }

    private void fail(ScreenCall call, String token, String text) {
        control.fail(call.number, new CallFailure(token, text));
    }

    /** Clears the screen of an answered call, whatever answered it, and goes on with the next. */
    private void ended(ScreenCall call) {
        Runnable closing;
        ScreenCall next;
        synchronized (this) {
            waiting.remove(call);
            if (active != call) {
                return;
            }
            active = waiting.poll();
            next = active;
            closing = call.closing;
        }
        windows.cancel(call.key);
        if (closing != null) {
            process.main.post(closing);
        }
        if (next != null) {
            begin(next);
        }
    }

    /**
     * Returns the call that a new window is for, null where it is not needed any more; takes what closes it.
     */
    ScreenCall opened(String key, Runnable closing) {
        return key != null && windows.opened(key) ? attach(key, closing) : null;
    }

    /** Returns the call that a window which Android made anew is for. */
    synchronized ScreenCall attach(String key, Runnable closing) {
        // While the device sleeps, nobody comes at a deadline.
        if (active == null || !active.key.equals(key) || process.now() >= active.until) {
            return null;
        }
        if (active.closing == null) {
            active.begin = process.now();
        }
        active.closing = closing;
        active.reply.stage = Reply.STAGE_APP;
        return active;
    }

    /** Reports that the tool's activity cannot be started. */
    void refused(ScreenCall call, RuntimeException why) {
        fail(call, FailureTokens.UNAVAILABLE, Failures.textOf(why));
    }

    /** Returns whether a call that has waited may still go out; one that may not ends. */
    boolean mayLeave(ScreenCall call) {
        CallFailure obstacle = control.obstacle(call.reply, call.permission);
        if (obstacle != null) {
            control.fail(call.number, obstacle);
        }
        return obstacle == null;
    }

    /** Takes a tool's result. */
    void result(ScreenCall call, int code, Intent data) {
        Map<String, Object> extras =
                Extras.read(data == null ? null : data.getExtras(), Names.RESULT, Names.ERROR);
        boolean silent = extras.get(Names.RESULT) == null && extras.get(Names.ERROR) == null;
        // A tool that Android put into a new task is cancelled as it starts, and may run (reference 0.6).
        if (code == 0 && silent && process.now() - call.begin < NEW_TASK_MS) {
            fail(call, FailureTokens.CANCELED, NEW_TASK);
            return;
        }
        control.answered(call.number, new ActivityAnswer(code, extras), null);
    }

    /** Reports that the result came from another app than the one that was called. */
    void forged(ScreenCall call) {
        fail(call, FailureTokens.MALFORMED_RESPONSE, "another app answered");
    }

    /** Reports that the user, or Android, has removed the window. */
    void removed(ScreenCall call) {
        control.answered(
                call.number, new ActivityAnswer(0, Collections.<String, Object>emptyMap()), null);
    }
}
