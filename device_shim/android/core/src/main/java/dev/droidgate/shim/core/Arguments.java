package dev.droidgate.shim.core;

import java.util.LinkedHashMap;
import java.util.Map;

/** A call's arguments, fitted to the declared input as {@code droidgate.calls.arguments} does. */
final class Arguments {
    private Arguments() {}

    /**
     * Returns the arguments as declared. A null for what is neither nullable nor required is no value; a
     * name that is not declared is left out, unless the input says what further names may hold.
     *
     * @throws CallFailure {@code invalid_argument}, with the pointer of the argument
     */
    static Map<String, Object> fit(
            Map<String, Object> arguments, Type input, Map<String, Type> definitions)
            throws CallFailure {
        Type declared = input.behind(definitions);
        Map<String, Object> given = new LinkedHashMap<>();
        boolean closed =
                !declared.properties.isEmpty()
                        && !declared.keywords.containsKey("additionalProperties");
        for (Map.Entry<String, Object> one : arguments.entrySet()) {
            Type.Property known = declared.properties.get(one.getKey());
            boolean leftOut =
                    known == null
                            ? closed
                            : one.getValue() == null && !known.required && !known.type.nullable;
            if (!leftOut) {
                given.put(one.getKey(), one.getValue());
            }
        }
        try {
            return Json.object(new ValueFitter(definitions, false).fit(given, input));
        } catch (UnfitValueException unfit) {
            throw new CallFailure(FailureTokens.INVALID_ARGUMENT, unfit.told());
        }
    }
}
