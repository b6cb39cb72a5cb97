package dev.droidgate.shim.core;

import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Reads the values of the documents that app functions answer with (docs/shim-engine.md 5). */
final class DocumentReader {
    private static final String RETURN_VALUE = "androidAppfunctionsReturnValue";

    private final DocumentTypes types;

    private DocumentReader(Map<String, Type> definitions) {
        types = new DocumentTypes(definitions, FailureTokens.MALFORMED_RESPONSE);
    }

    /**
     * Returns the value of a document.
     *
     * @param declared the declared result, null where the source declares none
     * @throws CallFailure {@code malformed_response}: it does not fit the declaration
     */
    static Object read(Object document, Type declared, Map<String, Type> definitions)
            throws CallFailure {
        return new DocumentReader(definitions).document(document, declared);
    }

    private Object document(Object document, Type declared) throws CallFailure {
        Map<String, Object> properties = propertiesOf(document);
        Type one = types.resolve(declared);
        if (properties.isEmpty() || one != null && isVoid(one)) {
            return null;
        }
        if (properties.containsKey(RETURN_VALUE)) {
            return property(properties.get(RETURN_VALUE), one, 0);
        }
        if (one != null && !one.is("object") && !one.is("one-of") && !one.is("any")) {
            throw types.wrong("the response has no " + RETURN_VALUE);
        }
        return item(DocumentTypes.DOCUMENT, document, one, 0);
    }

    private static boolean isVoid(Type one) {
        return one.is("opaque") || one.is("null");
    }

    private Map<String, Object> propertiesOf(Object document) throws CallFailure {
        Map<String, Object> held = Json.object(document);
        Map<String, Object> properties =
                held == null ? null : Json.object(held.get(DocumentTypes.PROPERTIES));
        if (properties == null) {
            throw types.wrong("this is no document");
        }
        return properties;
    }

    private Object property(Object property, Type declared, int depth) throws CallFailure {
        types.spend(depth);
        Map<String, Object> held = Json.object(property);
        String kind = held == null ? null : Json.text(held.get(DocumentTypes.KIND));
        List<Object> values = held == null ? null : Json.list(held.get(DocumentTypes.VALUES));
        if (kind == null || values == null) {
            throw types.wrong("a property has no kind or no values");
        }
        Type one = types.resolve(declared);
        boolean open = one == null || one.is("any");
        if (open ? values.size() != 1 : one.is("array")) {
            List<Object> read = new ArrayList<>(values.size());
            for (Object value : values) {
                read.add(item(kind, value, open ? null : one.items, depth + 1));
            }
            return read;
        }
        if (!open && one.is("one-of")) {
            return alternative(kind, values, one, depth);
        }
        if (values.isEmpty()) {
            return null;
        }
        if (values.size() > 1) {
            throw types.wrong("one value is declared and several are given");
        }
        return item(kind, values.get(0), one, depth + 1);
    }

    private Object item(String kind, Object value, Type declared, int depth) throws CallFailure {
        types.spend(depth);
        Type one = types.resolve(declared);
        if (one == null || one.is("any")) {
            boolean document = DocumentTypes.DOCUMENT.equals(kind);
            return document ? object(value, null, depth) : scalar(kind, value, kind);
        }
        switch (one.kind) {
            case "opaque":
                return null;
            case "one-of":
                return alternative(kind, Collections.singletonList(value), one, depth);
            case "object":
                expect(DocumentTypes.DOCUMENT.equals(kind));
                return object(value, one, depth);
            default:
                String wanted = types.kindOf(one);
                expect(kind.equals(wanted));
                return scalar(kind, value, one.kind);
        }
    }

    private void expect(boolean fits) throws CallFailure {
        if (!fits) {
            throw types.wrong("a property is not of the declared kind");
        }
    }

    private Object scalar(String kind, Object value, String declared) throws CallFailure {
        Object read = value;
        switch (kind) {
            case "string":
                expect(value instanceof String);
                break;
            case "boolean":
                expect(value instanceof Boolean);
                break;
            case "bytes":
                expect(value instanceof String && ValueFitter.isBase64((String) value));
                break;
            case DocumentTypes.LONG:
                read = Numbers.whole(value, "int32".equals(declared) ? 32 : 64);
                expect(read != null);
                break;
            case DocumentTypes.DOUBLE:
                expect(Json.isNumber(value));
                read = Numbers.nearest(Json.decimal(value), "float".equals(declared));
                expect(read != null);
                break;
            default:
                expect(false);
        }
        return read;
    }

    private Map<String, Object> object(Object document, Type declared, int depth)
            throws CallFailure {
        Map<String, Object> read = new LinkedHashMap<>();
        for (Map.Entry<String, Object> one : propertiesOf(document).entrySet()) {
            Type.Property known = declared == null ? null : declared.properties.get(one.getKey());
            Type type = known == null ? null : known.type;
            read.put(one.getKey(), property(one.getValue(), type, depth + 1));
        }
        return read;
    }

    private Object alternative(String kind, List<Object> values, Type one, int depth)
            throws CallFailure {
        Object first = values.size() == 1 ? values.get(0) : null;
        Map<String, Object> document = Json.object(first);
        String told = document == null ? null : Json.text(document.get(DocumentTypes.SCHEMA_TYPE));
        for (Type alternative : one.members) {
            types.spend(depth);
            if (told != null && !told.isEmpty() && told.equals(types.nameOf(alternative))) {
                return named(kind, values, alternative, depth);
            }
        }
        for (Type alternative : one.members) {
            types.spend(depth);
            try {
                if (mayBe(document, types.resolve(alternative))) {
                    return named(kind, values, alternative, depth);
                }
            } catch (CallFailure unfit) {
                // Another alternative may fit.
            }
        }
        throw types.wrong("it is none of the declared alternatives");
    }

    private boolean mayBe(Map<String, Object> document, Type one) throws CallFailure {
        if (document == null || !one.is("object")) {
            return true;
        }
        Map<String, Object> properties = propertiesOf(document);
        boolean known =
                one.properties.isEmpty() || one.properties.keySet().containsAll(properties.keySet());
        return known && DocumentTypes.hasRequired(properties, one);
    }

    /** Reads an alternative; an object tells its name, unless it declares a property of that name. */
    private Object named(String kind, List<Object> values, Type alternative, int depth)
            throws CallFailure {
        Type one = types.resolve(alternative);
        Map<String, Object> property = new LinkedHashMap<>();
        property.put(DocumentTypes.KIND, kind);
        property.put(DocumentTypes.VALUES, values);
        Object read = property(property, one, depth + 1);
        Map<String, Object> members = one.is("object") ? Json.object(read) : null;
        String name = types.nameOf(alternative);
        if (members != null && name != null) {
            if (!one.properties.containsKey(DocumentTypes.SCHEMA_TYPE)) {
                members.put(DocumentTypes.SCHEMA_TYPE, name);
            }
        }
        return read;
    }
}
