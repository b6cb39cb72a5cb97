package dev.droidgate.sample.notes;

import android.app.appfunctions.AppFunctionException;
import android.app.appfunctions.ExecuteAppFunctionResponse;
import android.app.appsearch.GenericDocument;
import java.io.IOException;
import java.time.LocalDateTime;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.TreeSet;
import org.json.JSONException;

/** The functions themselves: arguments in, a result document out. */
final class NoteFunctions {
    /** Jetpack's codes for a thing that does not exist and for a limit that is reached. */
    static final int ERROR_RESOURCE_NOT_FOUND = 1500;
    static final int ERROR_LIMIT_EXCEEDED = 1501;

    private static final String STATISTICS = "dev.droidgate.sample.notes.NoteStatistics";
    private static final int MAX_ID = 40;
    private static final int MAX_TITLE = 120;
    private static final int MAX_CONTENT = 20_000;
    private static final int MAX_LABELS = 10;
    private static final int MAX_LABEL = 30;
    private static final int MAX_CHECKLIST = 200;
    private static final int MAX_FOUND = 100;
    private static final int USUALLY_FOUND = 20;

    private final NoteStore store;
    private final LocalDateTime now;

    NoteFunctions(NoteStore store, LocalDateTime now) {
        this.store = store;
        this.now = now;
    }

    /** Returns null for an unknown function. */
    GenericDocument run(String name, Arguments arguments)
            throws AppFunctionException, IOException, JSONException {
        switch (name) {
            case "addChecklistItems":
                return addChecklistItems(arguments);
            case "archiveNote":
                setState(arguments, Note.State.ARCHIVED);
                return result().build();
            case "createNote":
                return createNote(arguments);
            case "deleteNote":
                return deleteNote(arguments);
            case "findNotes":
                return findNotes(arguments);
            case "getNote":
                return getNote(arguments);
            case "setNoteState":
                return value(setState(arguments, arguments.oneOf(Note.State.class, "state")).toDocument());
            case "summarizeNotes":
                return summarizeNotes();
            default:
                return null;
        }
    }

    private GenericDocument addChecklistItems(Arguments arguments)
            throws AppFunctionException, IOException, JSONException {
        Note note = noteIn(arguments);
        List<ChecklistItem> items = ChecklistItem.listFrom(arguments, "items");
        if (items.isEmpty()) {
            throw arguments.invalid("items", "must hold at least one item");
        }
        if (ChecklistItem.count(note.checklist) + ChecklistItem.count(items) > MAX_CHECKLIST) {
            throw new AppFunctionException(
                    ERROR_LIMIT_EXCEEDED, "A note has room for " + MAX_CHECKLIST + " checklist items");
        }
        note.checklist.addAll(items);
        store.save();
        return value(note.toDocument());
    }

    private GenericDocument createNote(Arguments arguments)
            throws AppFunctionException, IOException, JSONException {
        String title = arguments.text("title", 1, MAX_TITLE);
        String content = arguments.text("content", 0, MAX_CONTENT, "");
        Note.Priority priority = arguments.oneOf(Note.Priority.class, "priority", Note.Priority.NORMAL);
        List<String> labels = arguments.texts("labels", MAX_LABELS, MAX_LABEL);
        Reminder reminder = Reminder.from(arguments, "reminder");
        if (store.isFull()) {
            throw new AppFunctionException(
                    ERROR_LIMIT_EXCEEDED, "There is room for " + NoteStore.MAX_NOTES + " notes only");
        }
        Note note = new Note(store.newNoteId(), title, content, priority, labels, reminder, now);
        store.notes().add(note);
        store.save();
        return value(note.toDocument());
    }

    private GenericDocument deleteNote(Arguments arguments)
            throws AppFunctionException, IOException, JSONException {
        Note note = store.find(arguments.text("noteId", 1, MAX_ID));
        if (note != null) {
            store.notes().remove(note);
            store.save();
        }
        return result().setPropertyBoolean(ExecuteAppFunctionResponse.PROPERTY_RETURN_VALUE, note != null)
                .build();
    }

    private GenericDocument findNotes(Arguments arguments) throws AppFunctionException {
        int limit = arguments.whole("limit", 1, MAX_FOUND, USUALLY_FOUND);
        Query query = new Query(arguments);
        List<GenericDocument> found = new ArrayList<>();
        for (int i = store.notes().size() - 1; i >= 0 && found.size() < limit; i--) {
            if (query.matches(store.notes().get(i))) {
                found.add(store.notes().get(i).toDocument());
            }
        }
        return value(found.toArray(new GenericDocument[0]));
    }

    private static final class Query {
        private final boolean everything;
        private final String text;
        private final String label;
        private final Note.State state;
        private final LocalDateTime createdAfter;

        Query(Arguments arguments) throws AppFunctionException {
            everything = !arguments.has("query");
            Arguments query = everything ? arguments : arguments.object("query");
            text = everything ? null : query.text("text", 1, MAX_TITLE, null);
            label = everything ? null : query.text("label", 1, MAX_LABEL, null);
            state = everything ? null : query.oneOf(Note.State.class, "state", null);
            createdAfter = !everything && query.has("createdAfter") ? query.dateTime("createdAfter") : null;
        }

        boolean matches(Note note) {
            if (everything) {
                return note.state != Note.State.ARCHIVED;
            }
            return (text == null || folded(note.title + "\n" + note.content).contains(folded(text)))
                    && (label == null || note.labels.contains(label))
                    && (state == null || note.state == state)
                    && (createdAfter == null || note.createdAt.isAfter(createdAfter));
        }

        private static String folded(String text) {
            return text.toLowerCase(Locale.ROOT);
        }
    }

    private GenericDocument getNote(Arguments arguments) throws AppFunctionException {
        Note note = store.find(arguments.text("noteId", 1, MAX_ID));
        return note == null ? result().build() : value(note.toDocument());
    }

    private Note setState(Arguments arguments, Note.State state)
            throws AppFunctionException, IOException, JSONException {
        Note note = noteIn(arguments);
        note.state = state;
        store.save();
        return note;
    }

    private GenericDocument summarizeNotes() {
        TreeSet<String> labels = new TreeSet<>();
        long words = 0;
        int archived = 0;
        int total = store.notes().size();
        for (Note note : store.notes()) {
            labels.addAll(note.labels);
            words += note.wordCount();
            archived += note.state == Note.State.ARCHIVED ? 1 : 0;
        }
        return value(new GenericDocument.Builder<>("", "", STATISTICS)
                .setPropertyLong("total", total)
                .setPropertyLong("archived", archived)
                .setPropertyLong("words", words)
                .setPropertyDouble("averageWords", total == 0 ? 0 : (double) words / total)
                .setPropertyString("labels", labels.toArray(new String[0]))
                .build());
    }

    private Note noteIn(Arguments arguments) throws AppFunctionException {
        String noteId = arguments.text("noteId", 1, MAX_ID);
        Note note = store.find(noteId);
        if (note == null) {
            throw new AppFunctionException(ERROR_RESOURCE_NOT_FOUND, "Unknown note \"" + noteId + "\"");
        }
        return note;
    }

    private static GenericDocument value(GenericDocument... documents) {
        return result().setPropertyDocument(ExecuteAppFunctionResponse.PROPERTY_RETURN_VALUE, documents)
                .build();
    }

    private static GenericDocument.Builder<?> result() {
        return new GenericDocument.Builder<>("", "", "");
    }
}
