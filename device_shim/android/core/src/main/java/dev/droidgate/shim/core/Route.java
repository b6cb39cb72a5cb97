package dev.droidgate.shim.core;

import java.util.Arrays;
import java.util.Collection;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** How one capability of the shim is carried out (shim-engine.md 2). */
public final class Route {
    private static final List<String> OUTPUTS = Arrays.asList("fields", "value", "text");

    /** How long a call may take where a route does not say. */
    static final long DEFAULT_DEADLINE_MS = 30_000;

    /** The capability's id. */
    public final String id;

    /** What is called. */
    public final Backend backend;

    /** Where that is: the component, {@code package/class}, or the package of a kind without one. */
    public final String destination;

    /** What was approved. */
    public final Target target;

    /** How long a call may take. */
    public final long deadlineMs;

    /** Whether the source declares that it changes nothing. */
    public final boolean readOnly;

    /** What the source declares of its effects, name -> true or false; empty for nothing. */
    public final Map<String, Object> effects;

    final Type input;
    final Type output;

    /** {@code fields}, {@code value} or {@code text}; null where nothing is declared. */
    final String outputs;

    final String outputName;

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
        outputs = json.get("outputs") == null ? null : Json.textAt(values, "kind");
        Json.check(outputs == null || OUTPUTS.contains(outputs), outputs);
        Json.checkKeys(values, "kind", "fields".equals(outputs) ? null : "name");
        outputName = values.containsKey("name") ? Json.nameAt(values, "name") : "result";
        Map<String, Object> called = Json.objectAt(json, "backend");
        backend = Backend.of(called);
        boolean isComponent = called.containsKey("component");
        destination = Json.nameAt(called, isComponent ? "component" : "package");
        Json.check(!isComponent || destination.matches("[^/]+/[^/]+"), destination);
        boolean isTool = backend instanceof Backend.CapabilityBackend;
        output = isTool ? optional(declared, definitions) : declared;
        target = Target.of(Json.objectOf(json.get("target"), "a target"));
        deadlineMs = Json.integerAt(json, "deadline_ms", DEFAULT_DEADLINE_MS);
        Json.check(deadlineMs > 0, "deadline_ms");
        effects = Json.objectAt(json, "effects");
        readOnly = Boolean.TRUE.equals(effects.get("read_only"));
        readNames(Json.objectAt(json, "names"), input.behind(definitions).properties.keySet());
    }

    /** Returns an output whose members a Mobile-MCP tool may omit (specification 3.2). */
    private static Type optional(Type declared, Map<String, Type> definitions) {
        Type output = declared == null ? null : declared.behind(definitions);
        return output != null && output.is(Type.OBJECT) ? output.withOptionalProperties() : declared;
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

    /**
     * Returns arguments under the names that the backend has for them.
     *
     * @throws CallFailure {@code invalid_argument}: one that is not declared has such a name, and would evade
     *     its parameter's constraints
     */
    Map<String, Object> renamed(Map<String, Object> arguments) throws CallFailure {
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
}
