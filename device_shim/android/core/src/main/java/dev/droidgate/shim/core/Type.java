package dev.droidgate.shim.core;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * A declared type, from the model's JSON form (shim-engine.md 2; {@code droidgate_mappings.model.types}).
 *
 * <p>One class for every kind: what a kind does not have is empty or null.
 */
public final class Type {
    static final List<String> KINDS =
            Arrays.asList(
                    "boolean", "int32", "int64", "float", "double", "string", "bytes", "null",
                    "array", "object", "ref", "all-of", "one-of", "opaque", "any");

    /** The member that names a value's type, and a document's. */
    static final String SCHEMA_TYPE = "schemaType";

    /** The keys that a type of any kind may have. */
    private static final List<String> FACTS =
            Arrays.asList(
                    "kind", "nullable", "description", "enum", "pattern", "format", "implicit", "keywords",
                    "extensions");

    static final int BOOLEAN = 0;
    static final int INT32 = 1;
    static final int INT64 = 2;
    static final int FLOAT = 3;
    static final int DOUBLE = 4;
    static final int STRING = 5;
    static final int BYTES = 6;
    static final int NULL = 7;
    static final int ARRAY = 8;
    static final int OBJECT = 9;
    static final int REF = 10;
    static final int ALL_OF = 11;
    static final int ONE_OF = 12;
    static final int OPAQUE = 13;
    static final int ANY = 14;

    /** The kind's place in {@link #KINDS}. */
    final int kind;

    final boolean nullable;

    /** The only values allowed, null where any is. */
    final List<Object> values;

    final String pattern;
    final Map<String, Object> keywords;

    /** Of a list; null where the source does not say of what. */
    final Type items;

    /** Of an object, by name, in declared order. */
    final Map<String, Property> properties;

    final String qualifiedName;

    /** Of a reference. */
    final String name;

    /** The members of an all-of, the alternatives of a one-of. */
    final List<Type> members;

    final boolean exclusive;

    /** False for the type that allows no value. */
    final boolean possible;

    private Pattern compiled;

    /** A named value of an object. */
    static final class Property {
        final Type type;
        final boolean required;

        Property(Type type, boolean required) {
            this.type = type;
            this.required = required;
        }
    }

    private Type(Map<String, Object> facts) throws MalformedJsonException {
        kind = KINDS.indexOf(Json.textAt(facts, "kind"));
        Json.check(kind >= 0, "kind");
        List<String> known = new ArrayList<>(FACTS);
        Collections.addAll(known, keysOf(kind));
        Json.checkKeys(facts, known.toArray(new String[0]));
        nullable = Json.flagAt(facts, "nullable");
        values = facts.get("enum") == null ? null : Json.listAt(facts, "enum");
        pattern = Json.optionalTextAt(facts, "pattern");
        keywords = Json.objectAt(facts, "keywords");
        items = facts.get("items") == null ? null : of(facts.get("items"));
        properties = new LinkedHashMap<>();
        for (Map.Entry<String, Object> entry : Json.objectAt(facts, "properties").entrySet()) {
            Map<String, Object> fields = Json.objectOf(entry.getValue(), entry.getKey());
            Json.checkKeys(fields, "type", "required", "extensions");
            Type type = of(fields.get("type"));
            properties.put(entry.getKey(), new Property(type, Json.flagAt(fields, "required")));
        }
        qualifiedName = Json.optionalTextAt(facts, "qualified_name");
        name = is(REF) ? Json.textAt(facts, "name") : null;
        members = new ArrayList<>();
        for (Object member : Json.listAt(facts, is(ONE_OF) ? "alternatives" : "members")) {
            members.add(of(member));
        }
        exclusive = facts.get("exclusive") == null || Json.flagAt(facts, "exclusive");
        possible = facts.get("boolean") == null || Json.flagAt(facts, "boolean");
    }

