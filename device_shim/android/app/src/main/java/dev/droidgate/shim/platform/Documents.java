package dev.droidgate.shim.platform;

import android.app.appsearch.GenericDocument;
import android.util.Base64;
import dev.droidgate.shim.core.CallFailure;
import dev.droidgate.shim.core.FailureTokens;
import dev.droidgate.shim.core.Json;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Android's documents and the engine's (shim-engine.md 5); loaded from Android 12 on (API 31) only. */
public final class Documents {
    private static final int DEEPEST = 64;

    private Documents() {}

    /** Returns Android's document for one of the engine's. */
    public static GenericDocument write(Map<String, Object> document) {
        GenericDocument.Builder<?> builder =
                new GenericDocument.Builder<>("", "", (String) document.get("schemaType"));
        for (Map.Entry<String, Object> entry : Json.object(document.get("properties")).entrySet()) {
            Map<String, Object> property = Json.object(entry.getValue());
            List<Object> values = Json.list(property.get("values"));
            writeProperty(builder, entry.getKey(), (String) property.get("kind"), values);
        }
        return builder.build();
    }

    private static void writeProperty(
            GenericDocument.Builder<?> builder, String name, String kind, List<Object> values) {
        int size = values.size();
        switch (kind) {
            case "string":
                builder.setPropertyString(name, values.toArray(new String[0]));
                break;
            case "long":
                long[] integers = new long[size];
                for (int index = 0; index < size; index++) {
                    integers[index] = ((Number) values.get(index)).longValue();
                }
                builder.setPropertyLong(name, integers);
                break;
            case "double":
                double[] numbers = new double[size];
                for (int index = 0; index < size; index++) {
                    numbers[index] = ((Number) values.get(index)).doubleValue();
                }
                builder.setPropertyDouble(name, numbers);
                break;
            case "boolean":
                boolean[] flags = new boolean[size];
                for (int index = 0; index < size; index++) {
                    flags[index] = (Boolean) values.get(index);
                }
                builder.setPropertyBoolean(name, flags);
                break;
            case "bytes":
                byte[][] bytes = new byte[size][];
                for (int index = 0; index < size; index++) {
                    bytes[index] = Base64.decode((String) values.get(index), Base64.DEFAULT);
                }
                builder.setPropertyBytes(name, bytes);
                break;
            default:
                GenericDocument[] documents = new GenericDocument[size];
                for (int index = 0; index < size; index++) {
                    documents[index] = write(Json.object(values.get(index)));
                }
                builder.setPropertyDocument(name, documents);
        }
    }

    /**
     * Returns the engine's document for one of Android's.
     *
     * @throws CallFailure {@code malformed_response}: it holds what JSON cannot say
     */
    public static Map<String, Object> read(GenericDocument document) throws CallFailure {
        return read(document, 0);
    }

    private static Map<String, Object> read(GenericDocument document, int depth) throws CallFailure {
        if (depth > DEEPEST) {
            throw malformed("the document is nested too deep");
        }
        Map<String, Object> properties = new LinkedHashMap<>();
        for (String name : document.getPropertyNames()) {
            // A name is read as a path, so one with a dot in it cannot be read (AppFunctions reference 4).
            Object value = document.getProperty(name);
            if (value == null) {
                throw malformed("the property " + name + " cannot be read");
            }
            properties.put(name, property(value, depth));
        }
        Map<String, Object> read = new LinkedHashMap<>();
        read.put("schemaType", document.getSchemaType());
        read.put("properties", properties);
        return read;
    }

    private static CallFailure malformed(String why) {
        return new CallFailure(FailureTokens.MALFORMED_RESPONSE, why);
    }

    private static Map<String, Object> property(Object content, int depth) throws CallFailure {
        List<Object> values = new ArrayList<>();
        String kind;
        if (content instanceof String[]) {
            kind = "string";
            for (String item : (String[]) content) {
                values.add(item);
            }
        } else if (content instanceof long[]) {
            kind = "long";
            for (long value : (long[]) content) {
                values.add(value);
            }
        } else if (content instanceof double[]) {
            kind = "double";
            for (double number : (double[]) content) {
                if (Double.isNaN(number) || Double.isInfinite(number)) {
                    throw malformed("a number is not finite");
                }
                values.add(new BigDecimal(number));
            }
        } else if (content instanceof boolean[]) {
            kind = "boolean";
            for (boolean flag : (boolean[]) content) {
                values.add(flag);
            }
        } else if (content instanceof byte[][]) {
            kind = "bytes";
            for (byte[] element : (byte[][]) content) {
                values.add(Base64.encodeToString(element, Base64.NO_WRAP));
            }
        } else if (content instanceof GenericDocument[]) {
            kind = "document";
            for (GenericDocument document : (GenericDocument[]) content) {
                values.add(read(document, depth + 1));
            }
        } else {
            throw malformed("a property is of a kind that JSON has not");
        }
        Map<String, Object> property = new LinkedHashMap<>();
        property.put("kind", kind);
        property.put("values", values);
        return property;
    }
}
