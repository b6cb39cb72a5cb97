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

    /** The code of a broadcast whose receiver does not set a code. */
    private static final long BROADCAST_INITIAL = 0;

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
     * Returns an activity's result: a text as it is, also if it is JSON.
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
     * Returns a broadcast's result: a text as it is, also if it is JSON. A code that the receiver set is an
     * answer, also without data.
     *
     * @throws CallFailure the failure that the result reports
     */
    static Object readBroadcastResult(long code, String data) throws CallFailure {
        if (data == null) {
            if (code == BROADCAST_INITIAL) {
                throw new CallFailure(
                        FailureTokens.BACKEND_FAILURE,
                        "the receiver set no result, or its app ended; the call may have run");
            }
            if (code == BROADCAST_ERROR) {
                throw failure("");
            }
            return MobileMcpResponse.MISSING;
        }
        if (code == BROADCAST_ERROR) {
            Map<String, Object> members = Json.object(valueOf(data));
            if (members != null && members.get("error") instanceof String) {
                throw failure((String) members.get("error"));
            }
        }
        return textOf(data);
    }

    private static Object resultValue(Object result) throws CallFailure {
        if (result == null) {
            throw new CallFailure(
                    FailureTokens.MALFORMED_RESPONSE,
                    "the app reported success, but its result is not a text");
        }
        return result instanceof String ? textOf((String) result) : result;
    }

    private static String textOf(String text) throws CallFailure {
        if (tokenOf(text) != null) {
            throw failure(text);
        }
        return text;
    }

    /** Returns the value that a result's text spells, the text itself where it is not JSON. */
    static Object valueOf(Object result) {
        try {
            return result instanceof String ? JsonReader.parse((String) result) : result;
        } catch (MalformedJsonException noJson) {
            return result;
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
