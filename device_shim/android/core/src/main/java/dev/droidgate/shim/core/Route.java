package dev.droidgate.shim.core;

import java.util.Arrays;
import java.util.Collection;
import java.util.Collections;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** How one capability of the shim is carried out (shim-engine.md 2). */
public final class Route {
    private static final List<String> BACKENDS =
            Arrays.asList(
                    BackendAnswer.ACTIVITY, BackendAnswer.BROADCAST, BackendAnswer.APP_FUNCTION,
                    BackendAnswer.MOBILE_MCP, BackendAnswer.APP_ACTION);
    private static final List<String> OUTPUTS = Arrays.asList("fields", "value", "text");
    /** Milliseconds that a call may take where a route does not say. */
    static final long DEFAULT_DEADLINE = 30_000;

    /** The capability's id. */
    public final String id;

    /** The kind of backend, such as {@code app-function}. */
    public final String backend;

    /**
     * The component of an activity, receiver or service, {@code package/class}; null for a
     * function.
     */
    public final String component;

    /** What was approved. */
    public final Target target;

    /** How long a call may take, in milliseconds. */
    public final long deadline;

    /** Whether the source declares that it changes nothing. */
    public final boolean readOnly;

    /** What the source declares of its effects, name -> true or false; empty for nothing. */
    public final Map<String, Object> effects;

    final Type input;
    final Type output;

    /** {@code fields}, {@code value} or {@code text}; null where nothing is declared. */
    final String outputs;

    final String outputName;

    /** The tool, the function's id, the capability of another tool, or the action. */
    final String callee;

    /** What is called, as the table has it. */
    private final Map<String, Object> fields;

    final WireDialect dialect;
    private final Map<String, String> names = new LinkedHashMap<>();

    Route(Map<String, Object> json, Map<String, Type> definitions) throws MalformedJsonException {
        Json.checkKeys(
                json, "id", "input", "names", "outputs", "output", "backend", "target", "deadline_ms",
                "effects");
        id = Json.nameAt(json, "id");
        input = Type.of(json.get("input"));
        input.checkReferences(definitions);
        Type declared = json.get("output") == null ? null : Type.of(json.get("output"));
        if (declared != null) {
            declared.checkReferences(definitions);
        }
        Map<String, Object> values = Json.objectAt(json, "outputs");
        Json.check(json.containsKey("outputs"), "outputs");
        outputs = json.get("outputs") == null ? null : known(values, OUTPUTS);
        Json.checkKeys(values, "kind", "fields".equals(outputs) ? null : "name");
        outputName = values.containsKey("name") ? Json.nameAt(values, "name") : "result";
        fields = Json.objectAt(json, "backend");
        backend = known(fields, BACKENDS);
        boolean function = BackendAnswer.APP_FUNCTION.equals(backend);
        boolean tool = BackendAnswer.MOBILE_MCP.equals(backend);
        boolean screen = BackendAnswer.APP_ACTION.equals(backend);
        String calleeKey = screen ? "action" : function ? "function" : tool ? "capability" : "tool";
        String placeKey = screen || function ? "package" : "component";
        String more = tool ? "dialect" : screen ? "starts" : null;
        Json.checkKeys(fields, "kind", calleeKey, placeKey, more, screen ? "values" : null);
        Json.check(!screen || !Json.listAt(fields, more).isEmpty(), more);
        callee = Json.nameAt(fields, calleeKey);
        String place = Json.nameAt(fields, placeKey);
        component = screen || function ? null : place;
        int slash = place.indexOf('/');
        boolean twoParts =
                slash > 0 && slash < place.length() - 1 && slash == place.lastIndexOf('/');
        Json.check(screen || function || twoParts, place);
        dialect = tool ? dialectOf(fields) : null;
        output = tool ? optional(declared, definitions) : declared;
        target = Target.of(Json.objectOf(json.get("target"), "a target"));
        deadline = Json.integerAt(json, "deadline_ms", DEFAULT_DEADLINE);
        Json.check(deadline > 0, "deadline_ms");
        effects = Json.objectAt(json, "effects");
        readOnly = Boolean.TRUE.equals(effects.get("read_only"));
        readNames(Json.objectAt(json, "names"), input.behind(definitions).properties.keySet());
    }

    /** Returns an output whose members a Mobile-MCP tool may omit (specification 3.2). */
    private static Type optional(Type declared, Map<String, Type> definitions) {
        Type output = declared == null ? null : declared.behind(definitions);
        return output != null && output.is(Type.OBJECT) ? output.withOptionalProperties() : declared;
    }

    private static WireDialect dialectOf(Map<String, Object> fields) throws MalformedJsonException {
        String text = Json.optionalTextAt(fields, "dialect");
        WireDialect dialect = text == null ? WireDialect.S0 : WireDialect.of(text);
        Json.check(dialect != null, text);
        return dialect;
    }

