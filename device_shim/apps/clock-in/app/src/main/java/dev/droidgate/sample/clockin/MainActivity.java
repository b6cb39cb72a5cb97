package dev.droidgate.sample.clockin;

import android.app.Activity;
import android.os.Bundle;
import android.view.View;
import android.widget.ArrayAdapter;
import android.widget.Button;
import android.widget.EditText;
import android.widget.LinearLayout;
import android.widget.ListView;
import android.widget.TextView;
import java.time.LocalDate;
import java.util.ArrayList;
import java.util.List;

/** The same record for the person who holds the phone. */
public final class MainActivity extends Activity {
    private ClockInBook book;
    private TextView state;
    private EditText missedDay;
    private TextView problem;
    private ListView days;

    @Override
    protected void onCreate(Bundle savedState) {
        super.onCreate(savedState);
        book = new ClockInBook(this);
        state = new TextView(this);
        state.setId(R.id.state);
        missedDay = new EditText(this);
        missedDay.setId(R.id.missed_day);
        missedDay.setSingleLine();
        missedDay.setHint(R.string.missed_day);
        problem = new TextView(this);
        problem.setId(R.id.problem);
        days = new ListView(this);
        days.setId(R.id.days);
        LinearLayout layout = new LinearLayout(this);
        layout.setOrientation(LinearLayout.VERTICAL);
        layout.setFitsSystemWindows(true);
        layout.addView(state);
        layout.addView(button(R.id.clock_in_now, R.string.clock_in_now, view -> clockIn()));
        layout.addView(missedDay);
        layout.addView(button(R.id.add_missed_day, R.string.add_missed_day, view -> addMissedDay()));
        layout.addView(problem);
        layout.addView(days);
        setContentView(layout);
    }

    @Override
    protected void onResume() {
        super.onResume();
        show();
    }

    private Button button(int id, int text, View.OnClickListener listener) {
        Button button = new Button(this);
        button.setId(id);
        button.setText(text);
        button.setOnClickListener(listener);
        return button;
    }

    private void clockIn() {
        book.add(LocalDate.now());
        show();
    }

    private void addMissedDay() {
        String typed = missedDay.getText().toString();
        String reason = ClockInEngine.problemWithMissedDay(typed, LocalDate.now());
        if (reason == null) {
            book.add(LocalDate.parse(typed));
            missedDay.setText("");
        }
        problem.setText(reason == null ? "" : reason);
        show();
    }

    private void show() {
        List<String> listed = new ArrayList<>(book.days().descendingSet());
        state.setText(book.contains(LocalDate.now()) ? R.string.clocked_in : R.string.not_clocked_in);
        if (listed.isEmpty()) {
            listed.add(getString(R.string.no_days));
        }
        days.setAdapter(new ArrayAdapter<>(this, android.R.layout.simple_list_item_1, listed));
    }
}
