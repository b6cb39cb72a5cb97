package dev.droidgate.sample;

import org.json.JSONException;
import org.json.JSONObject;

/** Reads one JSON object a line with Android's org.json, and prints how org.json writes it, or why it refuses it. */
public final class JsonRunner {
    private JsonRunner() {
    }

    public static void main(String[] unused) throws Exception {
        Lines.answer(text -> {
            try {
                // toString() gives null where a number is not finite.
                return "" + new JSONObject(text).toString();
            } catch (JSONException refusal) {
                return refusal.getMessage();
            }
        });
    }
}
