package dev.droidgate.shim.core;

import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** How one capability of the shim is carried out (docs/shim-engine.md 2). */
public final class Route {
    static final String ACTIVITY = "mmcp-activity";
    static final String BROADCAST = "mmcp-broadcast";
    static final String APP_FUNCTION = "app-function";
    static final String TOOL = "mobile-mcp";

    private static final List<String> BACKENDS =
            Arrays.asList(ACTIVITY, BROADCAST, APP_FUNCTION, TOOL);
    private static final List<String> OUTPUTS = Arrays.asList("fields", "value", "text");
    /** Milliseconds that a call may take where a route does not say. */
    static final long USUAL_DEADLINE = 30_000;

    /** The capability's id. */
    public final String id;

    /** The kind of backend, such as {@code app-function}. */
    public final String backend;

    /** The package of the app that answers. */
    public final String packageName;

    /** The component of an activity, receiver or service, {@code package/class}; null for a function. */
    public final String component;

    /** What was approved, null where nothing was noted. */
    public final Target target;

    /** How long a call may take, in milliseconds. */
    public final long deadline;

    final Type input;
    final Type output;

    /** {@code fields}, {@code value} or {@code text}; null where nothing is declared. */
    final String outputs;

    final String outputName;

    /** The tool, the function's id, or the capability of another tool. */
    final String callee;

    final Dialect dialect;
    private final Map<String, String> names = new LinkedHashMap<>();

    Route(Map<String, Object> json) throws MalformedJsonException {
        id = Json.textAt(json, "id");
        input = Type.of(json.get("input"));
        output = json.get("output") == null ? null : Type.of(json.get("output"));
        Map<String, Object> told = Json.objectAt(json, "outputs");
        outputs = json.get("outputs") == null ? null : known(told, OUTPUTS);
        outputName = told.get("name") == null ? "result" : Json.textAt(told, "name");
        Map<String, Object> held = Json.objectAt(json, "backend");
        backend = known(held, BACKENDS);
        boolean function = APP_FUNCTION.equals(backend);
        boolean tool = TOOL.equals(backend);
        component = function ? null : Json.textAt(held, "component");
        packageName = function ? Json.textAt(held, "package") : component.split("/", 2)[0];
        callee = Json.textAt(held, function ? "function" : tool ? "capability" : "tool");
        dialect = tool ? Dialect.of(Json.textAt(held, "dialect")) : null;
        if (tool && dialect == null) {
            throw new MalformedJsonException("the route " + id + " has a dialect that is not served");
        }
        target = json.get("target") == null ? null : Target.of(Json.objectAt(json, "target"));
        deadline = Json.integerAt(json, "deadline_ms", USUAL_DEADLINE);
        Map<String, Object> renamed = Json.objectAt(json, "names");
        for (String name : renamed.keySet()) {
            names.put(name, Json.textAt(renamed, name));
        }
    }

    private static String known(Map<String, Object> held, List<String> kinds)
            throws MalformedJsonException {
        String kind = Json.textAt(held, "kind");
        if (!kinds.contains(kind)) {
            throw new MalformedJsonException(kind + " is no kind of outputs or backend");
        }
        return kind;
    }

    /** Returns arguments under the names that the backend has for them. */
    private Map<String, Object> renamed(Map<String, Object> arguments) {
        if (names.isEmpty()) {
            return arguments;
        }
        Map<String, Object> renamed = new LinkedHashMap<>();
        for (Map.Entry<String, Object> one : arguments.entrySet()) {
            String name = names.get(one.getKey());
            renamed.put(name == null ? one.getKey() : name, one.getValue());
        }
        return renamed;
    }

    /**
     * Returns what goes to the backend.
     *
     * @throws CallFailure {@code invalid_argument}: the backend's form cannot say it
     */
    Outgoing outgoing(Map<String, Object> arguments, Map<String, Type> definitions, String newId)
            throws CallFailure {
        if (APP_FUNCTION.equals(backend)) {
            // Types go by the shim's names, so the document is renamed, not the value.
            Map<String, Object> document = DocumentWriter.write(arguments, input, definitions);
            Map<String, Object> properties = Json.object(document.get(DocumentTypes.PROPERTIES));
            document.put(DocumentTypes.PROPERTIES, renamed(properties));
            return new Outgoing(null, callee, document);
        }
        Map<String, Object> given = renamed(arguments);
        Map<String, String> extras;
        if (ACTIVITY.equals(backend)) {
            extras = MmcpWire.activityCall(callee, given);
        } else if (BROADCAST.equals(backend)) {
            extras = MmcpWire.broadcastCall(callee, given);
        } else {
            extras = ToolWire.request(dialect, newId, callee, given);
        }
        return new Outgoing(extras, null, null);
    }

    /**
     * Returns the value that a backend answered with.
     *
     * @throws CallFailure the failure that it told
     */
    Object value(BackendAnswer answer, Map<String, Type> definitions) throws CallFailure {
        if (answer.failure != null) {
            throw answer.failure;
        }
        if (APP_FUNCTION.equals(backend)) {
            return DocumentReader.read(answer.document, output, definitions);
        }
        if (BROADCAST.equals(backend)) {
            return MmcpWire.broadcastValue(answer.code, answer.data);
        }
        return ACTIVITY.equals(backend)
                ? MmcpWire.activityValue(answer.code, answer.extras)
                : ToolWire.value(answer.extras);
    }
}
