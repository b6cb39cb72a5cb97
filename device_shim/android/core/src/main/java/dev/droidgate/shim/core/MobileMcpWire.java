package dev.droidgate.shim.core;

import java.util.LinkedHashMap;
import java.util.Map;

/**
 * Calls to another Mobile-MCP tool: the request that goes out. {@link MobileMcpResponse} is what comes back.
 */
final class MobileMcpWire {
    private static final String TRACE_ONLY = "trace_only";

    private MobileMcpWire() {}

    /** Returns the extras of a request. */
    static Map<String, String> writeRequest(
            WireDialect dialect, String id, String capability, Object arguments) {
        Map<String, Object> named = new LinkedHashMap<>();
        named.put("id", capability);
        named.put(
                dialect.argumentsKey, dialect.wrapped ? arguments : JsonWriter.write(arguments));
        Map<String, Object> document = new LinkedHashMap<>();
        document.put("id", id);
        document.put("capability", named);
        if (dialect.wrapped) {
            document = WireDialect.wrap(WireDialect.REQUEST_EXTRA, "request", document);
        }
        Map<String, String> extras = new LinkedHashMap<>();
        extras.put(dialect.requestExtra(), JsonWriter.write(document));
        return extras;
    }

    /** Returns whether a callback only carries timings, and so is not an answer. */
    static boolean isTrace(Map<String, Object> extras) {
        Object value = extras.get(TRACE_ONLY);
        return Boolean.TRUE.equals(value) || "true".equals(value);
    }
}
