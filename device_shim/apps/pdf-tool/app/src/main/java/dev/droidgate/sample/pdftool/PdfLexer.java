package dev.droidgate.sample.pdftool;

import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Reads PDF objects: null, Boolean, Long, Double, String for a name, byte[] for a string, List, Map, PdfRef. A bare
 * word such as an operator comes back as a Word.
 */
final class PdfLexer {
    static final class Word {
        final String text;

        Word(String text) {
            this.text = text;
        }
    }

    static final Word END = new Word("");

    private static final int MAX_DEPTH = 64;

    private final byte[] data;
    int at;

    PdfLexer(byte[] data, int at) {
        this.data = data;
        this.at = at;
    }

    Object next() throws ToolException {
        return next(0);
    }

    private Object next(int depth) throws ToolException {
        if (depth > MAX_DEPTH) {
            throw new ToolException("the file nests its objects too deep");
        }
        skipBlanks();
        if (at >= data.length) {
            return END;
        }
        char c = (char) (data[at] & 0xff);
        if (c == '/') {
            at++;
            return name();
        }
        if (c == '(') {
            return literal();
        }
        if (c == '[') {
            at++;
            return list(depth);
        }
        if (c == '<') {
            if (at + 1 < data.length && data[at + 1] == '<') {
                at += 2;
                return dictionary(depth);
            }
            return hexadecimal();
        }
        if (isDelimiter(c)) {
            at += (c == '>' && at + 1 < data.length && data[at + 1] == '>') ? 2 : 1;
            return new Word(c == '>' ? ">>" : String.valueOf(c));
        }
        return numberOrWord();
    }

    private Object numberOrWord() {
        String word = regular();
        if (!isNumber(word)) {
            switch (word) {
                case "true":
                    return Boolean.TRUE;
                case "false":
                    return Boolean.FALSE;
                case "null":
                    return null;
                default:
                    return new Word(word);
            }
        }
        if (word.indexOf('.') >= 0 || word.length() > 10) {
            return Double.valueOf(word);
        }
        int afterNumber = at;
        if (isDigits(word) && word.length() < 9) {
            skipBlanks();
            if (isDigits(regular())) {
                skipBlanks();
                if (regular().equals("R")) {
                    return new PdfRef(Integer.parseInt(word));
                }
            }
            at = afterNumber;
        }
        return Long.valueOf(word);
    }

    private String regular() {
        int start = at;
        while (at < data.length && !isBlank(data[at]) && !isDelimiter((char) (data[at] & 0xff))) {
            at++;
        }
        return new String(data, start, at - start, StandardCharsets.ISO_8859_1);
    }

    private static boolean isNumber(String word) {
        int digits = 0;
        int points = 0;
        for (int i = 0; i < word.length(); i++) {
            char c = word.charAt(i);
            if (c >= '0' && c <= '9') {
                digits++;
            } else if (c == '.') {
                points++;
            } else if (i > 0 || (c != '-' && c != '+')) {
                return false;
            }
        }
        return digits > 0 && points <= 1;
    }

    private static boolean isDigits(String word) {
        for (int i = 0; i < word.length(); i++) {
            if (word.charAt(i) < '0' || word.charAt(i) > '9') {
                return false;
            }
        }
        return !word.isEmpty();
    }

    private String name() {
        String raw = regular();
        StringBuilder out = new StringBuilder();
        for (int i = 0; i < raw.length(); i++) {
            char c = raw.charAt(i);
            if (c == '#' && i + 2 < raw.length()) {
                int high = Character.digit(raw.charAt(i + 1), 16);
                int low = Character.digit(raw.charAt(i + 2), 16);
                if (high >= 0 && low >= 0) {
                    c = (char) (high * 16 + low);
                    i += 2;
                }
            }
            out.append(c);
        }
        return out.toString();
    }

    private byte[] literal() throws ToolException {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        int open = 1;
        at++;
        while (at < data.length) {
            int c = data[at++] & 0xff;
            if (c == '\\') {
                escaped(out);
                continue;
            }
            if (c == '(') {
                open++;
            } else if (c == ')' && --open == 0) {
                return out.toByteArray();
            }
            out.write(c);
        }
        throw new ToolException("a text in the file does not end");
    }

    private void escaped(ByteArrayOutputStream out) {
        if (at >= data.length) {
            return;
        }
        int c = data[at++] & 0xff;
        if (c >= '0' && c <= '7') {
            int code = c - '0';
            for (int i = 0; i < 2 && at < data.length && data[at] >= '0' && data[at] <= '7'; i++) {
                code = code * 8 + data[at++] - '0';
            }
            out.write(code);
        } else if (c == '\r') {
            if (at < data.length && data[at] == '\n') {
                at++;
            }
        } else if (c != '\n') {
            int known = "nrtbf".indexOf(c);
            out.write(known < 0 ? c : "\n\r\t\b\f".charAt(known));
        }
    }

    private byte[] hexadecimal() throws ToolException {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        int pending = -1;
        at++;
        while (at < data.length) {
            char c = (char) (data[at++] & 0xff);
            if (c == '>') {
                if (pending >= 0) {
                    out.write(pending * 16);
                }
                return out.toByteArray();
            }
            int digit = Character.digit(c, 16);
            if (digit >= 0) {
                if (pending < 0) {
                    pending = digit;
                } else {
                    out.write(pending * 16 + digit);
                    pending = -1;
                }
            }
        }
        throw new ToolException("a text in the file does not end");
    }

    private List<Object> list(int depth) throws ToolException {
        List<Object> list = new ArrayList<>();
        while (true) {
            Object item = next(depth + 1);
            if (isWord(item, "]")) {
                return list;
            }
            if (item == END) {
                throw new ToolException("a list in the file does not end");
            }
            list.add(item);
        }
    }

    private Map<String, Object> dictionary(int depth) throws ToolException {
        Map<String, Object> dictionary = new LinkedHashMap<>();
        while (true) {
            Object key = next(depth + 1);
            if (isWord(key, ">>")) {
                return dictionary;
            }
            if (!(key instanceof String)) {
                throw new ToolException("a dictionary in the file is broken");
            }
            Object value = next(depth + 1);
            if (value == END || isWord(value, ">>")) {
                throw new ToolException("a dictionary in the file is broken");
            }
            dictionary.put((String) key, value);
        }
    }

    static boolean isWord(Object item, String text) {
        return item instanceof Word && ((Word) item).text.equals(text);
    }

    void skipBlanks() {
        while (at < data.length) {
            if (data[at] == '%') {
                while (at < data.length && data[at] != '\n' && data[at] != '\r') {
                    at++;
                }
            } else if (isBlank(data[at])) {
                at++;
            } else {
                return;
            }
        }
    }

    static boolean isBlank(byte b) {
        return b == ' ' || b == '\n' || b == '\r' || b == '\t' || b == '\f' || b == 0;
    }

    private static boolean isDelimiter(char c) {
        return "()<>[]{}/%".indexOf(c) >= 0;
    }
}
