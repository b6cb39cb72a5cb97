package dev.droidgate.shim;

import android.app.KeyguardManager;
import android.content.Context;
import android.os.Handler;
import android.os.Looper;
import android.os.Messenger;
import android.os.SystemClock;
import android.util.Log;
import dev.droidgate.shim.core.Answers;
import dev.droidgate.shim.core.BackendAnswer;
import dev.droidgate.shim.core.CallFailure;
import dev.droidgate.shim.core.CallKey;
import dev.droidgate.shim.core.Clock;
import dev.droidgate.shim.core.Engine;
import dev.droidgate.shim.core.FailureTokens;
import dev.droidgate.shim.core.Frontend;
import dev.droidgate.shim.core.Journal;
import dev.droidgate.shim.core.Json;
import dev.droidgate.shim.core.JsonReader;
import dev.droidgate.shim.core.MalformedJsonException;
import dev.droidgate.shim.core.Preview;
import dev.droidgate.shim.core.RouteTable;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.Map;

/** What the components of the app share: the engine with its edges, wired once in a process. */
final class Shim implements Clock, Answers {
    private static final int BUFFER = 8_192;

    /** One in a process of Android's; a process of tests has several applications. */
    private static final Map<Context, Shim> ALL = new HashMap<>();

    final Context context;
    final Handler main = new Handler(Looper.getMainLooper());

    /** Requests go the way in the order in which they came: a tool may keep what one call leaves to the next. */
    final Worker workers = new Worker();

    /** Of two answers to a call the first has to win. */
    final Worker answering = new Worker();

    /** Unlike that of any other process. */
    final String process = Hex.randomId();

    final RouteTable routes;

    /** What only the app reads of the policy. */
    final Map<String, Object> app;

    final Grants grants;
    final History history;
    final OpenJournal journal;
    final Certificates certificates;
    final Broadcasts broadcasts;
    final Discoveries discoveries;
    final Installed installed;
    final WindowOpener windows;
    final Consent consent;
    final ScreenCalls screen;
    private final Engine engine;
    private final Runnable deadline = () -> answering.execute(this::watchDeadline);

    /** Returns the shim of an application. */
    static Shim of(Context context) {
        Context application = context.getApplicationContext();
        synchronized (ALL) {
            Shim shim = ALL.get(application);
            if (shim == null) {
                shim = new Shim(application);
                ALL.put(application, shim);
            }
            return shim;
        }
    }

    private Shim(Context context) {
        this.context = context;
        Map<String, Object> policy;
        try {
            routes = RouteTable.of(asset("routes.json"));
            policy = Json.objectOf(asset("policy.json"), "the policy");
            app = Json.objectAt(policy, "app");
        } catch (MalformedJsonException | IOException broken) {
            throw new IllegalStateException("the builder's assets cannot be read", broken);
        }
        certificates = new Certificates(context.getPackageManager());
        grants = new Grants(context, certificates, policy);
        history = new History(context, main, workers);
        journal = new OpenJournal(context);
        broadcasts = new Broadcasts(this);
        discoveries = new Discoveries(this);
        installed = new Installed(this);
        windows = new WindowOpener(this);
        consent = new Consent(this);
        screen = new ScreenCalls(this);
        engine = new Engine(routes, grants.policyFor(Caller.NOBODY), this, new Backends(this), this);
    }

    private Object asset(String name) throws IOException, MalformedJsonException {
        try (InputStream in = context.getAssets().open(name)) {
            return JsonReader.parseOwn(new String(readAll(in), StandardCharsets.UTF_8));
        }
    }

    static byte[] readAll(InputStream in) throws IOException {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        byte[] buffer = new byte[BUFFER];
        for (int count = in.read(buffer); count >= 0; count = in.read(buffer)) {
            out.write(buffer, 0, count);
        }
        return out.toByteArray();
    }

