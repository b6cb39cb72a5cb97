package dev.droidgate.shim.backends;

import android.content.ComponentName;
import android.content.Context;
import android.content.Intent;
import android.content.ServiceConnection;
import android.os.Bundle;
import android.os.IBinder;
import android.os.Message;
import android.os.Messenger;
import android.os.RemoteException;
import dev.droidgate.shim.AppProcess;
import dev.droidgate.shim.core.BackendAnswer.FunctionAnswer;
import dev.droidgate.shim.core.CallFailure;
import dev.droidgate.shim.core.FailureTokens;
import dev.droidgate.shim.core.Json;
import dev.droidgate.shim.core.JsonReader;
import dev.droidgate.shim.core.JsonWriter;
import dev.droidgate.shim.core.MalformedJsonException;
import dev.droidgate.shim.platform.BinderHandler;
import dev.droidgate.shim.platform.Extras;
import dev.droidgate.shim.platform.Names;
import java.util.Map;

/** One app function that the app with the borrowed identity executes for this one (shim.md 4). */
public final class ShellIdentityCall implements ServiceConnection {
    /** The manifest of the other app names it. */
    private static final String SERVICE = "dev.droidgate.shim.backends.ShellIdentityService";

    private final AppProcess process;
    private final FunctionOutcome outcome;
    private final Bundle request = new Bundle();
    private Messenger replyTo;
    private Messenger service;
    private boolean ended;

    ShellIdentityCall(AppProcess process, FunctionOutcome outcome) {
        this.process = process;
        this.outcome = outcome;
    }

    /**
     * Makes the call.
     *
     * @return what cancels it
     * @throws CallFailure {@code denied}: the app cannot be bound
     */
    Runnable begin(String packageName, String function, Map<String, Object> document) throws CallFailure {
        request.putString(Names.PACKAGE, packageName);
        request.putString(Names.FUNCTION, function);
        request.putString(Names.DOCUMENT, JsonWriter.write(document));
        replyTo = new Messenger(new BinderHandler(this::take));
        Intent intent = new Intent();
        intent.setComponent(
                new ComponentName(Names.SHELL_IDENTITY_PACKAGE, SERVICE));
        if (!process.context.bindService(intent, this, Context.BIND_AUTO_CREATE)) {
            end();
            throw new CallFailure(
                    FailureTokens.DENIED, Names.SHELL_IDENTITY_PACKAGE + " cannot be asked; install it anew");
        }
        return this::cancel;
    }

    /** Takes the outcome, on the Binder thread on which it arrives. */
    private void take(Message message) {
        if (message.what == Names.MESSAGE_FUNCTION_RESULT && end()) {
            Bundle data = message.peekData();
            process.calls.execute(() -> read(data));
        }
    }

    private void read(Bundle data) {
        String response = Extras.text(data, Names.RESPONSE);
        String token = Extras.text(data, Names.TOKEN);
        String message = Extras.text(data, Names.MESSAGE);
        Object code = Extras.any(data, Names.CODE);
        if (response != null) {
            try {
                outcome.answered(
                        new FunctionAnswer(
                                Json.objectOf(JsonReader.parseOwn(response), Names.DOCUMENT)));
            } catch (MalformedJsonException malformed) {
                outcome.failed(new CallFailure(FailureTokens.MALFORMED_RESPONSE, malformed.getMessage()));
            }
        } else if (code instanceof Long) {
            outcome.answered(new FunctionAnswer((Long) code, message));
        } else {
            outcome.failed(new CallFailure(token == null ? FailureTokens.BACKEND_FAILURE : token, message));
        }
    }

    @Override
    public void onServiceConnected(ComponentName name, IBinder binder) {
        CallFailure obstacle = outcome.obstacle();
        if (obstacle != null) {
            if (end()) {
                outcome.failed(obstacle);
            }
            return;
        }
        boolean sent;
        synchronized (this) {
            if (ended) {
                return;
            }
            service = new Messenger(binder);
            sent = send(Names.MESSAGE_FUNCTION, request);
        }
        if (!sent) {
            interrupt();
        }
    }

    private boolean send(int what, Bundle data) {
        Message message = Message.obtain(null, what);
        message.setData(data);
        message.replyTo = replyTo;
        try {
            service.send(message);
            return true;
        } catch (RemoteException dead) {
            return false;
        }
    }

    @Override
    public void onServiceDisconnected(ComponentName name) {
        interrupt();
    }

    private void interrupt() {
        if (end()) {
            outcome.failed(
                    new CallFailure(
                            FailureTokens.INTERRUPTED,
                            Names.SHELL_IDENTITY_PACKAGE + " stopped during the call"));
        }
    }

    private void cancel() {
        synchronized (this) {
            if (!ended && service != null) {
                send(Names.MESSAGE_CANCEL_FUNCTION, new Bundle());
            }
        }
        end();
    }

    /** Lets the app go; returns whether the call was open. */
    private boolean end() {
        synchronized (this) {
            if (ended) {
                return false;
            }
            ended = true;
        }
        try {
            process.context.unbindService(this);
        } catch (IllegalArgumentException notBound) {
            return true;
        }
        return true;
    }
}
