package dev.droidgate.shim.core;

import java.util.LinkedHashMap;
import java.util.Map;

/**
 * Calls to mMCP tools: extras that go out, results that come back ({@code
 * droidgate_mmcp.wire}).
 */
final class MmcpWire {
    private static final long RESULT_OK = -1;
    private static final long RESULT_CANCELED = 0;
    private static final long BROADCAST_ERROR = 1;
    private static final String ERROR_TEXT = "Error:";

    private MmcpWire() {}

    /** Returns the extras of a call to an activity. */
    static Map<String, String> writeActivityCall(String tool, Map<String, Object> arguments) {
        return extras("tool_name", tool, "parameters", arguments);
    }

    /** Returns the extras of a call by broadcast. */
    static Map<String, String> writeBroadcastCall(String tool, Map<String, Object> arguments) {
        return extras("tool", tool, "params", arguments);
    }

    private static Map<String, String> extras(
            String toolExtra, String tool, String argumentsExtra, Map<String, Object> arguments) {
        Map<String, String> extras = new LinkedHashMap<>();
        extras.put(toolExtra, tool);
        extras.put(argumentsExtra, JsonWriter.write(arguments));
        return extras;
    }

    /**
     * Returns the value of an activity's result.
     *
     * @throws CallFailure the failure that the result reports
     */
    static Object readActivityResult(long code, Map<String, Object> extras) throws CallFailure {
        Object result = extras.get("result");
        if (code == RESULT_OK) {
            return extras.containsKey("result") ? resultValue(result) : MobileMcpResponse.MISSING;
        }
        for (Object value : new Object[] {extras.get("error"), result}) {
            if (value instanceof String && !((String) value).isEmpty()) {
                throw failure((String) value);
            }
        }
        if (code == RESULT_CANCELED) {
            throw new CallFailure(FailureTokens.CANCELED, "cancelled or unknown tool");
        }
        throw new CallFailure(FailureTokens.BACKEND_FAILURE, "the activity answered with the code " + code);
    }

    /**
     * Returns the value of a broadcast's result.
     *
     * @throws CallFailure the failure that the result reports
     */
    static Object readBroadcastResult(long code, String data) throws CallFailure {
        if (data == null || "null".equals(FailureTokens.stripped(data))) {
            throw new CallFailure(FailureTokens.TIMEOUT, "the receiver gave no answer");
        }
        Object value = textValue(data);
        Map<String, Object> members = Json.object(value);
        if (code == BROADCAST_ERROR && members != null && members.get("error") instanceof String) {
            throw failure((String) members.get("error"));
        }
        return value;
    }

    private static Object resultValue(Object result) throws CallFailure {
        if (result == null) {
            throw new CallFailure(
                    FailureTokens.MALFORMED_RESPONSE,
                    "the app reported success, but its result is not a text");
        }
        return result instanceof String ? textValue((String) result) : result;
    }

    private static Object textValue(String text) throws CallFailure {
        if (tokenOf(text) != null) {
            throw failure(text);
        }
        try {
            return JsonReader.parse(text);
        } catch (MalformedJsonException noJson) {
            return text;
        }
    }

    private static CallFailure failure(String text) {
        String token = tokenOf(text);
        String message = text.startsWith(ERROR_TEXT) ? text.substring(ERROR_TEXT.length()) : text;
        return CallFailure.read(
                FailureTokens.stripped(message), token == null ? FailureTokens.BACKEND_FAILURE : token);
    }

    /** Returns the token of how a text begins, null where it begins as no error. */
    private static String tokenOf(String text) {
        if (text.startsWith("Unknown tool")) {
            return FailureTokens.UNKNOWN_CAPABILITY;
        }
        if (text.startsWith("Error: Missing") || text.startsWith("Error: Invalid")) {
            return FailureTokens.INVALID_ARGUMENT;
        }
        return text.startsWith(ERROR_TEXT) ? FailureTokens.BACKEND_FAILURE : null;
    }
}
