package dev.droidgate.sample.clockin;

import android.app.Activity;
import android.os.Bundle;
import android.widget.Button;
import android.widget.LinearLayout;
import android.widget.TextView;
import java.time.LocalDate;
import java.util.TreeSet;

/** The same record for the person who holds the phone. */
public final class MainActivity extends Activity {
    private ClockInBook book;
    private TextView list;

    @Override
    protected void onCreate(Bundle savedState) {
        super.onCreate(savedState);
        book = new ClockInBook(this);
        list = new TextView(this);
        Button button = new Button(this);
        button.setText(R.string.clock_in_now);
        button.setOnClickListener(view -> {
            book.add(LocalDate.now());
            show();
        });
        LinearLayout layout = new LinearLayout(this);
        layout.setOrientation(LinearLayout.VERTICAL);
        layout.setFitsSystemWindows(true);
        layout.addView(button);
        layout.addView(list);
        setContentView(layout);
    }

    @Override
    protected void onResume() {
        super.onResume();
        show();
    }

    private void show() {
        TreeSet<String> days = book.days();
        list.setText(days.isEmpty() ? getString(R.string.no_days) : String.join("\n", days.descendingSet()));
    }
}
