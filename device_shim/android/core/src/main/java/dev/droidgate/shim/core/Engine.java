package dev.droidgate.shim.core;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * What happens to a call between a Mobile-MCP agent and the app behind the shim (shim-engine.md).
 *
 * <p>The edges hand in requests, decisions, answers and the end of time, all on one thread; each request that
 * is handed in is answered exactly once. An edge that is called may ask for the journal, and nothing else,
 * from within.
 */
public final class Engine {
    /** Why a call ends whose question has no answer in time. */
    public static final CallFailure UNANSWERED =
            new CallFailure(
                    FailureTokens.NEEDS_USER,
                    "nobody answered the question about this call on the phone in time; "
                            + "retry when somebody is there");

    /** Why a call ends whose caller ends it, or has gone. */
    public static final CallFailure CANCELED =
            new CallFailure(FailureTokens.CANCELED, "the caller ended the call");

    private static final CallFailure TIMEOUT =
            new CallFailure(FailureTokens.TIMEOUT, "no answer came in time; the call may have run");

    /** How long the user may take to answer a question, whatever the deadline of its call. */
    static final long ASKING_MS = 120_000;

    private final RouteTable routes;
    private final Clock clock;
    private final AppCaller apps;
    private final Questions questions;
    private final Answers answers;
    private final Rates rates;
    private final OpenCalls<CallState> calls;
    private Policy policy;

    /** What the engine knows of a call while it is open. */
    private static final class CallState {
        final MobileMcpRequest request;
        final Object replyTo;

        /** What it goes out by. */
        CallPermission permission;

        /** What its backend is called with, once that is known. */
        Outgoing outgoing;

        /** Whether the user is asked about it, and nothing has gone out. */
        boolean isAsking;

        CallState(MobileMcpRequest request, Object replyTo, CallPermission permission) {
            this.request = request;
            this.replyTo = replyTo;
            this.permission = permission;
        }
    }

    /** Makes an engine with nothing open. */
    public Engine(
            RouteTable routes,
            Policy policy,
            Clock clock,
            AppCaller apps,
            Questions questions,
            Answers answers) {
        this.routes = routes;
        this.policy = policy;
        this.clock = clock;
        this.apps = apps;
        this.questions = questions;
        this.answers = answers;
        rates = new Rates(policy.limits);
        calls = new OpenCalls<>(policy.limits);
    }

    /** Uses other grants and switches from now on; the limits stay. */
    public void usePolicy(Policy changed) {
        policy = changed;
    }

    /**
     * Takes a request from its caller's rate, before it is read; the one method for any thread.
     *
     * @return the failure of a request that is one too many, else null
     */
    public CallFailure admit(boolean bound, long caller) {
        return rates.take(new CallKey(bound, caller, ""), clock.now());
    }

    /**
     * Takes a request that was admitted.
     *
     * @param approved whether it needs no grant: the host sent it
     * @param caller the uid that sent the message, or that made the callback of a start
     * @param replyTo given back with the answer
     */
    public void receive(Incoming incoming, boolean approved, long caller, Object replyTo) {
        expire();
        if (incoming.failure != null) {
            answers.answer(replyTo, incoming.failed(), incoming.failure.token);
            return;
        }
        MobileMcpRequest request = incoming.request;
        Route route = routes.find(request.capability);
        CallKey key = new CallKey(incoming.bound, caller, request.id);
        CallState state = new CallState(request, replyTo, new CallPermission(route, key, approved));
        long deadlineMs = route == null ? Route.DEFAULT_DEADLINE_MS : route.deadlineMs;
        long now = clock.now();
        long call;
        try {
            call = calls.open(key, state, now, now + deadlineMs);
        } catch (CallFailure busy) {
            answer(state, busy);
            return;
        }
        boolean isGranted = approved || policy.isGranted(route, key);
        proceed(call, () -> begin(call, state, isGranted));
    }

    /** A part of a call's way, which may end it. */
    private interface Step {
        void run() throws CallFailure;
    }

    private void proceed(long call, Step step) {
        try {
            step.run();
        } catch (CallFailure failure) {
            close(call, failure);
        } catch (RuntimeException unexpected) {
            close(
                    call,
                    new CallFailure(
                            FailureTokens.BACKEND_FAILURE, "internal error of the shim: " + unexpected));
        }
    }

