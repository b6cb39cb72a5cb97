package dev.droidgate.shim.core;

import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Strict JSON (RFC 8259; docs/shim-engine.md 1).
 *
 * <p>A value is null, Boolean, Long, BigDecimal, String, a List or a Map in source order. A number
 * without fraction and exponent is a Long.
 */
public final class JsonReader {
    private static final int DEPTH = 64;
    private static final int KEYS = 1024;
    /** UTF-16 units of a document that somebody else wrote, or will read. */
    static final int LENGTH = 200_000;

    private static final int NUMBER = 32;
    private static final int EXPONENT = 3;

    private final String text;
    private final boolean own;
    private int at;
    private int depth;

    private JsonReader(String text, boolean own) {
        this.text = text;
        this.own = own;
    }

    /**
     * Reads a text that somebody else wrote, within all limits.
     *
     * @throws MalformedJsonException it is no such JSON
     */
    public static Object parse(String text) throws MalformedJsonException {
        if (text.length() > LENGTH) {
            throw new MalformedJsonException("the JSON is too long");
        }
        return new JsonReader(text, false).document();
    }

    /**
     * Reads a text that the shim's builder wrote: longer, deeper, and with any number.
     *
     * @throws MalformedJsonException it is no JSON
     */
    public static Object parseOwn(String text) throws MalformedJsonException {
        return new JsonReader(text, true).document();
    }

    private Object document() throws MalformedJsonException {
        skipBlanks();
        Object value = value();
        skipBlanks();
        demand(at == text.length());
        return value;
    }

    /** Refuses a text that is not as it has to be up to here. */
    private void demand(boolean isJson) throws MalformedJsonException {
        if (!isJson) {
            throw new MalformedJsonException("no JSON within the limits at character " + at);
        }
    }

    private int peek() {
        return at < text.length() ? text.charAt(at) : -1;
    }

    private void skipBlanks() {
        while (at < text.length()) {
            char one = text.charAt(at);
            if (one != ' ' && one != '\n' && one != '\r' && one != '\t') {
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
        demand(text.startsWith(word, at));
        at += word.length();
        return value;
    }

    private void enter() throws MalformedJsonException {
        depth++;
        demand(depth <= (own ? 8 * DEPTH : DEPTH));
        at++;
        skipBlanks();
    }

    private boolean ends(char closing) throws MalformedJsonException {
        skipBlanks();
        int one = peek();
        demand(one == ',' || one == closing);
        at++;
        if (one == ',') {
            skipBlanks();
        }
        return one == closing;
    }

    private Map<String, Object> object() throws MalformedJsonException {
        Map<String, Object> members = new LinkedHashMap<>();
        enter();
        if (peek() == '}') {
            at++;
        } else {
            do {
                demand(peek() == '"');
                String name = string();
                skipBlanks();
                demand(peek() == ':');
                at++;
                skipBlanks();
                demand(!members.containsKey(name));
                members.put(name, value());
                demand(members.size() <= KEYS || own);
            } while (!ends('}'));
        }
        depth--;
        return members;
    }

    private List<Object> list() throws MalformedJsonException {
        List<Object> items = new ArrayList<>();
        enter();
        if (peek() == ']') {
            at++;
        } else {
            do {
                items.add(value());
            } while (!ends(']'));
        }
        depth--;
        return items;
    }

    private String string() throws MalformedJsonException {
        at++;
        int begin = at;
        StringBuilder built = null;
        while (true) {
            int one = peek();
            demand(one >= ' ');
            if (one == '"' || one == '\\') {
                if (one == '"' && built == null) {
                    String plain = text.substring(begin, at++);
                    return paired(plain);
                }
                built = built == null ? new StringBuilder() : built;
                built.append(text, begin, at++);
                if (one == '"') {
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
        int one = peek();
        at++;
        if (one == 'u') {
            return code();
        }
        int known = "\"\\/bfnrt".indexOf(one);
        demand(known >= 0);
        return "\"\\/\b\f\n\r\t".charAt(known);
    }

    private char code() throws MalformedJsonException {
        int code = 0;
        for (int end = at + 4; at < end; at++) {
            int one = peek();
            int digit = one < 128 ? Character.digit(one, 16) : -1;
            demand(digit >= 0);
            code = code * 16 + digit;
        }
        return (char) code;
    }

    private String paired(String value) throws MalformedJsonException {
        for (int index = 0; index < value.length(); index++) {
            char one = value.charAt(index);
            if (Character.isSurrogate(one)) {
                boolean pair =
                        index + 1 < value.length()
                                && Character.isSurrogatePair(one, value.charAt(index + 1));
                demand(pair);
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
        demand(at > begin);
        return at - begin;
    }

    private Object number() throws MalformedJsonException {
        int begin = at;
        if (peek() == '-') {
            at++;
        }
        int first = at;
        demand(digits() == 1 || text.charAt(first) != '0');
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
            demand(digits() <= EXPONENT);
        }
        demand(at - begin <= NUMBER || own);
        String written = text.substring(begin, at);
        return whole && !scaled ? integer(written) : decimal(written);
    }

    private Object integer(String written) throws MalformedJsonException {
        try {
            return Long.valueOf(written);
        } catch (NumberFormatException tooLarge) {
            demand(own);
            return new BigDecimal(written);
        }
    }

    private BigDecimal decimal(String written) throws MalformedJsonException {
        BigDecimal number = new BigDecimal(written);
        demand(own || !Double.isInfinite(number.doubleValue()));
        return number;
    }
}
