package dev.droidgate.shim.core;

import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Reads the values of the documents that app functions answer with (shim-engine.md 5). */
final class DocumentReader {
    private static final String RETURN_VALUE = "androidAppfunctionsReturnValue";

    private static final Map<String, Object> NOTHING = Collections.emptyMap();

    private final DocumentTypes types;

    private DocumentReader(Map<String, Type> definitions, String token) {
        types = new DocumentTypes(definitions, token);
    }

    /**
     * Returns the value of a document.
     *
     * @param declared the declared result, null where the source declares none
     * @throws CallFailure {@code malformed_response}: it does not fit the declaration
     */
    static Object read(Object document, Type declared, Map<String, Type> definitions)
            throws CallFailure {
        return new DocumentReader(definitions, FailureTokens.MALFORMED_RESPONSE)
                .document(document, declared);
    }

    /**
     * Returns the parameters that a request's document holds.
     *
     * @throws CallFailure {@code invalid_argument}: it does not fit the declaration
     */
    static Object readParameters(Object document, Type declared, Map<String, Type> definitions)
            throws CallFailure {
        DocumentReader reader = new DocumentReader(definitions, FailureTokens.INVALID_ARGUMENT);
        return reader.propertiesOf(document).isEmpty()
                ? null
                : reader.item(DocumentTypes.DOCUMENT, document, declared, 0);
    }

    private Object document(Object document, Type declared) throws CallFailure {
        Map<String, Object> properties = propertiesOf(document);
        if (properties.isEmpty()) {
            return null;
        }
        if (properties.containsKey(RETURN_VALUE)) {
            return property(properties.get(RETURN_VALUE), declared, 0);
        }
        return item(DocumentTypes.DOCUMENT, document, declared, 0);
    }

    private Map<String, Object> propertiesOf(Object document) throws CallFailure {
        Map<String, Object> fields = Json.object(document);
        boolean whole =
                fields != null
                        && Json.object(fieldOf(fields, DocumentTypes.PROPERTIES, NOTHING)) != null
                        && fieldOf(fields, Type.SCHEMA_TYPE, "") instanceof String;
        if (!whole) {
            throw types.wrong("this is not a document");
        }
        return Json.object(fieldOf(fields, DocumentTypes.PROPERTIES, NOTHING));
    }

    private static Object fieldOf(Map<String, Object> fields, String key, Object otherwise) {
        return fields.containsKey(key) ? fields.get(key) : otherwise;
    }

    private Object property(Object property, Type declared, int depth) throws CallFailure {
        types.checkDepth(depth);
        Map<String, Object> fields = Json.object(property);
        String kind = fields == null ? null : Json.text(fields.get(DocumentTypes.KIND));
        List<Object> values = fields == null ? null : Json.list(fields.get(DocumentTypes.VALUES));
        if (kind == null || values == null) {
            throw types.wrong("a property has no kind or no values");
        }
        Type type = types.resolve(declared);
        return type != null && type.is(Type.ONE_OF)
                ? choice(kind, values, type, depth)
                : values(kind, values, type, depth);
    }

    private Object values(String kind, List<Object> values, Type type, int depth)
            throws CallFailure {
        if (DocumentTypes.isOpen(type) ? values.size() != 1 : type.is(Type.ARRAY)) {
            Type items = type == null ? null : type.items;
            List<Object> read = new ArrayList<>(values.size());
            for (Object value : values) {
                read.add(item(kind, value, items, depth + 1));
            }
            return read;
        }
        if (values.isEmpty()) {
            return null;
        }
        if (values.size() > 1) {
            throw types.wrong("one value is declared and several are given");
        }
        return item(kind, values.get(0), type, depth + 1);
    }

