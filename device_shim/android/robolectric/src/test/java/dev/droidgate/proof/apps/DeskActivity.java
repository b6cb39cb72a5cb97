package dev.droidgate.proof.apps;

import android.app.Activity;
import android.content.Intent;
import android.os.Bundle;

/** A tool of mMCP's activity dialect: says what is set. */
public final class DeskActivity extends Activity {
    @Override
    protected void onCreate(Bundle state) {
        super.onCreate(state);
        Apps.CALLS.add(getIntent().getStringExtra("parameters"));
        if (!Apps.silent) {
            done();
        }
    }

    /** Answers now. */
    public void done() {
        setResult(RESULT_OK, new Intent().putExtra("result", "hello"));
        finish();
    }
}
