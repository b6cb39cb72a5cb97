package dev.droidgate.sample.pdftool;

import java.util.Iterator;
import java.util.regex.Pattern;
import org.json.JSONArray;
import org.json.JSONException;
import org.json.JSONObject;

/** Checks a value against the part of JSON Schema that this app's own tools are declared with. */
final class SchemaCheck {
    private SchemaCheck() {
    }

    /** Returns what is wrong, or null. */
    static String problem(JSONObject schema, Object value, String where) throws JSONException {
        String type = schema.optString("type");
        if (!isOfType(type, value)) {
            return named(where) + " must be of type " + type;
        }
        if (schema.has("enum") && !contains(schema.getJSONArray("enum"), value)) {
            return named(where) + " must be one of " + schema.getJSONArray("enum");
        }
        switch (type) {
            case "object":
                return objectProblem(schema, (JSONObject) value, where);
            case "array":
                return arrayProblem(schema, (JSONArray) value, where);
            case "string":
                return stringProblem(schema, (String) value, where);
            case "integer":
                return integerProblem(schema, ((Number) value).doubleValue(), where);
            default:
                return null;
        }
    }

    private static boolean isOfType(String type, Object value) {
        switch (type) {
            case "object":
                return value instanceof JSONObject;
            case "array":
                return value instanceof JSONArray;
            case "string":
                return value instanceof String;
            case "boolean":
                return value instanceof Boolean;
            case "integer":
                return value instanceof Number && ((Number) value).doubleValue() % 1 == 0;
            default:
                throw new IllegalStateException("type " + type);
        }
    }

    private static String objectProblem(JSONObject schema, JSONObject value, String where)
            throws JSONException {
        JSONArray required = schema.optJSONArray("required");
        for (int i = 0; required != null && i < required.length(); i++) {
            if (!value.has(required.getString(i))) {
                return named(inside(where, required.getString(i))) + " is missing";
            }
        }
        JSONObject properties = schema.getJSONObject("properties");
        for (Iterator<String> names = value.keys(); names.hasNext(); ) {
            String name = names.next();
            JSONObject property = properties.optJSONObject(name);
            if (property == null) {
                return named(inside(where, name)) + " is not a parameter of this tool";
            }
            String problem = problem(property, value.get(name), inside(where, name));
            if (problem != null) {
                return problem;
            }
        }
        return null;
    }

    private static String arrayProblem(JSONObject schema, JSONArray value, String where)
            throws JSONException {
        if (value.length() < schema.optInt("minItems", 0)) {
            return named(where) + " needs at least " + schema.getInt("minItems") + " entries";
        }
        if (value.length() > schema.optInt("maxItems", Integer.MAX_VALUE)) {
            return named(where) + " takes at most " + schema.getInt("maxItems") + " entries";
        }
        for (int i = 0; i < value.length(); i++) {
            String problem = problem(schema.getJSONObject("items"), value.get(i), where + "[" + i + "]");
            if (problem != null) {
                return problem;
            }
        }
        return null;
    }

    private static String stringProblem(JSONObject schema, String value, String where) throws JSONException {
        int length = value.codePointCount(0, value.length());
        if (length < schema.optInt("minLength", 0)) {
            return named(where) + " is too short";
        }
        if (length > schema.optInt("maxLength", Integer.MAX_VALUE)) {
            return named(where) + " is longer than " + schema.getInt("maxLength") + " characters";
        }
        if (schema.has("pattern") && !Pattern.compile(schema.getString("pattern")).matcher(value).find()) {
            return named(where) + " must match " + schema.getString("pattern");
        }
        return null;
    }

    private static String integerProblem(JSONObject schema, double value, String where) throws JSONException {
        if (value < schema.optDouble("minimum", Integer.MIN_VALUE)) {
            return named(where) + " must be at least " + schema.getInt("minimum");
        }
        if (value > schema.optDouble("maximum", Integer.MAX_VALUE)) {
            return named(where) + " must be at most " + schema.optInt("maximum", Integer.MAX_VALUE);
        }
        return null;
    }

    private static boolean contains(JSONArray allowed, Object value) throws JSONException {
        for (int i = 0; i < allowed.length(); i++) {
            if (allowed.get(i).equals(value)) {
                return true;
            }
        }
        return false;
    }

    private static String inside(String where, String name) {
        return where.isEmpty() ? name : where + "." + name;
    }

    private static String named(String where) {
        return where.isEmpty() ? "the parameters" : "\"" + where + "\"";
    }
}
