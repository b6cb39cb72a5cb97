package dev.droidgate.proof.apps;

import android.os.Bundle;
import dev.droidgate.proof.phone.Phone;
import java.util.ArrayList;
import java.util.List;
import org.json.JSONArray;
import org.json.JSONException;
import org.json.JSONObject;

/** What the tool apps of the tests share: what came to them, and how Mobile-MCP's requests are answered. */
public final class Apps {
    /** The texts with which the tools were called, in their order. */
    public static final List<String> CALLS = new ArrayList<>();

    /** Whether they keep to themselves what they would answer. */
    public static volatile boolean silent;

    private Apps() {}

    /** Makes all of them behave, and forget what came. */
    public static void begin(Phone phone) {
        CALLS.clear();
        silent = false;
        RadioReceiver.description = "Say the weather.";
        phone.listen(new RadioReceiver());
    }

    /** Returns the extras that answer a request, in its own edition of the specification. */
    static Bundle answerTo(Bundle request, String name, Object value) {
        try {
            JSONObject outer = new JSONObject(request.getString("mobile-mcp-request"));
            JSONObject asked = outer.getJSONObject("mobile-mcp-request").getJSONObject("request");
            JSONObject called = asked.getJSONObject("capability");
            Object output = new JSONObject().put(name, value);
            if (called.has("args")) {
                JSONObject item = new JSONObject().put("name", name).put("type", "any").put("value", value);
                output = new JSONArray().put(item);
            }
            JSONObject answered = new JSONObject().put("id", called.getString("id")).put("output", output);
            JSONObject response = new JSONObject().put("id", asked.getString("id")).put("status", "success");
            JSONObject whole = new JSONObject().put("version", "1.0").put("response", response.put("capability", answered));
            Bundle extras = new Bundle();
            extras.putString("mobile-mcp-response", new JSONObject().put("mobile-mcp-response", whole).toString());
            return extras;
        } catch (JSONException malformed) {
            throw new IllegalArgumentException(malformed);
        }
    }
}
