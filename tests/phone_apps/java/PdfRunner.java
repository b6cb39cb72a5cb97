package dev.droidgate.sample.pdftool;

import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import org.json.JSONArray;
import org.json.JSONObject;

/**
 * Checks values and reads PDF files: a line "schema" with a schema and a value after it as base64 of UTF-8, or a line
 * "pdf" with a file after it as base64.
 */
public final class PdfRunner {
    private PdfRunner() {
    }

    public static void main(String[] unused) throws Exception {
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.US_ASCII));
        for (String kind = in.readLine(); kind != null; kind = in.readLine()) {
            System.out.println(kind.equals("pdf") ? pages(decode(in)) : problem(decode(in), decode(in)));
        }
    }

    private static String problem(byte[] schema, byte[] value) throws Exception {
        String found = SchemaCheck.problem(new JSONObject(utf8(schema)), new JSONObject(utf8(value)), "");
        return found == null ? "null" : ascii(JSONObject.quote(found));
    }

    private static String pages(byte[] data) throws Exception {
        JSONArray texts = new JSONArray();
        PdfFile file = PdfFile.parse(data);
        for (int page = 1; page <= file.pages().size(); page++) {
            texts.put(new PdfText(file).ofPage(page));
        }
        return ascii(texts.toString());
    }

    private static String utf8(byte[] bytes) {
        return new String(bytes, StandardCharsets.UTF_8);
    }

    private static byte[] decode(BufferedReader in) throws Exception {
        return Base64.getDecoder().decode(in.readLine());
    }

    private static String ascii(String json) {
        StringBuilder out = new StringBuilder();
        for (char unit : json.toCharArray()) {
            out.append(unit < 128 ? String.valueOf(unit) : String.format("\\u%04x", (int) unit));
        }
        return out.toString();
    }
}
