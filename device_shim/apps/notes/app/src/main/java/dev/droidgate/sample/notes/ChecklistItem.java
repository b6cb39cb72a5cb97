package dev.droidgate.sample.notes;

import android.app.appfunctions.AppFunctionException;
import android.app.appsearch.GenericDocument;
import java.util.ArrayList;
import java.util.List;
import org.json.JSONArray;
import org.json.JSONException;
import org.json.JSONObject;

/** One line of a checklist, with the lines below it. */
final class ChecklistItem {
    static final String TYPE = "dev.droidgate.sample.notes.ChecklistItem";

    private static final int MAX_LEVELS = 5;
    private static final int MAX_ITEMS = 50;
    private static final int MAX_TEXT = 200;

    private final String text;
    private final boolean done;
    private final List<ChecklistItem> children;

    private ChecklistItem(String text, boolean done, List<ChecklistItem> children) {
        this.text = text;
        this.done = done;
        this.children = children;
    }

    static List<ChecklistItem> listFrom(Arguments arguments, String name) throws AppFunctionException {
        return listFrom(arguments, name, 1);
    }

    private static List<ChecklistItem> listFrom(Arguments arguments, String name, int level)
            throws AppFunctionException {
        List<ChecklistItem> items = new ArrayList<>();
        for (Arguments each : arguments.objects(name, MAX_ITEMS)) {
            if (level > MAX_LEVELS) {
                throw arguments.invalid(name, "is more than " + MAX_LEVELS + " levels deep");
            }
            List<ChecklistItem> children = each.has("children")
                    ? listFrom(each, "children", level + 1) : new ArrayList<ChecklistItem>();
            items.add(new ChecklistItem(each.text("text", 1, MAX_TEXT), each.flag("done"), children));
        }
        return items;
    }

    static int count(List<ChecklistItem> items) {
        int count = items.size();
        for (ChecklistItem item : items) {
            count += count(item.children);
        }
        return count;
    }

    static GenericDocument[] documentsOf(List<ChecklistItem> items) {
        GenericDocument[] documents = new GenericDocument[items.size()];
        for (int i = 0; i < documents.length; i++) {
            ChecklistItem item = items.get(i);
            documents[i] = new GenericDocument.Builder<>("", "", TYPE)
                    .setPropertyString("text", item.text)
                    .setPropertyBoolean("done", item.done)
                    .setPropertyDocument("children", documentsOf(item.children))
                    .build();
        }
        return documents;
    }

    static JSONArray jsonOf(List<ChecklistItem> items) throws JSONException {
        JSONArray json = new JSONArray();
        for (ChecklistItem item : items) {
            json.put(new JSONObject()
                    .put("text", item.text)
                    .put("done", item.done)
                    .put("children", jsonOf(item.children)));
        }
        return json;
    }

    static List<ChecklistItem> fromJson(JSONArray json) throws JSONException {
        List<ChecklistItem> items = new ArrayList<>();
        for (int i = 0; i < json.length(); i++) {
            JSONObject item = json.getJSONObject(i);
            items.add(new ChecklistItem(
                    item.getString("text"), item.getBoolean("done"),
                    fromJson(item.getJSONArray("children"))));
        }
        return items;
    }
}
