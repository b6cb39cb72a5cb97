package dev.droidgate.shim;

import android.app.AlarmManager;
import android.content.Context;
import android.util.Log;
import dev.droidgate.shim.backends.AppFunctions;
import dev.droidgate.shim.backends.Backends;
import dev.droidgate.shim.backends.Broadcasts;
import dev.droidgate.shim.backends.MobileMcpCaller;
import dev.droidgate.shim.backends.ScreenCalls;
import dev.droidgate.shim.backends.ShellIdentity;
import dev.droidgate.shim.consent.Consent;
import dev.droidgate.shim.core.Answers;
import dev.droidgate.shim.core.BackendAnswer;
import dev.droidgate.shim.core.CallFailure;
import dev.droidgate.shim.core.CallPermission;
import dev.droidgate.shim.core.Engine;
import dev.droidgate.shim.core.FailureTokens;
import dev.droidgate.shim.core.Incoming;
import dev.droidgate.shim.core.Json;
import dev.droidgate.shim.core.JsonReader;
import dev.droidgate.shim.core.MalformedJsonException;
import dev.droidgate.shim.core.Outgoing;
import dev.droidgate.shim.core.Route;
import dev.droidgate.shim.core.RouteTable;
import dev.droidgate.shim.platform.Certificates;
import dev.droidgate.shim.platform.Failures;
import dev.droidgate.shim.platform.Streams;
import dev.droidgate.shim.storage.Grants;
import dev.droidgate.shim.storage.History;
import dev.droidgate.shim.storage.OpenJournal;
import dev.droidgate.shim.targets.Discoveries;
import dev.droidgate.shim.targets.Installed;
import dev.droidgate.shim.windows.WindowOpener;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.Collections;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/** What the components of the app share: the engine with its edges, wired once in a process. */
public final class Shim extends AppProcess implements Answers, CallControl, AlarmManager.OnAlarmListener {
    /** How long after its beginning a process waits for starts that come again. */
    private static final long LEFT_MS = 30_000;

    private static final CallFailure FULL =
            new CallFailure(FailureTokens.BUSY, "this app has too many requests waiting; retry in 1 s");

    /** One in a process of Android's; a process of tests has several applications. */
    private static final Map<Context, Shim> ALL = new HashMap<>();

    private final Refusals refusals = new Refusals(calls);

    public final RouteTable routes;

    /** What only the app reads of the policy. */
    public final Map<String, Object> app;

    public final Grants grants;
    public final History history;
    public final OpenJournal journal;
    public final Certificates certificates;
    public final Discoveries discoveries;
    public final Installed installed;
    public final Consent consent;
    public final ScreenCalls screen;
    public final ShellIdentity shellIdentity;
    private final Engine engine;

    /** The calls that are at their apps, by the engine's numbers. */
    private final Map<Long, Reply> sent = new ConcurrentHashMap<>();

    private final Runnable deadline = () -> calls.execute(this::settle);

    /** When the last alarm rings, 0 where none was set; on the engine's thread. */
    private long alarmAt;

    private volatile int open;

    /** Returns the shim of an application. */
    public static Shim of(Context context) {
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
        super(context);
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
        history = new History(context, main, calls);
        journal = new OpenJournal(context);
        discoveries = new Discoveries(this);
        installed = new Installed(this, certificates, discoveries);
        WindowOpener windows = new WindowOpener(this);
        consent = new Consent(this, this, grants, windows);
        screen = new ScreenCalls(this, this, windows);
        shellIdentity = new ShellIdentity(this);
        main.postDelayed(() -> calls.execute(this::forgetLeft), LEFT_MS);
        Backends backends =
                new Backends(
                        this,
                        installed,
                        screen,
                        new Broadcasts(this, this, discoveries),
                        new AppFunctions(this, this, certificates, shellIdentity),
                        new MobileMcpCaller(this, this));
        engine = new Engine(routes, grants.policyFor(Caller.NOBODY), this, backends, consent, this);
    }

    private Object asset(String name) throws IOException, MalformedJsonException {
        try (InputStream in = context.getAssets().open(name)) {
            return JsonReader.parseOwn(new String(Streams.readAll(in), StandardCharsets.UTF_8));
        }
    }

    /**
     * Takes a request, on any thread and without waiting; it is answered once, by the engine or with {@code
     * busy}.
     *
     * @param approved whether it needs no grant
     */
    public void receive(Reply reply, Map<String, Object> extras, boolean approved) {
        reply.unread = extras;
        bring(reply, extras, () -> take(reply, extras, approved));
    }

    /** Takes a message from its sender's rate; returns whether there was one left. */
    public boolean admits(int uid) {
        return engine.admit(true, uid) == null;
    }

    /** Takes a start that Android redelivers; a call that the previous process began is not repeated. */
    public void receiveAgain(Reply reply, Map<String, Object> extras) {
        calls.execute(
                () -> {
                    String entry = Incoming.read(reply.bound, extras).entry();
                    if (entry != null && journal.claim(reply.caller.uid, entry)) {
                        reply.entry = entry;
                        answer(reply, Reply.interrupted(entry), FailureTokens.INTERRUPTED);
                        settle();
                    } else {
                        receive(reply, extras, false);
                    }
                });
    }

    /**
     * Takes a request that has yet to be written from what its caller sent, which the engine's thread does.
     */
    public void receive(Reply reply, Writing request) {
        bring(reply, Collections.<String, Object>emptyMap(), () -> write(reply, request));
    }

    private void bring(Reply reply, Map<String, Object> extras, Runnable taking) {
        CallFailure busy = engine.admit(reply.bound, reply.caller.uid);
        Object line = (reply.bound ? "" : "start ") + reply.caller.uid;
        if (busy == null && !calls.bring(line, taking)) {
            busy = FULL;
        }
        if (busy != null) {
            refusals.refuse(reply, extras, busy);
        }
    }