    private void readNames(Map<String, Object> renamed, Collection<String> declared)
            throws MalformedJsonException {
        for (String name : renamed.keySet()) {
            Json.check(declared.contains(name), name);
            names.put(name, Json.nameAt(renamed, name));
        }
        Set<String> present = new HashSet<>();
        for (String name : declared) {
            // Two parameters cannot have one name at the backend.
            Json.check(present.add(names.containsKey(name) ? names.get(name) : name), name);
        }
    }

    private static String known(Map<String, Object> fields, List<String> kinds)
            throws MalformedJsonException {
        String kind = Json.textAt(fields, "kind");
        Json.check(kinds.contains(kind), kind);
        return kind;
    }

    /**
     * Returns arguments under the names that the backend has for them.
     *
     * @throws CallFailure {@code invalid_argument}: one that is not declared has such a name, and would evade
     *     its parameter's constraints
     */
    private Map<String, Object> renamed(Map<String, Object> arguments) throws CallFailure {
        if (names.isEmpty()) {
            return arguments;
        }
        Map<String, Object> renamed = new LinkedHashMap<>();
        for (Map.Entry<String, Object> entry : arguments.entrySet()) {
            String name = names.get(entry.getKey());
            if (name == null) {
                checkIsFree(entry.getKey());
            }
            renamed.put(name == null ? entry.getKey() : name, entry.getValue());
        }
        return renamed;
    }

    private void checkIsFree(String name) throws CallFailure {
        for (Map.Entry<String, String> entry : names.entrySet()) {
            if (entry.getValue().equals(name)) {
                throw new CallFailure(
                        FailureTokens.INVALID_ARGUMENT,
                        Json.point("", name) + ": not a parameter; did you mean \"" + entry.getKey() + "\"?");
            }
        }
    }

    /**
     * Returns what goes to the backend.
     *
     * @throws CallFailure {@code invalid_argument}: the backend's form cannot say it
     */
    Outgoing writeCall(Map<String, Object> arguments, Map<String, Type> definitions, String newId)
            throws CallFailure {
        if (BackendAnswer.APP_FUNCTION.equals(backend)) {
            // Types go by the shim's names, so the document is renamed, not the value.
            Map<String, Object> document = DocumentWriter.write(arguments, input, definitions);
            Map<String, Object> properties = Json.object(document.get(DocumentTypes.PROPERTIES));
            document.put(DocumentTypes.PROPERTIES, renamed(properties));
            Outgoing.check(JsonWriter.write(document).length());
            return new Outgoing(null, callee, document, null);
        }
        Map<String, Object> given = renamed(arguments);
        Map<String, String> extras;
        if (BackendAnswer.ACTIVITY.equals(backend)) {
            extras = MmcpWire.writeActivityCall(callee, given);
        } else if (BackendAnswer.BROADCAST.equals(backend)) {
            extras = MmcpWire.writeBroadcastCall(callee, given);
        } else if (BackendAnswer.APP_ACTION.equals(backend)) {
            extras = Collections.singletonMap("intent", ScreenStarts.write(fields, given));
        } else {
            extras = MobileMcpWire.writeRequest(dialect, newId, callee, given);
        }
        Outgoing.check(Outgoing.unitsOf(extras));
        return new Outgoing(extras, null, null, BackendAnswer.MOBILE_MCP.equals(backend) ? newId : null);
    }

    /**
     * Returns the value that a backend answered with.
     *
     * @throws CallFailure the failure that it reported
     */
    Object readAnswer(BackendAnswer answer, Map<String, Type> definitions) throws CallFailure {
        boolean screen = BackendAnswer.APP_ACTION.equals(backend);
        if (!answer.isFrom(screen ? BackendAnswer.ACTIVITY : backend)) {
            throw new CallFailure(
                    FailureTokens.MALFORMED_RESPONSE, "the answer is of another form than the backend's");
        }
        if (answer.failure != null) {
            throw answer.failure;
        }
        if (screen) {
            return "The screen was opened. The app does not report what it does with the call.";
        }
        if (BackendAnswer.APP_FUNCTION.equals(backend)) {
            Object value = DocumentReader.read(answer.document, output, definitions);
            return value == null && output == null ? MobileMcpResponse.MISSING : value;
        }
        if (BackendAnswer.BROADCAST.equals(backend)) {
            return MmcpWire.readBroadcastResult(answer.code, answer.data);
        }
        return BackendAnswer.ACTIVITY.equals(backend)
                ? MmcpWire.readActivityResult(answer.code, answer.extras)
                : answer.response().identifiedValue();
    }
}
