package dev.droidgate.shim.core;

import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/**
 * Fits values to declared types: what is of the declared kind is taken, what spells it is coerced and
 * reported, all else is refused, as {@code droidgate_mappings.values.coercion} does.
 */
final class ValueFitter {
    private static final int MAX_DEPTH = 64;
    private static final int MAX_STEPS = 200_000;

    /** The JSON Pointers of what was coerced so far, in order. */
    final List<String> coercions = new ArrayList<>();

    private final Map<String, Type> definitions;
    private final boolean exact;
    private int steps;

    ValueFitter(Map<String, Type> definitions, boolean exact) {
        this(definitions, exact, MAX_STEPS);
    }

    private ValueFitter(Map<String, Type> definitions, boolean exact, int steps) {
        this.definitions = definitions;
        this.exact = exact;
        this.steps = steps;
    }

    /**
     * Returns a value as its declaration has it.
     *
     * @throws UnfitValueException it does not fit
     */
    Object fit(Object value, Type declared) throws UnfitValueException {
        return fit(value, declared, "", 0);
    }

    private Object fit(Object value, Type declared, String pointer, int depth)
            throws UnfitValueException {
        spend(pointer, depth);
        Type type = resolve(declared, pointer);
        boolean allowsNull =
                declared.nullable || type.nullable && Constraints.findViolation(null, declared) == null;
        if (value == null && allowsNull) {
            return null;
        }
        Object fitted = fitKind(value, type, pointer, depth);
        String violation = Constraints.findViolation(fitted, type);
        if (violation == null && declared != type) {
            violation = Constraints.findViolation(fitted, declared);
        }
        if (violation != null) {
            throw new UnfitValueException(pointer, violation);
        }
        return fitted;
    }

    private void spend(String pointer, int depth) throws UnfitValueException {
        steps--;
        if (steps < 0) {
            throw new UnfitValueException(pointer, "there are too many alternatives to look at");
        }
        if (depth > MAX_DEPTH) {
            throw new UnfitValueException(pointer, "it is nested too deep");
        }
    }

    private Type resolve(Type declared, String pointer) throws UnfitValueException {
        Type found = declared.behind(definitions);
        if (found.is(Type.REF)) {
            throw new UnfitValueException(pointer, "its type " + found.name + " is not defined");
        }
        return found;
    }

    private Object fitKind(Object value, Type type, String pointer, int depth)
            throws UnfitValueException {
        switch (type.kind) {
            case Type.STRING:
                return expectText(value, "a text", pointer);
            case Type.BOOLEAN:
                return fitBoolean(value, pointer);
            case Type.INT32:
                return fitInteger(value, 32, pointer);
            case Type.INT64:
                return fitInteger(value, 64, pointer);
            case Type.FLOAT:
                return fitReal(value, true, pointer);
            case Type.DOUBLE:
                return fitReal(value, false, pointer);
            case Type.BYTES:
                return fitBytes(value, pointer);
            case Type.NULL:
                if (value != null) {
                    throw unexpected("null", value, pointer);
                }
                return null;
            case Type.ARRAY:
                return fitList(value, type, pointer, depth);
            case Type.OBJECT:
                return fitObject(value, type, pointer, depth);
            case Type.ALL_OF:
                Object fitted = value;
                for (Type member : type.members) {
                    fitted = fit(fitted, member, pointer, depth + 1);
                }
                return fitted;
            case Type.ONE_OF:
                return fitOne(value, type, pointer, depth);
            case Type.OPAQUE:
                throw new UnfitValueException(pointer, "a platform object has no JSON value");
            default:
                if (!type.possible) {
                    throw new UnfitValueException(pointer, "no value is allowed");
                }
                return value;
        }
    }

    private static UnfitValueException unexpected(String required, Object value, String pointer) {
        String given = Json.kindOf(value);
        return new UnfitValueException(pointer, required + " is declared and " + given + " is given");
    }

