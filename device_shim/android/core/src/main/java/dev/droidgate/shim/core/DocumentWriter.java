package dev.droidgate.shim.core;

import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Writes values into the documents that app functions take (docs/shim-engine.md 5). */
final class DocumentWriter {
    private final DocumentTypes types;

    private DocumentWriter(Map<String, Type> definitions) {
        types = new DocumentTypes(definitions, FailureTokens.INVALID_ARGUMENT);
    }

    /** One property: a kind and its values. */
    private static final class Held {
        final String kind;
        final List<Object> values;

        Held(String kind, Object value) {
            this(kind, Collections.singletonList(value));
        }

        Held(String kind, List<Object> values) {
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
        Held held = writer.item(value, declared, 0);
        if (!DocumentTypes.DOCUMENT.equals(held.kind)) {
            throw writer.types.wrong("an object is declared and " + Json.kindOf(value) + " is given");
        }
        return Json.object(held.values.get(0));
    }

    /** Writes a property; null where there is none. */
    private Held property(Object value, Type declared, int depth) throws CallFailure {
        Type one = types.resolve(declared);
        boolean open = one == null || one.is("any");
        if (value == null) {
            return null;
        }
        if (one != null && one.is("one-of")) {
            return alternative(value, one, depth, true);
        }
        if (!open && !one.is("array") || open && !(value instanceof List)) {
            return item(value, one, depth);
        }
        if (!(value instanceof List)) {
            throw types.wrong("a list is declared and " + Json.kindOf(value) + " is given");
        }
        return list(Json.list(value), open ? null : one.items, depth + 1);
    }

    private Held list(List<Object> items, Type declared, int depth) throws CallFailure {
        String kind = items.isEmpty() ? types.kindOf(declared) : null;
        List<Object> values = new ArrayList<>(items.size());
        for (Object one : items) {
            Held held = item(one, declared, depth);
            values.add(held.values.get(0));
            kind = kind == null ? held.kind : common(kind, held.kind);
        }
        if (DocumentTypes.DOUBLE.equals(kind)) {
            for (int index = 0; index < values.size(); index++) {
                values.set(index, real(values.get(index), false));
            }
        }
        return kind == null ? null : new Held(kind, values);
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
    private Held item(Object value, Type declared, int depth) throws CallFailure {
        types.spend(depth);
        Type one = types.resolve(declared);
        if (value == null) {
            throw types.wrong("a list holds no null in a document");
        }
        if (one != null && one.is("one-of")) {
            return alternative(value, one, depth, false);
        }
        if (value instanceof List) {
            throw types.wrong("a list stands where one value is declared, or in a list");
        }
        if (one == null || one.is("any")) {
            return untyped(value, depth);
        }
        if (one.is("object")) {
            return object(value, one, one.qualifiedName, depth);
        }
        return scalar(value, one);
    }

    private Held untyped(Object value, int depth) throws CallFailure {
        if (value instanceof Map) {
            Type nothing = new Type(Collections.<String, Type.Property>emptyMap(), null);
            return object(value, nothing, null, depth);
        }
        if (value instanceof Boolean) {
            return new Held("boolean", value);
        }
        if (value instanceof String) {
            return new Held("string", value);
        }
        if (value instanceof Long) {
            return new Held(DocumentTypes.LONG, value);
        }
        return new Held(DocumentTypes.DOUBLE, real(value, false));
    }

    private Held object(Object value, Type declared, String schemaType, int depth)
            throws CallFailure {
        Map<String, Object> members = Json.object(value);
        if (members == null) {
            throw types.wrong("an object is declared and " + Json.kindOf(value) + " is given");
        }
        Map<String, Object> properties = new LinkedHashMap<>();
        for (Map.Entry<String, Object> member : members.entrySet()) {
            String name = member.getKey();
            Type.Property known = declared.properties.get(name);
            if (name.isEmpty() || known == null && !declared.properties.isEmpty()) {
                throw types.wrong("nothing named " + name + " is declared");
            }
            Held held = property(member.getValue(), known == null ? null : known.type, depth + 1);
            if (held != null) {
                Map<String, Object> written = new LinkedHashMap<>();
                written.put(DocumentTypes.KIND, held.kind);
                written.put(DocumentTypes.VALUES, held.values);
                properties.put(name, written);
            }
        }
        return new Held(DocumentTypes.DOCUMENT, DocumentTypes.document(schemaType, properties));
    }

    private Held alternative(Object value, Type one, int depth, boolean alone) throws CallFailure {
        Map<String, Object> members = Json.object(value);
        String named = members == null ? null : Json.text(members.get(DocumentTypes.SCHEMA_TYPE));
        Held found = null;
        for (Type alternative : one.members) {
            types.spend(depth);
            String name = types.nameOf(alternative);
            if (named == null || named.equals(name)) {
                Held held = attempt(value, alternative, name, depth, alone);
                if (held != null && found != null) {
                    throw types.wrong("it is several of the declared alternatives");
                }
                found = held == null ? found : held;
            }
        }
        if (found == null) {
            throw types.wrong("it is none of the declared alternatives");
        }
        return found;
    }

    private Held attempt(Object value, Type alternative, String name, int depth, boolean alone)
            throws CallFailure {
        Type one = types.resolve(alternative);
        try {
            if (!one.is("object")) {
                return alone ? property(value, one, depth + 1) : item(value, one, depth + 1);
            }
            Object held = value;
            if (value instanceof Map && !one.properties.containsKey(DocumentTypes.SCHEMA_TYPE)) {
                Map<String, Object> members = new LinkedHashMap<>(Json.object(value));
                members.remove(DocumentTypes.SCHEMA_TYPE);
                held = members;
            }
            Held written = object(held, one, name, depth);
            return DocumentTypes.hasRequired(Json.object(held), one) ? written : null;
        } catch (CallFailure unfit) {
            return null;
        }
    }

    private Held scalar(Object value, Type one) throws CallFailure {
        switch (one.kind) {
            case "string":
                return new Held("string", expect(value, value instanceof String));
            case "boolean":
                return new Held("boolean", expect(value, value instanceof Boolean));
            case "bytes":
                boolean bytes = value instanceof String && ValueFitter.isBase64((String) value);
                return new Held("bytes", expect(value, bytes));
            case "int32":
            case "int64":
                Long whole = Numbers.whole(value, one.is("int32") ? 32 : 64);
                return new Held(DocumentTypes.LONG, expect(whole, whole != null));
            case "float":
            case "double":
                return new Held(DocumentTypes.DOUBLE, real(value, one.is("float")));
            default:
                throw types.wrong("a document holds no value of the kind " + one.kind);
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
