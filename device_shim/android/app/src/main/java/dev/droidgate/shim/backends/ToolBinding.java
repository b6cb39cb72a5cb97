package dev.droidgate.shim.backends;

import android.content.ComponentName;
import android.content.Context;
import android.content.Intent;
import android.content.ServiceConnection;
import android.content.pm.PackageManager;
import android.os.Build;
import android.os.DeadObjectException;
import android.os.IBinder;
import android.os.Message;
import android.os.Messenger;
import android.os.RemoteException;
import dev.droidgate.shim.AppProcess;
import dev.droidgate.shim.Caller;
import dev.droidgate.shim.core.BackendAnswer.ResponseAnswer;
import dev.droidgate.shim.core.FailureTokens;
import dev.droidgate.shim.platform.BinderHandler;
import dev.droidgate.shim.platform.Extras;
import dev.droidgate.shim.platform.Failures;
import dev.droidgate.shim.platform.Names;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * A binding to one tool: an agent's is kept until it has been idle for a minute, a nameless caller's for one
 * call.
 */
public final class ToolBinding implements ServiceConnection {
    private static final long CONNECTING_MS = 5_000;
    private static final long IDLE_MS = 60_000;
    private static final int MOST_ANSWERS = 16;

    private final AppProcess process;
    private final StartedTools started;
    private final Map<String, ToolBinding> others;
    private final String key;
    private final long idleTime;
    private final List<ToolCall> open = new ArrayList<>();
    private final Runnable late = this::startInstead;
    private final Runnable idle = this::closeIdle;
    private volatile int uid = -1;
    private Messenger tool;
    private boolean closed;

    /**
     * A binding that is not made yet.
     *
     * @param started calls a tool that cannot be bound
     * @param others all bindings by key, which this one leaves when it takes no calls any more
     */
    ToolBinding(
            AppProcess process,
            StartedTools started,
            Map<String, ToolBinding> others,
            String key,
            boolean isKept) {
        this.process = process;
        this.started = started;
        this.others = others;
        this.key = key;
        idleTime = isKept ? IDLE_MS : 0;
    }

    /** Takes what the tool answers to one call, on the Binder threads on which it arrives. */
    private void take(Message message, ToolCall call, AtomicInteger waiting) {
        boolean isExpected = message.what == Names.MESSAGE_RESULT && !call.reply.isAnswered();
        // A tool that answers without an end fills no queue with it.
        if (isExpected && isTool(message.sendingUid) && waiting.get() < MOST_ANSWERS) {
            waiting.incrementAndGet();
            ResponseAnswer answer = new ResponseAnswer(Extras.ofResponse(message.peekData()));
            call.answered(answer, waiting::decrementAndGet);
        }
    }

    /**
     * Returns whether a message is the tool's: only it was given the call's Messenger, but it may have given
     * it to another app. An isolated process has a uid of its own, which belongs to no app.
     */
    private boolean isTool(int sender) {
        return sender == uid || Caller.isIsolated(sender);
    }

    /** Takes a call, at once or when the tool is there; false where this binding is over. */
    boolean take(ToolCall call) {
        synchronized (this) {
            if (closed) {
                return false;
            }
            open.add(call);
            process.main.removeCallbacks(idle);
            if (tool != null) {
                send(call);
            }
        }
        return true;
    }

    void bind(Intent intent) {
        if (Build.VERSION.SDK_INT < 28) {
            process.main.postDelayed(late, CONNECTING_MS);
        }
        boolean isBound = false;
        try {
            String name = intent.getComponent().getPackageName();
            uid = process.context.getPackageManager().getPackageUid(name, 0);
            isBound = process.context.bindService(intent, this, Context.BIND_AUTO_CREATE);
        } catch (PackageManager.NameNotFoundException | SecurityException refused) {
            isBound = false;
        }
        if (!isBound) {
            startInstead();
        }
    }

    @Override
    public void onServiceConnected(ComponentName name, IBinder binder) {
        synchronized (this) {
            if (closed) {
                return;
            }
            tool = new Messenger(binder);
            for (ToolCall call : open) {
                send(call);
            }
        }
        process.main.removeCallbacks(late);
    }

    /** Holding the lock: a later call does not overtake those that have waited for the tool. */
    private void send(ToolCall call) {
        if (!call.mayLeave()) {
            return;
        }
        Message message = Message.obtain(null, Names.MESSAGE_INVOKE);
        message.setData(call.intent.getExtras());
        AtomicInteger waiting = new AtomicInteger();
        message.replyTo = new Messenger(new BinderHandler(answer -> take(answer, call, waiting)));
        try {
            tool.send(message);
        } catch (DeadObjectException dead) {
            call.died();
        } catch (RemoteException undelivered) {
            call.fail(FailureTokens.UNAVAILABLE, Failures.textOf(undelivered));
        } catch (RuntimeException failed) {
            call.fail(FailureTokens.BACKEND_FAILURE, Failures.textOf(failed));
        }
    }

    /** Before Android 9 Android does not report that a service has no binder; then the time shows it. */
    @Override
    public void onNullBinding(ComponentName name) {
        startInstead();
    }

    private void startInstead() {
        for (ToolCall call : close()) {
            started.start(call);
        }
    }

    @Override
    public void onServiceDisconnected(ComponentName name) {
        interrupt();
    }

    @Override
    public void onBindingDied(ComponentName name) {
        interrupt();
    }

    private void interrupt() {
        for (ToolCall call : close()) {
            call.died();
        }
    }

    /** Forgets an answered call. */
    void ended(ToolCall call) {
        synchronized (this) {
            open.remove(call);
            if (open.isEmpty() && !closed) {
                process.main.removeCallbacks(idle);
                process.main.postDelayed(idle, idleTime);
            }
        }
    }

    private void closeIdle() {
        synchronized (this) {
            if (closed || !open.isEmpty()) {
                return;
            }
            closed = true;
        }
        letGo();
    }

    /** Lets the tool go and returns the calls that were open; none the second time. */
    private List<ToolCall> close() {
        List<ToolCall> left;
        synchronized (this) {
            if (closed) {
                return new ArrayList<>();
            }
            closed = true;
            left = new ArrayList<>(open);
            open.clear();
        }
        letGo();
        return left;
    }

    private void letGo() {
        synchronized (others) {
            others.remove(key, this);
        }
        process.main.removeCallbacks(late);
        process.main.removeCallbacks(idle);
        try {
            process.context.unbindService(this);
        } catch (IllegalArgumentException notBound) {
            return;
        }
    }
}
