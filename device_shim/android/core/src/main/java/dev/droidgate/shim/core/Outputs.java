package dev.droidgate.shim.core;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** The outputs of a call: values by name in declared order, and their type words (shim-engine.md 4, 6). */
final class Outputs {
    final Map<String, Object> values = new LinkedHashMap<>();
    private final Map<String, String> words = new LinkedHashMap<>();

    private Outputs() {}

    /**
     * Returns the outputs of a backend's value; null where nothing is declared, and for a success without a
     * result: an agent that was answered with a failure might repeat the effect.
     *
     * @throws CallFailure {@code malformed_response}: the value does not fit what is declared
     */
    static Outputs convert(Object value, Route route, Map<String, Type> definitions) throws CallFailure {
        if (route.outputs == null || value == MobileMcpResponse.MISSING) {
            return null;
        }
        Outputs outputs = new Outputs();
        if ("text".equals(route.outputs)) {
            outputs.put(
                    route.outputName,
                    value instanceof String ? value : JsonWriter.write(value),
                    "string");
            return outputs;
        }
        Type declared = route.output == null ? null : route.output.behind(definitions);
        // A text of mMCP stays one where a text is declared; elsewhere it is the value that it spells.
        Object spelt = route.backend instanceof Backend.ToolBackend ? MmcpWire.valueOf(value) : value;
        boolean isText = spelt != null && declared != null && declared.is(Type.STRING);
        Object fitted = fitted(isText ? value : spelt, isText ? spelt : value, route.output, definitions);
        if ("value".equals(route.outputs)) {
            outputs.put(route.outputName, fitted, wordOf(route.output, fitted, definitions));
        } else {
            outputs.putFields(fitted, declared, definitions);
        }
        return outputs;
    }

    /** Returns a value as it is declared, or its other reading where it does not fit. */
    private static Object fitted(Object value, Object other, Type declared, Map<String, Type> definitions)
            throws CallFailure {
        if (declared == null) {
            return value;
        }
        if (declared.is(Type.NULL)) {
            return null;
        }
        try {
            return new ValueFitter(definitions, false).fit(value, declared);
        } catch (UnfitValueException unfit) {
            if (other != value) {
                return fitted(other, other, declared, definitions);
            }
            throw new CallFailure(FailureTokens.MALFORMED_RESPONSE, unfit.describe());
        }
    }

    private void put(String name, Object value, String word) {
        values.put(name, value);
        words.put(name, word);
    }

    private void putFields(Object value, Type declared, Map<String, Type> definitions)
            throws CallFailure {
        Map<String, Object> members = Json.object(value);
        if (members == null) {
            throw new CallFailure(
                    FailureTokens.MALFORMED_RESPONSE, "the result is " + Json.kindOf(value));
        }
        if (declared == null || declared.properties.isEmpty()) {
            for (Map.Entry<String, Object> entry : members.entrySet()) {
                put(entry.getKey(), entry.getValue(), wordOf(null, entry.getValue(), definitions));
            }
            return;
        }
        for (Map.Entry<String, Type.Property> member : declared.properties.entrySet()) {
            if (members.containsKey(member.getKey())) {
                Object content = members.get(member.getKey());
                put(member.getKey(), content, wordOf(member.getValue().type, content, definitions));
            }
        }
    }

    /** Returns the type word of an output. */
    String wordOf(String name) {
        return words.get(name);
    }

    private static String wordOf(Type declared, Object value, Map<String, Type> definitions) {
        if (declared == null) {
            return wordOfValue(value);
        }
        Type type = declared.behind(definitions);
        switch (type.kind) {
            case Type.BOOLEAN:
            case Type.ARRAY:
            case Type.OBJECT:
                return Type.KINDS.get(type.kind);
            case Type.ALL_OF:
                return "object";
            case Type.INT32:
            case Type.INT64:
                return "integer";
            case Type.FLOAT:
            case Type.DOUBLE:
                return "number";
            default:
                return "string";
        }
    }

    private static String wordOfValue(Object value) {
        if (value instanceof Boolean) {
            return "boolean";
        }
        if (value instanceof Map) {
            return "object";
        }
        if (Json.isNumber(value)) {
            return value instanceof Long ? "integer" : "number";
        }
        return value instanceof List ? "array" : "string";
    }
}
