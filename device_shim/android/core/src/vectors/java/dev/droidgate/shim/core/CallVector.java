package dev.droidgate.shim.core;

import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** One vector of the op {@code call}: a request, a shim, and what the backend does. */
final class CallVector implements Clock, Backend, Answers {
    private final Map<String, Object> vector;
    private final List<Object> behaviours;
    private final RouteTable routes;
    private final Policy policy;
    private long call;
    private Route route;
    private Outgoing outgoing;
    private Map<String, Object> outcome;
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
        Engine engine = new Engine(routes, policy, this, this, this);
        boolean bound = "bind".equals(vector.get("carrier"));
        long caller = Json.integerAt(vector, "caller", -1);
        boolean approved = Json.flagAt(vector, "approved");
        engine.receive(bound, approved, refusal(), Json.objectAt(vector, "extras"), caller, null);
        for (Object behaviour : behaviours) {
            if (route != null) {
                behave(engine, Json.objectOf(behaviour, "a behaviour"));
            }
        }
        if (outcome == null) {
            now += route.deadline;
            engine.expire();
        }
        return outcome;
    }

    /** Takes the request, and answers it from the journal as after the shim's death. */
    Map<String, Object> interrupted() throws MalformedJsonException {
        Engine engine = new Engine(routes, policy, this, this, this);
        boolean bound = "bind".equals(vector.get("carrier"));
        engine.receive(bound, false, null, Json.objectAt(vector, "extras"), 0, null);
        return VectorRunner.one("extras", Journal.interrupted(engine.journal().get(0)));
    }

    /** Tells what the user would be asked, null where nothing. */
    Map<String, Object> preview() throws MalformedJsonException {
        Engine engine = new Engine(routes, policy, this, this, this);
        boolean bound = "bind".equals(vector.get("carrier"));
        long caller = Json.integerAt(vector, "caller", -1);
        Preview told = engine.preview(bound, caller, Json.objectAt(vector, "extras"));
        if (told == null) {
            return null;
        }
        Map<String, Object> preview = VectorRunner.one("capability", told.capability);
        preview.put("arguments", JsonReader.parse(told.arguments));
        return preview;
    }

    private CallFailure refusal() throws MalformedJsonException {
        Map<String, Object> refused = Json.objectAt(vector, "refused");
        return refused.isEmpty()
                ? null
                : new CallFailure(Json.textAt(refused, "token"), Json.textAt(refused, "text"));
    }

    private void behave(Engine engine, Map<String, Object> behaviour) throws MalformedJsonException {
        if (Boolean.TRUE.equals(behaviour.get("died"))) {
            engine.died(route.target.packageName);
        } else if (behaviour.containsKey("error")) {
            Map<String, Object> error = Json.objectAt(behaviour, "error");
            long code = Json.integerAt(error, "code", 0);
            engine.answered(call, BackendAnswer.ofError(code, Json.text(error.get("message"))));
        } else if (!behaviour.isEmpty() && !Boolean.TRUE.equals(behaviour.get("silent"))) {
            engine.answered(call, answer(behaviour));
        }
    }

    private static BackendAnswer answer(Map<String, Object> behaviour) throws MalformedJsonException {
        if (behaviour.containsKey("document")) {
            return BackendAnswer.ofDocument(Json.object(behaviour.get("document")));
        }
        Map<String, Object> extras = Json.objectAt(behaviour, "extras");
        if (!behaviour.containsKey("code")) {
            return BackendAnswer.ofTool(extras);
        }
        long code = Json.integerAt(behaviour, "code", 0);
        if (behaviour.containsKey("data")) {
            return BackendAnswer.ofBroadcast(code, Json.text(behaviour.get("data")));
        }
        return BackendAnswer.ofActivity(code, extras);
    }

    @Override
    public long now() {
        return now;
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
    public void call(long called, Object replyTo, Route by, Outgoing sent) {
        call = called;
        route = by;
        outgoing = sent;
    }

    @Override
    public void answer(Object replyTo, Map<String, String> extras, String token) {
        if (outcome != null) {
            throw new IllegalStateException("a request is answered twice");
        }
        outcome = new LinkedHashMap<>();
        outcome.put("outgoing", sent());
        outcome.put("extras", extras);
        outcome.put("token", token);
    }

    private Map<String, Object> sent() {
        if (outgoing == null) {
            return null;
        }
        if (outgoing.extras != null) {
            return VectorRunner.one("extras", outgoing.extras);
        }
        Map<String, Object> sent = VectorRunner.one("function", outgoing.function);
        sent.put("document", outgoing.document);
        return sent;
    }
}