    /** Writes a request. */
    public interface Writing {
        /**
         * Returns the extras of the request.
         *
         * @throws CallFailure it cannot be written
         */
        Map<String, Object> extras() throws CallFailure;
    }

    private void write(Reply reply, Writing request) {
        try {
            take(reply, request.extras(), false);
        } catch (CallFailure unreadable) {
            reply.refuse(unreadable);
        } catch (RuntimeException unreadable) {
            reply.refuse(new CallFailure(FailureTokens.INVALID_ARGUMENT, Failures.textOf(unreadable)));
        }
    }

    private void take(Reply reply, Map<String, Object> extras, boolean approved) {
        if (reply.isAnswered()) {
            return;
        }
        try {
            Incoming incoming = Incoming.read(reply.bound, extras);
            reply.identify(incoming);
            if (!reply.watch(() -> cancel(reply))) {
                answer(reply, null, FailureTokens.CANCELED);
                return;
            }
            CallFailure obstacle = reply.obstacle();
            if (obstacle != null) {
                answer(reply, incoming.failed(obstacle), obstacle.token);
                return;
            }
            reply.caller = grants.resolve(reply.caller);
            engine.usePolicy(grants.policyFor(reply.caller));
            engine.receive(incoming, approved, reply.caller.uid, reply);
        } catch (RuntimeException unexpected) {
            // Whatever went wrong before the engine had the request, its caller waits.
            Log.w("droidgate", "a request is not taken", unexpected);
            answer(reply, Reply.interrupted(reply.anyEntry()), FailureTokens.INTERRUPTED);
        }
        settle();
    }

    @Override
    public void decided(long call, Reply reply, CallFailure refusal) {
        step(
                () -> {
                    engine.usePolicy(grants.policyFor(reply.caller));
                    engine.decided(call, refusal);
                });
    }

    @Override
    public CallFailure obstacle(Reply reply, CallPermission permission) {
        if (reply.isAnswered()) {
            return Engine.CANCELED;
        }
        try {
            permission.check(grants.policyFor(reply.caller), installed.now(permission.route));
            return null;
        } catch (CallFailure changed) {
            return changed;
        }
    }

    @Override
    public void sent(long call, Reply reply, Route route, Outgoing outgoing) {
        // Before anything happens that must not happen twice.
        writeJournal();
        reply.stage = Reply.STAGE_APP;
        reply.sent(route, outgoing);
        sent.put(call, reply);
        reply.whenAnswered(() -> sent.remove(call));
    }

    @Override
    public void answered(long call, BackendAnswer answer, Runnable taken) {
        step(
                () -> {
                    if (taken != null) {
                        taken.run();
                    }
                    came(call, answer.written());
                    engine.answered(call, answer);
                });
    }

    @Override
    public void fail(long call, CallFailure failure) {
        step(
                () -> {
                    Map<String, Object> reported = new LinkedHashMap<>();
                    reported.put("token", failure.token);
                    reported.put("message", failure.getMessage());
                    came(call, Collections.<String, Object>singletonMap("failure", reported));
                    engine.fail(call, failure);
                });
    }

    private void came(long call, Map<String, Object> answer) {
        Reply reply = sent.get(call);
        if (reply != null) {
            reply.came(answer);
        }
    }

    /** Ends a request because its caller asked for it, however far it has come. */
    public void cancel(Reply reply) {
        end(reply, null, FailureTokens.CANCELED);
    }

    /** Ends a request whose caller waits no longer, also one that the engine has not taken. */
    public void giveUp(Reply reply) {
        step(
                () -> {
                    engine.giveUp(reply);
                    answer(reply, null, FailureTokens.TIMEOUT);
                });
    }

    /** Answers in the engine's place, which will not be able to. */
    public void interrupt(Reply reply) {
        end(reply, Reply.interrupted(reply.anyEntry()), FailureTokens.INTERRUPTED);
    }

    /** Answers a request, at once, and lets go of its call. */
    public void end(Reply reply, Map<String, String> extras, String token) {
        answer(reply, extras, token);
        step(() -> engine.cancel(reply));
    }

    @Override
    public void answer(Object replyTo, Map<String, String> extras, String token) {
        Reply reply = (Reply) replyTo;
        if (reply.answer(extras, token)) {
            history.add(reply.sender(), reply.capability, token, now() - reply.since);
        }
    }

    /** Has the engine do something, on its thread. */
    private void step(Runnable step) {
        calls.execute(
                () -> {
                    step.run();
                    settle();
                });
    }

    /**
     * Writes what is open to the file, and sets the next deadline; on the engine's thread, after each of its
     * steps.
     */
    private void settle() {
        long next = engine.expire();
        writeJournal();
        main.removeCallbacks(deadline);
        if (next >= 0) {
            main.postDelayed(deadline, Math.max(1, next - now()));
            // One that rings too early sets the next: most calls end long before.
            if (next < alarmAt || alarmAt <= now()) {
                alarmAt = next;
                try {
                    context.getSystemService(AlarmManager.class)
                            .setExact(AlarmManager.ELAPSED_REALTIME_WAKEUP, next, "deadline", this, main);
                } catch (RuntimeException refused) {
                    Log.i("droidgate", "a deadline may be late", refused);
                }
            }
        }
    }

    /** Runs when the alarm rings; handlers stop while the device sleeps. */
    @Override
    public void onAlarm() {
        deadline.run();
    }

    private void forgetLeft() {
        journal.forgetLeft();
        writeJournal();
    }

    /** Writes what is open to the file; on the engine's thread. */
    public void writeJournal() {
        open = engine.openCount();
        journal.write(engine.journal());
    }

    public int open() {
        return open;
    }
}
