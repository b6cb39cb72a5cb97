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
                object.put((String) pairs[index], pairs[index + 1] == null ? JSONObject.NULL : pairs[index + 1]);
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

    static JSONArray told(ShimProcess process, Bundle bundle) {
        JSONArray told = new JSONArray();
        if (bundle != null) {
            for (String key : bundle.keySet()) {
                told.put(extra(process, key, bundle.get(key)));
            }
        }
        return told;
    }

    private static JSONArray extra(ShimProcess process, String key, Object held) {
        String kind;
        Object value = held;
        if (held == null) {
            kind = "null";
        } else if (held instanceof String) {
            kind = "string";
        } else if (held instanceof Integer) {
            kind = "int";
        } else if (held instanceof Long) {
            kind = "long";
        } else if (held instanceof Boolean) {
            kind = "boolean";
        } else if (held instanceof Float || held instanceof Double) {
            kind = held instanceof Float ? "float" : "double";
        } else if (held instanceof String[]) {
            kind = "string[]";
            JSONArray all = new JSONArray();
            for (String one : (String[]) held) {
                all.put(one);
            }
            value = all;
        } else if (held instanceof byte[]) {
            kind = "bytes";
            value = text((byte[]) held);
        } else if (held instanceof Bundle) {
            kind = "bundle";
            value = told(process, (Bundle) held);
        } else if (held instanceof PendingIntent) {
            kind = "pending-intent";
            value = process.tokenOf((PendingIntent) held);
        } else if (held instanceof Messenger) {
            kind = "messenger";
            value = process.tokenOf((Messenger) held);
        } else {
            throw new IllegalArgumentException("no extra of this kind crosses: " + held.getClass());
        }
        return new JSONArray().put(key).put(kind).put(value == null ? JSONObject.NULL : value);
    }

    static Bundle bundle(ShimProcess process, JSONArray told) throws JSONException {
        Bundle bundle = new Bundle();
        for (int index = 0; told != null && index < told.length(); index++) {
            JSONArray one = told.getJSONArray(index);
            put(process, bundle, one.getString(0), one.getString(1), one);
        }
        return bundle;
    }

    private static void put(ShimProcess process, Bundle bundle, String key, String kind, JSONArray held)
            throws JSONException {
        switch (kind) {
            case "string":
                bundle.putString(key, held.getString(2));
                break;
            case "int":
                bundle.putInt(key, held.getInt(2));
                break;
            case "long":
                bundle.putLong(key, held.getLong(2));
                break;
            case "boolean":
                bundle.putBoolean(key, held.getBoolean(2));
                break;
            case "float":
                bundle.putFloat(key, (float) held.getDouble(2));
                break;
            case "double":
                bundle.putDouble(key, held.getDouble(2));
                break;
            case "string[]":
                bundle.putStringArray(key, texts(held.getJSONArray(2)).toArray(new String[0]));
                break;
            case "int[]":
                int[] ints = new int[held.getJSONArray(2).length()];
                for (int index = 0; index < ints.length; index++) {
                    ints[index] = held.getJSONArray(2).getInt(index);
                }
                bundle.putIntArray(key, ints);
                break;
            case "long[]":
                long[] longs = new long[held.getJSONArray(2).length()];
                for (int index = 0; index < longs.length; index++) {
                    longs[index] = held.getJSONArray(2).getLong(index);
                }
                bundle.putLongArray(key, longs);
                break;
            case "bytes":
                bundle.putByteArray(key, bytes(held.getString(2)));
                break;
            case "bundle":
                bundle.putBundle(key, bundle(process, held.getJSONArray(2)));
                break;
            case "pending-intent":
                bundle.putParcelable(key, process.pendingIntent(held.getString(2)));
                break;
            case "messenger":
                bundle.putParcelable(key, process.messenger(held.getString(2)));
                break;
            default:
                bundle.putString(key, null);
        }
    }

    static JSONObject told(ShimProcess process, Intent intent) {
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
                "extras", told(process, intent.getExtras()));
    }

    static Intent intent(ShimProcess process, JSONObject told) throws JSONException {
        if (told == null) {
            return null;
        }
        Intent intent = new Intent(text(told, "action"));
        String component = text(told, "component");
        if (component != null) {
            intent.setComponent(ComponentName.unflattenFromString(component));
        }
        intent.setPackage(text(told, "package"));
        texts(told.optJSONArray("categories")).forEach(intent::addCategory);
        String data = text(told, "data");
        if (data != null || !told.isNull("type")) {
            intent.setDataAndType(data == null ? null : Uri.parse(data), text(told, "type"));
        }
        intent.setIdentifier(text(told, "identifier"));
        intent.setFlags(told.optInt("flags"));
        JSONArray extras = told.optJSONArray("extras");
        if (extras != null && extras.length() > 0) {
            intent.putExtras(bundle(process, extras));
        }
        return intent;
    }

    static JSONObject told(ShimProcess process, Message message) {
        return object(
                "what", message.what,
                "data", told(process, message.peekData()),
                "reply_to", message.replyTo == null ? null : process.tokenOf(message.replyTo));
    }

    static Message message(ShimProcess process, JSONObject told) throws JSONException {
        Message message = Message.obtain(null, told.getInt("what"));
        message.setData(bundle(process, told.getJSONArray("data")));
        String replyTo = text(told, "reply_to");
        message.replyTo = replyTo == null ? null : process.messenger(replyTo);
        return message;
    }
}
