package dev.droidgate.proof.apps;

import android.os.Bundle;
import dev.droidgate.proof.phone.Phone;
import java.util.ArrayList;
import java.util.List;
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

    /** Returns the extras that answer a request; the output is in the form of the request's edition. */
    static Bundle answerTo(Bundle request, String output) {
        try {
            JSONObject outer = new JSONObject(request.getString("mobile-mcp-request"));
            JSONObject asked = outer.getJSONObject("mobile-mcp-request").getJSONObject("request");
            Bundle extras = new Bundle();
            extras.putString(
                    "mobile-mcp-response",
                    String.format(
                            "{\"mobile-mcp-response\": {\"version\": \"1.0\", \"response\": {\"id\": \"%s\","
                                    + " \"status\": \"success\","
                                    + " \"capability\": {\"id\": \"%s\", \"output\": %s}}}}",
                            asked.getString("id"), asked.getJSONObject("capability").getString("id"),
                            output));
            return extras;
        } catch (JSONException malformed) {
            throw new IllegalArgumentException(malformed);
        }
    }
}
