package dev.droidgate.shim.core;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * What writing and reading documents share: types behind references, and a budget
 * (docs/shim-engine.md 5).
 */
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
        Type one = declared.behind(definitions);
        if (one.is(Type.REF)) {
            throw wrong("the type " + one.name + " is not defined");
        }
        if (!one.is(Type.ALL_OF)) {
            return one;
        }
        checkDepth(depth);
        spend();
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

    /** Returns the types behind the alternatives of a one-of. */
    List<Type> alternatives(Type one) throws CallFailure {
        spend();
        List<Type> found = new ArrayList<>(one.members.size());
        for (Type alternative : one.members) {
            found.add(resolve(alternative));
        }
        return found;
    }

    /** Tells whether nothing is declared. */
    static boolean isOpen(Type declared) {
        return declared == null || declared.is(Type.ANY);
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
    String kindOf(Type declared, int depth) throws CallFailure {
        checkDepth(depth);
        Type one = resolve(declared);
        if (one == null) {
            return null;
        }
        switch (one.kind) {
            case Type.INT32:
            case Type.INT64:
                return LONG;
            case Type.FLOAT:
            case Type.DOUBLE:
                return DOUBLE;
            case Type.STRING:
            case Type.BOOLEAN:
            case Type.BYTES:
                return Type.KINDS.get(one.kind);
            case Type.OBJECT:
                return DOCUMENT;
            case Type.ONE_OF:
                return commonKind(one, depth);
            default:
                return null;
        }
    }

    private String commonKind(Type one, int depth) throws CallFailure {
        String common = null;
        for (Type alternative : alternatives(one)) {
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
        document.put(SCHEMA_TYPE, schemaType == null ? "" : schemaType);
        document.put(PROPERTIES, properties);
        return document;
    }
}
