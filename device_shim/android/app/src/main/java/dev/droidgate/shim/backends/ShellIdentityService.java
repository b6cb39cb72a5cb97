package dev.droidgate.shim.backends;

import android.app.Service;
import android.content.Intent;
import android.os.Bundle;
import android.os.IBinder;
import android.os.Message;
import android.os.Messenger;
import android.os.RemoteException;
import android.util.Log;
import dev.droidgate.shim.Caller;
import dev.droidgate.shim.Shim;
import dev.droidgate.shim.core.BackendAnswer.FunctionAnswer;
import dev.droidgate.shim.core.CallFailure;
import dev.droidgate.shim.core.FailureTokens;
import dev.droidgate.shim.core.Json;
import dev.droidgate.shim.core.JsonReader;
import dev.droidgate.shim.core.JsonWriter;
import dev.droidgate.shim.core.MalformedJsonException;
import dev.droidgate.shim.platform.BinderHandler;
import dev.droidgate.shim.platform.Extras;
import dev.droidgate.shim.platform.Failures;
import dev.droidgate.shim.platform.Names;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/** Calls app functions for the other shims, with the identity that this app borrows (shim.md 4). */
public final class ShellIdentityService extends Service {
    private static final String SHIMS = "dev.droidgate.shim.";
    private static final CallFailure STRANGER =
            new CallFailure(FailureTokens.DENIED, "only shims with the certificate of this app may ask it");
    private static final CallFailure FULL =
            new CallFailure(FailureTokens.BUSY, "too many calls of app functions wait; retry in 1 s");

    private static final long KNOWN_MS = 10_000;
    private static final int MOST_KNOWN = 64;

    private Shim shim;
    private IBinder binder;

    /** The calls that were taken and have not ended, by where their answers go. */
    private final Map<IBinder, Call> calls = new ConcurrentHashMap<>();

    /** Until when a uid is known to be a shim's; the negative time where it is known to be another app's. */
    private final Map<Integer, Long> known = new ConcurrentHashMap<>();

    /** A call, from its message to its end. */
    private static final class Call {
        private Runnable cancel;
        private boolean canceled;

        /** Takes what cancels it, which is done at once where it is canceled already. */
        synchronized void begun(Runnable by) {
            cancel = by;
            if (canceled) {
                by.run();
            }
        }

        synchronized boolean isCanceled() {
            return canceled;
        }

        synchronized void cancel() {
            canceled = true;
            if (cancel != null) {
                cancel.run();
            }
        }
    }

    @Override
    public void onCreate() {
        super.onCreate();
        shim = Shim.of(this);
        binder = new Messenger(new BinderHandler(this::take)).getBinder();
    }

    @Override
    public IBinder onBind(Intent intent) {
        return binder;
    }

    /** Takes messages on the Binder threads that bring them, as {@link ToolService} does. */
    private void take(Message message) {
        if (message.replyTo != null) {
            request(message.what, message.sendingUid, message.replyTo, message.peekData());
        }
    }

    private void request(int what, int uid, Messenger replyTo, Bundle data) {
        IBinder sender = replyTo.getBinder();
        if (what == Names.MESSAGE_CANCEL_FUNCTION) {
            Call call = calls.remove(sender);
            if (call != null) {
                call.cancel();
            }
            return;
        }
        if (what != Names.MESSAGE_FUNCTION) {
            return;
        }
        SentAnswer answer = new SentAnswer(replyTo);
        Long until = known.get(uid);
        boolean fresh = until != null && Math.abs(until) > shim.now();
        if (!fresh || until < 0) {
            // Calls of shims wait behind every message, so those of other apps cost next to nothing.
            if (!shim.admits(uid)) {
                return;
            }
            if (fresh || !isShim(uid)) {
                answer.send(STRANGER);
                return;
            }
        }
        String packageName = Extras.text(data, Names.PACKAGE);
        String function = Extras.text(data, Names.FUNCTION);
        String document = Extras.text(data, Names.DOCUMENT);
        Call call = new Call();
        calls.put(sender, call);
        if (!shim.calls.bring("shell " + uid, () -> execute(call, answer, packageName, function, document))) {
            calls.remove(sender);
            answer.send(FULL);
        }
    }

    private void execute(Call call, SentAnswer answer, String packageName, String function, String document) {
        if (call.isCanceled()) {
            return;
        }
        IBinder sender = answer.replyTo.getBinder();
        try {
            Map<String, Object> parameters = Json.objectOf(JsonReader.parseOwn(document), Names.DOCUMENT);
            sender.linkToDeath(call::cancel, 0);
            call.begun(shim.shellIdentity.execute(packageName, function, parameters, answer));
        } catch (RemoteException dead) {
            calls.remove(sender);
        } catch (CallFailure failure) {
            answer.failed(failure);
        } catch (MalformedJsonException | RuntimeException malformed) {
            answer.failed(new CallFailure(FailureTokens.INVALID_ARGUMENT, Failures.textOf(malformed)));
        }
    }

    /** Looks up whether a uid is that of one shim, signed as this app is. */
    private boolean isShim(int uid) {
        Caller caller = shim.grants.caller(uid);
        boolean is =
                caller.packages.size() == 1
                        && caller.packageName().startsWith(SHIMS)
                        && shim.certificates.isOwn(this, caller.packageName());
        if (known.size() >= MOST_KNOWN) {
            known.clear();
        }
        long until = shim.now() + KNOWN_MS;
        known.put(uid, is ? until : -until);
        return is;
    }

    /** Sends the outcome of a call. */
    private final class SentAnswer implements FunctionOutcome {
        private final Messenger replyTo;

        SentAnswer(Messenger replyTo) {
            this.replyTo = replyTo;
        }

        /** Returns null: the shim that asks has looked, and ends a call itself. */
        @Override
        public CallFailure obstacle() {
            return null;
        }

        @Override
        public void answered(FunctionAnswer answer) {
            calls.remove(replyTo.getBinder());
            Bundle data = new Bundle();
            if (answer.document == null) {
                data.putLong(Names.CODE, answer.code);
                data.putString(Names.MESSAGE, answer.message);
                send(data);
                return;
            }
            String text = JsonWriter.write(answer.document);
            data.putString(Names.RESPONSE, text);
            if (!send(data)) {
                send(
                        new CallFailure(
                                FailureTokens.MALFORMED_RESPONSE,
                                "the call ran, but Android could not deliver its answer of " + text.length()
                                        + " characters; ask for less"));
            }
        }

        @Override
        public void failed(CallFailure failure) {
            calls.remove(replyTo.getBinder());
            send(failure);
        }

        private void send(CallFailure failure) {
            Bundle data = new Bundle();
            data.putString(Names.TOKEN, failure.token);
            data.putString(Names.MESSAGE, failure.getMessage());
            send(data);
        }

        /** Returns whether the answer was delivered. */
        private boolean send(Bundle data) {
            Message message = Message.obtain(null, Names.MESSAGE_FUNCTION_RESULT);
            message.setData(data);
            try {
                replyTo.send(message);
                return true;
            } catch (RemoteException | RuntimeException undelivered) {
                Log.w("droidgate", "an answer was not delivered", undelivered);
                return false;
            }
        }
    }
}
