package dev.droidgate.shim.core;

import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Requests of agents that speak no Mobile-MCP: written as S1 for the engine, and its answers read back
 * (shim.md 2, 6).
 */
public final class Frontend {
    private static final String RETURN_VALUE = "androidAppfunctionsReturnValue";

    private Frontend() {}

    /**
     * Returns the extras of a request.
     *
     * @param arguments an object, or JSON text of one
     */
    public static Map<String, Object> request(String capability, String id, Object arguments) {
        Map<String, String> extras = MobileMcpWire.writeRequest(WireDialect.S1, id, capability, arguments);
        return new LinkedHashMap<String, Object>(extras);
    }

    /** Returns the extras of a request that is written already. */
    public static Map<String, Object> written(String request) {
        return Collections.<String, Object>singletonMap(WireDialect.REQUEST_EXTRA, request);
    }

    /** Returns the text of an answer, null where there is none. */
    public static String textOf(Map<String, String> extras) {
        return extras == null ? null : extras.get(MobileMcpResponse.extraOf(extras));
    }

    /**
     * Returns the outputs that an answer reports, empty for none.
     *
     * @throws CallFailure the failure that it reports
     */
    public static Map<String, Object> outputs(Map<String, String> extras) throws CallFailure {
        return Json.members(MobileMcpResponse.read(extras).value());
    }

    /**
     * Returns the outputs as one text: that of the only one, {@code result}, where it is a text, else JSON.
     */
    public static String asText(Map<String, Object> outputs) {
        Object result = outputs.size() == 1 ? outputs.get("result") : null;
        return result instanceof String ? (String) result : JsonWriter.write(outputs);
    }

    /**
     * Returns the arguments that a function's request document holds.
     *
     * @throws CallFailure {@code invalid_argument}: it does not fit the route's input
     */
    public static Object arguments(Map<String, Object> document, Route route, RouteTable routes)
            throws CallFailure {
        return DocumentReader.readParameters(document, route.input, routes.definitions);
    }

    /**
     * Returns the document that a function answers with.
     *
     * @throws CallFailure {@code invalid_argument}: a document cannot say the outputs
     */
    public static Map<String, Object> document(
            Map<String, Object> outputs, Route route, RouteTable routes) throws CallFailure {
        Map<String, Object> properties = new LinkedHashMap<>();
        if (route.outputs != null) {
            Type declared = route.output;
            if (!"fields".equals(route.outputs)) {
                Map<String, Type.Property> named = new LinkedHashMap<>();
                if (declared != null) {
                    named.put(route.outputName, new Type.Property(declared, false));
                }
                declared = new Type(named, null);
            }
            List<Object> values = new ArrayList<>();
            values.add(DocumentWriter.write(outputs, declared, routes.definitions));
            Map<String, Object> property = new LinkedHashMap<>();
            property.put(DocumentTypes.KIND, DocumentTypes.DOCUMENT);
            property.put(DocumentTypes.VALUES, values);
            properties.put(RETURN_VALUE, property);
        }
        return DocumentTypes.document("", properties);
    }
}
