package dev.droidgate.proof;


import android.app.Activity;
import android.content.ContentProvider;
import android.content.Intent;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.json.JSONArray;
import org.json.JSONException;
import org.json.JSONObject;
import org.robolectric.Robolectric;

/** The agent app, whose classes are those of the dex that ships, and the computer that drives it. */
final class AgentApp {
    private static final String PACKAGE = "dev.droidgate.sample.agent.";

    final Phone phone;
    private final ContentProvider provider;
    private int calls;

    AgentApp(Phone phone) {
        this.phone = phone;
        provider = Robolectric.buildContentProvider(classOf("ComputerProvider", ContentProvider.class))
                .create("agent.computer")
                .get();
    }

    private static <T> Class<? extends T> classOf(String name, Class<T> kind) {
        try {
            return Class.forName(PACKAGE + name).asSubclass(kind);
        } catch (ClassNotFoundException missing) {
            throw new AssertionError(missing);
        }
    }

    /** Asks for something, and returns the answer. */
    JSONObject ask(String method, Map<String, ?> values) {
        return Host.ask(phone, provider, method, new JSONObject(values));
    }

    /** Returns protocol and class of what it sees that offers tools. */
    List<String> sees() throws JSONException {
        JSONArray components = ask("list", Map.of()).getJSONArray("components");
        List<String> found = new ArrayList<>();
        for (int index = 0; index < components.length(); index++) {
            JSONObject item = components.getJSONObject(index);
            String component = item.getString("component");
            if (component.contains("Apps$")) {
                found.add(item.getString("protocol") + component.substring(component.indexOf('$')));
            }
        }
        return found;
    }

    /** Calls a tool, and returns what ends the call. */
    JSONObject call(String transport, String action, String tool, Map<String, String> extras)
            throws JSONException {
        String call = "call " + calls++;
        String app = tool.equals("Lamp") ? "clock" : tool.toLowerCase(Locale.ROOT);
        ask("send", Map.of(
                "call", call,
                "transport", transport,
                "component", "dev.droidgate.proof." + app + "/dev.droidgate.proof.Apps$" + tool,
                "action", action,
                "extras", extras));
        if (transport.equals("activity")) {
            phone.open(classOf("CallActivity", Activity.class), new Intent().putExtra("call", call));
        }
        return end();
    }

    /** Returns the newest event, once nothing more happens. */
    JSONObject end() throws JSONException {
        phone.quiet();
        JSONArray events = ask("log", Map.of("after", 0)).getJSONArray("events");
        return events.getJSONObject(events.length() - 1);
    }
}
