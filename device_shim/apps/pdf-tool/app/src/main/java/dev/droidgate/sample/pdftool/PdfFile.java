package dev.droidgate.sample.pdftool;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

/**
 * A PDF file as its objects. They are found by walking the file from its start, so a damaged cross-reference table does
 * no harm; of two objects with one number the later counts. Encrypted files are refused.
 */
final class PdfFile {
    private static final int MAX_PAGES = 10_000;
    private static final int MAX_DEPTH = 40;

    private final byte[] data;
    private final Map<Integer, Object> objects = new TreeMap<>();
    private final List<Map<String, Object>> pages = new ArrayList<>();
    private PdfRef root;

    private PdfFile(byte[] data) {
        this.data = data;
    }

    static PdfFile parse(byte[] data) throws ToolException {
        PdfFile file = new PdfFile(data);
        String head = new String(data, 0, Math.min(data.length, 1024), StandardCharsets.ISO_8859_1);
        if (!head.contains("%PDF-")) {
            throw new ToolException("the file is not a PDF");
        }
        file.readObjects();
        file.readPages();
        return file;
    }

    List<Map<String, Object>> pages() {
        return pages;
    }

    Map<Integer, Object> objects() {
        return objects;
    }

    /** The object number of the page tree. */
    int pageTree() {
        return root.number;
    }

    Object resolve(Object value) throws ToolException {
        Object found = value;
        for (int hops = 0; found instanceof PdfRef; hops++) {
            if (hops > MAX_DEPTH) {
                throw new ToolException("the file's objects point at each other in a circle");
            }
            found = objects.get(((PdfRef) found).number);
        }
        return found;
    }

    /** The dictionary that a value is or points at; an empty one for anything else. */
    @SuppressWarnings("unchecked")
    Map<String, Object> dictionary(Object value) throws ToolException {
        Object found = resolve(value);
        if (found instanceof PdfStream) {
            return ((PdfStream) found).dictionary;
        }
        return found instanceof Map ? (Map<String, Object>) found : Collections.<String, Object>emptyMap();
    }

    private void readObjects() throws ToolException {
        int at = 0;
        while (true) {
            int word = indexOf("obj", at);
            readTrailers(at, word < 0 ? data.length : word);
            if (word < 0) {
                return;
            }
            int number = numberBefore(word);
            at = number < 0 ? word + 3 : readObject(number, word + 3);
        }
    }

    private void readTrailers(int from, int to) throws ToolException {
        int trailer = indexOf("trailer", from, to);
        if (trailer >= 0) {
            Object found = new PdfLexer(data, trailer + 7).next();
            if (found instanceof Map && ((Map<?, ?>) found).containsKey("Encrypt")) {
                throw new ToolException("the file is protected by a password");
            }
        }
    }

    /** Reads the "12 0" that stands before the word at the given place; -1 when it is something else. */
    private int numberBefore(int word) {
        int i = skipBlanksBack(word - 1);
        int generation = digitsBack(i);
        int j = skipBlanksBack(generation);
        int number = digitsBack(j);
        if (i == word - 1 || generation == i || j == generation || number == j || j - number > 8) {
            return -1;
        }
        return Integer.parseInt(new String(data, number + 1, j - number, StandardCharsets.ISO_8859_1));
    }

    private int skipBlanksBack(int at) {
        while (at >= 0 && PdfLexer.isBlank(data[at])) {
            at--;
        }
        return at;
    }

    private int digitsBack(int at) {
        while (at >= 0 && data[at] >= '0' && data[at] <= '9') {
            at--;
        }
        return at;
    }

    @SuppressWarnings("unchecked")
    private int readObject(int number, int from) throws ToolException {
        PdfLexer lexer = new PdfLexer(data, from);
        Object value = lexer.next();
        int end = lexer.at;
        if (!(value instanceof Map) || !PdfLexer.isWord(lexer.next(), "stream")) {
            objects.put(number, value);
            return end;
        }
        Map<String, Object> dictionary = (Map<String, Object>) value;
        int start = lexer.at;
        if (start < data.length && data[start] == '\r') {
            start++;
        }
        if (start < data.length && data[start] == '\n') {
            start++;
        }
        int length = lengthOf(dictionary, start);
        byte[] stored = new byte[length];
        System.arraycopy(data, start, stored, 0, length);
        PdfStream stream = new PdfStream(dictionary, stored);
        objects.put(number, stream);
        if (dictionary.containsKey("Encrypt")) {
            throw new ToolException("the file is protected by a password");
        }
        if ("ObjStm".equals(dictionary.get("Type"))) {
            readPacked(stream);
        }
        return start + length;
    }

