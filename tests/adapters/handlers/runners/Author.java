package PACKAGE;

import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Base64;
import java.util.List;

import org.json.JSONArray;
import org.json.JSONObject;

/** Stands for the app's author: answers each method as a JSON text says, and remembers what it was called with. */
final class Author {
    final JSONObject behaviour;
    JSONArray calls = new JSONArray();

    Author(String behaviour) throws Exception {
        this.behaviour = new JSONObject(behaviour);
    }

    PREFIXCalls.Capabilities capabilities() {
        return (PREFIXCalls.Capabilities) Proxy.newProxyInstance(
                Author.class.getClassLoader(), new Class<?>[] {PREFIXCalls.Capabilities.class},
                (proxy, method, arguments) -> {
                    JSONArray shown = new JSONArray();
                    for (Object one : arguments == null ? new Object[0] : arguments) {
                        shown.put(one == null ? "null" : one.getClass().getSimpleName() + " " + text(one));
                    }
                    calls.put(new JSONArray().put(method.getName()).put(shown));
                    JSONObject wanted = behaviour.optJSONObject(method.getName());
                    if (wanted == null) {
                        throw new PREFIXCalls.CallException("unavailable", "nobody wrote " + method.getName());
                    }
                    if (wanted.has("throws")) {
                        throw new PREFIXCalls.CallException(wanted.getString("throws"), "as wanted");
                    }
                    if (wanted.has("crashes")) {
                        return crash(wanted.getString("crashes"));
                    }
                    return typed(wanted.opt("returns"), method.getReturnType());
                });
    }

    private static String text(Object one) {
        return one instanceof byte[] ? Arrays.toString((byte[]) one) : one.toString();
    }

    private static Object crash(String how) {
        return how.equals("deep") ? crash(how) + "" : ((List<?>) null).size();
    }

    private static Object typed(Object value, Class<?> type) throws Exception {
        if (value == null || value == JSONObject.NULL || type == void.class) {
            return null;
        }
        if (type == List.class) {
            List<Object> items = new ArrayList<>();
            for (int i = 0; i < ((JSONArray) value).length(); i++) {
                items.add(((JSONArray) value).get(i));
            }
            return items;
        }
        if (type == byte[].class) {
            return Base64.getDecoder().decode((String) value);
        }
        if (type == long.class || type == Long.class) {
            return ((Number) value).longValue();
        }
        if (type == double.class || type == Double.class) {
            return ((Number) value).doubleValue();
        }
        return type == float.class || type == Float.class ? (Object) ((Number) value).floatValue() : value;
    }

    static String read(String line) throws Exception {
        return line.equals("-") ? null : line.equals("=") ? "" : new String(Base64.getDecoder().decode(line), "UTF-16BE");
    }
}
