package dev.droidgate.shim.core;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** The response of another Mobile-MCP tool ({@code droidgate_mobile_mcp.wire}). */
final class MobileMcpResponse {
    /** The value of a success that has no result at all. */
    static final Object MISSING = new Object();

    private static final String[] EXTRAS = {
        WireDialect.RESPONSE_EXTRA, WireDialect.PROTOTYPE_RESPONSE_EXTRA, WireDialect.RESULT_EXTRA
    };

    /** The id of the request that it answers; empty where it has none that can be read. */
    private final String id;

    private final Object value;
    private final CallFailure failure;

    private MobileMcpResponse(String id, Object value, CallFailure failure) {
        this.id = id;
        this.value = value;
        this.failure = failure;
    }

    /** Reads a response, whatever the extras hold. */
    static MobileMcpResponse read(Map<String, ?> extras) {
        String id = idOf(null, extras.get(WireDialect.REQUEST_ID_EXTRA));
        try {
            Map<String, Object> response = responseOf(extras);
            id = idOf(response.get("id"), extras.get(WireDialect.REQUEST_ID_EXTRA));
            return read(id, response);
        } catch (MalformedJsonException malformed) {
            return new MobileMcpResponse(
                    id, null, new CallFailure(FailureTokens.MALFORMED_RESPONSE, malformed.getMessage()));
        }
    }

    /** Returns whether it answers another request than the one that was sent (specification 3.3). */
    boolean isToOther(String sent) {
        return !id.isEmpty() && !id.equals(sent);
    }

    /**
     * Returns the object of the outputs, {@link #MISSING} where a success has none.
     *
     * @throws CallFailure the failure that it reports, or {@code malformed_response}
     */
    Object value() throws CallFailure {
        if (failure != null) {
            throw failure;
        }
        return value;
    }

    /** The same, for a response that has to have an id. */
    Object identifiedValue() throws CallFailure {
        if (id.isEmpty() && !isMalformed()) {
            throw new CallFailure(
                    FailureTokens.MALFORMED_RESPONSE,
                    "the app's response has no id, so it may answer another request");
        }
        return value();
    }

    private boolean isMalformed() {
        return failure != null && failure.token.equals(FailureTokens.MALFORMED_RESPONSE);
    }

    private static Map<String, Object> responseOf(Map<String, ?> extras) throws MalformedJsonException {
        Map<String, Object> inner = Json.objectOf(JsonReader.parse(textOf(extras)), "the response");
        if (inner.containsKey(WireDialect.RESPONSE_EXTRA)) {
            inner = Json.objectOf(inner.get(WireDialect.RESPONSE_EXTRA), WireDialect.RESPONSE_EXTRA);
        }
        return inner.containsKey("response") ? Json.objectOf(inner.get("response"), "response") : inner;
    }

    private static MobileMcpResponse read(String id, Map<String, Object> response)
            throws MalformedJsonException {
        Map<String, Object> capability = Json.object(response.get("capability"));
        Object value = capability == null ? null : capability.get("output");
        Map<String, Object> outputs = outputs(response.containsKey("data") ? response.get("data") : value);
        Map<String, Object> outcome = response;
        if (!response.containsKey("status") && capability != null && capability.containsKey("status")) {
            outcome = capability;
        }
        Object status = outcome.get("status");
        if ("success".equals(status) || status == null && outputs != null) {
            return new MobileMcpResponse(id, outputs == null ? MISSING : outputs, null);
        }
        return new MobileMcpResponse(id, null, failure(outcome.get("message")));
    }

    /** Returns the id in the text, else the one in the extra {@code mcp_request_id}. */
    private static String idOf(Object written, Object extra) {
        boolean isText = written instanceof String && !((String) written).isEmpty();
        if (isText || written instanceof Long) {
            return written.toString();
        }
        return extra instanceof String ? (String) extra : "";
    }

    private static String textOf(Map<String, ?> extras) throws MalformedJsonException {
        String extra = extraOf(extras);
        if (extra == null) {
            throw new MalformedJsonException("no extra holds a response");
        }
        Json.check(extras.get(extra) instanceof String, extra);
        return (String) extras.get(extra);
    }

    /** Returns the extra that holds a response, null where none does. */
    static String extraOf(Map<String, ?> extras) {
        for (String extra : EXTRAS) {
            if (extras.containsKey(extra)) {
                return extra;
            }
        }
        return null;
    }

    private static Map<String, Object> outputs(Object value) throws MalformedJsonException {
        if (value == null || value instanceof Map) {
            return Json.object(value);
        }
        List<Object> entries = Json.list(value);
        Json.check(entries != null, "output");
        Map<String, Object> outputs = new LinkedHashMap<>();
        for (Object entry : entries) {
            Map<String, Object> item = Json.objectOf(entry, "an output of the list");
            String name = Json.textAt(item, "name");
            Json.check(!outputs.containsKey(name), name);
            if (item.containsKey("value")) {
                outputs.put(name, item.get("value"));
            }
        }
        return outputs;
    }

    private static CallFailure failure(Object message) {
        String text = message instanceof String ? (String) message : "";
        CallFailure read = CallFailure.read(text, "");
        if (!read.token.isEmpty()) {
            return read;
        }
        String token = FailureTokens.BACKEND_FAILURE;
        if (text.startsWith("Unknown capability ID")) {
            token = FailureTokens.UNKNOWN_CAPABILITY;
        } else if (text.startsWith("Missing args.")
                || text.startsWith("End of input at character 0 of")) {
            token = FailureTokens.INVALID_ARGUMENT;
        }
        return new CallFailure(token, text.isEmpty() ? "the app failed and gave no message" : text);
    }
}
