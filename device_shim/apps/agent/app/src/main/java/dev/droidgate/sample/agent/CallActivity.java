package dev.droidgate.sample.agent;

import android.app.Activity;
import android.content.ActivityNotFoundException;
import android.content.Intent;
import android.os.Bundle;

/** Opens an activity that is a tool, for its result. adb starts it: an app in the background may not. */
public final class CallActivity extends Activity {
    private static final int REQUEST = 1;
    private static final String CALL = "call";

    @Override
    protected void onCreate(Bundle savedState) {
        super.onCreate(savedState);
        String call = getIntent().getStringExtra(CALL);
        Intent intent = call == null ? null : Calls.of(this).takeOpened(call);
        if (intent == null) {
            finish();
            return;
        }
        try {
            startActivityForResult(intent, REQUEST);
        } catch (ActivityNotFoundException | SecurityException refused) {
            Calls.of(this).record(
                    "refused",
                    CALL, call,
                    "exception", refused.getClass().getName(),
                    "message", String.valueOf(refused.getMessage()));
            finish();
        }
    }

    @Override
    protected void onActivityResult(int requestCode, int resultCode, Intent data) {
        super.onActivityResult(requestCode, resultCode, data);
        Calls.of(this).record(
                "activity-result",
                CALL, getIntent().getStringExtra(CALL),
                "code", resultCode,
                "extras", data == null ? null : RawValues.of(data.getExtras()));
        finish();
    }
}
