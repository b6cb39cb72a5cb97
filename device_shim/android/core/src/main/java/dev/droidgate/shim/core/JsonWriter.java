package dev.droidgate.shim.core;

import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Map;

/** The one JSON text of a value: sorted keys, no blanks, exact numbers (shim-engine.md 1). */
public final class JsonWriter implements Comparator<String> {
    private static final JsonWriter BY_CODE_POINT = new JsonWriter();
    private static final String HEXADECIMAL = "0123456789abcdef";

    private JsonWriter() {}

    /** Returns the text of a value as {@link JsonReader} gives it. */
    public static String write(Object value) {
        StringBuilder out = new StringBuilder(64);
        write(value, out);
        return out.toString();
    }

    private static void write(Object value, StringBuilder out) {
        if (value instanceof String) {
            writeText((String) value, out);
        } else if (value instanceof Map) {
            writeObject((Map<?, ?>) value, out);
        } else if (value instanceof List) {
            out.append('[');
            String separator = "";
            for (Object item : (List<?>) value) {
                out.append(separator);
                write(item, out);
                separator = ",";
            }
            out.append(']');
        } else {
            // Null, booleans, Long and BigDecimal.
            out.append(value);
        }
    }

    private static void writeObject(Map<?, ?> value, StringBuilder out) {
        String[] names = value.keySet().toArray(new String[0]);
        Arrays.sort(names, BY_CODE_POINT);
        char before = '{';
        for (String name : names) {
            out.append(before);
            writeText(name, out);
            out.append(':');
            write(value.get(name), out);
            before = ',';
        }
        out.append(names.length == 0 ? "{}" : "}");
    }

    private static void writeText(String text, StringBuilder out) {
        out.append('"');
        int written = 0;
        for (int index = 0; index < text.length(); index++) {
            char character = text.charAt(index);
            if (character < ' ' || character == '"' || character == '\\') {
                out.append(text, written, index);
                writeEscape(character, out);
                written = index + 1;
            }
        }
        out.append(text, written, text.length()).append('"');
    }

    private static void writeEscape(char character, StringBuilder out) {
        int known = "\"\\\b\f\n\r\t".indexOf(character);
        if (known >= 0) {
            out.append('\\').append("\"\\bfnrt".charAt(known));
        } else {
            out.append("\\u00").append(HEXADECIMAL.charAt(character >> 4));
            out.append(HEXADECIMAL.charAt(character & 15));
        }
    }

    /** Compares by code points, which differs from {@code compareTo} beyond U+D7FF. */
    @Override
    public int compare(String left, String right) {
        int length = Math.min(left.length(), right.length());
        for (int index = 0; index < length; index++) {
            char character = left.charAt(index);
            char other = right.charAt(index);
            if (character != other) {
                boolean high = Character.isSurrogate(character);
                return high == Character.isSurrogate(other) ? character - other : high ? 1 : -1;
            }
        }
        return left.length() - right.length();
    }
}
