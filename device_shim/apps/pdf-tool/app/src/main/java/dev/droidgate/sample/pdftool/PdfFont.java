package dev.droidgate.sample.pdftool;

import java.nio.charset.Charset;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** Turns the codes of one font into text: by its ToUnicode map, or as Windows-1252 where the font is a plain one. */
final class PdfFont {
    private static final Charset PLAIN = Charset.forName("windows-1252");
    private static final int MAX_CODES = 65_536;

    private final int codeLength;
    private final Map<Integer, String> codes;

    private PdfFont(int codeLength, Map<Integer, String> codes) {
        this.codeLength = codeLength;
        this.codes = codes;
    }

    static PdfFont of(PdfFile file, Object font) throws ToolException {
        Map<String, Object> dictionary = file.dictionary(font);
        boolean composite = "Type0".equals(file.resolve(dictionary.get("Subtype")));
        Object toUnicode = file.resolve(dictionary.get("ToUnicode"));
        if (toUnicode instanceof PdfStream) {
            return new PdfFont(composite ? 2 : 1, codesIn(PdfFilters.decode(file, (PdfStream) toUnicode)));
        }
        Object encoding = file.resolve(dictionary.get("Encoding"));
        if (composite || encoding instanceof Map || "MacRomanEncoding".equals(encoding)) {
            throw new ToolException("the file's text is written in a font that this tool cannot read");
        }
        return new PdfFont(1, null);
    }

    String decode(byte[] text) {
        if (codes == null) {
            return new String(text, PLAIN);
        }
        StringBuilder out = new StringBuilder();
        for (int i = 0; i + codeLength <= text.length; i += codeLength) {
            int code = number(text, i, codeLength);
            String known = codes.get(code);
            out.append(known == null ? "\ufffd" : known);
        }
        return out.toString();
    }

    private static Map<Integer, String> codesIn(byte[] map) throws ToolException {
        Map<Integer, String> codes = new HashMap<>();
        PdfLexer lexer = new PdfLexer(map, 0);
        List<Object> operands = new ArrayList<>();
        for (Object item = lexer.next(); item != PdfLexer.END; item = lexer.next()) {
            if (PdfLexer.isWord(item, "endbfchar")) {
                for (int i = 0; i + 1 < operands.size(); i += 2) {
                    put(codes, operands.get(i), operands.get(i), operands.get(i + 1));
                }
            } else if (PdfLexer.isWord(item, "endbfrange")) {
                for (int i = 0; i + 2 < operands.size(); i += 3) {
                    put(codes, operands.get(i), operands.get(i + 1), operands.get(i + 2));
                }
            }
            if (item instanceof PdfLexer.Word) {
                operands.clear();
            } else {
                operands.add(item);
            }
        }
        return codes;
    }

    private static void put(Map<Integer, String> codes, Object first, Object last, Object target) {
        if (!isCode(first) || !isCode(last)) {
            return;
        }
        int from = number((byte[]) first, 0, ((byte[]) first).length);
        int to = number((byte[]) last, 0, ((byte[]) last).length);
        for (int code = from; code <= to && codes.size() < MAX_CODES; code++) {
            if (target instanceof List) {
                List<?> each = (List<?>) target;
                if (code - from < each.size() && each.get(code - from) instanceof byte[]) {
                    codes.put(code, utf16((byte[]) each.get(code - from), 0));
                }
            } else if (target instanceof byte[]) {
                codes.put(code, utf16((byte[]) target, code - from));
            }
        }
    }

    private static boolean isCode(Object value) {
        return value instanceof byte[] && ((byte[]) value).length >= 1 && ((byte[]) value).length <= 2;
    }

    private static String utf16(byte[] text, int step) {
        String start = new String(text, StandardCharsets.UTF_16BE);
        if (step == 0 || start.isEmpty()) {
            return start;
        }
        int last = start.length() - 1;
        return start.substring(0, last) + (char) (start.charAt(last) + step);
    }

    private static int number(byte[] bytes, int at, int length) {
        int number = 0;
        for (int i = at; i < at + length; i++) {
            number = number * 256 + (bytes[i] & 0xff);
        }
        return number;
    }
}
