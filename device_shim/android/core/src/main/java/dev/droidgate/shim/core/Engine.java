package dev.droidgate.shim.core;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * What happens to a call between a Mobile-MCP agent and the app behind the shim (docs/shim-engine.md).
 *
 * <p>The edges hand in requests, answers and the end of time; each request that is handed in is answered exactly
 * once. Safe to use from several threads; no lock is held while an edge is called.
 */
public final class Engine {
    private static final CallFailure NO_GRANT =
            new CallFailure(
                    FailureTokens.DENIED, "the user has not allowed this app to call this capability");

    private final RouteTable routes;
    private volatile Policy policy;
    private final Clock clock;
    private final Backend backend;
    private final Answers answers;
    private final OpenCalls<Held> calls;

    /** What is held for a request while it is open. */
    private static final class Held {
        final Request request;
        final Object replyTo;
        volatile Route route;

        /** The id of the Mobile-MCP request that went out, null for other calls. */
        volatile String sentId;

        private boolean goesOut;
        private CallFailure ended;

        Held(Request request, Object replyTo) {
            this.request = request;
            this.replyTo = replyTo;
        }

        /** Tells whether the call may go out; until it is out, who sends it answers for whoever ends it. */
        synchronized boolean goOut() {
            goesOut = ended == null;
            return goesOut;
        }

        /** Returns what ended the call while it went out, null where nothing did. */
        synchronized CallFailure isOut() {
            goesOut = false;
            return ended;
        }

        /** Tells whether whoever ends the call has to answer it. */
        synchronized boolean end(CallFailure failure) {
            ended = failure;
            return !goesOut;
        }
    }

    /** Makes an engine with nothing open. */
    public Engine(
            RouteTable routes, Policy policy, Clock clock, Backend backend, Answers answers) {
        this.routes = routes;
        this.policy = policy;
        this.clock = clock;
        this.backend = backend;
        this.answers = answers;
        calls = new OpenCalls<>(policy.limits);
    }

    /** Uses other grants and switches from the next request on; the limits stay. */
    public void use(Policy changed) {
        policy = changed;
    }

    /**
     * Returns what the user would be asked about a request, null where a yes would not help it: it cannot be
     * read, what it asks for does not exist or is switched off, or it has its grant. Nothing changes by this.
     */
    public Preview preview(boolean bound, long caller, Map<String, ?> extras) {
        try {
            Request request = new RequestReader(bound).read(extras);
            Route route = routes.find(request.capability);
            boolean asks =
                    route != null
                            && !policy.isSwitchedOff(route)
                            && !policy.grants(route, caller, bound);
            return asks ? new Preview(route.id, JsonWriter.write(request.arguments)) : null;
        } catch (CallFailure unreadable) {
            return null;
        }
    }

    /**
     * Takes a request.
     *
     * @param bound whether it came in a bound service's message, else by starting the service
     * @param approved whether it needs no grant: the user said yes to this one, or the host sent it
     * @param refusal its failure where it needs a grant and has none, such as the user's no; null for the usual
     * @param extras name -> value of the message or intent
     * @param caller the uid that sent the message, or that made the callback of a start
     * @param replyTo given back with the answer
     */
    public void receive(
            boolean bound,
            boolean approved,
            CallFailure refusal,
            Map<String, ?> extras,
            long caller,
            Object replyTo) {
        expire();
        RequestReader reader = new RequestReader(bound);
        try {
            Request request = reader.read(extras);
            CallFailure denial = approved ? null : refusal == null ? NO_GRANT : refusal;
            begin(new CallKey(caller, request.id), new Held(request, replyTo), bound, denial);
        } catch (CallFailure failure) {
            Request seen = reader.seen;
            answers.answer(
                    replyTo,
                    seen == null ? null : ResponseWriter.failure(seen, failure),
                    failure.token);
        }
    }

