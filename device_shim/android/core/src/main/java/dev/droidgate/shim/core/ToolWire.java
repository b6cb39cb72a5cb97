package dev.droidgate.shim.core;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Calls to another Mobile-MCP tool: the request that goes out, the response that comes back. */
final class ToolWire {
    private static final String[] RESPONSE_EXTRAS = {
        Dialect.RESPONSE_EXTRA, Dialect.PROTOTYPE_RESPONSE_EXTRA, Dialect.RESULT_EXTRA
    };
    private static final String TRACE_ONLY = "trace_only";

    private ToolWire() {}

    /** Returns the extras of a request. */
    static Map<String, String> request(
            Dialect dialect, String id, String capability, Object arguments) {
        Map<String, Object> named = new LinkedHashMap<>();
        named.put("id", capability);
        named.put(
                dialect.argumentsKey, dialect.wrapped ? arguments : JsonWriter.write(arguments));
        Map<String, Object> document = new LinkedHashMap<>();
        document.put("id", id);
        document.put("capability", named);
        if (dialect.wrapped) {
            document = Dialect.wrap(Dialect.REQUEST_EXTRA, "request", document);
        }
        Map<String, String> extras = new LinkedHashMap<>();
        extras.put(dialect.requestExtra(), JsonWriter.write(document));
        return extras;
    }

    /** Tells whether a callback only carries timings, and so is no answer. */
    static boolean isTrace(Map<String, Object> extras) {
        Object told = extras.get(TRACE_ONLY);
        return Boolean.TRUE.equals(told) || "true".equals(told);
    }

    /**
     * Returns the object of the outputs, null where a success has none.
     *
     * @throws CallFailure the failure that the response tells, or {@code malformed_response}
     */
    static Object value(Map<String, Object> extras) throws CallFailure {
        try {
            return read(extras);
        } catch (MalformedJsonException malformed) {
            throw new CallFailure(FailureTokens.MALFORMED_RESPONSE, malformed.getMessage());
        }
    }

    private static Object read(Map<String, Object> extras)
            throws CallFailure, MalformedJsonException {
        Map<String, Object> inner = Json.objectOf(JsonReader.parse(textOf(extras)), "the response");
        if (inner.containsKey(Dialect.RESPONSE_EXTRA)) {
            inner = Json.objectOf(inner.get(Dialect.RESPONSE_EXTRA), Dialect.RESPONSE_EXTRA);
        }
        Map<String, Object> response = inner;
        if (inner.containsKey("response")) {
            response = Json.objectOf(inner.get("response"), "response");
        }
        Map<String, Object> capability = Json.object(response.get("capability"));
        Object held = capability == null ? null : capability.get("output");
        Map<String, Object> outputs = outputs(response.containsKey("data") ? response.get("data") : held);
        Map<String, Object> outcome = response;
        if (!response.containsKey("status") && capability != null && capability.containsKey("status")) {
            outcome = capability;
        }
        Object status = outcome.get("status");
        if ("success".equals(status) || status == null && outputs != null) {
            return outputs;
        }
        throw failure(outcome.get("message"));
    }

    private static String textOf(Map<String, Object> extras) throws MalformedJsonException {
        for (String extra : RESPONSE_EXTRAS) {
            if (extras.containsKey(extra)) {
                return Json.textAt(extras, extra);
            }
        }
        throw new MalformedJsonException("no extra holds a response");
    }

    private static Map<String, Object> outputs(Object held) throws MalformedJsonException {
        if (held == null || held instanceof Map) {
            return Json.object(held);
        }
        List<Object> entries = Json.list(held);
        Json.check(entries != null, "output");
        Map<String, Object> outputs = new LinkedHashMap<>();
        for (Object entry : entries) {
            Map<String, Object> one = Json.objectOf(entry, "an output of the list");
            String name = Json.textAt(one, "name");
            Json.check(!outputs.containsKey(name), name);
            if (one.containsKey("value")) {
                outputs.put(name, one.get("value"));
            }
        }
        return outputs;
    }

    private static CallFailure failure(Object message) {
        String text = message instanceof String ? (String) message : "";
        CallFailure told = FailureTokens.read(text, "");
        if (!told.token.isEmpty()) {
            return told;
        }
        String token = FailureTokens.BACKEND_FAILURE;
        if (text.startsWith("Unknown capability ID")) {
            token = FailureTokens.UNKNOWN_CAPABILITY;
        } else if (text.startsWith("Missing args.")
                || text.startsWith("End of input at character 0 of")) {
            token = FailureTokens.INVALID_ARGUMENT;
        }
        return new CallFailure(token, text);
    }
}
