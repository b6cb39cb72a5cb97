package dev.droidgate.runtime;

import android.app.appsearch.GenericDocument;
import java.util.Iterator;
import org.json.JSONArray;
import org.json.JSONException;
import org.json.JSONObject;

/**
 * Documents of app functions as the phone holds them: each property a list, inner documents objects of lists.
 */
final class Documents {
    private Documents() {}

    static JSONObject toJson(GenericDocument document) {
        JSONObject json = new JSONObject();
        for (String name : document.getPropertyNames()) {
            Values.with(json, name, list(document.getProperty(name)));
        }
        return json;
    }

    private static JSONArray list(Object values) {
        JSONArray list = new JSONArray();
        for (int index = 0; index < java.lang.reflect.Array.getLength(values); index++) {
            Object item = java.lang.reflect.Array.get(values, index);
            list.put(item instanceof GenericDocument ? toJson((GenericDocument) item) : item);
        }
        return list;
    }

    static GenericDocument document(JSONObject json) throws JSONException {
        GenericDocument.Builder<?> builder = new GenericDocument.Builder<>("", "", "");
        for (Iterator<String> names = json.keys(); names.hasNext(); ) {
            String name = names.next();
            put(builder, name, json.getJSONArray(name));
        }
        return builder.build();
    }

    private static void put(GenericDocument.Builder<?> builder, String name, JSONArray list)
            throws JSONException {
        int length = list.length();
        Object first = length == 0 ? null : list.get(0);
        if (first instanceof JSONObject) {
            GenericDocument[] documents = new GenericDocument[length];
            for (int index = 0; index < length; index++) {
                documents[index] = document(list.getJSONObject(index));
            }
            builder.setPropertyDocument(name, documents);
        } else if (first instanceof Boolean) {
            boolean[] flags = new boolean[length];
            for (int index = 0; index < length; index++) {
                flags[index] = list.getBoolean(index);
            }
            builder.setPropertyBoolean(name, flags);
        } else if (first instanceof Integer || first instanceof Long) {
            long[] numbers = new long[length];
            for (int index = 0; index < length; index++) {
                numbers[index] = list.getLong(index);
            }
            builder.setPropertyLong(name, numbers);
        } else if (first instanceof Number) {
            double[] numbers = new double[length];
            for (int index = 0; index < length; index++) {
                numbers[index] = list.getDouble(index);
            }
            builder.setPropertyDouble(name, numbers);
        } else {
            // On the wire an empty list has no type.
            builder.setPropertyString(name, Values.texts(list).toArray(new String[0]));
        }
    }
}
