package dev.droidgate.shim.core;

import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** One vector of the op {@code call}: a request, a shim, and what the backend does. */
final class CallVector implements Clock, AppCaller, Questions, Answers {
    private final Map<String, Object> vector;
    private final List<Object> behaviours;
    private final RouteTable routes;
    private final Policy policy;
    private long call;
    private Route route;
    private Outgoing outgoing;
    private Map<String, Object> outcome;
    private Map<String, Object> asked;
    private long now;

    CallVector(Map<String, Object> vector) throws MalformedJsonException {
        this.vector = vector;
        Object backend = vector.get("backend");
        behaviours =
                backend instanceof List
                        ? Json.list(backend)
                        : Collections.<Object>singletonList(Json.objectAt(vector, "backend"));
        routes = RouteTable.of(vector.get("routes"));
        policy = Policy.of(Json.objectAt(vector, "policy"));
    }

    Map<String, Object> outcome() throws MalformedJsonException {
        now = 0;
        route = null;
        outgoing = null;
        outcome = null;
        asked = null;
        Engine engine = engine();
        take(engine, Json.flagAt(vector, "approved"), Json.integerAt(vector, "caller", -1));
        if (asked != null) {
            decide(engine);
        }
        for (Object behaviour : behaviours) {
            if (route != null) {
                behave(engine, Json.objectOf(behaviour, "a behaviour"));
            }
        }
        if (outcome == null) {
            now += route == null ? Engine.ASKING_MS : route.deadlineMs;
            engine.expire();
        }
        if (asked != null) {
            outcome.put("asked", asked);
        }
        return outcome;
    }

    private Engine engine() {
        return new Engine(routes, policy, this, this, this, this);
    }

    private void take(Engine engine, boolean approved, long caller) throws MalformedJsonException {
        boolean bound = "bind".equals(vector.get("carrier"));
        Map<String, Object> extras = Json.objectAt(vector, "extras");
        CallFailure busy = engine.admit(bound, caller);
        Incoming incoming =
                busy == null
                        ? Incoming.read(bound, extras)
                        : Incoming.refused(bound, Incoming.beginning(extras), busy);
        engine.receive(incoming, approved, caller, null);
    }

    private void decide(Engine engine) throws MalformedJsonException {
        if ("yes".equals(vector.get("asking"))) {
            engine.decided(call, null);
        } else if ("always".equals(vector.get("asking"))) {
            engine.decided(call, Policy.NO_GRANT);
        } else if ("cancel".equals(vector.get("asking"))) {
            engine.cancel(null);
        } else if ("give-up".equals(vector.get("asking"))) {
            engine.giveUp(null);
        } else if (!"silent".equals(vector.get("asking"))) {
            Map<String, Object> no = Json.objectAt(vector, "asking");
            engine.decided(call, new CallFailure(Json.textAt(no, "token"), Json.textAt(no, "text")));
        }
    }

    /** Takes the request, and answers it from the journal as after the shim's death. */
    Map<String, Object> interrupted() throws MalformedJsonException {
        boolean bound = "bind".equals(vector.get("carrier"));
        String entry = Incoming.read(bound, Json.objectAt(vector, "extras")).entry();
        return VectorRunner.single("extras", Journal.answerEntry(entry));
    }

    private void behave(Engine engine, Map<String, Object> behaviour) throws MalformedJsonException {
        if (Boolean.TRUE.equals(behaviour.get("canceled"))) {
            engine.cancel(null);
        } else if (Boolean.TRUE.equals(behaviour.get("given_up"))) {
            engine.giveUp(null);
        } else if (behaviour.containsKey("error")) {
            Map<String, Object> error = Json.objectAt(behaviour, "error");
            long code = Json.integerAt(error, "code", 0);
            engine.answered(
                    call, new BackendAnswer.FunctionAnswer(code, Json.text(error.get("message"))));
        } else if (behaviour.containsKey("failure")) {
            Map<String, Object> failure = Json.objectAt(behaviour, "failure");
            engine.fail(
                    call, new CallFailure(Json.textAt(failure, "token"), Json.textAt(failure, "message")));
        } else if (!behaviour.isEmpty() && !Boolean.TRUE.equals(behaviour.get("silent"))) {
            engine.answered(call, answer(behaviour));
        }
    }

    private static BackendAnswer answer(Map<String, Object> behaviour) throws MalformedJsonException {
        if (behaviour.containsKey("document")) {
            return new BackendAnswer.FunctionAnswer(Json.object(behaviour.get("document")));
        }
        Map<String, Object> extras = Json.objectAt(behaviour, "extras");
        if (!behaviour.containsKey("code")) {
            return new BackendAnswer.ResponseAnswer(extras);
        }
        long code = Json.integerAt(behaviour, "code", 0);
        if (behaviour.containsKey("data")) {
            return new BackendAnswer.BroadcastAnswer(code, Json.text(behaviour.get("data")));
        }
        return new BackendAnswer.ActivityAnswer(code, extras);
    }

    @Override
    public long now() {
        return now;
    }

    @Override
    public boolean isAsking() {
        return vector.get("asking") != null;
    }

    @Override
    public CallFailure ask(
            long asking, Object replyTo, Route route, Map<String, Object> arguments, long deadline) {
        call = asking;
        asked = VectorRunner.single("capability", route.id);
        asked.put("arguments", arguments);
        return null;
    }

    @Override
    public Target installed(Route called) {
        if (!vector.containsKey("targets")) {
            return called.target;
        }
        Map<String, Object> targets = Json.object(vector.get("targets"));
        Map<String, Object> found = Json.object(targets.get(called.target.packageName));
        return found == null
                ? null
                : new Target(
                        called.target.packageName,
                        Json.text(found.get("signer")),
                        Json.text(found.get("digest")));
    }

    @Override
    public String newRequestId() {
        return "*";
    }

    @Override
    public void call(long called, Object replyTo, CallPermission by, Outgoing sent) {
        call = called;
        route = by.route;
        outgoing = sent;
    }

    @Override
    public void answer(Object replyTo, Map<String, String> extras, String token) {
        if (outcome != null) {
            throw new IllegalStateException("a request is answered twice");
        }
        outcome = new LinkedHashMap<>();
        outcome.put("outgoing", outgoing == null ? null : outgoing.written());
        outcome.put("extras", extras);
        outcome.put("token", token);
    }
}
