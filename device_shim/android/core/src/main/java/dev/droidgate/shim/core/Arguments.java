package dev.droidgate.shim.core;

import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** A call's arguments, fitted to the declared input as {@code droidgate_mappings.values.coercion} does. */
final class Arguments {
    private Arguments() {}

    /**
     * Returns the arguments as declared. A null for what is neither nullable nor required is not a value; a
     * name that is not declared is refused, unless the input allows further names.
     *
     * @throws CallFailure {@code invalid_argument}, with the pointer of the argument
     */
    static Map<String, Object> fit(
            Map<String, Object> arguments, Type input, Map<String, Type> definitions)
            throws CallFailure {
        Type declared = input.behind(definitions);
        Map<String, Object> given = new LinkedHashMap<>();
        Object further = declared.keywords.get("additionalProperties");
        boolean closed = declared.is(Type.OBJECT) && (further == null || Boolean.FALSE.equals(further));
        for (Map.Entry<String, Object> entry : arguments.entrySet()) {
            Type.Property known = declared.properties.get(entry.getKey());
            if (known == null && closed) {
                throw unknown(entry.getKey(), declared.properties.keySet());
            }
            boolean isNone =
                    known != null && entry.getValue() == null && !known.required && !known.type.nullable;
            if (!isNone) {
                given.put(entry.getKey(), entry.getValue());
            }
        }
        try {
            return Json.object(new ValueFitter(definitions, false).fit(given, input));
        } catch (UnfitValueException unfit) {
            throw new CallFailure(FailureTokens.INVALID_ARGUMENT, unfit.describe());
        }
    }

    /** Returns why a name is refused: with the nearest parameters, or all of them where none is near. */
    private static CallFailure unknown(String name, Collection<String> declared) {
        String text = "not a parameter; ";
        if (declared.isEmpty()) {
            text += "the capability has no parameters";
        } else {
            List<String> near = NearestNames.of(name, declared);
            text +=
                    near.isEmpty()
                            ? "the parameters are " + Constraints.listed(declared)
                            : "did you mean " + quoted(near) + "?";
        }
        return new CallFailure(FailureTokens.INVALID_ARGUMENT, Json.point("", name) + ": " + text);
    }

    private static String quoted(List<String> names) {
        StringBuilder text = new StringBuilder();
        for (String name : names) {
            text.append(text.length() == 0 ? "\"" : " or \"").append(name).append('"');
        }
        return text.toString();
    }
}
