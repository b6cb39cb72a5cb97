package dev.droidgate.shim.core;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * A declared type, from the model's JSON form (docs/shim-engine.md 2; {@code droidgate.model.types}).
 *
 * <p>One class for every kind: what a kind does not have is empty or null.
 */
public final class Type {
    private static final List<String> KINDS =
            Arrays.asList(
                    "boolean", "int32", "int64", "float", "double", "string", "bytes", "null",
                    "array", "object", "ref", "all-of", "one-of", "opaque", "any");

    /** The kind, such as {@code int64} or {@code object}. */
    final String kind;

    final boolean nullable;

    /** The only values allowed, null where any is. */
    final List<Object> values;

    final String pattern;
    final Map<String, Object> keywords;

    /** The type word that the descriptor states, null where it is the kind's usual one. */
    final String word;

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
        kind = Json.textAt(facts, "kind");
        if (!KINDS.contains(kind)) {
            throw new MalformedJsonException(kind + " is no kind of type");
        }
        nullable = Boolean.TRUE.equals(facts.get("nullable"));
        values = facts.get("enum") == null ? null : Json.listAt(facts, "enum");
        pattern = Json.text(facts.get("pattern"));
        keywords = Json.objectAt(facts, "keywords");
        Map<String, Object> extensions = Json.objectAt(facts, "extensions");
        word = Json.text(Json.objectAt(extensions, "mobile-mcp").get("word"));
        items = facts.get("items") == null ? null : of(facts.get("items"));
        properties = new LinkedHashMap<>();
        for (Map.Entry<String, Object> one : Json.objectAt(facts, "properties").entrySet()) {
            Map<String, Object> held = Json.objectOf(one.getValue(), one.getKey());
            boolean required = Boolean.TRUE.equals(held.get("required"));
            properties.put(one.getKey(), new Property(of(held.get("type")), required));
        }
        qualifiedName = Json.text(facts.get("qualified_name"));
        name = "ref".equals(kind) ? Json.textAt(facts, "name") : null;
        members = new ArrayList<>();
        for (Object one : Json.listAt(facts, is("one-of") ? "alternatives" : "members")) {
            members.add(of(one));
        }
        exclusive = !Boolean.FALSE.equals(facts.get("exclusive"));
        possible = !(is("any") && Boolean.FALSE.equals(facts.get("boolean")));
    }

    /** An object of these properties. */
    Type(Map<String, Property> properties, String qualifiedName) {
        this.kind = "object";
        this.properties = properties;
        this.qualifiedName = qualifiedName;
        nullable = false;
        values = null;
        pattern = null;
        keywords = new LinkedHashMap<>();
        word = null;
        items = null;
        name = null;
        members = new ArrayList<>();
        exclusive = true;
        possible = true;
    }

    /**
     * Reads a type.
     *
     * @throws MalformedJsonException it is none
     */
    public static Type of(Object json) throws MalformedJsonException {
        return new Type(Json.objectOf(json, "a type"));
    }

    /** Reads named types, as a table's definitions. */
    public static Map<String, Type> mapOf(Map<String, Object> json) throws MalformedJsonException {
        Map<String, Type> read = new LinkedHashMap<>();
        for (Map.Entry<String, Object> one : json.entrySet()) {
            read.put(one.getKey(), of(one.getValue()));
        }
        return read;
    }

    boolean is(String one) {
        return kind.equals(one);
    }

    /** Returns the type behind references, itself where a reference leads nowhere. */
    Type behind(Map<String, Type> definitions) {
        Type found = this;
        for (int left = definitions.size(); found.is("ref") && left >= 0; left--) {
            Type next = definitions.get(found.name);
            if (next == null) {
                return found;
            }
            found = next;
        }
        return found;
    }

    /**
     * Returns the pattern, null where none is declared.
     *
     * @throws UnsupportedPatternException it is outside the subset
     */
    Pattern compiledPattern() throws UnsupportedPatternException {
        if (compiled == null && pattern != null) {
            compiled = Pattern.compile(pattern);
        }
        return compiled;
    }
}
