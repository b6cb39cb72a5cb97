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

    private static final CallFailure LATE =
            new CallFailure(FailureTokens.TIMEOUT, "no answer came in time; the call may have run");

    /** How long the user may take to answer a question, whatever the deadline of its call. */
    private static final long ASKING_TIME = 120_000;

    private final RouteTable routes;
    private final Clock clock;
    private final Backend backend;
    private final Questions questions;
    private final Answers answers;
    private final Rates rates;
    private final OpenCalls<CallState> calls;
    private Policy policy;

    /** What the engine knows of a call while it is open. */
    private static final class CallState {
        final MobileMcpRequest request;
        final Object replyTo;

        /** What goes out, once all that could stop it has been checked but the user's word and the target. */
        Map<String, Object> arguments;

        /** What it goes out by, once the user is asked or it has gone out. */
        CallPermission permission;

        /** Whether the user is being asked. */
        boolean asking;

        /** The id of the Mobile-MCP request that went out, null for other calls. */
        String sentId;

        CallState(MobileMcpRequest request, Object replyTo) {
            this.request = request;
            this.replyTo = replyTo;
        }
    }

    /** Makes an engine with nothing open. */
    public Engine(
            RouteTable routes,
            Policy policy,
            Clock clock,
            Backend backend,
            Questions questions,
            Answers answers) {
        this.routes = routes;
        this.policy = policy;
        this.clock = clock;
        this.backend = backend;
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
        CallState state = new CallState(request, replyTo);
        Route route = routes.find(request.capability);
        long now = clock.now();
        long deadline = route == null ? Route.DEFAULT_DEADLINE : route.deadline;
        CallKey key = new CallKey(incoming.bound, caller, request.id);
        long call;
        try {
            call = calls.open(key, state, now, now + deadline);
        } catch (CallFailure busy) {
            answer(state, busy);
            return;
        }
        boolean granted = approved || policy.isGranted(route, key);
        proceed(call, () -> begin(call, state, new CallPermission(route, key, approved), granted));
    }

    /** A part of a call's way, which may end it. */
    private interface Step {
        void run() throws CallFailure;
    }

    private void proceed(long call, Step step) {
        try {
            step.run();
        } catch (CallFailure failure) {
            fail(call, failure);
        } catch (RuntimeException unexpected) {
            fail(call, unexpected(unexpected));
        }
    }

    private void begin(long call, CallState state, CallPermission permission, boolean granted)
            throws CallFailure {
        Route route = permission.route;
        if (!granted && (route == null || policy.isSwitchedOff(route) || !questions.isAsking())) {
            throw Policy.NO_GRANT;
        }
        if (route == null) {
            throw new CallFailure(
                    FailureTokens.UNKNOWN_CAPABILITY,
                    JsonWriter.write(state.request.capability) + " is not a capability of this app");
        }
        policy.checkSwitch(route);
        state.arguments = Arguments.fit(state.request.arguments, route.input, routes.definitions);
        if (granted) {
            send(call, state, permission);
            return;
        }
        // So that nobody is asked about a call that cannot go out.
        route.target.check(backend.installed(route));
        route.writeCall(state.arguments, routes.definitions, backend.newRequestId());
        state.permission = permission;
        state.asking = true;
        long until = clock.now() + ASKING_TIME;
        calls.extend(call, until);
        CallFailure notAsked =
                questions.ask(call, state.replyTo, new Preview(route, state.request.arguments, until));
        if (notAsked != null) {
            throw notAsked;
        }
    }

    private void send(long call, CallState state, CallPermission permission) throws CallFailure {
        Route route = permission.route;
        permission.check(policy, backend.installed(route));
        Outgoing outgoing = route.writeCall(state.arguments, routes.definitions, backend.newRequestId());
        // To look at what is installed takes time, in which the call may have ended.
        expire();
        if (calls.find(call) == null) {
            return;
        }
        state.permission = permission;
        state.sentId = outgoing.requestId;
        backend.call(call, state.replyTo, permission, outgoing);
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
        if (state == null || !state.asking) {
            return;
        }
        state.asking = false;
        proceed(
                call,
                () -> {
                    if (refusal != null && refusal != Policy.NO_GRANT) {
                        throw refusal;
                    }
                    calls.extend(call, clock.now() + state.permission.route.deadline);
                    send(call, state, refusal == null ? state.permission.allowedOnce() : state.permission);
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
        if (state == null || state.asking || !answer.isAnswerTo(state.sentId)) {
            return;
        }
        calls.close(call);
        Route route = state.permission.route;
        Map<String, String> extras;
        try {
            Object value = route.readAnswer(answer, routes.definitions);
            Outputs outputs = Outputs.convert(value, route, routes.definitions);
            extras = ResponseWriter.writeSuccess(state.request, outputs);
        } catch (CallFailure failure) {
            answer(state, failure);
            return;
        } catch (RuntimeException unexpected) {
            answer(state, unexpected(unexpected));
            return;
        }
        answers.answer(state.replyTo, extras, null);
    }

    private static CallFailure unexpected(RuntimeException unexpected) {
        return new CallFailure(FailureTokens.BACKEND_FAILURE, "internal error of the shim: " + unexpected);
    }

    /** Ends the call whose answer goes there, because its caller asked for it or has gone. */
    public void cancel(Object replyTo) {
        CallFailure canceled = new CallFailure(FailureTokens.CANCELED, "the caller ended the call");
        end(replyTo, canceled, canceled);
    }

    /** Ends the call whose answer goes there, because its caller waits no longer. */
    public void giveUp(Object replyTo) {
        end(replyTo, UNANSWERED, LATE);
    }

    private void end(Object replyTo, CallFailure asking, CallFailure sent) {
        expire();
        for (OpenCalls.OpenCall<CallState> call : calls.all()) {
            if (call.state.replyTo == replyTo) {
                fail(call.number, call.state.asking ? asking : sent);
            }
        }
    }

    /** Answers what has waited too long; returns the time of the next deadline, -1 where nothing is open. */
    public long expire() {
        for (OpenCalls.OpenCall<CallState> call : calls.expire(clock.now())) {
            answer(call.state, call.state.asking ? UNANSWERED : LATE);
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

    private void fail(long call, CallFailure failure) {
        CallState state = calls.close(call);
        if (state != null) {
            answer(state, failure);
        }
    }

    private void answer(CallState state, CallFailure failure) {
        answers.answer(state.replyTo, ResponseWriter.writeFailure(state.request, failure), failure.token);
    }
}
