package dev.droidgate.sample.tally;

import org.json.JSONArray;
import org.json.JSONException;
import org.json.JSONObject;

/**
 * Reads one JSON object from text that another app sent. The reader in org.json also takes comments, bare words and
 * repeated names, and a deep text makes it overflow the stack.
 */
final class StrictJson {
    private static final int MAX_DEPTH = 64;

    private final String text;
    private int at;

    private StrictJson(String text) {
        this.text = text;
    }

    static JSONObject parseObject(String text) throws JSONException {
        StrictJson reader = new StrictJson(text);
        reader.skipBlanks();
        if (reader.peek() != '{') {
            throw reader.problem("an object must come first");
        }
        JSONObject object = reader.object(1);
        reader.skipBlanks();
        if (reader.at < text.length()) {
            throw reader.problem("there is text after the object");
        }
        return object;
    }

    private Object value(int depth) throws JSONException {
        skipBlanks();
        char next = peek();
        if (next == '{') {
            return object(depth + 1);
        }
        if (next == '[') {
            return array(depth + 1);
        }
        if (next == '"') {
            return string();
        }
        if (next == '-' || isDigit(next)) {
            return number();
        }
        if (take("true")) {
            return Boolean.TRUE;
        }
        if (take("false")) {
            return Boolean.FALSE;
        }
        if (take("null")) {
            return JSONObject.NULL;
        }
        throw problem("a value is missing");
    }

    private JSONObject object(int depth) throws JSONException {
        enter(depth);
        JSONObject object = new JSONObject();
        skipBlanks();
        if (take("}")) {
            return object;
        }
        do {
            skipBlanks();
            String name = string();
            if (object.has(name)) {
                throw problem("the name \"" + name + "\" appears twice");
            }
            skipBlanks();
            expect(':');
            object.put(name, value(depth));
            skipBlanks();
        } while (take(","));
        expect('}');
        return object;
    }

    private JSONArray array(int depth) throws JSONException {
        enter(depth);
        JSONArray array = new JSONArray();
        skipBlanks();
        if (take("]")) {
            return array;
        }
        do {
            array.put(value(depth));
            skipBlanks();
        } while (take(","));
        expect(']');
        return array;
    }

    private void enter(int depth) throws JSONException {
        if (depth > MAX_DEPTH) {
            throw problem("more than " + MAX_DEPTH + " levels");
        }
        at++;
    }

    private String string() throws JSONException {
        expect('"');
        StringBuilder out = new StringBuilder();
        while (at < text.length()) {
            char c = text.charAt(at++);
            if (c == '"') {
                return out.toString();
            }
            if (c < ' ') {
                throw problem("a control character stands in a string");
            }
            out.append(c == '\\' ? escaped() : c);
        }
        throw problem("a string does not end");
    }

    private char escaped() throws JSONException {
        char c = peek();
        at++;
        switch (c) {
            case '"':
            case '\\':
            case '/':
                return c;
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
                int code = 0;
                for (int i = 0; i < 4; i++) {
                    int digit = hexDigit(peek());
                    if (digit < 0) {
                        throw problem("\\u needs four hexadecimal digits");
                    }
                    code = code * 16 + digit;
                    at++;
                }
                return (char) code;
            default:
                throw problem("an unknown escape stands in a string");
        }
    }

    private Number number() throws JSONException {
        int start = at;
        take("-");
        if (!take("0")) {
            digits();
        }
        boolean whole = true;
        if (take(".")) {
            whole = false;
            digits();
        }
        if (peek() == 'e' || peek() == 'E') {
            whole = false;
            at++;
            if (peek() == '+' || peek() == '-') {
                at++;
            }
            digits();
        }
        String found = text.substring(start, at);
        if (whole) {
            try {
                return Long.valueOf(found);
            } catch (NumberFormatException tooLarge) {
                throw problem("a whole number is out of range");
            }
        }
        double value = Double.parseDouble(found);
        if (Double.isInfinite(value)) {
            throw problem("a number is out of range");
        }
        return value;
    }

    private void digits() throws JSONException {
        if (!isDigit(peek())) {
            throw problem("a digit is missing");
        }
        while (isDigit(peek())) {
            at++;
        }
    }

    private static boolean isDigit(char c) {
        return c >= '0' && c <= '9';
    }

    private static int hexDigit(char c) {
        return c < 128 ? Character.digit(c, 16) : -1;
    }

    private char peek() {
        return at < text.length() ? text.charAt(at) : 0;
    }

    private boolean take(String token) {
        if (!text.startsWith(token, at)) {
            return false;
        }
        at += token.length();
        return true;
    }

    private void expect(char wanted) throws JSONException {
        if (peek() != wanted) {
            throw problem("'" + wanted + "' is missing");
        }
        at++;
    }

    private void skipBlanks() {
        while (at < text.length() && " \t\r\n".indexOf(text.charAt(at)) >= 0) {
            at++;
        }
    }

    private JSONException problem(String what) {
        return new JSONException(what + " at character " + at);
    }
}