    private static String[] keysOf(int kind) {
        switch (kind) {
            case ARRAY:
                return new String[] {"items"};
            case OBJECT:
                return new String[] {"properties", "qualified_name"};
            case REF:
                return new String[] {"name"};
            case ALL_OF:
                return new String[] {"members", "qualified_name"};
            case ONE_OF:
                return new String[] {"alternatives", "exclusive", "qualified_name"};
            case OPAQUE:
                return new String[] {"class_name"};
            case ANY:
                return new String[] {"boolean"};
            default:
                return new String[0];
        }
    }

    /** An object of these properties. */
    Type(Map<String, Property> properties, String qualifiedName) {
        kind = OBJECT;
        this.properties = properties;
        this.qualifiedName = qualifiedName;
        nullable = false;
        values = null;
        pattern = null;
        keywords = new LinkedHashMap<>();
        items = null;
        name = null;
        members = new ArrayList<>();
        exclusive = true;
        possible = true;
    }

    private Type(Type type, Map<String, Property> properties) {
        kind = type.kind;
        this.properties = properties;
        qualifiedName = type.qualifiedName;
        nullable = type.nullable;
        values = type.values;
        pattern = type.pattern;
        keywords = type.keywords;
        items = type.items;
        name = type.name;
        members = type.members;
        exclusive = type.exclusive;
        possible = type.possible;
    }

    /** Returns this type without required properties. */
    Type withOptionalProperties() {
        Map<String, Property> optional = new LinkedHashMap<>();
        for (Map.Entry<String, Property> entry : properties.entrySet()) {
            optional.put(entry.getKey(), new Property(entry.getValue().type, false));
        }
        return new Type(this, optional);
    }

    /**
     * Reads a type.
     *
     * @throws MalformedJsonException the JSON is not a type
     */
    public static Type of(Object json) throws MalformedJsonException {
        return new Type(Json.objectOf(json, "a type"));
    }

    /** Reads named types, as a table's definitions. */
    public static Map<String, Type> mapOf(Map<String, Object> json) throws MalformedJsonException {
        Map<String, Type> read = new LinkedHashMap<>();
        for (Map.Entry<String, Object> entry : json.entrySet()) {
            read.put(entry.getKey(), of(entry.getValue()));
        }
        return read;
    }

    boolean is(int kind) {
        return this.kind == kind;
    }

    /**
     * Returns what a value's or document's schema type says where it means this type, null where nothing
     * does: of an object that declares no property of that name.
     *
     * @param referred the name by which this type is referred to, null where it is not referred to
     */
    String schemaName(String referred) {
        if (!is(OBJECT) || properties.containsKey(SCHEMA_TYPE)) {
            return null;
        }
        return nameOr(referred);
    }

    /** Returns the qualified name, another where there is none. */
    String nameOr(String otherwise) {
        return qualifiedName == null || qualifiedName.isEmpty() ? otherwise : qualifiedName;
    }

    /**
     * Checks that each reference leads to a definition.
     *
     * @throws MalformedJsonException one does not
     */
    void checkReferences(Map<String, Type> definitions) throws MalformedJsonException {
        Json.check(!is(REF) || definitions.containsKey(name), name);
        if (items != null) {
            items.checkReferences(definitions);
        }
        for (Property property : properties.values()) {
            property.type.checkReferences(definitions);
        }
        for (Type member : members) {
            member.checkReferences(definitions);
        }
    }

    /** Returns the type behind references, itself where a reference leads nowhere. */
    Type behind(Map<String, Type> definitions) {
        Type found = this;
        for (int left = definitions.size(); found.is(REF) && left >= 0; left--) {
            Type next = definitions.get(found.name);
            if (next == null) {
                return found;
            }
            found = next;
        }
        return found;
    }

    /**
     * Returns the pattern that is declared.
     *
     * @throws UnsupportedPatternException it is outside the subset
     */
    Pattern compiledPattern() throws UnsupportedPatternException {
        if (compiled == null) {
            compiled = Pattern.compile(pattern);
        }
        return compiled;
    }
}
