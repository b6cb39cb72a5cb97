package dev.droidgate.shim;

import android.app.Service;
import android.content.Intent;
import android.os.Bundle;
import android.os.Handler;
import android.os.IBinder;
import android.os.Looper;
import android.os.Message;
import android.os.Messenger;
import android.os.RemoteException;
import android.util.Log;
import dev.droidgate.shim.core.CallFailure;
import dev.droidgate.shim.core.FailureTokens;
import dev.droidgate.shim.core.Json;
import dev.droidgate.shim.core.JsonReader;
import dev.droidgate.shim.core.JsonWriter;
import dev.droidgate.shim.core.MalformedJsonException;
import java.util.HashMap;
import java.util.Map;

/** Calls app functions for the other shims, with the identity that this app borrows (docs/shim.md 4). */
public final class ShellIdentityService extends Service {
    private static final String SHIMS = "dev.droidgate.shim.";
    private static final CallFailure STRANGER =
            new CallFailure(FailureTokens.DENIED, "only shims that are signed as this app is may ask it");
    private static final CallFailure FULL =
            new CallFailure(FailureTokens.BUSY, "too many calls of app functions wait; retry in 1 s");

    private Shim shim;
    private IBinder binder;

    /** What cancels the calls that are open, by where their answers go; on the engine's thread. */
    private final Map<IBinder, Runnable> open = new HashMap<>();

    @Override
    public void onCreate() {
        super.onCreate();
        shim = Shim.of(this);
        binder = new Messenger(new Requests()).getBinder();
    }

    @Override
    public IBinder onBind(Intent intent) {
        return binder;
    }

    /** Takes messages on the Binder threads that bring them, as {@link ToolService} does. */
    private final class Requests extends Handler {
        Requests() {
            super(Looper.getMainLooper());
        }

        @Override
        public boolean sendMessageAtTime(Message message, long uptimeMillis) {
            if (message.replyTo != null) {
                take(message.what, message.sendingUid, message.replyTo, message.peekData());
            }
            return true;
        }
    }

    private void take(int what, int uid, Messenger replyTo, Bundle data) {
        if (what == Names.MESSAGE_CANCEL_FUNCTION) {
            shim.calls.execute(() -> cancel(replyTo));
        } else if (what == Names.MESSAGE_FUNCTION) {
            String packageName = Extras.text(data, Names.PACKAGE);
            String function = Extras.text(data, Names.FUNCTION);
            String document = Extras.text(data, Names.DOCUMENT);
            boolean hasRoom =
                    shim.calls.bring("shell " + uid, () -> execute(uid, replyTo, packageName, function, document));
            if (!hasRoom) {
                new Answer(replyTo).failed(FULL);
            }
        }
    }

    private void cancel(Messenger replyTo) {
        Runnable cancel = open.remove(replyTo.getBinder());
        if (cancel != null) {
            cancel.run();
        }
    }

    private void execute(int uid, Messenger replyTo, String packageName, String function, String document) {
        Answer answer = new Answer(replyTo);
        if (!isShim(uid)) {
            answer.failed(STRANGER);
            return;
        }
        try {
            Map<String, Object> parameters = Json.objectOf(JsonReader.parseOwn(document), Names.DOCUMENT);
            Runnable cancel = shim.shellIdentity.execute(packageName, function, parameters, answer);
            open.put(replyTo.getBinder(), cancel);
            replyTo.getBinder().linkToDeath(() -> shim.calls.execute(() -> cancel(replyTo)), 0);
        } catch (RemoteException dead) {
            cancel(replyTo);
        } catch (CallFailure failure) {
            answer.failed(failure);
        } catch (MalformedJsonException | RuntimeException malformed) {
            answer.failed(new CallFailure(FailureTokens.INVALID_ARGUMENT, Failures.textOf(malformed)));
        }
    }

    /** Returns whether a uid is that of one shim, signed as this app is. */
    private boolean isShim(int uid) {
        Caller caller = shim.grants.caller(uid);
        return caller.packages.size() == 1
                && caller.packageName().startsWith(SHIMS)
                && !caller.signer().isEmpty()
                && caller.signer().equals(shim.certificates.signerOf(getPackageName()));
    }

    /** Sends the outcome of a call; on the engine's thread, but for one that is refused at once. */
    private final class Answer implements FunctionOutcome {
        private final Messenger replyTo;

        Answer(Messenger replyTo) {
            this.replyTo = replyTo;
        }

        @Override
        public void answered(Map<String, Object> document) {
            Bundle data = new Bundle();
            data.putString(Names.RESPONSE, JsonWriter.write(document));
            send(data);
        }

        @Override
        public void refused(long code, String message) {
            Bundle data = new Bundle();
            data.putLong(Names.CODE, code);
            data.putString(Names.MESSAGE, message);
            send(data);
        }

        @Override
        public void failed(CallFailure failure) {
            Bundle data = new Bundle();
            data.putString(Names.TOKEN, failure.token);
            data.putString(Names.MESSAGE, failure.getMessage());
            send(data);
        }

        private void send(Bundle data) {
            shim.calls.execute(() -> open.remove(replyTo.getBinder()));
            Message message = Message.obtain(null, Names.MESSAGE_FUNCTION_RESULT);
            message.setData(data);
            try {
                replyTo.send(message);
            } catch (RemoteException | RuntimeException undelivered) {
                Log.w("droidgate", "an outcome was not delivered", undelivered);
            }
        }
    }
}
