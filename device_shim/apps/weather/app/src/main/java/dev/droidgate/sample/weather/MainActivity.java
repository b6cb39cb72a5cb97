package dev.droidgate.sample.weather;

import android.app.Activity;
import android.net.Uri;
import android.os.Bundle;
import android.widget.Button;
import android.widget.EditText;
import android.widget.LinearLayout;
import android.widget.TextView;

/**
 * The weather for the person who holds the phone, at once for a place that it is opened with. Opening the
 * app once takes it out of Android's stopped state; after that it answers broadcasts.
 */
public final class MainActivity extends Activity {
    private EditText place;
    private TextView answer;

    @Override
    protected void onCreate(Bundle savedState) {
        super.onCreate(savedState);
        TextView about = new TextView(this);
        about.setId(R.id.about);
        about.setText(R.string.about);
        place = new EditText(this);
        place.setId(R.id.place);
        place.setSingleLine();
        place.setHint(R.string.place);
        Button button = new Button(this);
        button.setId(R.id.show_weather);
        button.setText(R.string.show_weather);
        button.setOnClickListener(view -> show());
        answer = new TextView(this);
        answer.setId(R.id.answer);
        LinearLayout layout = new LinearLayout(this);
        layout.setOrientation(LinearLayout.VERTICAL);
        layout.setFitsSystemWindows(true);
        layout.addView(about);
        layout.addView(place);
        layout.addView(button);
        layout.addView(answer);
        setContentView(layout);
        Uri link = getIntent().getData();
        String asked = link == null ? getIntent().getStringExtra("place") : link.getQueryParameter("name");
        if (asked != null) {
            place.setText(asked);
            show();
        }
    }

    private void show() {
        try {
            answer.setText(WeatherTools.current(place.getText().toString()));
        } catch (WeatherTools.Refusal refusal) {
            answer.setText(refusal.getMessage());
        }
    }
}
