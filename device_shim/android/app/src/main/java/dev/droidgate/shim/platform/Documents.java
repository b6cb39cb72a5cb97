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

/** Android's documents and the engine's (docs/shim-engine.md 5); loaded from Android 12 on (API 31) only. */
public final class Documents {
    private static final int DEEPEST = 64;

    private Documents() {}

    /** Returns Android's document for one of the engine's. */
    public static GenericDocument write(Map<String, Object> document) {
        GenericDocument.Builder<?> builder =
                new GenericDocument.Builder<>("", "", (String) document.get("schemaType"));
        for (Map.Entry<String, Object> one : Json.object(document.get("properties")).entrySet()) {
            Map<String, Object> property = Json.object(one.getValue());
            List<Object> values = Json.list(property.get("values"));
            writeProperty(builder, one.getKey(), (String) property.get("kind"), values);
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
            Object held = document.getProperty(name);
            if (held == null) {
                throw malformed("the property " + name + " cannot be read");
            }
            properties.put(name, property(held, depth));
        }
        Map<String, Object> read = new LinkedHashMap<>();
        read.put("schemaType", document.getSchemaType());
        read.put("properties", properties);
        return read;
    }

    private static CallFailure malformed(String why) {
        return new CallFailure(FailureTokens.MALFORMED_RESPONSE, why);
    }

    private static Map<String, Object> property(Object held, int depth) throws CallFailure {
        List<Object> values = new ArrayList<>();
        String kind;
        if (held instanceof String[]) {
            kind = "string";
            for (String one : (String[]) held) {
                values.add(one);
            }
        } else if (held instanceof long[]) {
            kind = "long";
            for (long one : (long[]) held) {
                values.add(one);
            }
        } else if (held instanceof double[]) {
            kind = "double";
            for (double one : (double[]) held) {
                if (Double.isNaN(one) || Double.isInfinite(one)) {
                    throw malformed("a number is not finite");
                }
                values.add(new BigDecimal(one));
            }
        } else if (held instanceof boolean[]) {
            kind = "boolean";
            for (boolean one : (boolean[]) held) {
                values.add(one);
            }
        } else if (held instanceof byte[][]) {
            kind = "bytes";
            for (byte[] one : (byte[][]) held) {
                values.add(Base64.encodeToString(one, Base64.NO_WRAP));
            }
        } else if (held instanceof GenericDocument[]) {
            kind = "document";
            for (GenericDocument one : (GenericDocument[]) held) {
                values.add(read(one, depth + 1));
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
