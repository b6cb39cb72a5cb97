package dev.droidgate.sample.notes;

import android.app.Activity;
import android.os.Bundle;
import android.util.Log;
import android.widget.ScrollView;
import android.widget.TextView;
import java.io.IOException;
import org.json.JSONException;

/** The notes for the person who holds the phone, newest first. */
public final class MainActivity extends Activity {
    private TextView list;

    @Override
    protected void onCreate(Bundle savedState) {
        super.onCreate(savedState);
        list = new TextView(this);
        ScrollView scroll = new ScrollView(this);
        scroll.setFitsSystemWindows(true);
        scroll.addView(list);
        setContentView(scroll);
    }

    @Override
    protected void onResume() {
        super.onResume();
        StringBuilder text = new StringBuilder();
        try {
            for (Note note : NoteStore.open(this).notes()) {
                text.insert(0, note.title + "\n" + note.content + "\n\n");
            }
        } catch (IOException | JSONException | RuntimeException e) {
            Log.e("Notes", "The notes could not be read", e);
        }
        list.setText(text.length() == 0 ? getString(R.string.no_notes) : text);
    }
}
