package dev.droidgate.proof;

import android.content.ContentProvider;
import java.util.Map;
import org.json.JSONArray;
import org.json.JSONException;
import org.json.JSONObject;
import org.robolectric.Robolectric;

/** The agent app, whose classes are those of the dex that ships, and the computer that drives it. */
final class AgentApp {
    final Phone phone;
    private final ContentProvider provider;

    AgentApp(Phone phone) throws ClassNotFoundException {
        this.phone = phone;
        Class<?> type = Class.forName("dev.droidgate.sample.agent.ComputerProvider");
        provider = Robolectric.buildContentProvider(type.asSubclass(ContentProvider.class))
                .create("agent.computer")
                .get();
    }

    /** Asks for something, and returns the answer. */
    JSONObject ask(String method, Map<String, ?> values) {
        return Host.ask(phone, provider, method, new JSONObject(values));
    }

    /** Returns the newest event, once nothing more happens. */
    JSONObject end() throws JSONException {
        phone.quiet();
        JSONArray events = ask("log", Map.of("after", 0)).getJSONArray("events");
        return events.getJSONObject(events.length() - 1);
    }
}
