package dev.droidgate.shim.core;

import java.util.LinkedHashMap;
import java.util.Map;

/** What writing and reading documents share: types behind references, and a budget (docs/shim-engine.md 5). */
final class DocumentTypes {
    static final String SCHEMA_TYPE = "schemaType";
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

    /** Takes one step of the budget; what is over it stays over it, so trying alternatives ends. */
    void spend(int depth) throws CallFailure {
        steps--;
        if (steps < 0) {
            throw wrong("there are too many alternatives to look at");
        }
        if (depth > MAX_DEPTH) {
            throw wrong("the value is nested too deep");
        }
    }

    /** Returns the type behind references, null for none; an all-of is the object of all its members. */
    Type resolve(Type declared) throws CallFailure {
        return declared == null ? null : resolve(declared, 0);
    }

    private Type resolve(Type declared, int depth) throws CallFailure {
        Type one = declared.behind(definitions);
        if (one.is("ref")) {
            throw wrong("the type " + one.name + " is not defined");
        }
        if (!one.is("all-of")) {
            return one;
        }
        spend(depth);
        Map<String, Type.Property> merged = new LinkedHashMap<>();
        for (Type member : one.members) {
            for (Map.Entry<String, Type.Property> held :
                    resolve(member, depth + 1).properties.entrySet()) {
                Type.Property before = merged.get(held.getKey());
                Type.Property now = held.getValue();
                boolean required = now.required || before != null && before.required;
                merged.put(held.getKey(), new Type.Property(now.type, required));
            }
        }
        return new Type(merged, one.qualifiedName);
    }

    /** Tells whether nothing is declared. */
    static boolean isOpen(Type declared) {
        return declared == null || declared.is("any");
    }

    /** Tells whether an object has every key that its type demands. */
    static boolean hasRequired(Map<String, ?> held, Type declared) {
        for (Map.Entry<String, Type.Property> one : declared.properties.entrySet()) {
            Type.Property property = one.getValue();
            if (property.required && !property.type.nullable && !held.containsKey(one.getKey())) {
                return false;
            }
        }
        return true;
    }

    /** Returns the kind of property that holds a declared type, null where the value decides. */
    String kindOf(Type declared) throws CallFailure {
        Type one = resolve(declared);
        if (one == null) {
            return null;
        }
        switch (one.kind) {
            case "int32":
            case "int64":
                return LONG;
            case "float":
            case "double":
                return DOUBLE;
            case "string":
            case "boolean":
            case "bytes":
                return one.kind;
            case "object":
                return DOCUMENT;
            case "one-of":
                return commonKind(one);
            default:
                return null;
        }
    }

    private String commonKind(Type one) throws CallFailure {
        String common = null;
        spend(0);
        for (Type alternative : one.members) {
            String kind = kindOf(alternative);
            if (kind == null || common != null && !common.equals(kind)) {
                return null;
            }
            common = kind;
        }
        return common;
    }

    static Map<String, Object> document(String schemaType, Map<String, Object> properties) {
        Map<String, Object> document = new LinkedHashMap<>();
        document.put(SCHEMA_TYPE, schemaType == null ? "" : schemaType);
        document.put(PROPERTIES, properties);
        return document;
    }
}
