package dev.droidgate.shim.core;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Writes answers in the dialect of their requests ({@code
 * droidgate_mobile_mcp.wire}).
 */
final class ResponseWriter {
    private ResponseWriter() {}

    /** Returns the extras that answer with a failure. */
    static Map<String, String> writeFailure(MobileMcpRequest request, CallFailure failure) {
        return write(request, null, false, failure.written());
    }

    /**
     * Returns the extras that answer with a success; null for no outputs.
     *
     * @throws CallFailure {@code malformed_response}: they are too long
     */
    static Map<String, String> writeSuccess(MobileMcpRequest request, Outputs outputs) throws CallFailure {
        Object written = null;
        if (outputs != null) {
            written = request.dialect.listsOutputs() ? listed(outputs) : outputs.values;
        }
        Map<String, String> extras = write(request, written, true, null);
        int units = Outgoing.carriedUnits(extras);
        if (units > Outgoing.MAX_CARRIED_UNITS) {
            throw new CallFailure(
                    FailureTokens.MALFORMED_RESPONSE,
                    "the call ran, but its answer has " + units + " characters; at most "
                            + Outgoing.MAX_CARRIED_UNITS + " can be sent; ask for less");
        }
        return extras;
    }

    private static Map<String, String> write(
            MobileMcpRequest request, Object output, boolean succeeded, String message) {
        Map<String, Object> inner = new LinkedHashMap<>();
        inner.put("id", request.writtenId);
        inner.put("status", succeeded ? "success" : "failure");
        if (!request.capability.isEmpty()) {
            Map<String, Object> capability = new LinkedHashMap<>();
            capability.put("id", request.capability);
            if (output != null) {
                capability.put("output", output);
            }
            inner.put("capability", capability);
        }
        if (message != null) {
            inner.put("message", message);
        }
        Map<String, String> extras = new LinkedHashMap<>();
        extras.put(
                extraOf(request),
                JsonWriter.write(
                        request.wrapped
                                ? WireDialect.wrap(WireDialect.RESPONSE_EXTRA, "response", inner)
                                : inner));
        if (!request.dialect.wrapped) {
            extras.put(WireDialect.REQUEST_ID_EXTRA, request.id);
        }
        return extras;
    }

    private static String extraOf(MobileMcpRequest request) {
        if (WireDialect.COMMAND_EXTRA.equals(request.extra)) {
            return WireDialect.RESULT_EXTRA;
        }
        boolean specified = WireDialect.REQUEST_EXTRA.equals(request.extra);
        return specified ? WireDialect.RESPONSE_EXTRA : WireDialect.PROTOTYPE_RESPONSE_EXTRA;
    }

    private static List<Object> listed(Outputs outputs) {
        List<Object> entries = new ArrayList<>();
        for (Map.Entry<String, Object> output : outputs.values.entrySet()) {
            Map<String, Object> entry = new LinkedHashMap<>();
            entry.put("name", output.getKey());
            entry.put("type", outputs.wordOf(output.getKey()));
            entry.put("value", output.getValue());
            entries.add(entry);
        }
        return entries;
    }
}
