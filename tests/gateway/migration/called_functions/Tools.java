package dev.tools;

import android.content.Context;
import org.json.JSONException;
import org.json.JSONObject;

/** Tools that one method chooses by name. */
final class Tools {
    static final class Failure extends Exception {
        Failure(String message) {
            super(message);
        }
    }

    private final Context context;

    Tools(Context context) {
        this.context = context;
    }

    // run("add") comes first; the text "add" in a comment is not a choice
    JSONObject run(String tool, JSONObject given) throws Failure, JSONException {
        switch (tool) {
            case "add":
                return new JSONObject().put("sum", given.getLong("first_term") + given.optLong("second_term", 10));
            case "who":
                return new JSONObject().put("who", context.getClass().getSimpleName());
            case "greet":
                return new JSONObject().put("text", "Hello, " + given.optString("name", "friend") + "!");
            case "fail":
                throw new Failure("no " + given.getString("thing"));
            default:
                throw new IllegalStateException(tool);
        }
    }
}
