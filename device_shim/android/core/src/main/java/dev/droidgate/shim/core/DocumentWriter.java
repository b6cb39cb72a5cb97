package dev.droidgate.shim.core;

import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Writes values into the documents that app functions take (shim-engine.md 5). */
final class DocumentWriter {
    private final DocumentTypes types;

    private DocumentWriter(Map<String, Type> definitions) {
        types = new DocumentTypes(definitions, FailureTokens.INVALID_ARGUMENT);
    }

    /** One property: a kind and its values. */
    private static final class PropertyValues {
        final String kind;
        final List<Object> values;

        PropertyValues(String kind, Object value) {
            this(kind, Collections.singletonList(value));
        }

        PropertyValues(String kind, List<Object> values) {
            this.kind = kind;
            this.values = values;
        }
    }

    /**
     * Returns the document of a value of a declared type.
     *
     * @throws CallFailure {@code invalid_argument}: a document cannot say it
     */
    static Map<String, Object> write(Object value, Type declared, Map<String, Type> definitions)
            throws CallFailure {
        DocumentWriter writer = new DocumentWriter(definitions);
        PropertyValues item = writer.item(value, declared, 0);
        if (!DocumentTypes.DOCUMENT.equals(item.kind)) {
            throw writer.mismatch("an object", value);
        }
        return Json.object(item.values.get(0));
    }

    private CallFailure mismatch(String declared, Object value) {
        return types.wrong(declared + " is declared and " + Json.kindOf(value) + " is given");
    }

    /** Writes a property; null where there is none. */
    private PropertyValues property(Object value, Type declared, int depth) throws CallFailure {
        Type type = types.resolve(declared);
        if (value == null) {
            return null;
        }
        List<Object> items = Json.list(value);
        if (items != null && type != null && type.is(Type.ONE_OF)) {
            return listAlternative(value, type, depth);
        }
        boolean open = DocumentTypes.isOpen(type);
        if (!open && type.is(Type.ARRAY)) {
            if (items == null) {
                throw mismatch("a list", value);
            }
            return list(items, type.items, depth + 1);
        }
        return open && items != null ? list(items, null, depth + 1) : item(value, type, depth);
    }

    /** Writes a list as the only alternative that takes it. */
    private PropertyValues listAlternative(Object value, Type type, int depth) throws CallFailure {
        List<PropertyValues> found = new ArrayList<>();
        for (Type behind : types.alternatives(type)) {
            if (behind.is(Type.ARRAY) || DocumentTypes.isOpen(behind)) {
                try {
                    // An empty list of an unknown kind is not a property, and fits.
                    found.add(property(value, behind, depth));
                } catch (CallFailure unfit) {
                    // Another alternative may fit.
                }
            }
        }
        return only(found);
    }

    private PropertyValues only(List<PropertyValues> found) throws CallFailure {
        types.checkBudget();
        if (found.size() != 1) {
            throw types.wrong("it is " + found.size() + " of the declared alternatives");
        }
        return found.get(0);
    }

    private PropertyValues list(List<Object> items, Type declared, int depth) throws CallFailure {
        String kind = items.isEmpty() ? types.kindOf(declared, depth) : null;
        List<Object> values = new ArrayList<>(items.size());
        for (Object item : items) {
            PropertyValues property = item(item, declared, depth);
            values.add(property.values.get(0));
            kind = kind == null ? property.kind : common(kind, property.kind);
        }
        if (DocumentTypes.DOUBLE.equals(kind)) {
            for (int index = 0; index < values.size(); index++) {
                values.set(index, real(values.get(index), false));
            }
        }
        return kind == null ? null : new PropertyValues(kind, values);
    }

    private String common(String kind, String other) throws CallFailure {
        if (kind.equals(other)) {
            return kind;
        }
        boolean numbers = isNumber(kind) && isNumber(other);
        if (!numbers) {
            throw types.wrong("a list holds values of one kind in a document");
        }
        return DocumentTypes.DOUBLE;
    }

    private static boolean isNumber(String kind) {
        return DocumentTypes.LONG.equals(kind) || DocumentTypes.DOUBLE.equals(kind);
    }

    /** Writes one value. */
    private PropertyValues item(Object value, Type declared, int depth) throws CallFailure {
        types.checkDepth(depth);
        Type type = types.resolve(declared);
        if (value == null) {
            throw types.wrong("a list in a document cannot hold null");
        }
        if (type != null && type.is(Type.ONE_OF)) {
            return alternative(value, type, depth);
        }
        if (value instanceof List) {
            throw types.wrong("a list is given for one value, or inside a list");
        }
        if (DocumentTypes.isOpen(type)) {
            return untyped(value, depth);
        }
        if (type.is(Type.OBJECT)) {
            return object(value, type, type.qualifiedName, depth);
        }
        return scalar(value, type);
    }

