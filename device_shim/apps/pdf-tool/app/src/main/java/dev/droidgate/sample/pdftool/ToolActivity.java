package dev.droidgate.sample.pdftool;

import android.app.Activity;
import android.content.Intent;
import android.content.pm.ActivityInfo;
import android.content.pm.PackageManager;
import android.os.Bundle;
import android.util.Log;
import org.json.JSONArray;
import org.json.JSONException;
import org.json.JSONObject;

/** Advertises the tools in its meta-data, runs one call, returns the result and finishes. */
public final class ToolActivity extends Activity {
    static final String ACTION_CALL = "com.example.mMCP.ACTION_TOOL_CALL";
    static final String MANIFEST = "mMCP_manifest";
    static final String EXTRA_TOOL = "tool_name";
    static final String EXTRA_PARAMETERS = "parameters";
    static final String EXTRA_RESULT = "result";
    static final String EXTRA_ERROR = "error";

    private static final String TAG = "PdfTool";
    private static final int MAX_PARAMETERS = 64 * 1024;

    @Override
    protected void onCreate(Bundle savedState) {
        super.onCreate(savedState);
        Intent intent = getIntent();
        if (intent == null || !ACTION_CALL.equals(intent.getAction())) {
            setResult(RESULT_CANCELED);
            finish();
            return;
        }
        new Thread(() -> {
            Intent answer = new Intent();
            int code = serve(intent, answer);
            runOnUiThread(() -> {
                setResult(code, answer);
                finish();
            });
        }, "pdf-tool").start();
    }

    private int serve(Intent intent, Intent answer) {
        String reason;
        try {
            answer.putExtra(EXTRA_RESULT, call(intent).toString());
            return RESULT_OK;
        } catch (ToolException e) {
            reason = e.getMessage();
        } catch (JSONException | RuntimeException | OutOfMemoryError e) {
            Log.e(TAG, "The call failed", e);
            reason = "the tool failed: " + e.getClass().getSimpleName();
        }
        answer.putExtra(EXTRA_ERROR, reason);
        answer.putExtra(EXTRA_RESULT, "Error: " + reason);
        return RESULT_CANCELED;
    }

    private JSONObject call(Intent intent) throws ToolException, JSONException {
        String tool;
        String parameters;
        try {
            tool = intent.getStringExtra(EXTRA_TOOL);
            parameters = intent.getStringExtra(EXTRA_PARAMETERS);
        } catch (RuntimeException unreadable) {
            throw new ToolException("the call holds something this app cannot unpack");
        }
        if (tool == null || tool.isEmpty()) {
            throw new ToolException("no tool is named");
        }
        JSONObject schema = schemaOf(tool);
        JSONObject args = argsFrom(parameters);
        String problem = SchemaCheck.problem(schema, args, "");
        if (problem != null) {
            throw new ToolException(problem);
        }
        return new PdfTools(this).run(tool, args);
    }

    private static JSONObject argsFrom(String parameters) throws ToolException {
        if (parameters == null || parameters.isEmpty()) {
            return new JSONObject();
        }
        if (parameters.length() > MAX_PARAMETERS) {
            throw new ToolException("the parameters are longer than " + MAX_PARAMETERS + " characters");
        }
        try {
            return new JSONObject(parameters);
        } catch (JSONException | StackOverflowError e) {
            // org.json reads nested values by recursion, so a deep text overflows the stack.
            throw new ToolException("the parameters are not a JSON object");
        }
    }

    /** Calls are checked against the very text that assistants read. */
    private JSONObject schemaOf(String tool) throws ToolException, JSONException {
        ActivityInfo info;
        try {
            info = getPackageManager().getActivityInfo(getComponentName(), PackageManager.GET_META_DATA);
        } catch (PackageManager.NameNotFoundException impossible) {
            throw new IllegalStateException(impossible);
        }
        JSONArray tools = new JSONObject(info.metaData.getString(MANIFEST)).getJSONArray("tools");
        for (int i = 0; i < tools.length(); i++) {
            if (tools.getJSONObject(i).getString("name").equals(tool)) {
                return tools.getJSONObject(i).getJSONObject("parameters");
            }
        }
        throw new ToolException("unknown tool \"" + tool + "\"");
    }
}
