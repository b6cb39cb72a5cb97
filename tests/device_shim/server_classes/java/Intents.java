import android.content.ComponentName;
import android.content.Intent;
import android.content.IntentFilter;
import android.content.pm.ResolveInfo;
import android.net.Uri;
import android.os.Bundle;
import com.android.server.Resolutions;
import com.android.server.am.Starts;
import java.lang.reflect.Array;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.json.JSONArray;
import org.json.JSONException;
import org.json.JSONObject;

/** Android's own intents, filters and URIs. */
final class Intents {
    private Intents() {}

    /** Returns what `am` reads of arguments, and the first that is left, or what is thrown. */
    static JSONObject parsed(JSONArray words) throws JSONException {
        String[] arguments = new String[words.length()];
        for (int at = 0; at < arguments.length; at++) {
            arguments[at] = words.getString(at);
        }
        try {
            Starts read = Starts.read(arguments);
            JSONObject answer = described(read.intent()).put("wait", read.waits()).put("stop", read.stops());
            return answer.put("user", read.user()).put("rest", or(read.rest()));
        } catch (Exception error) {
            return new JSONObject().put("error", error.toString());
        }
    }

    /** Returns the intent that a text describes, or what is thrown. */
    static JSONObject started(String text) throws JSONException {
        try {
            return described(Intent.parseUri(text, 0));
        } catch (Exception error) {
            return new JSONObject().put("error", error.toString());
        }
    }

    private static JSONObject described(Intent intent) throws JSONException {
        JSONObject answer = new JSONObject().put("text", intent.toString());
        JSONObject extras = new JSONObject();
        Bundle given = intent.getExtras();
        for (String key : given == null ? Set.<String>of() : given.keySet()) {
            Object value = given.get(key);
            extras.put(key, value == null ? JSONObject.NULL : new JSONArray().put(value.getClass().getSimpleName()).put(shown(value)));
        }
        ComponentName component = intent.getComponent();
        boolean hasArray = given != null && given.keySet().stream().map(given::get)
                .anyMatch(each -> each != null && each.getClass().isArray());
        // An array is shown with an address.
        answer.put("bundle", or(given == null || hasArray ? null : given.toString())).put("extras", extras);
        answer.put("action", or(intent.getAction())).put("data", or(intent.getDataString())).put("type", or(intent.getType()));
        answer.put("identifier", or(intent.getIdentifier())).put("package", or(intent.getPackage())).put("flags", intent.getFlags());
        answer.put("component", or(component == null ? null : component.flattenToString()));
        Set<String> categories = intent.getCategories();
        return answer.put("categories", new JSONArray(categories == null ? Set.of() : categories));
    }

    private static Object shown(Object value) throws JSONException {
        if (!value.getClass().isArray()) {
            return value.toString();
        }
        JSONArray items = new JSONArray();
        for (int at = 0; at < Array.getLength(value); at++) {
            items.put(Array.get(value, at).toString());
        }
        return items;
    }

    private static Object or(Object value) {
        return value == null ? JSONObject.NULL : value;
    }

    /** Returns the number of a match. */
    static int matched(JSONObject given) throws Exception {
        Intent intent = intent(given);
        return filter(given.getJSONObject("filter")).match(intent.getAction(), intent.getType(), intent.getScheme(),
                intent.getData(), intent.getCategories(), "test", given.getBoolean("wildcards"), null, null);
    }

    /** Returns number, match and priority of each component that is found. */
    static JSONArray resolved(JSONObject given) throws Exception {
        List<Resolutions.Component> components = new ArrayList<>();
        JSONArray listed = given.getJSONArray("components");
        for (int at = 0; at < listed.length(); at++) {
            JSONObject each = listed.getJSONObject(at);
            List<IntentFilter> filters = new ArrayList<>();
            for (int number = 0; number < each.getJSONArray("filters").length(); number++) {
                filters.add(filter(each.getJSONArray("filters").getJSONObject(number)));
            }
            components.add(new Resolutions.Component(at, each.getString("app"), each.getBoolean("system"), filters));
        }
        JSONArray answer = new JSONArray();
        for (ResolveInfo each : Resolutions.found(components, intent(given), given.getBoolean("only_default"))) {
            answer.put(new JSONArray().put(each.specificIndex).put(each.match).put(each.priority));
        }
        return answer;
    }

    private static Intent intent(JSONObject given) throws JSONException {
        Intent intent = new Intent(given.isNull("action") ? null : given.getString("action"));
        for (String category : words(given, "asked")) {
            intent.addCategory(category);
        }
        intent.setPackage(given.isNull("package") ? null : given.getString("package"));
        Uri data = given.isNull("data") ? null : Uri.parse(given.getString("data"));
        return intent.setDataAndType(data, given.isNull("type") ? null : given.getString("type"));
    }

    private static IntentFilter filter(JSONObject given) throws Exception {
        IntentFilter filter = new IntentFilter();
        filter.setPriority(given.getInt("priority"));
        for (String action : words(given, "actions")) {
            filter.addAction(action);
        }
        for (String category : words(given, "categories")) {
            filter.addCategory(category);
        }
        for (String scheme : words(given, "schemes")) {
            filter.addDataScheme(scheme);
        }
        for (String type : words(given, "types")) {
            filter.addDataType(type);
        }
        JSONArray hosts = given.getJSONArray("hosts"), paths = given.getJSONArray("paths");
        for (int at = 0; at < hosts.length(); at++) {
            JSONArray host = hosts.getJSONArray(at);
            filter.addDataAuthority(host.getString(0), host.isNull(1) ? null : host.getString(1));
        }
        for (int at = 0; at < paths.length(); at++) {
            filter.addDataPath(paths.getJSONArray(at).getString(1), kind(paths.getJSONArray(at)));
        }
        JSONArray specific = given.getJSONArray("specific_parts");
        for (int at = 0; at < specific.length(); at++) {
            filter.addDataSchemeSpecificPart(specific.getJSONArray(at).getString(1), kind(specific.getJSONArray(at)));
        }
        return filter;
    }

    private static int kind(JSONArray pattern) throws JSONException {
        return List.of("literal", "prefix", "glob", "advanced", "suffix").indexOf(pattern.getString(0));
    }

    private static String[] words(JSONObject given, String name) throws JSONException {
        JSONArray listed = given.getJSONArray(name);
        String[] words = new String[listed.length()];
        for (int at = 0; at < words.length; at++) {
            words[at] = listed.getString(at);
        }
        return words;
    }

    /** Returns the parts of a URI. */
    static JSONObject parts(String text) throws JSONException {
        Uri uri = Uri.parse(text);
        JSONObject answer = new JSONObject().put("scheme", or(uri.getScheme())).put("authority", or(uri.getAuthority()));
        answer.put("host", or(uri.getHost())).put("port", uri.getPort()).put("path", or(uri.getPath()));
        answer.put("b", or(uri.isHierarchical() ? uri.getQueryParameter("b") : null));
        return answer.put("scheme_specific_part", or(uri.getSchemeSpecificPart())).put("safe_text", uri.toSafeString());
    }
}
