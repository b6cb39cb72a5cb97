package dev.droidgate.shim.core;

import java.math.BigDecimal;
import java.util.Arrays;
import java.util.Collections;
import java.util.Iterator;
import java.util.List;
import java.util.Map;

/** What JSON values have in common: equality, names of kinds, pointers, and members of objects. */
public final class Json {
    private Json() {}

    static boolean isNumber(Object value) {
        return value instanceof Long || value instanceof BigDecimal;
    }

    /** Returns a number as a decimal, null for what is not a number. */
    static BigDecimal decimal(Object value) {
        if (value instanceof Long) {
            return BigDecimal.valueOf((Long) value);
        }
        return value instanceof BigDecimal ? (BigDecimal) value : null;
    }

    /** Returns whether two values are the same value: 1 and 1.0 are, 1 and true are not. */
    static boolean equal(Object left, Object right) {
        if (left == null || right == null) {
            return left == right;
        }
        if (isNumber(left) && isNumber(right)) {
            return decimal(left).compareTo(decimal(right)) == 0;
        }
        if (left instanceof List && right instanceof List) {
            return equalItems((List<?>) left, (List<?>) right);
        }
        if (left instanceof Map && right instanceof Map) {
            return equalMembers((Map<?, ?>) left, (Map<?, ?>) right);
        }
        return left.equals(right);
    }

    private static boolean equalItems(List<?> left, List<?> right) {
        Iterator<?> others = right.iterator();
        for (Object item : left) {
            if (!others.hasNext() || !equal(item, others.next())) {
                return false;
            }
        }
        return !others.hasNext();
    }

    private static boolean equalMembers(Map<?, ?> left, Map<?, ?> right) {
        if (left.size() != right.size()) {
            return false;
        }
        for (Map.Entry<?, ?> member : left.entrySet()) {
            if (!right.containsKey(member.getKey())
                    || !equal(member.getValue(), right.get(member.getKey()))) {
                return false;
            }
        }
        return true;
    }

    /** Names a value's kind for a message. */
    static String kindOf(Object value) {
        if (value == null) {
            return "null";
        }
        if (value instanceof Boolean) {
            return "a boolean";
        }
        if (value instanceof String) {
            return "a text";
        }
        if (value instanceof List) {
            return "a list";
        }
        return value instanceof Map ? "an object" : "a number";
    }

    /** Returns the JSON Pointer of a member (RFC 6901). */
    static String point(String pointer, String name) {
        if (name.indexOf('~') >= 0 || name.indexOf('/') >= 0) {
            return pointer + '/' + name.replace("~", "~0").replace("/", "~1");
        }
        return pointer + '/' + name;
    }

    /** Returns an object's members, null for what is not an object. */
    @SuppressWarnings("unchecked")
    public static Map<String, Object> object(Object value) {
        return value instanceof Map ? (Map<String, Object>) value : null;
    }

    /** Returns an object's members, none for what is not an object. */
    public static Map<String, Object> members(Object value) {
        return value instanceof Map ? object(value) : Collections.<String, Object>emptyMap();
    }

    /** Returns a list's items, null for what is not a list. */
    @SuppressWarnings("unchecked")
    public static List<Object> list(Object value) {
        return value instanceof List ? (List<Object>) value : null;
    }

    /** Returns a text, null for what is not a text. */
    public static String text(Object value) {
        return value instanceof String ? (String) value : null;
    }

    /** Returns the object under a key, an empty one where the key is missing. */
    public static Map<String, Object> objectAt(Map<String, Object> holder, String key)
            throws MalformedJsonException {
        return object(at(holder, key, Map.class, Collections.emptyMap()));
    }

    /** Returns the list under a key, an empty one where the key is missing. */
    public static List<Object> listAt(Map<String, Object> holder, String key)
            throws MalformedJsonException {
        return list(at(holder, key, List.class, Collections.emptyList()));
    }

    /** Returns the text under a key. */
    public static String textAt(Map<String, Object> holder, String key) throws MalformedJsonException {
        String text = optionalTextAt(holder, key);
        check(text != null, key);
        return text;
    }

    /** Returns the text under a key, null where the key is missing. */
    static String optionalTextAt(Map<String, Object> holder, String key)
            throws MalformedJsonException {
        return at(holder, key, String.class, null);
    }

    /** Returns the text under a key, which is not empty. */
    static String nameAt(Map<String, Object> holder, String key) throws MalformedJsonException {
        String text = textAt(holder, key);
        check(!text.isEmpty(), key);
        return text;
    }

    /** Returns the integer under a key, another where the key is missing. */
    public static long integerAt(Map<String, Object> holder, String key, long otherwise)
            throws MalformedJsonException {
        return at(holder, key, Long.class, otherwise);
    }

    /** Returns the true or false under a key, false where the key is missing. */
    public static boolean flagAt(Map<String, Object> holder, String key) throws MalformedJsonException {
        return at(holder, key, Boolean.class, false);
    }

    private static <T> T at(Map<String, Object> holder, String key, Class<T> kind, T otherwise)
            throws MalformedJsonException {
        Object value = holder.get(key);
        check(value == null || kind.isInstance(value), key);
        return value == null ? otherwise : kind.cast(value);
    }

    /** Refuses an object that has other keys than these; null is passed over. */
    static void checkKeys(Map<String, Object> holder, String... known) throws MalformedJsonException {
        for (String key : holder.keySet()) {
            check(Arrays.asList(known).contains(key), key);
        }
    }

    /** Returns a value as an object. */
    public static Map<String, Object> objectOf(Object value, String what) throws MalformedJsonException {
        if (value instanceof Map) {
            return object(value);
        }
        throw new MalformedJsonException(what + " is not a JSON object");
    }

    /** Refuses what is not as it has to be: a key, or its value. */
    public static void check(boolean isRight, String what) throws MalformedJsonException {
        if (!isRight) {
            throw new MalformedJsonException(what + " is missing, unknown or of a wrong kind");
        }
    }
}
