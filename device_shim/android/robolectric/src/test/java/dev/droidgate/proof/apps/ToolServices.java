package dev.droidgate.proof.apps;

import android.os.Bundle;
import org.json.JSONArray;
import org.json.JSONException;
import org.json.JSONObject;

/** What the Mobile-MCP tools of the tests share: reading a request and writing a response, by the specification. */
final class ToolServices {
    private ToolServices() {}

    /** A request, and how it has to be answered. */
    static final class Request {
        final JSONObject request;
        final JSONObject capability;
        final boolean list;

        private Request(String text) throws JSONException {
            JSONObject outer = new JSONObject(text).getJSONObject("mobile-mcp-request");
            if (!"1.0".equals(outer.getString("version"))) {
                throw new JSONException("version");
            }
            request = outer.getJSONObject("request");
            capability = request.getJSONObject("capability");
            list = capability.has("args") || !capability.has("input");
        }

        JSONObject arguments() {
            JSONObject given = capability.optJSONObject(list ? "args" : "input");
            return given == null ? new JSONObject() : given;
        }

        /** Returns the answer's extras. */
        Bundle success(JSONObject outputs) throws JSONException {
            Object output = outputs;
            if (list) {
                JSONArray array = new JSONArray();
                for (java.util.Iterator<String> names = outputs.keys(); names.hasNext(); ) {
                    String name = names.next();
                    array.put(new JSONObject().put("name", name).put("type", "any").put("value", outputs.get(name)));
                }
                output = array;
            }
            JSONObject response = new JSONObject().put("id", request.get("id")).put("status", "success");
            response.put("capability", new JSONObject().put("id", capability.getString("id")).put("output", output));
            return wrapped(response);
        }

        /** Returns the extras of a success without outputs, which are optional (specification 3.2). */
        Bundle nothing() throws JSONException {
            return wrapped(
                    new JSONObject()
                            .put("id", request.get("id"))
                            .put("capability", new JSONObject().put("id", capability.getString("id")))
                            .put("status", "success"));
        }

        Bundle failure(String message) throws JSONException {
            return wrapped(
                    new JSONObject()
                            .put("id", request.get("id"))
                            .put("capability", new JSONObject().put("id", capability.getString("id")))
                            .put("status", "failure")
                            .put("message", message));
        }

        private static Bundle wrapped(JSONObject response) throws JSONException {
            JSONObject outer = new JSONObject().put("version", "1.0").put("response", response);
            Bundle extras = new Bundle();
            extras.putString("mobile-mcp-response", new JSONObject().put("mobile-mcp-response", outer).toString());
            return extras;
        }
    }

    static Request read(Bundle extras) {
        try {
            return new Request(extras.getString("mobile-mcp-request"));
        } catch (JSONException malformed) {
            throw new IllegalArgumentException(malformed);
        }
    }
}
