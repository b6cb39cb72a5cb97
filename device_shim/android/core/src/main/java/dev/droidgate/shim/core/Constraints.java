package dev.droidgate.shim.core;

import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * What a type states beyond its kind: enum, pattern and JSON Schema's limits, the same ones that {@code
 * droidgate_mappings.values.coercion} enforces. A pattern outside the subset lets everything pass.
 */
final class Constraints {
    private static final List<String> KEYWORDS =
            Arrays.asList(
                    "const", "uniqueItems", "required", "multipleOf", "minimum", "maximum",
                    "exclusiveMinimum", "exclusiveMaximum", "minLength", "maxLength", "minItems",
                    "maxItems", "minProperties", "maxProperties");
    private static final int MAX_SCALE = 400;
    private static final int MAX_SHOWN = 80;
    private static final int MAX_LISTED = 20;

    /** What a value does that breaks each keyword. */
    private static final List<String> VIOLATIONS =
            Arrays.asList(
                    " is not ", "", " does not have all of ", " is not a multiple of ",
                    " is less than the minimum ", " is greater than the maximum ",
                    " is not greater than ", " is not less than ",
                    " characters are fewer than ", " characters are more than ", " items are fewer than ",
                    " items are more than ", " members are fewer than ", " members are more than ");

    private Constraints() {}

    /** Returns why a value of the right kind does not fit, null where it does. */
    static String findViolation(Object value, Type declared) {
        if (value == null) {
            return allowsNull(declared) ? null : "null is none of the allowed values";
        }
        if (declared.values != null && !holds(declared.values, value)) {
            return shown(value) + " is not allowed; the allowed values are " + listed(declared.values);
        }
        if (declared.pattern != null && value instanceof String && !matches((String) value, declared)) {
            return "the text does not match the declared pattern";
        }
        for (Map.Entry<String, Object> keyword : declared.keywords.entrySet()) {
            if (!keeps(value, keyword.getKey(), keyword.getValue())) {
                return violation(value, keyword.getKey(), keyword.getValue());
            }
        }
        return null;
    }

    /**
     * Returns whether null is a value of a type; {@code enum} never lists it where {@code nullable} allows
     * it.
     */
    private static boolean allowsNull(Type declared) {
        List<?> stated = Json.list(declared.keywords.get("enum"));
        List<?> values = stated == null ? declared.values : stated;
        boolean isListed = values == null || values.contains(null);
        return declared.nullable || isListed && declared.keywords.get("const") == null;
    }

    /** Returns values for a message, the first of them where there are many. */
    static String listed(Collection<?> values) {
        StringBuilder text = new StringBuilder();
        int count = 0;
        for (Object item : values) {
            if (count == MAX_LISTED) {
                return text.append(" and ").append(values.size() - count).append(" more").toString();
            }
            text.append(count == 0 ? "" : ", ").append(shown(item));
            count++;
        }
        return text.toString();
    }

    static String shown(Object value) {
        String text = JsonWriter.write(value);
        return text.length() <= MAX_SHOWN ? text : text.substring(0, MAX_SHOWN) + "...";
    }

    private static String violation(Object value, String keyword, Object limit) {
        if ("uniqueItems".equals(keyword)) {
            return shown(value) + " has a duplicate item";
        }
        String words = VIOLATIONS.get(KEYWORDS.indexOf(keyword));
        return shown(measured(value, keyword)) + words + shown(limit);
    }

    private static boolean holds(List<?> values, Object value) {
        for (Object item : values) {
            if (Json.equal(value, item)) {
                return true;
            }
        }
        return false;
    }

    private static boolean matches(String text, Type declared) {
        try {
            return declared.compiledPattern().matches(text);
        } catch (UnsupportedPatternException unsupported) {
            return true;
        }
    }

    private static boolean keeps(Object value, String keyword, Object limit) {
        switch (KEYWORDS.indexOf(keyword)) {
            case 0:
                return Json.equal(value, limit);
            case 1:
                return !Boolean.TRUE.equals(limit) || isUnique(Json.list(value));
            case 2:
                return hasAll(Json.object(value), Json.list(limit));
            case 3:
                return isMultiple(Json.decimal(value), Json.decimal(limit));
            case -1:
                return true;
            default:
                return isWithin(measured(value, keyword), limit, keyword);
        }
    }

    /**
     * Returns what a limit is about: a text's length, a list's or object's size, or the number
     * itself.
     */
    private static Object measured(Object value, String keyword) {
        if (keyword.endsWith("Length")) {
            return lengthOf(value);
        }
        if (keyword.endsWith("Items")) {
            return value instanceof List ? (Long) (long) ((List<?>) value).size() : null;
        }
        if (keyword.endsWith("Properties")) {
            return value instanceof Map ? (Long) (long) ((Map<?, ?>) value).size() : null;
        }
        return value;
    }

    /** Returns whether a number keeps a limit; what cannot be compared does. */
    private static boolean isWithin(Object value, Object limit, String keyword) {
        BigDecimal number = Json.decimal(value);
        BigDecimal bound = Json.decimal(limit);
        if (number == null || bound == null) {
            return true;
        }
        int order = number.compareTo(bound);
        boolean atMost = keyword.startsWith("max") || keyword.endsWith("Maximum");
        return order == 0 ? !keyword.startsWith("exclusive") : order < 0 == atMost;
    }

    private static Long lengthOf(Object value) {
        if (!(value instanceof String)) {
            return null;
        }
        String text = (String) value;
        return (long) text.codePointCount(0, text.length());
    }

    private static boolean isMultiple(BigDecimal number, BigDecimal step) {
        if (number == null || step == null || step.signum() <= 0) {
            return true;
        }
        boolean wide =
                Math.max(number.scale(), step.scale()) > MAX_SCALE
                        || Math.max(Numbers.adjusted(number), Numbers.adjusted(step)) > MAX_SCALE;
        return wide || number.remainder(step).signum() == 0;
    }

    private static boolean isUnique(List<?> items) {
        if (items != null) {
            Set<String> seen = new HashSet<>();
            for (Object item : items) {
                if (!seen.add(JsonWriter.write(normal(item)))) {
                    return false;
                }
            }
        }
        return true;
    }

    /** Returns a value whose JSON text is that of every equal value. */
    private static Object normal(Object value) {
        if (value instanceof List) {
            List<Object> items = new ArrayList<>();
            for (Object item : (List<?>) value) {
                items.add(normal(item));
            }
            return items;
        }
        if (value instanceof Map) {
            Map<String, Object> members = new LinkedHashMap<>();
            for (Map.Entry<String, Object> entry : Json.object(value).entrySet()) {
                members.put(entry.getKey(), normal(entry.getValue()));
            }
            return members;
        }
        if (!Json.isNumber(value)) {
            return value;
        }
        BigDecimal number = Json.decimal(value);
        return number.signum() == 0 ? BigDecimal.ZERO : number.stripTrailingZeros();
    }

    private static boolean hasAll(Map<String, Object> members, List<?> names) {
        if (members != null && names != null) {
            for (Object name : names) {
                if (!(name instanceof String) || !members.containsKey(name)) {
                    return false;
                }
            }
        }
        return true;
    }
}