    private PropertyValues untyped(Object value, int depth) throws CallFailure {
        if (value instanceof Map) {
            Type nothing = new Type(Collections.<String, Type.Property>emptyMap(), null);
            return object(value, nothing, null, depth);
        }
        if (value instanceof Boolean) {
            return new PropertyValues("boolean", value);
        }
        if (value instanceof String) {
            return new PropertyValues("string", value);
        }
        if (value instanceof Long) {
            return new PropertyValues(DocumentTypes.LONG, value);
        }
        return new PropertyValues(DocumentTypes.DOUBLE, real(value, false));
    }

    private PropertyValues object(Object value, Type declared, String schemaType, int depth)
            throws CallFailure {
        Map<String, Object> members = Json.object(value);
        if (members == null) {
            throw mismatch("an object", value);
        }
        Map<String, Object> properties = new LinkedHashMap<>();
        for (Map.Entry<String, Object> member : members.entrySet()) {
            String name = member.getKey();
            Type.Property known = declared.properties.get(name);
            if (name.isEmpty() || known == null && !declared.properties.isEmpty()) {
                throw types.wrong("nothing named " + name + " is declared");
            }
            PropertyValues property =
                    property(member.getValue(), known == null ? null : known.type, depth + 1);
            if (property != null) {
                Map<String, Object> written = new LinkedHashMap<>();
                written.put(DocumentTypes.KIND, property.kind);
                written.put(DocumentTypes.VALUES, property.values);
                properties.put(name, written);
            }
        }
        return new PropertyValues(DocumentTypes.DOCUMENT, DocumentTypes.document(schemaType, properties));
    }

    private PropertyValues alternative(Object value, Type type, int depth) throws CallFailure {
        Map<String, Object> members = Json.object(value);
        String text = members == null ? null : Json.text(members.get(Type.SCHEMA_TYPE));
        List<Type> alternatives = types.alternatives(type);
        List<PropertyValues> found = new ArrayList<>();
        for (int index = 0; text != null && index < alternatives.size(); index++) {
            Type behind = alternatives.get(index);
            if (text.equals(behind.schemaName(type.members.get(index).name))) {
                Map<String, Object> fields = new LinkedHashMap<>(members);
                fields.remove(Type.SCHEMA_TYPE);
                return object(fields, behind, text, depth);
            }
        }
        for (int index = 0; index < alternatives.size(); index++) {
            Type behind = alternatives.get(index);
            String name = behind.nameOr(type.members.get(index).name);
            try {
                if (!behind.is(Type.OBJECT)) {
                    found.add(item(value, behind, depth + 1));
                    continue;
                }
                PropertyValues written = object(value, behind, name, depth);
                if (DocumentTypes.hasRequired(members, behind)) {
                    found.add(written);
                }
            } catch (CallFailure unfit) {
                // Another alternative may fit.
            }
        }
        return only(found);
    }

    private PropertyValues scalar(Object value, Type type) throws CallFailure {
        switch (type.kind) {
            case Type.STRING:
                return new PropertyValues("string", expect(value, value instanceof String));
            case Type.BOOLEAN:
                return new PropertyValues("boolean", expect(value, value instanceof Boolean));
            case Type.BYTES:
                boolean bytes = value instanceof String && ValueFitter.isBase64((String) value);
                return new PropertyValues("bytes", expect(value, bytes));
            case Type.INT32:
            case Type.INT64:
                Long whole = Numbers.whole(value, type.is(Type.INT32) ? 32 : 64);
                return new PropertyValues(DocumentTypes.LONG, expect(whole, whole != null));
            case Type.FLOAT:
            case Type.DOUBLE:
                return new PropertyValues(DocumentTypes.DOUBLE, real(value, type.is(Type.FLOAT)));
            default:
                throw types.wrong("a document cannot hold a value of this kind");
        }
    }

    private Object expect(Object value, boolean isOfKind) throws CallFailure {
        if (!isOfKind) {
            throw types.wrong("the value is not of the declared kind");
        }
        return value;
    }

    private Object real(Object value, boolean single) throws CallFailure {
        Object near = Json.isNumber(value) ? Numbers.nearest(Json.decimal(value), single) : null;
        return expect(near, near != null);
    }
}
