package dev.droidgate.sample.agent;

import android.content.Intent;
import android.content.res.XmlResourceParser;
import android.os.Bundle;
import java.io.IOException;
import java.util.ArrayDeque;
import java.util.Deque;
import org.json.JSONArray;
import org.json.JSONException;
import org.json.JSONObject;
import org.xmlpull.v1.XmlPullParser;
import org.xmlpull.v1.XmlPullParserException;

/** Intents, bundles and compiled XML as JSON, with nothing read into them. */
final class RawValues {
    /** In UTF-16 units. A log that a computer fetches has to fit into what Binder carries at once. */
    static final int LONGEST_TEXT = 65_536;

    private RawValues() {
    }

    /** Returns an object of names and values in turn. */
    static JSONObject object(Object... pairs) {
        JSONObject object = new JSONObject();
        try {
            for (int index = 0; index < pairs.length; index += 2) {
                Object value = pairs[index + 1];
                object.put((String) pairs[index], value == null ? JSONObject.NULL : value);
            }
        } catch (JSONException impossible) {
            throw new IllegalArgumentException(impossible);
        }
        return object;
    }

    /** Returns a text as its kind, its beginning, and its whole length where that is longer. */
    private static JSONObject text(String text) {
        if (text.length() <= LONGEST_TEXT) {
            return object("kind", "string", "value", text);
        }
        return object("kind", "string", "value", text.substring(0, LONGEST_TEXT), "length", text.length());
    }

    /** Returns what a bundle holds by key, or why it cannot be unpacked; null for no bundle. */
    static JSONObject of(Bundle bundle) {
        if (bundle == null) {
            return null;
        }
        JSONObject values = new JSONObject();
        try {
            for (String key : bundle.keySet()) {
                values.put(key, of(valueOf(bundle, key)));
            }
        } catch (JSONException | RuntimeException unreadable) {
            return object("", object("kind", "unreadable", "value", String.valueOf(unreadable.getMessage())));
        }
        return values;
    }

    /** The typed ways to a value, from Android 13 on, need its type to be known. */
    @SuppressWarnings("deprecation")
    static Object valueOf(Bundle bundle, String key) {
        return bundle.get(key);
    }

    private static JSONObject of(Object value) {
        if (value instanceof String) {
            return text((String) value);
        }
        if (value instanceof String[]) {
            JSONArray texts = new JSONArray();
            for (String item : (String[]) value) {
                texts.put(item);
            }
            return object("kind", "string[]", "value", texts);
        }
        if (value instanceof Bundle) {
            return object("kind", "bundle", "value", of((Bundle) value));
        }
        if (value instanceof Integer) {
            return object("kind", "int", "value", value);
        }
        if (value instanceof Long) {
            return object("kind", "long", "value", value);
        }
        if (value instanceof Boolean) {
            return object("kind", "boolean", "value", value);
        }
        return object("kind", value == null ? "null" : value.getClass().getName(), "value", null);
    }

    /** Returns an intent; null for none. */
    static JSONObject of(Intent intent) {
        if (intent == null) {
            return null;
        }
        return object(
                "action", intent.getAction(),
                "component", intent.getComponent() == null ? null : intent.getComponent().flattenToString(),
                "extras", of(intent.getExtras()));
    }

    /** Returns the root of compiled XML: its name, its attributes, and the elements in it. */
    static JSONObject of(XmlResourceParser parser) throws IOException, XmlPullParserException {
        Deque<JSONArray> open = new ArrayDeque<>();
        JSONArray roots = new JSONArray();
        open.push(roots);
        for (int event = parser.next(); event != XmlPullParser.END_DOCUMENT; event = parser.next()) {
            if (event == XmlPullParser.START_TAG) {
                JSONObject attributes = new JSONObject();
                JSONArray children = new JSONArray();
                for (int index = 0; index < parser.getAttributeCount(); index++) {
                    put(attributes, parser.getAttributeName(index), parser.getAttributeValue(index));
                }
                open.peek().put(
                    object("name", parser.getName(), "attributes", attributes, "children", children));
                open.push(children);
            } else if (event == XmlPullParser.END_TAG) {
                open.pop();
            }
        }
        return roots.optJSONObject(0);
    }

    static void put(JSONObject object, String name, Object value) {
        try {
            object.put(name, value);
        } catch (JSONException impossible) {
            throw new IllegalArgumentException(impossible);
        }
    }
}