    private void begin(CallKey key, Held held, boolean bound, CallFailure denial) throws CallFailure {
        long now = clock.now();
        Route known = routes.find(held.request.capability);
        long allowed = known == null ? Route.USUAL_DEADLINE : known.deadline;
        long call = calls.open(key, held, now, now + allowed);
        try {
            Policy current = policy;
            if (denial != null && !current.grants(known, key.caller, bound)) {
                throw known == null ? NO_GRANT : denial;
            }
            call(call, held, known, current);
        } catch (CallFailure failure) {
            fail(call, failure);
        } catch (RuntimeException unexpected) {
            fail(call, unexpected(unexpected));
        }
    }

    private void call(long call, Held held, Route route, Policy current) throws CallFailure {
        if (route == null) {
            throw new CallFailure(
                    FailureTokens.UNKNOWN_CAPABILITY,
                    JsonWriter.write(held.request.capability) + " is not a capability of this app");
        }
        if (current.isSwitchedOff(route)) {
            throw new CallFailure(FailureTokens.DISABLED, "the user has switched the capability off");
        }
        held.route = route;
        Map<String, Object> arguments =
                Arguments.fit(held.request.arguments, route.input, routes.definitions);
        route.target.check(backend.installed(route));
        Outgoing outgoing =
                route.outgoing(arguments, routes.definitions, backend.newRequestId());
        held.sentId = outgoing.requestId;
        // To look at what is installed takes time, and whoever watches the deadlines may be late.
        expire();
        if (!held.goOut()) {
            return;
        }
        try {
            backend.call(call, held.replyTo, route, outgoing);
        } finally {
            CallFailure ended = held.isOut();
            if (ended != null) {
                answer(held, ended);
            }
        }
    }

    /**
     * Takes a backend's answer; what is late, the second, or answers another request is dropped.
     *
     * @param call the number that came with the call
     */
    public void answered(long call, BackendAnswer answer) {
        expire();
        Held open = calls.find(call);
        Held held = open == null || answer.isAside(open.sentId) ? null : calls.close(call);
        if (held == null) {
            return;
        }
        Map<String, String> extras;
        try {
            Object value = held.route.value(answer, routes.definitions);
            Outputs outputs = Outputs.of(value, held.route, routes.definitions);
            extras = ResponseWriter.success(held.request, outputs);
        } catch (CallFailure failure) {
            tell(held, failure);
            return;
        } catch (RuntimeException unexpected) {
            tell(held, unexpected(unexpected));
            return;
        }
        answers.answer(held.replyTo, extras, null);
    }

    private static CallFailure unexpected(RuntimeException unexpected) {
        return new CallFailure(FailureTokens.BACKEND_FAILURE, "internal error of the shim: " + unexpected);
    }

    /** Ends a call because its caller wants so. */
    public void cancel(CallKey key) {
        expire();
        Held held = calls.close(key);
        if (held != null) {
            tell(held, new CallFailure(FailureTokens.CANCELED, "the caller ended the call"));
        }
    }

    /** Ends the calls to a package whose process died. */
    public void died(String packageName) {
        expire();
        for (OpenCalls.Call<Held> one : calls.open()) {
            Route route = one.held.route;
            if (route != null && packageName.equals(route.target.packageName)) {
                fail(one.number, new CallFailure(FailureTokens.INTERRUPTED, "the app behind the capability stopped"));
            }
        }
    }

    /**
     * Answers what has waited too long; returns the time of the next deadline, -1 where nothing
     * is open.
     */
    public long expire() {
        for (OpenCalls.Call<Held> one : calls.expire(clock.now())) {
            tell(one.held, new CallFailure(FailureTokens.TIMEOUT, "no answer came in time; the call may have run"));
        }
        return calls.nextDeadline();
    }

    /** Returns an entry for each open call, to be kept where it outlives this process. */
    public List<String> journal() {
        List<String> entries = new ArrayList<>();
        for (OpenCalls.Call<Held> one : calls.open()) {
            entries.add(Journal.entry(one.held.request));
        }
        return entries;
    }

    private void fail(long call, CallFailure failure) {
        Held held = calls.close(call);
        if (held != null) {
            tell(held, failure);
        }
    }

    private void tell(Held held, CallFailure failure) {
        if (held.end(failure)) {
            answer(held, failure);
        }
    }

    private void answer(Held held, CallFailure failure) {
        answers.answer(
                held.replyTo, ResponseWriter.failure(held.request, failure), failure.token);
    }
}
