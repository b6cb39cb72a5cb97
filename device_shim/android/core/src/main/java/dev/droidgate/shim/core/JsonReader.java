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
        if (at < text.length()) {
            throw wrong("something stands behind the value");
        }
        return value;
    }

    private MalformedJsonException wrong(String what) {
        return new MalformedJsonException("not JSON at " + at + ": " + what);
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
        if (!text.startsWith(word, at)) {
            throw wrong("no value");
        }
        at += word.length();
        return value;
    }

    private void enter() throws MalformedJsonException {
        depth++;
        if (depth > (own ? 8 * DEPTH : DEPTH)) {
            throw wrong("nested too deep");
        }
        at++;
        skipBlanks();
    }

    private boolean ends(char closing) throws MalformedJsonException {
        skipBlanks();
        int one = peek();
        if (one != ',' && one != closing) {
            throw wrong("no comma and no end");
        }
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
                if (peek() != '"') {
                    throw wrong("no name");
                }
                String name = string();
                skipBlanks();
                if (peek() != ':') {
                    throw wrong("no colon");
                }
                at++;
                skipBlanks();
                if (members.containsKey(name)) {
                    throw wrong("a key stands twice");
                }
                members.put(name, value());
                if (members.size() > KEYS && !own) {
                    throw wrong("too many keys");
                }
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
            if (one < ' ') {
                throw wrong("a text that does not end, or a control in it");
            }
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
        switch (one) {
            case '"':
            case '\\':
            case '/':
                return (char) one;
            case 'b':
                return '\b';
            case 'f':
                return '\f';
            case 'n':
                return '\n';
            case 'r':
                return '\r';
            case 't':
                return '\t';
            case 'u':
                return code();
            default:
                throw wrong("an escape that is none");
        }
    }

    private char code() throws MalformedJsonException {
        int code = 0;
        for (int end = at + 4; at < end; at++) {
            int one = peek();
            int digit = one < 128 ? Character.digit(one, 16) : -1;
            if (digit < 0) {
                throw wrong("an escape without its digits");
            }
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
                if (!pair) {
                    throw wrong("half of a surrogate pair");
                }
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
        if (at == begin) {
            throw wrong("no digit");
        }
        return at - begin;
    }

    private Object number() throws MalformedJsonException {
        int begin = at;
        if (peek() == '-') {
            at++;
        }
        int first = at;
        if (digits() > 1 && text.charAt(first) == '0') {
            throw wrong("a zero before a number");
        }
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
            if (digits() > EXPONENT) {
                throw wrong("an exponent of too many digits");
            }
        }
        if (at - begin > NUMBER && !own) {
            throw wrong("a number of too many characters");
        }
        String written = text.substring(begin, at);
        return whole && !scaled ? integer(written) : decimal(written);
    }

    private Object integer(String written) throws MalformedJsonException {
        try {
            return Long.valueOf(written);
        } catch (NumberFormatException tooLarge) {
            if (own) {
                return new BigDecimal(written);
            }
            throw wrong("an integer of more than 64 bits");
        }
    }

    private BigDecimal decimal(String written) throws MalformedJsonException {
        BigDecimal number = new BigDecimal(written);
        if (!own && Double.isInfinite(number.doubleValue())) {
            throw wrong("a number beyond the doubles");
        }
        return number;
    }
}
