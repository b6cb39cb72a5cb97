package dev.droidgate.shim.core;

import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Strict JSON (RFC 8259; shim-engine.md 1).
 *
 * <p>A value is null, Boolean, Long, BigDecimal, String, a List or a Map in source order. A number
 * without fraction and exponent is a Long.
 */
public final class JsonReader {
    private static final int MAX_DEPTH = 64;
    private static final int MAX_KEYS = 1024;
    /** UTF-16 units of a document that somebody else wrote, or will read. */
    static final int MAX_UNITS = 200_000;

    private static final int MAX_NUMBER_CHARACTERS = 32;
    private static final int MAX_EXPONENT_DIGITS = 3;
    private static final int MAX_SHOWN = 80;

    // Texts of checks that are made often; none is put together where nothing is wrong.
    private static final String TOO_DEEP = "it is nested more than " + MAX_DEPTH + " levels deep";
    private static final String NO_MEMBER = "\",\" or \"}\" is missing";
    private static final String NO_ITEM = "\",\" or \"]\" is missing";

    private final String text;
    private final boolean own;

    /** Whether a mistake ends the reading and leaves what was read. */
    private final boolean partial;

    private int at;
    private int depth;
    private boolean broken;

    private JsonReader(String text, boolean own, boolean partial) {
        this.text = text;
        this.own = own;
        this.partial = partial;
    }

    /**
     * Reads a text that somebody else wrote, within all limits.
     *
     * @throws MalformedJsonException it is not such JSON
     */
    public static Object parse(String text) throws MalformedJsonException {
        if (text.length() > MAX_UNITS) {
            throw new MalformedJsonException(
                    "it has " + text.length() + " characters; at most " + MAX_UNITS + " are read");
        }
        return new JsonReader(text, false, false).document();
    }

    /**
     * Reads a text that the shim's builder wrote: longer, deeper, and with any number.
     *
     * @throws MalformedJsonException it is not JSON
     */
    public static Object parseOwn(String text) throws MalformedJsonException {
        return new JsonReader(text, true, false).document();
    }

    /**
     * Reads as much as possible of a text that is not JSON within the limits. What follows a mistake that
     * ends the reading is missing, and of a duplicate key the first value counts.
     */
    static Object parsePartial(String text) {
        try {
            return new JsonReader(text, true, true).document();
        } catch (MalformedJsonException nothing) {
            return null;
        }
    }

    private Object document() throws MalformedJsonException {
        skipBlanks();
        Object value = value();
        skipBlanks();
        check(at == text.length() || partial, "text follows the document");
        return value;
    }

    private void check(boolean isRight, String mistake) throws MalformedJsonException {
        if (!isRight) {
            throw new MalformedJsonException(mistake, at);
        }
    }

    private int peek() {
        return at < text.length() ? text.charAt(at) : -1;
    }

    private void skipBlanks() {
        while (at < text.length()) {
            char character = text.charAt(at);
            if (character != ' ' && character != '\n' && character != '\r' && character != '\t') {
                return;
            }
            at++;
        }
    }

    private Object value() throws MalformedJsonException {
        switch (peek()) {
            case '{':
                return object();
            case '[':
                return list();
            case '"':
                return string();
            case 't':
                return word("true", Boolean.TRUE);
            case 'f':
                return word("false", Boolean.FALSE);
            case 'n':
                return word("null", null);
            default:
                return number();
        }
    }

    private Object word(String word, Object value) throws MalformedJsonException {
        check(text.startsWith(word, at), "a value is missing");
        at += word.length();
        return value;
    }

    private void enter() throws MalformedJsonException {
        depth++;
        check(depth <= MAX_DEPTH || own && depth <= 8 * MAX_DEPTH, TOO_DEEP);
        at++;
        skipBlanks();
    }

    private boolean ends(char closing) throws MalformedJsonException {
        skipBlanks();
        int character = peek();
        check(character == ',' || character == closing, closing == '}' ? NO_MEMBER : NO_ITEM);
        at++;
        if (character == ',') {
            skipBlanks();
        }
        return character == closing;
    }

    private Map<String, Object> object() throws MalformedJsonException {
        Map<String, Object> members = new LinkedHashMap<>();
        String name = null;
        try {
            enter();
            if (peek() == '}') {
                at++;
            } else {
                do {
                    name = null;
                    name = key(members);
                    boolean repeated = members.containsKey(name);
                    if (!repeated) {
                        // So that a value that cannot be read is known to have been there.
                        members.put(name, null);
                    }
                    check(own || members.size() <= MAX_KEYS, "an object has more than " + MAX_KEYS + " keys");
                    Object value = value();
                    if (!repeated) {
                        members.put(name, value);
                    }
                    if (broken) {
                        return members;
                    }
                    name = null;
                } while (!ends('}'));
            }
        } catch (MalformedJsonException mistake) {
            endPartly(mistake, name);
        }
        depth--;
        return members;
    }

