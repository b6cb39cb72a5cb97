package dev.droidgate.sample.notes;

import android.app.Activity;
import android.app.appfunctions.AppFunctionException;
import android.app.appsearch.GenericDocument;
import android.os.Bundle;
import android.util.Log;
import android.widget.ArrayAdapter;
import android.widget.Button;
import android.widget.EditText;
import android.widget.LinearLayout;
import android.widget.ListView;
import android.widget.TextView;
import java.io.IOException;
import java.time.LocalDateTime;
import java.util.ArrayList;
import java.util.List;
import org.json.JSONException;

/** The notes for the person who holds the phone, newest first, and a way to write one. */
public final class MainActivity extends Activity {
    private EditText title;
    private TextView problem;
    private ListView list;

    @Override
    protected void onCreate(Bundle savedState) {
        super.onCreate(savedState);
        title = new EditText(this);
        title.setId(R.id.title);
        title.setSingleLine();
        title.setHint(R.string.new_title);
        Button button = new Button(this);
        button.setId(R.id.create_note);
        button.setText(R.string.create_note);
        button.setOnClickListener(view -> create());
        problem = new TextView(this);
        problem.setId(R.id.problem);
        list = new ListView(this);
        list.setId(R.id.notes);
        LinearLayout layout = new LinearLayout(this);
        layout.setOrientation(LinearLayout.VERTICAL);
        layout.setFitsSystemWindows(true);
        layout.addView(title);
        layout.addView(button);
        layout.addView(problem);
        layout.addView(list);
        setContentView(layout);
    }

    @Override
    protected void onResume() {
        super.onResume();
        show();
    }

    private void create() {
        GenericDocument note = new GenericDocument.Builder<>("", "", "")
                .setPropertyString("title", title.getText().toString())
                .build();
        try {
            new NoteFunctions(NoteStore.open(this), LocalDateTime.now())
                    .run("createNote", new Arguments(note, ""));
            title.setText("");
            problem.setText("");
        } catch (AppFunctionException | IOException | JSONException | RuntimeException e) {
            problem.setText(e.getMessage());
        }
        show();
    }

    private void show() {
        List<String> listed = new ArrayList<>();
        try {
            for (Note note : NoteStore.open(this).notes()) {
                listed.add(0, (note.title + "\n" + note.content).trim());
            }
        } catch (IOException | JSONException | RuntimeException e) {
            Log.e("Notes", "The notes could not be read", e);
        }
        if (listed.isEmpty()) {
            listed.add(getString(R.string.no_notes));
        }
        list.setAdapter(new ArrayAdapter<>(this, android.R.layout.simple_list_item_1, listed));
    }
}