    private int lengthOf(Map<String, Object> dictionary, int start) throws ToolException {
        Object length = resolve(dictionary.get("Length"));
        if (length instanceof Long && (Long) length >= 0 && (Long) length <= data.length - start) {
            int end = start + ((Long) length).intValue();
            if (indexOf("endstream", end, Math.min(data.length, end + 11)) >= 0) {
                return end - start;
            }
        }
        int word = indexOf("endstream", start);
        if (word < 0) {
            throw new ToolException("a part of the file does not end");
        }
        int end = word;
        if (end > start && data[end - 1] == '\n') {
            end--;
        }
        if (end > start && data[end - 1] == '\r') {
            end--;
        }
        return end - start;
    }

    /** Objects of a PDF 1.5 object stream. */
    private void readPacked(PdfStream stream) throws ToolException {
        byte[] unpacked = PdfFilters.decode(this, stream);
        Object count = resolve(stream.dictionary.get("N"));
        Object first = resolve(stream.dictionary.get("First"));
        if (!(count instanceof Long) || !(first instanceof Long)) {
            throw new ToolException("a packed part of the file is damaged");
        }
        PdfLexer index = new PdfLexer(unpacked, 0);
        for (long i = 0; i < (Long) count; i++) {
            Object number = index.next();
            Object offset = index.next();
            if (!(number instanceof Long) || !(offset instanceof Long)) {
                throw new ToolException("a packed part of the file is damaged");
            }
            long at = (Long) first + (Long) offset;
            if (at < 0 || at > unpacked.length || (Long) number < 0 || (Long) number > 99_999_999) {
                throw new ToolException("a packed part of the file is damaged");
            }
            objects.put(((Long) number).intValue(), new PdfLexer(unpacked, (int) at).next());
        }
    }

    private void readPages() throws ToolException {
        for (Object object : objects.values()) {
            if (object instanceof Map && "Catalog".equals(((Map<?, ?>) object).get("Type"))) {
                Object tree = ((Map<?, ?>) object).get("Pages");
                if (tree instanceof PdfRef) {
                    root = (PdfRef) tree;
                }
            }
        }
        if (root == null) {
            throw new ToolException("the file has no page tree");
        }
        collect(root, null, new HashSet<Integer>(), 0);
    }

    private void collect(Object node, Object inherited, Set<Integer> seen, int depth) throws ToolException {
        if (depth > MAX_DEPTH || (node instanceof PdfRef && !seen.add(((PdfRef) node).number))) {
            throw new ToolException("the file's page tree runs in a circle");
        }
        Map<String, Object> own = dictionary(node);
        Object resources = own.containsKey("Resources") ? own.get("Resources") : inherited;
        Object kids = resolve(own.get("Kids"));
        if (kids instanceof List) {
            for (Object kid : (List<?>) kids) {
                collect(kid, resources, seen, depth + 1);
            }
            return;
        }
        if (!own.isEmpty()) {
            if (pages.size() == MAX_PAGES) {
                throw new ToolException("the file has more than " + MAX_PAGES + " pages");
            }
            Map<String, Object> page = new LinkedHashMap<>(own);
            page.put("Resources", resources);
            pages.add(page);
        }
    }

    private int indexOf(String word, int from) {
        return indexOf(word, from, data.length);
    }

    private int indexOf(String word, int from, int to) {
        byte[] wanted = word.getBytes(StandardCharsets.ISO_8859_1);
        for (int i = from; i <= to - wanted.length; i++) {
            int j = 0;
            while (j < wanted.length && data[i + j] == wanted[j]) {
                j++;
            }
            if (j == wanted.length) {
                return i;
            }
        }
        return -1;
    }
}
