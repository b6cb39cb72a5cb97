package dev.droidgate.shim.core;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** One vector of the op {@code life}: requests that come, and how each of them ends. */
final class LifeVector {
    private final List<Object> events;
    private final OpenCalls<CallKey> calls;
    private final Rates rates;
    private final Map<CallKey, Long> numbers = new HashMap<>();
    private final List<Object> effects = new ArrayList<>();

    LifeVector(Map<String, Object> vector) throws MalformedJsonException {
        events = Json.listAt(vector, "events");
        CallLimits limits = new CallLimits(Json.objectAt(vector, "limits"));
        calls = new OpenCalls<>(limits);
        rates = new Rates(limits);
    }

    Map<String, Object> outcome() throws MalformedJsonException {
        for (Object item : events) {
            Map<String, Object> event = Json.objectOf(item, "an event");
            long now = Json.integerAt(event, "at", 0);
            for (OpenCalls.OpenCall<CallKey> call : calls.expire(now)) {
                answer(call.deadline, call.key, FailureTokens.TIMEOUT);
            }
            take(event, now);
        }
        return VectorRunner.single("effects", effects);
    }

    private void take(Map<String, Object> event, long now) throws MalformedJsonException {
        String kind = Json.textAt(event, "event");
        if (!"time".equals(kind)) {
            boolean bound = !"start".equals(event.get("carrier"));
            CallKey key = new CallKey(bound, Json.integerAt(event, "caller", 0), Json.textAt(event, "id"));
            if ("request".equals(kind)) {
                begin(key, now, Json.integerAt(event, "deadline_ms", Route.DEFAULT_DEADLINE_MS));
            } else if ("result".equals(kind)) {
                end(key, now, null);
            } else if ("cancel".equals(kind)) {
                end(key, now, FailureTokens.CANCELED);
            } else {
                throw new IllegalArgumentException(kind);
            }
        }
    }

    private void begin(CallKey key, long now, long allowed) {
        try {
            CallFailure tooMany = rates.take(new CallKey(key.bound, key.caller, ""), now);
            if (tooMany != null) {
                throw tooMany;
            }
            numbers.put(key, calls.open(key, key, now, now + allowed));
            effect("start", now, key);
        } catch (CallFailure busy) {
            answer(now, key, busy.token).put("message", busy.getMessage());
        }
    }

    private void end(CallKey key, long now, String token) {
        Long number = numbers.get(key);
        if (number != null && calls.close(number) != null) {
            answer(now, key, token);
        }
    }

    private Map<String, Object> effect(String kind, long now, CallKey key) {
        Map<String, Object> effect = VectorRunner.single("effect", kind);
        effect.put("at", now);
        effect.put("caller", key.caller);
        effect.put("id", key.id);
        effects.add(effect);
        return effect;
    }

    private Map<String, Object> answer(long now, CallKey key, String token) {
        Map<String, Object> effect = effect("answer", now, key);
        effect.put("token", token);
        return effect;
    }
}