    /** Sends a call that has a grant, and asks about one that has none. */
    private void begin(long call, CallState state, boolean isGranted) throws CallFailure {
        Route route = state.permission.route;
        if (!isGranted && (route == null || policy.isSwitchedOff(route) || !questions.isAsking())) {
            throw Policy.NO_GRANT;
        }
        if (route == null) {
            throw new CallFailure(
                    FailureTokens.UNKNOWN_CAPABILITY,
                    JsonWriter.write(state.request.capability) + " is not a capability of this app");
        }
        policy.checkSwitch(route);
        Map<String, Object> fitted =
                Arguments.fit(state.request.arguments, route.input, routes.definitions);
        route.target.check(apps.installed(route));
        state.outgoing =
                route.backend.writeCall(route, fitted, routes.definitions, apps.newRequestId());
        if (isGranted) {
            send(call, state);
            return;
        }
        state.isAsking = true;
        long deadline = clock.now() + ASKING_MS;
        calls.extend(call, deadline);
        CallFailure notAsked =
                questions.ask(call, state.replyTo, route, state.request.arguments, deadline);
        if (notAsked != null) {
            throw notAsked;
        }
    }

    private void send(long call, CallState state) throws CallFailure {
        // To look at what is installed takes time, in which the call may have ended.
        expire();
        if (calls.find(call) != null) {
            apps.call(call, state.replyTo, state.permission, state.outgoing);
        }
    }

    /**
     * Takes the user's decision; one that is late, or about which nobody was asked, is dropped.
     *
     * @param refusal the failure of a call that is not allowed, null for a yes to this call; of a yes to
     *     further calls {@link Policy#NO_GRANT}, which it is where the grant was revoked since
     */
    public void decided(long call, CallFailure refusal) {
        expire();
        CallState state = calls.find(call);
        if (state == null || !state.isAsking) {
            return;
        }
        proceed(
                call,
                () -> {
                    if (refusal == null) {
                        state.permission = state.permission.allowedOnce();
                    } else if (refusal != Policy.NO_GRANT) {
                        throw refusal;
                    }
                    Route route = state.permission.route;
                    state.permission.check(policy, apps.installed(route));
                    state.isAsking = false;
                    calls.extend(call, clock.now() + route.deadlineMs);
                    send(call, state);
                });
    }

    /**
     * Takes a backend's answer; what is late, the second, or answers another request is dropped.
     *
     * @param call the number that came with the call
     */
    public void answered(long call, BackendAnswer answer) {
        expire();
        CallState state = calls.find(call);
        if (state == null || state.isAsking || !answer.isAnswerTo(state.outgoing.requestId())) {
            return;
        }
        proceed(
                call,
                () -> {
                    Route route = state.permission.route;
                    Object value = route.backend.readAnswer(answer, route, routes.definitions);
                    Outputs outputs = Outputs.convert(value, route, routes.definitions);
                    Map<String, String> extras = ResponseWriter.writeSuccess(state.request, outputs);
                    calls.close(call);
                    answers.answer(state.replyTo, extras, null);
                });
    }

    /** Ends a call that its edge cannot finish, such as with {@code needs_user}. */
    public void fail(long call, CallFailure failure) {
        expire();
        close(call, failure);
    }

    /** Ends the call whose answer goes there, because its caller asked for it or has gone. */
    public void cancel(Object replyTo) {
        end(replyTo, CANCELED, CANCELED);
    }

    /** Ends the call whose answer goes there, because its caller waits no longer. */
    public void giveUp(Object replyTo) {
        end(replyTo, UNANSWERED, TIMEOUT);
    }

    private void end(Object replyTo, CallFailure asking, CallFailure sent) {
        expire();
        for (OpenCalls.OpenCall<CallState> call : calls.all()) {
            if (call.state.replyTo == replyTo) {
                close(call.number, call.state.isAsking ? asking : sent);
            }
        }
    }

    /** Answers what has waited too long; returns the time of the next deadline, -1 where nothing is open. */
    public long expire() {
        for (OpenCalls.OpenCall<CallState> call : calls.expire(clock.now())) {
            answer(call.state, call.state.isAsking ? UNANSWERED : TIMEOUT);
        }
        return calls.nextDeadline();
    }

    /**
     * Returns an entry for each open call that came by a start, to be kept where it outlives this process:
     * the uid of the callback's creator, a blank, and what answers the request. Others cannot be answered
     * after it.
     */
    public List<String> journal() {
        List<String> entries = new ArrayList<>();
        for (OpenCalls.OpenCall<CallState> call : calls.all()) {
            if (!call.key.bound) {
                entries.add(call.key.caller + " " + Journal.writeEntry(call.state.request));
            }
        }
        return entries;
    }

    /** Returns how many calls are open. */
    public int openCount() {
        return calls.all().size();
    }

    private void close(long call, CallFailure failure) {
        CallState state = calls.close(call);
        if (state != null) {
            answer(state, failure);
        }
    }

    private void answer(CallState state, CallFailure failure) {
        answers.answer(state.replyTo, ResponseWriter.writeFailure(state.request, failure), failure.token);
    }
}
