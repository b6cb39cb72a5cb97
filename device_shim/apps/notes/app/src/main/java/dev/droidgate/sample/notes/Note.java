package dev.droidgate.sample.notes;

import android.app.appsearch.GenericDocument;
import java.time.LocalDateTime;
import java.util.ArrayList;
import java.util.List;
import java.util.StringTokenizer;
import org.json.JSONArray;
import org.json.JSONException;
import org.json.JSONObject;

/** One note, as kept, as sent and as stored. */
final class Note {
    static final String TYPE = "dev.droidgate.sample.notes.Note";

    enum State { ACTIVE, PINNED, ARCHIVED }

    enum Priority { LOW, NORMAL, HIGH }

    final String noteId;
    final String title;
    final String content;
    final Priority priority;
    final List<String> labels;
    final Reminder reminder;
    final LocalDateTime createdAt;
    final List<ChecklistItem> checklist = new ArrayList<>();
    State state = State.ACTIVE;

    Note(
            String noteId, String title, String content, Priority priority, List<String> labels,
            Reminder reminder, LocalDateTime createdAt) {
        this.noteId = noteId;
        this.title = title;
        this.content = content;
        this.priority = priority;
        this.labels = labels;
        this.reminder = reminder;
        this.createdAt = createdAt;
    }

    int wordCount() {
        return new StringTokenizer(title).countTokens() + new StringTokenizer(content).countTokens();
    }

    GenericDocument toDocument() {
        GenericDocument.Builder<?> builder = new GenericDocument.Builder<>("", "", TYPE);
        builder.setPropertyString("noteId", noteId);
        builder.setPropertyString("title", title);
        builder.setPropertyString("content", content);
        builder.setPropertyString("state", state.name());
        builder.setPropertyString("priority", priority.name());
        builder.setPropertyString("labels", labels.toArray(new String[0]));
        builder.setPropertyDocument("checklist", ChecklistItem.documentsOf(checklist));
        if (reminder != null) {
            builder.setPropertyDocument("reminder", reminder.toDocument());
        }
        builder.setPropertyDocument("createdAt", Arguments.documentOf(createdAt));
        builder.setPropertyLong("wordCount", wordCount());
        return builder.build();
    }

    JSONObject toJson() throws JSONException {
        return new JSONObject()
                .put("noteId", noteId)
                .put("title", title)
                .put("content", content)
                .put("state", state.name())
                .put("priority", priority.name())
                .put("labels", new JSONArray(labels))
                .put("checklist", ChecklistItem.jsonOf(checklist))
                .put("reminder", reminder == null ? null : reminder.toJson())
                .put("createdAt", createdAt.toString());
    }

    static Note fromJson(JSONObject json) throws JSONException {
        List<String> labels = new ArrayList<>();
        JSONArray stored = json.getJSONArray("labels");
        for (int i = 0; i < stored.length(); i++) {
            labels.add(stored.getString(i));
        }
        Note note = new Note(
                json.getString("noteId"),
                json.getString("title"),
                json.getString("content"),
                Priority.valueOf(json.getString("priority")),
                labels,
                json.has("reminder") ? Reminder.fromJson(json.getJSONObject("reminder")) : null,
                LocalDateTime.parse(json.getString("createdAt")));
        note.state = State.valueOf(json.getString("state"));
        note.checklist.addAll(ChecklistItem.fromJson(json.getJSONArray("checklist")));
        return note;
    }
}