    /** Takes a message of a bound agent, who is looked up where that holds up nobody's messages. */
    void receive(int uid, Messenger replyTo, Map<String, Object> extras) {
        workers.bring(() -> take(new MessengerReply(grants.caller(uid), replyTo), extras, false));
    }

    /** Takes a request; it is answered once, by the engine. */
    void receive(Reply reply, Map<String, Object> extras, boolean approved) {
        workers.bring(() -> take(reply, extras, approved));
    }

    /** Does what is to be done with a request; on the thread of {@link #workers}. */
    void take(Reply reply, Map<String, Object> extras, boolean approved) {
        try {
            ask(reply, extras, approved);
        } catch (RuntimeException unexpected) {
            // Whatever went wrong before the engine had the request, its caller waits.
            Log.w("droidgate", "a request is not taken", unexpected);
            interrupt(reply);
        }
    }

    private void ask(Reply reply, Map<String, Object> extras, boolean approved) {
        reply.entry = Journal.entry(reply.bound, extras);
        engine.use(grants.policyFor(reply.caller));
        Preview preview = null;
        if (!approved && grants.isAsking()) {
            preview = engine.preview(reply.bound, reply.caller.uid, extras);
        }
        if (preview == null) {
            enter(reply, extras, approved, null);
            return;
        }
        CallFailure notAsked =
                consent.ask(
                        reply,
                        preview,
                        no -> workers.execute(() -> enter(reply, extras, no == null, no)));
        if (notAsked != null) {
            enter(reply, extras, false, notAsked);
        }
    }

    private void enter(
            Reply reply, Map<String, Object> extras, boolean approved, CallFailure refusal) {
        if (reply.isAnswered()) {
            return;
        }
        engine.use(grants.policyFor(reply.caller));
        engine.receive(reply.bound, approved, refusal, extras, reply.caller.uid, reply);
        answering.execute(this::watchDeadline);
    }

    /** Takes a backend's answer. */
    void answered(long call, BackendAnswer answer) {
        answering.execute(
                () -> {
                    engine.answered(call, answer);
                    watchDeadline();
                });
    }

    /** Ends a request because its caller wants so, wherever it is on its way. */
    void cancel(Reply reply) {
        workers.execute(
                () -> {
                    if (reply.entry != null) {
                        engine.cancel(new CallKey(reply.caller.uid, Frontend.requestIdOf(reply.entry)));
                    }
                    answer(reply, null, FailureTokens.CANCELED);
                });
    }

    /** Answers in the engine's place, which will not be able to. */
    void interrupt(Reply reply) {
        answer(reply, Reply.interrupted(reply.entry), FailureTokens.INTERRUPTED);
    }

    @Override
    public void answer(Object replyTo, Map<String, String> extras, String token) {
        Reply reply = (Reply) replyTo;
        if (reply.answer(extras, token)) {
            String capability = reply.entry == null ? "" : Frontend.capabilityOf(reply.entry);
            history.add(reply.caller, capability, token, now() - reply.since);
        }
        writeJournal();
    }

    /** Brings the file up to what is open. */
    void writeJournal() {
        journal.write(engine::journal);
    }

    int open() {
        return engine.journal().size();
    }

    @Override
    public long now() {
        return SystemClock.elapsedRealtime();
    }

    /** Ends what has waited too long: while the device sleeps, nobody comes at a deadline. */
    void expire() {
        engine.expire();
    }

    /** Ends what has waited too long, and comes back at the next deadline; on one thread, so that none is lost. */
    private void watchDeadline() {
        long next = engine.expire();
        main.removeCallbacks(deadline);
        if (next >= 0) {
            main.postDelayed(deadline, Math.max(1, next - now()));
        }
    }

    /** Tells whether nobody can see or answer anything that is shown. */
    boolean isLocked() {
        KeyguardManager keyguard = context.getSystemService(KeyguardManager.class);
        return keyguard != null && keyguard.isDeviceLocked();
    }
}