    private void coerce(String pointer, String message) throws UnfitValueException {
        if (exact) {
            throw new UnfitValueException(pointer, message);
        }
        coercions.add(pointer);
    }

    private static String expectText(Object value, String words, String pointer)
            throws UnfitValueException {
        if (value instanceof String) {
            return (String) value;
        }
        throw unexpected(words, value, pointer);
    }

    private Object fitBoolean(Object value, String pointer) throws UnfitValueException {
        if (value instanceof Boolean) {
            return value;
        }
        String word = value instanceof String ? ((String) value).toLowerCase(Locale.ROOT) : "";
        if (!"true".equals(word) && !"false".equals(word)) {
            throw unexpected("a boolean", value, pointer);
        }
        coerce(pointer, "a text is given for a boolean");
        return Boolean.valueOf(word);
    }

    private Object fitInteger(Object given, int bits, String pointer) throws UnfitValueException {
        Object value = given;
        if (value instanceof String && Numbers.isInteger((String) value)) {
            coerce(pointer, "a text is given for an integer");
            value = new BigDecimal((String) value);
        }
        if (!Json.isNumber(value)) {
            throw unexpected("an integer", value, pointer);
        }
        if (value instanceof BigDecimal && !Numbers.isWhole((BigDecimal) value)) {
            throw new UnfitValueException(pointer, "an integer is declared, this is a fraction");
        }
        Long whole = Numbers.whole(value, bits);
        if (whole == null) {
            throw new UnfitValueException(pointer, "the number does not fit " + bits + " bits");
        }
        return whole;
    }

    private Object fitReal(Object given, boolean single, String pointer)
            throws UnfitValueException {
        Object value = given;
        if (value instanceof String && Numbers.isReal((String) value)) {
            value = parsed((String) value);
            if (value != null) {
                coerce(pointer, "a text is given for a number");
            }
        }
        if (!Json.isNumber(value)) {
            throw unexpected("a number", given, pointer);
        }
        double size = Math.abs(Json.decimal(value).doubleValue());
        if (size > (single ? Float.MAX_VALUE : Double.MAX_VALUE)) {
            throw new UnfitValueException(pointer, "the number is too large");
        }
        return value;
    }

    private static Object parsed(String text) {
        try {
            return JsonReader.parse(text);
        } catch (MalformedJsonException noJson) {
            return null;
        }
    }

    private static Object fitBytes(Object value, String pointer) throws UnfitValueException {
        String text = expectText(value, "a text in base64", pointer);
        if (!isBase64(text)) {
            throw new UnfitValueException(pointer, "the text is not base64");
        }
        return text;
    }

    /** Returns whether a text is base64 with its padding (RFC 4648 section 4). */
    static boolean isBase64(String text) {
        int length = text.length();
        if (length % 4 != 0) {
            return false;
        }
        int end = text.endsWith("==") ? length - 2 : text.endsWith("=") ? length - 1 : length;
        for (int index = 0; index < end; index++) {
            char character = text.charAt(index);
            boolean letter = character >= 'a' && character <= 'z' || character >= 'A' && character <= 'Z';
            if (!letter && !(character >= '0' && character <= '9') && character != '+' && character != '/') {
                return false;
            }
        }
        return true;
    }

    /** Returns a list or an object, also where a text spells it. */
    private Object spelt(Object given, Class<?> kind, String words, String pointer)
            throws UnfitValueException {
        if (kind.isInstance(given)) {
            return given;
        }
        Object parsed = given instanceof String ? parsed((String) given) : null;
        if (!kind.isInstance(parsed)) {
            throw unexpected(words, given, pointer);
        }
        coerce(pointer, "a text is given for " + words);
        return parsed;
    }

    private Object fitList(Object given, Type type, String pointer, int depth)
            throws UnfitValueException {
        List<Object> list = Json.list(spelt(given, List.class, "a list", pointer));
        if (type.items == null) {
            return list;
        }
        List<Object> fitted = new ArrayList<>(list.size());
        for (Object item : list) {
            fitted.add(fit(item, type.items, pointer + '/' + fitted.size(), depth + 1));
        }
        return fitted;
    }

