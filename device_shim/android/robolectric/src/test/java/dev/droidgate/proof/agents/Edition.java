package dev.droidgate.proof.agents;

import java.util.LinkedHashMap;
import java.util.Map;
import org.json.JSONArray;
import org.json.JSONException;
import org.json.JSONObject;

/** How requests and responses are written: the specification's two editions, and the prototype. */
public enum Edition {
    /** 14 February 2026: {@code args}, and the output as a list of name, type and value. */
    ARGS("mobile-mcp-request", "mobile-mcp-response"),
    /** 24 February 2026: {@code input}, and the output as an object. */
    INPUT("mobile-mcp-request", "mobile-mcp-response"),
    /** The reference app: nothing is wrapped, and the arguments are a JSON text inside the JSON. */
    PROTOTYPE("request", "response");

    public final String requestExtra;
    public final String responseExtra;

    Edition(String requestExtra, String responseExtra) {
        this.requestExtra = requestExtra;
        this.responseExtra = responseExtra;
    }

    /** Returns a request's text. */
    public String request(String id, String capability, JSONObject arguments) {
        try {
            JSONObject called = new JSONObject().put("id", capability);
            if (arguments != null) {
                called.put(
                        this == ARGS ? "args" : "input",
                        this == PROTOTYPE ? (Object) arguments.toString() : arguments);
            }
            JSONObject request = new JSONObject().put("id", id).put("capability", called);
            if (this == PROTOTYPE) {
                return request.toString();
            }
            JSONObject outer = new JSONObject().put("version", "1.0").put("request", request);
            return new JSONObject().put("mobile-mcp-request", outer).toString();
        } catch (JSONException impossible) {
            throw new IllegalStateException(impossible);
        }
    }

    /** Reads a response; an answer of another edition, or of none, is an error. */
    public Answer read(String text) {
        try {
            JSONObject response = new JSONObject(text);
            if (this != PROTOTYPE) {
                JSONObject outer = response.getJSONObject("mobile-mcp-response");
                expect("1.0".equals(outer.getString("version")), text);
                response = outer.getJSONObject("response");
            }
            String status = response.getString("status");
            expect("success".equals(status) || "failure".equals(status), text);
            JSONObject capability = response.optJSONObject("capability");
            expect(capability != null || this == PROTOTYPE || "failure".equals(status), text);
            Object output = capability == null ? null : capability.opt("output");
            return new Answer(
                    response.getString("id"),
                    capability == null ? null : capability.getString("id"),
                    status,
                    response.has("message") ? response.getString("message") : null,
                    output == null ? Map.of() : outputs(output, text));
        } catch (JSONException malformed) {
            throw new AssertionError(text, malformed);
        }
    }

    private Map<String, Object> outputs(Object output, String text) throws JSONException {
        Map<String, Object> values = new LinkedHashMap<>();
        if (this == ARGS) {
            JSONArray list = (JSONArray) output;
            for (int index = 0; index < list.length(); index++) {
                JSONObject item = list.getJSONObject(index);
                expect(!item.getString("type").isEmpty(), text);
                values.put(item.getString("name"), item.get("value"));
            }
            return values;
        }
        JSONObject fields = (JSONObject) output;
        for (java.util.Iterator<String> names = fields.keys(); names.hasNext(); ) {
            String name = names.next();
            values.put(name, fields.get(name));
        }
        return values;
    }

    private static void expect(boolean holds, String text) {
        if (!holds) {
            throw new AssertionError(text);
        }
    }
}
