package PACKAGE;

import android.app.appsearch.GenericDocument;

import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.lang.reflect.Array;
import java.util.Base64;
import java.util.Iterator;

import org.json.JSONArray;
import org.json.JSONObject;

/**
 * Runs each call on standard input: a function's id and its parameters' document, written as JSON in which every property
 * is {"text"|"long"|"double"|"flag"|"bytes"|"document": [...]} and "type" names a document's schema type.
 */
public final class AppFunctionRunner {
    public static void main(String[] arguments) throws Exception {
        BufferedReader lines = new BufferedReader(new InputStreamReader(System.in, "UTF-8"));
        Author author = new Author(Author.read(lines.readLine()));
        PREFIXCalls calls = new PREFIXCalls(author.capabilities(), false);
        for (String line = lines.readLine(); line != null; line = lines.readLine()) {
            author.calls = new JSONArray();
            String[] parts = line.split(" ");
            String id = Author.read(parts[0]);
            JSONObject printed = new JSONObject();
            try {
                GenericDocument document = document(new JSONObject(Author.read(parts[1])));
                JSONObject given = PREFIXDocuments.arguments(document, PREFIXShapes.input(id));
                Object result = calls.call(id, given);
                printed.put("result", shown(PREFIXDocuments.result(result, PREFIXShapes.output(id))));
            } catch (PREFIXCalls.CallException failure) {
                printed.put("error", failure.getMessage());
            }
            System.out.println(printed.put("calls", author.calls));
        }
    }

    private static GenericDocument document(JSONObject written) throws Exception {
        GenericDocument.Builder<?> builder = new GenericDocument.Builder<>("", "", written.optString("type"));
        JSONObject properties = written.optJSONObject("properties");
        for (Iterator<String> names = properties.keys(); names.hasNext(); ) {
            String name = names.next();
            JSONObject held = properties.getJSONObject(name);
            String kind = held.keys().next();
            JSONArray values = held.getJSONArray(kind);
            int length = values.length();
            if (kind.equals("text")) {
                String[] texts = new String[length];
                for (int i = 0; i < length; i++) {
                    texts[i] = values.getString(i);
                }
                builder.setPropertyString(name, texts);
            } else if (kind.equals("long")) {
                long[] numbers = new long[length];
                for (int i = 0; i < length; i++) {
                    numbers[i] = values.getLong(i);
                }
                builder.setPropertyLong(name, numbers);
            } else if (kind.equals("double")) {
                double[] numbers = new double[length];
                for (int i = 0; i < length; i++) {
                    numbers[i] = values.getDouble(i);
                }
                builder.setPropertyDouble(name, numbers);
            } else if (kind.equals("flag")) {
                boolean[] flags = new boolean[length];
                for (int i = 0; i < length; i++) {
                    flags[i] = values.getBoolean(i);
                }
                builder.setPropertyBoolean(name, flags);
            } else if (kind.equals("bytes")) {
                byte[][] blobs = new byte[length][];
                for (int i = 0; i < length; i++) {
                    blobs[i] = Base64.getDecoder().decode(values.getString(i));
                }
                builder.setPropertyBytes(name, blobs);
            } else {
                GenericDocument[] documents = new GenericDocument[length];
                for (int i = 0; i < length; i++) {
                    documents[i] = document(values.getJSONObject(i));
                }
                builder.setPropertyDocument(name, documents);
            }
        }
        return builder.build();
    }

    private static JSONObject shown(GenericDocument document) throws Exception {
        JSONObject properties = new JSONObject();
        for (String name : document.getPropertyNames()) {
            Object values = document.getProperty(name);
            JSONArray list = new JSONArray();
            for (int i = 0; i < Array.getLength(values); i++) {
                Object value = Array.get(values, i);
                if (value instanceof GenericDocument) {
                    value = shown((GenericDocument) value);
                } else if (value instanceof byte[]) {
                    value = Base64.getEncoder().encodeToString((byte[]) value);
                }
                list.put(value);
            }
            String kind = values.getClass().getComponentType().getSimpleName();
            properties.put(name, new JSONObject().put(kind, list));
        }
        return new JSONObject().put("type", document.getSchemaType()).put("properties", properties);
    }
}