    private Object fitObject(Object given, Type type, String pointer, int depth)
            throws UnfitValueException {
        Map<String, Object> fields = Json.object(spelt(given, Map.class, "an object", pointer));
        Map<String, Object> fitted = new LinkedHashMap<>();
        for (Map.Entry<String, Object> member : fields.entrySet()) {
            String name = member.getKey();
            Object value = member.getValue();
            Type.Property known = type.properties.get(name);
            if (known != null) {
                value = fit(value, known.type, Json.point(pointer, name), depth + 1);
            } else if (Boolean.FALSE.equals(type.keywords.get("additionalProperties"))) {
                String here = Json.point(pointer, name);
                throw new UnfitValueException(here, "nothing of this name is declared");
            }
            fitted.put(name, value);
        }
        for (Map.Entry<String, Type.Property> property : type.properties.entrySet()) {
            if (property.getValue().required && !fields.containsKey(property.getKey())) {
                miss(property.getKey(), property.getValue().type, pointer);
            }
        }
        return fitted;
    }

    private void miss(String name, Type declared, String pointer) throws UnfitValueException {
        if (!declared.nullable && !resolve(declared, pointer).nullable) {
            throw new UnfitValueException(pointer, name + " is required and missing");
        }
        coerce(Json.point(pointer, name), "it is required and missing; null is used");
    }

    private Object fitOne(Object value, Type type, String pointer, int depth)
            throws UnfitValueException {
        Type named = namedAlternative(value, type, pointer);
        if (named != null) {
            return fitNamed(Json.object(value), named, pointer, depth);
        }
        List<ValueFitter> trials = new ArrayList<>();
        List<Object> found = fitting(value, type, pointer, depth, true, trials);
        if (found.isEmpty() && !exact) {
            found = fitting(value, type, pointer, depth, false, trials);
        }
        if (found.isEmpty()) {
            throw new UnfitValueException(pointer, "it is none of the declared alternatives");
        }
        if (type.exclusive && found.size() > 1) {
            throw new UnfitValueException(pointer, "it is several of the declared alternatives");
        }
        coercions.addAll(trials.get(0).coercions);
        return found.get(0);
    }

    /** Returns the alternative that the value names, null where it names none. */
    private Type namedAlternative(Object value, Type type, String pointer)
            throws UnfitValueException {
        Map<String, Object> fields = Json.object(value);
        String text = fields == null ? null : Json.text(fields.get(Type.SCHEMA_TYPE));
        if (text != null) {
            for (Type alternative : type.members) {
                Type behind = resolve(alternative, pointer);
                if (text.equals(behind.schemaName(alternative.name))) {
                    return behind;
                }
            }
        }
        return null;
    }

    private Object fitNamed(Map<String, Object> value, Type named, String pointer, int depth)
            throws UnfitValueException {
        Map<String, Object> fields = new LinkedHashMap<>(value);
        Map<String, Object> fitted = new LinkedHashMap<>();
        fitted.put(Type.SCHEMA_TYPE, fields.remove(Type.SCHEMA_TYPE));
        fitted.putAll(Json.object(fit(fields, named, pointer, depth + 1)));
        return fitted;
    }

    private List<Object> fitting(
            Object value, Type type, String pointer, int depth, boolean exactly, List<ValueFitter> trials)
            throws UnfitValueException {
        List<Object> found = new ArrayList<>();
        for (Type alternative : type.members) {
            ValueFitter trial = new ValueFitter(definitions, exactly, steps);
            try {
                found.add(trial.fit(value, alternative, pointer, depth + 1));
                trials.add(trial);
            } catch (UnfitValueException unfit) {
                // Another alternative may fit.
            }
            steps = trial.steps;
            spend(pointer, depth);
        }
        return found;
    }
}
