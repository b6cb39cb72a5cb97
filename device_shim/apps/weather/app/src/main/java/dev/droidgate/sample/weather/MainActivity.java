package dev.droidgate.sample.weather;

import android.app.Activity;
import android.os.Bundle;
import android.widget.TextView;

/** Opening the app once takes it out of Android's stopped state; after that it answers broadcasts. */
public final class MainActivity extends Activity {
    @Override
    protected void onCreate(Bundle savedState) {
        super.onCreate(savedState);
        TextView about = new TextView(this);
        about.setText(R.string.about);
        about.setFitsSystemWindows(true);
        setContentView(about);
    }
}