    /** Reads a key with its colon; a partial reading goes on after a duplicate one. */
    private String key(Map<String, Object> members) throws MalformedJsonException {
        check(peek() == '"', "a key in double quotes is missing");
        String name = string();
        skipBlanks();
        if (peek() != ':') {
            throw new MalformedJsonException("\":\" is missing after the key " + shown(name), at);
        }
        if (!partial && members.containsKey(name)) {
            throw new MalformedJsonException("duplicate key " + shown(name), at);
        }
        at++;
        skipBlanks();
        return name;
    }

    private static String shown(String name) {
        boolean isShort = name.length() <= MAX_SHOWN;
        return JsonWriter.write(isShort ? name : name.substring(0, MAX_SHOWN) + "...");
    }

    /** Ends a partial reading at a mistake; any other one fails, with the key under which the mistake is. */
    private void endPartly(MalformedJsonException mistake, String name) throws MalformedJsonException {
        if (!partial) {
            throw mistake.within(name == null ? null : Json.point("", name));
        }
        broken = true;
    }

    private List<Object> list() throws MalformedJsonException {
        List<Object> items = new ArrayList<>();
        String index = null;
        try {
            enter();
            if (peek() == ']') {
                at++;
            } else {
                do {
                    index = String.valueOf(items.size());
                    items.add(value());
                    if (broken) {
                        return items;
                    }
                    index = null;
                } while (!ends(']'));
            }
        } catch (MalformedJsonException mistake) {
            endPartly(mistake, index);
        }
        depth--;
        return items;
    }

    private String string() throws MalformedJsonException {
        at++;
        int begin = at;
        StringBuilder built = null;
        while (true) {
            int character = peek();
            check(character >= 0, "a text has no closing quote");
            check(character >= ' ', "a text has a control character that is not escaped");
            if (character == '"' || character == '\\') {
                if (character == '"' && built == null) {
                    String plain = text.substring(begin, at++);
                    return paired(plain);
                }
                built = built == null ? new StringBuilder() : built;
                built.append(text, begin, at++);
                if (character == '"') {
                    return paired(built.toString());
                }
                built.append(escape());
                begin = at;
            } else {
                at++;
            }
        }
    }

    private char escape() throws MalformedJsonException {
        int character = peek();
        at++;
        if (character == 'u') {
            return code();
        }
        int known = "\"\\/bfnrt".indexOf(character);
        check(known >= 0, "a text has an unknown escape");
        return "\"\\/\b\f\n\r\t".charAt(known);
    }

    private char code() throws MalformedJsonException {
        int code = 0;
        for (int end = at + 4; at < end; at++) {
            int character = peek();
            int digit = character < 128 ? Character.digit(character, 16) : -1;
            check(digit >= 0, "a text has an escape without four hexadecimal digits");
            code = code * 16 + digit;
        }
        return (char) code;
    }

    private String paired(String value) throws MalformedJsonException {
        for (int index = 0; index < value.length(); index++) {
            char character = value.charAt(index);
            if (Character.isSurrogate(character)) {
                boolean pair =
                        index + 1 < value.length()
                                && Character.isSurrogatePair(character, value.charAt(index + 1));
                check(pair, "a text has half of a surrogate pair");
                index++;
            }
        }
        return value;
    }

    private int digits() throws MalformedJsonException {
        int begin = at;
        while (peek() >= '0' && peek() <= '9') {
            at++;
        }
        check(at > begin, "a value is missing, or a number has no digits");
        return at - begin;
    }

    private Object number() throws MalformedJsonException {
        int begin = at;
        if (peek() == '-') {
            at++;
        }
        int first = at;
        check(digits() == 1 || text.charAt(first) != '0', "a number begins with 0");
        boolean whole = true;
        if (peek() == '.') {
            at++;
            digits();
            whole = false;
        }
        boolean scaled = peek() == 'e' || peek() == 'E';
        if (scaled) {
            at++;
            if (peek() == '+' || peek() == '-') {
                at++;
            }
            check(
                    digits() <= MAX_EXPONENT_DIGITS,
                    "a number has more than " + MAX_EXPONENT_DIGITS + " digits of exponent");
        }
        check(at < text.length() || depth == 0, "a number is cut off");
        check(
                at - begin <= MAX_NUMBER_CHARACTERS || own,
                "a number has more than " + MAX_NUMBER_CHARACTERS + " characters");
        String written = text.substring(begin, at);
        return whole && !scaled ? integer(written) : decimal(written);
    }

    private Object integer(String written) throws MalformedJsonException {
        try {
            return Long.valueOf(written);
        } catch (NumberFormatException tooLarge) {
            check(own, "an integer does not fit 64 bits");
            return new BigDecimal(written);
        }
    }

    private BigDecimal decimal(String written) throws MalformedJsonException {
        BigDecimal number = new BigDecimal(written);
        check(own || !Double.isInfinite(number.doubleValue()), "a number does not fit a double");
        return number;
    }
}
