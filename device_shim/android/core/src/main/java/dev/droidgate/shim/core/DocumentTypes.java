package dev.droidgate.shim.core;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * What writing and reading documents share: types behind references, and a budget
 * (shim-engine.md 5).
 */
final class DocumentTypes {
    static final String PROPERTIES = "properties";
    static final String KIND = "kind";
    static final String VALUES = "values";
    static final String LONG = "long";
    static final String DOUBLE = "double";
    static final String DOCUMENT = "document";

    private static final int MAX_DEPTH = 64;
    private static final int MAX_STEPS = 500_000;

    private final Map<String, Type> definitions;
    private final String token;
    private int steps = MAX_STEPS;

    DocumentTypes(Map<String, Type> definitions, String token) {
        this.definitions = definitions;
        this.token = token;
    }

    CallFailure wrong(String message) {
        return new CallFailure(token, message);
    }

    /** Takes one step of the budget, for choices that could go on for ever. */
    void spend() throws CallFailure {
        steps--;
        checkBudget();
    }

    /** Refuses what is over the budget, also where the failure of an alternative has hidden it. */
    void checkBudget() throws CallFailure {
        if (steps < 0) {
            throw wrong("there are too many alternatives to look at");
        }
    }

    void checkDepth(int depth) throws CallFailure {
        if (depth > MAX_DEPTH) {
            throw wrong("the value is nested too deep");
        }
    }

    /**
     * Returns the type behind references, null for none; an all-of is the object of all its
     * members.
     */
    Type resolve(Type declared) throws CallFailure {
        return declared == null ? null : resolve(declared, 0);
    }

    private Type resolve(Type declared, int depth) throws CallFailure {
        Type type = declared.behind(definitions);
        if (type.is(Type.REF)) {
            throw wrong("the type " + type.name + " is not defined");
        }
        if (!type.is(Type.ALL_OF)) {
            return type;
        }
        checkDepth(depth);
        spend();
        Map<String, Type.Property> merged = new LinkedHashMap<>();
        for (Type member : type.members) {
            for (Map.Entry<String, Type.Property> found :
                    resolve(member, depth + 1).properties.entrySet()) {
                Type.Property before = merged.get(found.getKey());
                Type.Property now = found.getValue();
                boolean required = now.required || before != null && before.required;
                merged.put(found.getKey(), new Type.Property(now.type, required));
            }
        }
        return new Type(merged, type.qualifiedName);
    }

    /** Returns the types behind the alternatives of a one-of. */
    List<Type> alternatives(Type type) throws CallFailure {
        spend();
        List<Type> found = new ArrayList<>(type.members.size());
        for (Type alternative : type.members) {
            found.add(resolve(alternative));
        }
        return found;
    }

    /** Returns whether nothing is declared. */
    static boolean isOpen(Type declared) {
        return declared == null || declared.is(Type.ANY);
    }

    /** Returns whether an object has every key that its type requires. */
    static boolean hasRequired(Map<String, ?> fields, Type declared) {
        for (Map.Entry<String, Type.Property> entry : declared.properties.entrySet()) {
            Type.Property property = entry.getValue();
            if (property.required && !property.type.nullable && !fields.containsKey(entry.getKey())) {
                return false;
            }
        }
        return true;
    }

    /** Returns the kind of property that holds a declared type, null where the value decides. */
    String kindOf(Type declared, int depth) throws CallFailure {
        checkDepth(depth);
        Type type = resolve(declared);
        if (type == null) {
            return null;
        }
        switch (type.kind) {
            case Type.INT32:
            case Type.INT64:
                return LONG;
            case Type.FLOAT:
            case Type.DOUBLE:
                return DOUBLE;
            case Type.STRING:
            case Type.BOOLEAN:
            case Type.BYTES:
                return Type.KINDS.get(type.kind);
            case Type.OBJECT:
                return DOCUMENT;
            case Type.ONE_OF:
                return commonKind(type, depth);
            default:
                return null;
        }
    }

    private String commonKind(Type type, int depth) throws CallFailure {
        String common = null;
        for (Type alternative : alternatives(type)) {
            String kind = kindOf(alternative, depth + 1);
            if (kind == null || common != null && !common.equals(kind)) {
                return null;
            }
            common = kind;
        }
        return common;
    }

    static Map<String, Object> document(String schemaType, Map<String, Object> properties) {
        Map<String, Object> document = new LinkedHashMap<>();
        document.put(Type.SCHEMA_TYPE, schemaType == null ? "" : schemaType);
        document.put(PROPERTIES, properties);
        return document;
    }
}
