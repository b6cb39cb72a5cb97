package dev.droidgate.sample.mobilemcp;

import android.util.Log;
import java.util.HashMap;
import java.util.Map;
import org.json.JSONArray;
import org.json.JSONException;
import org.json.JSONObject;

/** One Mobile-MCP 1.0 request text in, one response text out, whatever the request looks like. */
public abstract class RequestEngine {
    private static final String VERSION = "1.0";
    private static final int MAX_REQUEST = 64 * 1024;

    /** A failure: its token, and why. */
    protected static final class Refusal extends Exception {
        public Refusal(String token, String reason) {
            super(token + ": " + reason);
        }
    }

    /** A success: a sentence, and the outputs that the capability declares. */
    protected static final class Answer {
        public final Map<String, Object> outputs = new HashMap<>();
        final String message;

        public Answer(String message) {
            this.message = message;
        }
    }

    private final String tag;
    private final Descriptor descriptor;

    protected RequestEngine(String tag, Descriptor descriptor) {
        this.tag = tag;
        this.descriptor = descriptor;
    }

    /** Runs a capability whose arguments are as it declares them. */
    protected abstract Answer run(String capabilityId, JSONObject args) throws Refusal;

    public final String answer(String requestText) {
        String requestId = "";
        String capabilityId = "";
        try {
            JSONObject envelope = envelopeOf(requestText);
            JSONObject request = objectIn(envelope, "request");
            requestId = textIn(request, "id");
            JSONObject named = request.optJSONObject("capability");
            Object namedId = named == null ? null : named.opt("id");
            capabilityId = namedId instanceof String ? (String) namedId : "";
            if (!VERSION.equals(envelope.opt("version"))) {
                throw new Refusal("unsupported_version", "this tool speaks version " + VERSION);
            }
            JSONObject call = objectIn(request, "capability");
            capabilityId = textIn(call, "id");
            Descriptor.Capability capability = descriptor.find(capabilityId);
            if (capability == null) {
                throw new Refusal("unknown_capability", "there is no \"" + capabilityId + "\" here");
            }
            JSONObject args = argsOf(call);
            String problem = capability.problemWith(args);
            if (problem != null) {
                throw new Refusal("invalid_argument", problem);
            }
            Answer answer = run(capabilityId, args);
            return response(requestId, capabilityId, outputOf(capability, answer), "success", answer.message);
        } catch (Refusal refusal) {
            return response(requestId, capabilityId, null, "failure", refusal.getMessage());
        } catch (JSONException | RuntimeException e) {
            Log.e(tag, "The request could not be answered", e);
            return response(requestId, capabilityId, null, "failure", "backend_failure: " + e.getMessage());
        }
    }

    private static JSONObject envelopeOf(String requestText) throws Refusal {
        if (requestText == null) {
            throw new Refusal("invalid_argument", "the request is missing");
        }
        if (requestText.length() > MAX_REQUEST) {
            throw new Refusal(
                    "invalid_argument", "the request is longer than " + MAX_REQUEST + " characters");
        }
        try {
            return objectIn(new JSONObject(requestText), "mobile-mcp-request");
        } catch (JSONException | StackOverflowError e) {
            // org.json reads nested values by recursion, so a deep text overflows the stack.
            throw new Refusal("invalid_argument", "the request is not a JSON object");
        }
    }

    private static JSONObject argsOf(JSONObject call) throws Refusal {
        if (call.has("input")) {
            throw new Refusal("invalid_argument", "arguments belong under \"args\", not under \"input\"");
        }
        return call.has("args") ? objectIn(call, "args") : new JSONObject();
    }

    private static JSONObject objectIn(JSONObject parent, String name) throws Refusal {
        Object value = parent.opt(name);
        if (value instanceof JSONObject) {
            return (JSONObject) value;
        }
        throw new Refusal("invalid_argument", "\"" + name + "\" must be an object");
    }

    private static String textIn(JSONObject parent, String name) throws Refusal {
        Object value = parent.opt(name);
        if (value instanceof String && !((String) value).isEmpty()) {
            return (String) value;
        }
        throw new Refusal("invalid_argument", "\"" + name + "\" must be a text that is not empty");
    }

    private static JSONArray outputOf(Descriptor.Capability capability, Answer answer) throws JSONException {
        if (capability.outputs.isEmpty()) {
            return null;
        }
        JSONArray output = new JSONArray();
        for (Descriptor.Param param : capability.outputs) {
            output.put(new JSONObject()
                    .put("name", param.name)
                    .put("type", param.type)
                    .put("value", answer.outputs.get(param.name)));
        }
        return output;
    }

    private static String response(
            String requestId, String capabilityId, JSONArray output, String status, String message) {
        try {
            JSONObject capability = new JSONObject().put("id", capabilityId);
            if (output != null) {
                capability.put("output", output);
            }
            JSONObject response = new JSONObject()
                    .put("id", requestId)
                    .put("capability", capability)
                    .put("status", status)
                    .put("message", message);
            return new JSONObject()
                    .put(
                            "mobile-mcp-response",
                            new JSONObject().put("version", VERSION).put("response", response))
                    .toString();
        } catch (JSONException impossible) {
            throw new IllegalStateException(impossible);
        }
    }
}
