package dev.droidgate.proof.apps;

import android.app.Activity;
import android.content.Intent;
import android.net.Uri;
import android.os.Bundle;
import java.util.ArrayList;
import java.util.List;
import org.json.JSONException;
import org.json.JSONObject;

/** A tool of mMCP's activity dialect: repeats texts and adds numbers. */
public final class DeskActivity extends Activity {
    public static volatile Behaviour behaviour = Behaviour.ANSWER;

    /** The intents that came, with what they carried. */
    public static final List<Intent> CALLS = new ArrayList<>();

    @Override
    protected void onCreate(Bundle state) {
        super.onCreate(state);
        CALLS.add(getIntent());
        switch (behaviour) {
            case ANSWER:
            case TWICE:
                done();
                break;
            case CANCEL:
                finish();
                break;
            case REFUSE:
                setResult(RESULT_CANCELED, new Intent().putExtra("error", "denied: not today"));
                finish();
                break;
            case GARBAGE:
                // More than any answer has: none of it may travel on.
                setResult(
                        RESULT_OK,
                        new Intent("evil", Uri.parse("content://evil/1"))
                                .putExtra("result", "\"fine\"")
                                .putExtra("mcp_callback", new Intent("evil"))
                                .addFlags(Intent.FLAG_GRANT_READ_URI_PERMISSION));
                finish();
                break;
            case HUGE:
                setResult(RESULT_OK, new Intent().putExtra("result", "a".repeat(199_000)));
                finish();
                break;
            case EMPTY:
                setResult(RESULT_OK);
                finish();
                break;
            case UNREADABLE:
                setResult(RESULT_OK, new Intent().putExtra("result", new Bundle()));
                finish();
                break;
            case CRASH:
                // A crash reaches the caller as no result.
                finish();
                break;
            default:
                break;
        }
    }

    /** Answers now. */
    public void done() {
        try {
            JSONObject parameters = new JSONObject(getIntent().getStringExtra("parameters"));
            String result =
                    "add".equals(getIntent().getStringExtra("tool_name"))
                            ? String.valueOf(parameters.getInt("a") + parameters.getInt("b"))
                            : parameters.getString("text");
            setResult(RESULT_OK, new Intent().putExtra("result", result));
        } catch (JSONException malformed) {
            setResult(RESULT_CANCELED, new Intent().putExtra("error", String.valueOf(malformed)));
        }
        finish();
    }
}
