package dev.droidgate.runtime;

import android.app.PendingIntent;
import android.content.ComponentName;
import android.content.Intent;
import android.net.Uri;
import android.os.Bundle;
import android.os.Message;
import android.os.Messenger;
import android.util.Base64;
import java.util.ArrayList;
import java.util.List;
import org.json.JSONArray;
import org.json.JSONException;
import org.json.JSONObject;

/** Intents, bundles and messages as the wire holds them: an extra is {@code [key, kind, value]}. */
final class Values {
    private Values() {}

    /** Returns an object of names and values in turn. */
    static JSONObject object(Object... pairs) {
        return with(new JSONObject(), pairs);
    }

    static JSONObject with(JSONObject object, Object... pairs) {
        try {
            for (int index = 0; index < pairs.length; index += 2) {
                object.put(
                        (String) pairs[index], pairs[index + 1] == null ? JSONObject.NULL : pairs[index + 1]);
            }
            return object;
        } catch (JSONException impossible) {
            throw new IllegalArgumentException(impossible);
        }
    }

    /** Returns a text, null where there is none. */
    static String text(JSONObject object, String name) {
        return object.isNull(name) ? null : object.optString(name);
    }

    static List<String> texts(JSONArray array) {
        List<String> texts = new ArrayList<>();
        for (int index = 0; array != null && index < array.length(); index++) {
            texts.add(array.optString(index));
        }
        return texts;
    }

    static byte[] bytes(String text) {
        return Base64.decode(text, Base64.NO_WRAP);
    }

    static String text(byte[] bytes) {
        return Base64.encodeToString(bytes, Base64.NO_WRAP);
    }

    static JSONArray toJson(ProcessLink process, Bundle bundle) {
        JSONArray array = new JSONArray();
        if (bundle != null) {
            for (String key : bundle.keySet()) {
                array.put(extra(process, key, bundle.get(key)));
            }
        }
        return array;
    }

    private static JSONArray extra(ProcessLink process, String key, Object content) {
        String kind;
        Object value = content;
        if (content == null) {
            kind = "null";
        } else if (content instanceof String) {
            kind = "string";
        } else if (content instanceof Integer) {
            kind = "int";
        } else if (content instanceof Long) {
            kind = "long";
        } else if (content instanceof Boolean) {
            kind = "boolean";
        } else if (content instanceof Float || content instanceof Double) {
            kind = content instanceof Float ? "float" : "double";
        } else if (content instanceof String[]) {
            kind = "string[]";
            JSONArray all = new JSONArray();
            for (String item : (String[]) content) {
                all.put(item);
            }
            value = all;
        } else if (content instanceof byte[]) {
            kind = "bytes";
            value = text((byte[]) content);
        } else if (content instanceof Bundle) {
            kind = "bundle";
            value = toJson(process, (Bundle) content);
        } else if (content instanceof PendingIntent) {
            kind = "pending-intent";
            value = process.tokenOf((PendingIntent) content);
        } else if (content instanceof Messenger) {
            kind = "messenger";
            value = process.tokenOf((Messenger) content);
        } else {
            throw new IllegalArgumentException("no extra of this kind crosses: " + content.getClass());
        }
        return new JSONArray().put(key).put(kind).put(value == null ? JSONObject.NULL : value);
    }

    static Bundle bundle(ProcessLink process, JSONArray array) throws JSONException {
        Bundle bundle = new Bundle();
        for (int index = 0; array != null && index < array.length(); index++) {
            JSONArray item = array.getJSONArray(index);
            put(process, bundle, item.getString(0), item.getString(1), item);
        }
        return bundle;
    }

    private static void put(ProcessLink process, Bundle bundle, String key, String kind, JSONArray array)
            throws JSONException {
        switch (kind) {
            case "string":
                bundle.putString(key, array.getString(2));
                break;
            case "int":
                bundle.putInt(key, array.getInt(2));
                break;
            case "long":
                bundle.putLong(key, array.getLong(2));
                break;
            case "boolean":
                bundle.putBoolean(key, array.getBoolean(2));
                break;
            case "float":
                bundle.putFloat(key, (float) array.getDouble(2));
                break;
            case "double":
                bundle.putDouble(key, array.getDouble(2));
                break;
            case "string[]":
                bundle.putStringArray(key, texts(array.getJSONArray(2)).toArray(new String[0]));
                break;
            case "int[]":
                int[] ints = new int[array.getJSONArray(2).length()];
                for (int index = 0; index < ints.length; index++) {
                    ints[index] = array.getJSONArray(2).getInt(index);
                }
                bundle.putIntArray(key, ints);
                break;
            case "long[]":
                long[] longs = new long[array.getJSONArray(2).length()];
                for (int index = 0; index < longs.length; index++) {
                    longs[index] = array.getJSONArray(2).getLong(index);
                }
                bundle.putLongArray(key, longs);
                break;
            case "bytes":
                bundle.putByteArray(key, bytes(array.getString(2)));
                break;
            case "bundle":
                bundle.putBundle(key, bundle(process, array.getJSONArray(2)));
                break;
            case "pending-intent":
                bundle.putParcelable(key, process.pendingIntent(array.getString(2)));
                break;
            case "messenger":
                bundle.putParcelable(key, process.messenger(array.getString(2)));
                break;
            default:
                bundle.putString(key, null);
        }
    }

    static JSONObject toJson(ProcessLink process, Intent intent) {
        if (intent == null) {
            return null;
        }
        ComponentName component = intent.getComponent();
        JSONArray categories = new JSONArray();
        if (intent.getCategories() != null) {
            intent.getCategories().forEach(categories::put);
        }
        return object(
                "action", intent.getAction(),
                "component", component == null ? null : component.flattenToString(),
                "package", intent.getPackage(),
                "categories", categories,
                "data", intent.getDataString(),
                "type", intent.getType(),
                "identifier", intent.getIdentifier(),
                "flags", intent.getFlags(),
                "extras", toJson(process, intent.getExtras()));
    }

    static Intent intent(ProcessLink process, JSONObject json) throws JSONException {
        if (json == null) {
            return null;
        }
        Intent intent = new Intent(text(json, "action"));
        String component = text(json, "component");
        if (component != null) {
            intent.setComponent(ComponentName.unflattenFromString(component));
        }
        intent.setPackage(text(json, "package"));
        texts(json.optJSONArray("categories")).forEach(intent::addCategory);
        String data = text(json, "data");
        if (data != null || !json.isNull("type")) {
            intent.setDataAndType(data == null ? null : Uri.parse(data), text(json, "type"));
        }
        intent.setIdentifier(text(json, "identifier"));
        intent.setFlags(json.optInt("flags"));
        JSONArray extras = json.optJSONArray("extras");
        if (extras != null && extras.length() > 0) {
            intent.putExtras(bundle(process, extras));
        }
        return intent;
    }

    static JSONObject toJson(ProcessLink process, Message message) {
        return object(
                "what", message.what,
                "data", toJson(process, message.peekData()),
                "reply_to", message.replyTo == null ? null : process.tokenOf(message.replyTo));
    }

    static Message message(ProcessLink process, JSONObject json) throws JSONException {
        Message message = Message.obtain(null, json.getInt("what"));
        message.setData(bundle(process, json.getJSONArray("data")));
        String replyTo = text(json, "reply_to");
        message.replyTo = replyTo == null ? null : process.messenger(replyTo);
        return message;
    }
}