    /** Reads a property of alternatives: one value is a list only where nothing else takes it. */
    private Object choice(String kind, List<Object> values, Type type, int depth)
            throws CallFailure {
        if (values.size() == 1) {
            try {
                return item(kind, values.get(0), type, depth + 1);
            } catch (CallFailure unfit) {
                types.checkBudget();
            }
        }
        for (Type behind : types.alternatives(type)) {
            if (behind.is(Type.ARRAY) || DocumentTypes.isOpen(behind)) {
                try {
                    return values(kind, values, behind, depth);
                } catch (CallFailure unfit) {
                    types.checkBudget();
                }
            }
        }
        if (!values.isEmpty()) {
            throw types.wrong("it is none of the declared alternatives");
        }
        return null;
    }

    private Object item(String kind, Object value, Type declared, int depth) throws CallFailure {
        types.checkDepth(depth);
        Type type = types.resolve(declared);
        boolean document = DocumentTypes.DOCUMENT.equals(kind);
        if (type != null && type.is(Type.ONE_OF)) {
            return alternative(kind, value, type, depth);
        }
        if (type != null && type.is(Type.ARRAY)) {
            throw types.wrong("a document cannot hold a list of lists");
        }
        String required = types.kindOf(type, depth);
        expect(required == null || required.equals(kind));
        return document ? object(value, type, depth) : scalar(kind, value, type);
    }

    private void expect(boolean fits) throws CallFailure {
        if (!fits) {
            throw types.wrong("a property is not of the declared kind");
        }
    }

    private Object scalar(String kind, Object value, Type declared) throws CallFailure {
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
                boolean isShort = declared != null && declared.is(Type.INT32);
                expect(value instanceof Long && Numbers.whole(value, isShort ? 32 : 64) != null);
                break;
            case DocumentTypes.DOUBLE:
                expect(Json.isNumber(value));
                boolean single = declared != null && declared.is(Type.FLOAT);
                read = Numbers.nearest(Json.decimal(value), single);
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
        for (Map.Entry<String, Object> entry : propertiesOf(document).entrySet()) {
            Type.Property known = declared == null ? null : declared.properties.get(entry.getKey());
            Type type = known == null ? null : known.type;
            read.put(entry.getKey(), property(entry.getValue(), type, depth + 1));
        }
        return read;
    }

    private Object alternative(String kind, Object value, Type type, int depth) throws CallFailure {
        List<Type> alternatives = types.alternatives(type);
        boolean document = DocumentTypes.DOCUMENT.equals(kind) && value instanceof Map;
        Object given = document ? Json.object(value).get(Type.SCHEMA_TYPE) : null;
        for (int index = 0; given != null && index < alternatives.size(); index++) {
            Type behind = alternatives.get(index);
            String referred = type.members.get(index).name;
            boolean named = behind.is(Type.OBJECT) && !"".equals(given);
            if (named && given.equals(behind.nameOr(referred))) {
                return named(object(value, behind, depth), behind, referred);
            }
        }
        for (int index = 0; index < alternatives.size(); index++) {
            Type behind = alternatives.get(index);
            try {
                Object read = item(kind, value, behind, depth + 1);
                if (!behind.is(Type.OBJECT)) {
                    return read;
                }
                Map<String, Object> members = Json.object(read);
                if (isKnown(members, behind) && DocumentTypes.hasRequired(members, behind)) {
                    return named(members, behind, type.members.get(index).name);
                }
            } catch (CallFailure unfit) {
                types.checkBudget();
            }
        }
        throw types.wrong("it is none of the declared alternatives");
    }

    private static boolean isKnown(Map<String, Object> members, Type type) {
        return type.properties.isEmpty() || type.properties.keySet().containsAll(members.keySet());
    }

    /** Returns an alternative's value that names it, where a name does. */
    private static Map<String, Object> named(
            Map<String, Object> members, Type type, String referred) {
        String name = type.schemaName(referred);
        if (name == null || name.isEmpty()) {
            return members;
        }
        Map<String, Object> named = new LinkedHashMap<>();
        named.put(Type.SCHEMA_TYPE, name);
        members.remove(Type.SCHEMA_TYPE);
        named.putAll(members);
        return named;
    }
}
