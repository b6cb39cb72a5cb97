package dev.droidgate.sample.notes;

import android.content.Context;
import android.util.AtomicFile;
import java.io.File;
import java.io.FileNotFoundException;
import java.io.FileOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.json.JSONArray;
import org.json.JSONException;
import org.json.JSONObject;

/**
 * All notes in one small file, oldest first. It is read before and written after each call that changes
 * something.
 */
final class NoteStore {
    static final int MAX_NOTES = 1000;

    private final AtomicFile file;
    private final List<Note> notes = new ArrayList<>();
    private int nextNumber = 1;

    private NoteStore(AtomicFile file) {
        this.file = file;
    }

    static NoteStore open(Context context) throws IOException, JSONException {
        NoteStore store = new NoteStore(new AtomicFile(new File(context.getFilesDir(), "notes.json")));
        String text;
        try {
            text = new String(store.file.readFully(), StandardCharsets.UTF_8);
        } catch (FileNotFoundException nothingStoredYet) {
            return store;
        }
        JSONObject json = new JSONObject(text);
        store.nextNumber = json.getInt("nextNumber");
        JSONArray stored = json.getJSONArray("notes");
        for (int i = 0; i < stored.length(); i++) {
            store.notes.add(Note.fromJson(stored.getJSONObject(i)));
        }
        return store;
    }

    List<Note> notes() {
        return notes;
    }

    boolean isFull() {
        return notes.size() >= MAX_NOTES;
    }

    String newNoteId() {
        return "note-" + nextNumber++;
    }

    /** Returns null for an unknown note. */
    Note find(String noteId) {
        for (Note note : notes) {
            if (note.noteId.equals(noteId)) {
                return note;
            }
        }
        return null;
    }

    void save() throws IOException, JSONException {
        JSONArray stored = new JSONArray();
        for (Note note : notes) {
            stored.put(note.toJson());
        }
        byte[] text = new JSONObject()
                .put("nextNumber", nextNumber)
                .put("notes", stored)
                .toString()
                .getBytes(StandardCharsets.UTF_8);
        FileOutputStream out = file.startWrite();
        try {
            out.write(text);
        } catch (IOException e) {
            file.failWrite(out);
            throw e;
        }
        file.finishWrite(out);
    }
}
