package dev.droidgate.sample.pdftool;

import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import org.json.JSONObject;

/** Checks values against schemas: a line with a schema and one with a value, each as base64 of UTF-8. */
public final class PdfRunner {
    private PdfRunner() {
    }

    public static void main(String[] unused) throws Exception {
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.US_ASCII));
        for (String schema = in.readLine(); schema != null; schema = in.readLine()) {
            String found = SchemaCheck.problem(object(schema), object(in.readLine()), "");
            System.out.println(found == null ? "null" : ascii(JSONObject.quote(found)));
        }
    }

    private static JSONObject object(String line) throws Exception {
        return new JSONObject(new String(Base64.getDecoder().decode(line), StandardCharsets.UTF_8));
    }

    private static String ascii(String json) {
        StringBuilder out = new StringBuilder();
        for (char unit : json.toCharArray()) {
            out.append(unit < 128 ? String.valueOf(unit) : String.format("\\u%04x", (int) unit));
        }
        return out.toString();
    }
}
