package dev.droidgate.shim.core;

import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;

/** A wire dialect of Mobile-MCP that is served ({@code droidgate_mobile_mcp.wire_dialects}). */
final class WireDialect {
    static final String REQUEST_EXTRA = "mobile-mcp-request";
    static final String RESPONSE_EXTRA = "mobile-mcp-response";
    static final String PROTOTYPE_REQUEST_EXTRA = "request";
    static final String PROTOTYPE_RESPONSE_EXTRA = "response";
    static final String COMMAND_EXTRA = "mcp_command_json";
    static final String RESULT_EXTRA = "result_json";
    static final String REQUEST_ID_EXTRA = "mcp_request_id";
    static final String VERSION = "1.0";

    static final WireDialect S0 = new WireDialect("S0", true, "args");
    static final WireDialect S1 = new WireDialect("S1", true, "input");
    static final WireDialect MM_4 = new WireDialect("MM-4", false, "args");
    static final WireDialect MM_5 = new WireDialect("MM-5", false, "input");
    static final WireDialect MM_6 = new WireDialect("MM-6", false, "input");
    static final WireDialect MM_6_ARGS = new WireDialect("MM-6-args", false, "args");

    private static final WireDialect[] ALL = {S0, S1, MM_4, MM_5, MM_6, MM_6_ARGS};

    final String id;

    /** Requests and responses are in a document that names their version. */
    final boolean wrapped;

    /** The capability's key that holds the arguments. */
    final String argumentsKey;

    private WireDialect(String id, boolean wrapped, String argumentsKey) {
        this.id = id;
        this.wrapped = wrapped;
        this.argumentsKey = argumentsKey;
    }

    /** Returns the dialect of an id, null where no such dialect is served. */
    static WireDialect of(String id) {
        for (WireDialect dialect : ALL) {
            if (dialect.id.equals(id)) {
                return dialect;
            }
        }
        return null;
    }

    /** Returns whether outputs are a list of name, type and value, else an object. */
    boolean listsOutputs() {
        return "args".equals(argumentsKey);
    }

    /** Returns the document that names the version of a request or response. */
    static Map<String, Object> wrap(String extra, String key, Map<String, Object> inner) {
        Map<String, Object> versioned = new LinkedHashMap<>();
        versioned.put("version", VERSION);
        versioned.put(key, inner);
        return Collections.<String, Object>singletonMap(extra, versioned);
    }

    /** Returns the extra that holds its requests. */
    String requestExtra() {
        return wrapped ? REQUEST_EXTRA : PROTOTYPE_REQUEST_EXTRA;
    }
}
