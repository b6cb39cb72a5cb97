package dev.droidgate.sample.pdftool;

import java.io.ByteArrayOutputStream;
import java.math.BigDecimal;
import java.math.RoundingMode;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import org.json.JSONArray;
import org.json.JSONException;
import org.json.JSONObject;

/** Writes several files as one: each keeps its own page tree, and a new tree holds them all. */
final class PdfMerger {
    private static final int CATALOG = 1;
    private static final int TREE = 2;
    private static final int INFO = 3;
    private static final int FIRST_FREE = 4;

    private final ByteArrayOutputStream out = new ByteArrayOutputStream();
    private final Map<Integer, Integer> offsets = new TreeMap<>();

    byte[] merge(List<PdfFile> files, JSONObject metadata) throws ToolException, JSONException {
        text("%PDF-1.7\n");
        List<Object> trees = new ArrayList<>();
        int pages = 0;
        int shift = FIRST_FREE;
        for (PdfFile file : files) {
            trees.add(new PdfRef(file.pageTree() + shift));
            pages += file.pages().size();
            int highest = 0;
            for (Map.Entry<Integer, Object> entry : file.objects().entrySet()) {
                highest = Math.max(highest, entry.getKey());
                if (entry.getKey() == file.pageTree()) {
                    object(entry.getKey() + shift, below(entry.getValue()), shift);
                } else if (belongs(entry.getValue())) {
                    object(entry.getKey() + shift, entry.getValue(), shift);
                }
            }
            shift += highest + 1;
        }
        object(CATALOG, dictionary("Type", "Catalog", "Pages", new PdfRef(TREE)), 0);
        object(TREE, dictionary("Type", "Pages", "Kids", trees, "Count", (long) pages), 0);
        object(INFO, info(metadata), 0);
        crossReferences(shift);
        return out.toByteArray();
    }

    /** Catalogs, cross-references and packed objects have done their work when a file has been read. */
    private static boolean belongs(Object value) {
        if (value instanceof PdfStream) {
            Object type = ((PdfStream) value).dictionary.get("Type");
            return !"ObjStm".equals(type) && !"XRef".equals(type);
        }
        return !(value instanceof Map && "Catalog".equals(((Map<?, ?>) value).get("Type")));
    }

    /** The file's page tree, hung below the new one; the negative number marks it as not to be shifted. */
    @SuppressWarnings("unchecked")
    private static Object below(Object tree) throws ToolException {
        if (!(tree instanceof Map)) {
            throw new ToolException("a file has no page tree");
        }
        Map<String, Object> copy = new LinkedHashMap<>((Map<String, Object>) tree);
        copy.put("Parent", new PdfRef(-TREE));
        return copy;
    }

    private static Map<String, Object> info(JSONObject metadata) throws JSONException {
        Map<String, Object> info = new LinkedHashMap<>();
        info.put("Producer", unicode("PDF tool"));
        if (metadata.has("title")) {
            info.put("Title", unicode(metadata.getString("title")));
        }
        if (metadata.has("author")) {
            info.put("Author", unicode(metadata.getString("author")));
        }
        if (metadata.has("keywords")) {
            JSONArray keywords = metadata.getJSONArray("keywords");
            StringBuilder joined = new StringBuilder();
            for (int i = 0; i < keywords.length(); i++) {
                joined.append(i == 0 ? "" : ", ").append(keywords.getString(i));
            }
            info.put("Keywords", unicode(joined.toString()));
        }
        return info;
    }

    private static byte[] unicode(String text) {
        return ("\ufeff" + text).getBytes(StandardCharsets.UTF_16BE);
    }

    private static Map<String, Object> dictionary(Object... pairs) {
        Map<String, Object> dictionary = new LinkedHashMap<>();
        for (int i = 0; i < pairs.length; i += 2) {
            dictionary.put((String) pairs[i], pairs[i + 1]);
        }
        return dictionary;
    }

    private void object(int number, Object value, int shift) {
        offsets.put(number, out.size());
        text(number + " 0 obj\n");
        write(value, shift);
        text("\nendobj\n");
    }

    private void write(Object value, int shift) {
        if (value instanceof PdfStream) {
            PdfStream stream = (PdfStream) value;
            Map<String, Object> dictionary = new LinkedHashMap<>(stream.dictionary);
            dictionary.put("Length", (long) stream.stored.length);
            write(dictionary, shift);
            text("\nstream\n");
            out.write(stream.stored, 0, stream.stored.length);
            text("\nendstream");
        } else if (value instanceof Map) {
            text("<<");
            for (Map.Entry<?, ?> entry : ((Map<?, ?>) value).entrySet()) {
                name((String) entry.getKey());
                text(" ");
                write(entry.getValue(), shift);
            }
            text(">>");
        } else if (value instanceof List) {
            text("[");
            for (Object item : (List<?>) value) {
                write(item, shift);
                text(" ");
            }
            text("]");
        } else if (value instanceof PdfRef) {
            int number = ((PdfRef) value).number;
            text((number < 0 ? -number : number + shift) + " 0 R");
        } else if (value instanceof String) {
            name((String) value);
        } else if (value instanceof byte[]) {
            text("<");
            for (byte b : (byte[]) value) {
                out.write(Character.forDigit((b & 0xff) >> 4, 16));
                out.write(Character.forDigit(b & 0xf, 16));
            }
            text(">");
        } else if (value instanceof Double) {
            text(new BigDecimal((Double) value).setScale(6, RoundingMode.HALF_EVEN)
                    .stripTrailingZeros().toPlainString());
        } else if (value instanceof Boolean || value instanceof Long) {
            text(value.toString());
        } else {
            text("null");
        }
    }

    private void name(String name) {
        text("/");
        for (int i = 0; i < name.length(); i++) {
            char c = name.charAt(i);
            boolean plain = c > ' ' && c < 127 && "()<>[]{}/%#".indexOf(c) < 0;
            text(plain ? String.valueOf(c) : String.format(Locale.ROOT, "#%02x", (int) c));
        }
    }

    private void crossReferences(int size) {
        int start = out.size();
        text("xref\n0 1\n0000000000 65535 f \n");
        for (Map.Entry<Integer, Integer> entry : offsets.entrySet()) {
            text(entry.getKey() + " 1\n" + String.format(Locale.ROOT, "%010d 00000 n \n", entry.getValue()));
        }
        text("trailer\n<</Size " + size + "/Root " + CATALOG + " 0 R/Info " + INFO + " 0 R>>\n");
        text("startxref\n" + start + "\n%%EOF\n");
    }

    private void text(String text) {
        byte[] bytes = text.getBytes(StandardCharsets.ISO_8859_1);
        out.write(bytes, 0, bytes.length);
    }
}
