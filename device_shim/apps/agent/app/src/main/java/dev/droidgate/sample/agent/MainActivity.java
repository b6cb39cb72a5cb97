package dev.droidgate.sample.agent;

import android.app.Activity;
import android.content.ActivityNotFoundException;
import android.content.Intent;
import android.os.Bundle;
import android.widget.ArrayAdapter;
import android.widget.EditText;
import android.widget.LinearLayout;
import android.widget.ListView;
import android.widget.TextView;
import java.util.List;
import org.json.JSONException;
import org.json.JSONObject;

/**
 * Lists the apps that offer tools. The field above the list has the call that a tap on an app makes: a tool's
 * name, a blank and the arguments as JSON.
 */
public final class MainActivity extends Activity {
    private static final int REQUEST_TOOL = 1;
    private static final String ACTION_CALL = "com.example.mMCP.ACTION_TOOL_CALL";
    private static final String EXTRA_TOOL = "tool_name";
    private static final String EXTRA_PARAMETERS = "parameters";
    private static final String EXTRA_RESULT = "result";
    private static final String EXTRA_ERROR = "error";

    private EditText call;
    private TextView answer;
    private ListView list;

    @Override
    protected void onCreate(Bundle savedState) {
        super.onCreate(savedState);
        call = new EditText(this);
        call.setId(R.id.call);
        call.setSingleLine();
        call.setHint(R.string.call_hint);
        answer = new TextView(this);
        answer.setId(R.id.answer);
        list = new ListView(this);
        list.setId(R.id.tools);
        LinearLayout layout = new LinearLayout(this);
        layout.setOrientation(LinearLayout.VERTICAL);
        layout.setFitsSystemWindows(true);
        layout.addView(call);
        layout.addView(answer);
        layout.addView(list);
        setContentView(layout);
    }

    @Override
    protected void onResume() {
        super.onResume();
        List<ToolApp> found = ToolApp.findAll(this);
        list.setAdapter(new ArrayAdapter<>(this, android.R.layout.simple_list_item_1, found));
        list.setOnItemClickListener((parent, view, position, id) -> callTool(found.get(position)));
        if (found.isEmpty()) {
            answer.setText(R.string.no_tools);
        }
    }

    private void callTool(ToolApp app) {
        String[] words = call.getText().toString().trim().split(" ", 2);
        try {
            JSONObject arguments = words.length < 2 ? new JSONObject() : new JSONObject(words[1]);
            callTool(app, words[0], arguments);
        } catch (JSONException | ActivityNotFoundException | SecurityException e) {
            answer.setText(e.getMessage());
        }
    }

    private void callTool(ToolApp app, String tool, JSONObject arguments) throws JSONException {
        switch (app.protocol) {
            case MOBILE_MCP:
                callMobileMcp(app, tool, arguments);
                break;
            case MMCP:
                startActivityForResult(new Intent(ACTION_CALL)
                        .setComponent(app.component)
                        .putExtra(EXTRA_TOOL, tool)
                        .putExtra(EXTRA_PARAMETERS, arguments.toString()), REQUEST_TOOL);
                break;
            case BROADCAST:
                if (tool.isEmpty()) {
                    BroadcastCaller.discover(this, app.component, (code, data, extras) -> showTools(extras));
                } else {
                    BroadcastCaller.call(this, app.component, tool, arguments,
                            (code, data, extras) -> answer.setText(data));
                }
                break;
            default:
                throw new IllegalStateException("protocol " + app.protocol);
        }
    }

    private void callMobileMcp(ToolApp app, String tool, JSONObject arguments) throws JSONException {
        new MobileMcpCaller(getApplicationContext(), app.component, tool, arguments,
                new MobileMcpCaller.Outcome() {
                    @Override
                    public void onAnswer(String response) {
                        answer.setText(response);
                    }

                    @Override
                    public void onFailure(String reason) {
                        answer.setText(reason);
                    }
                }).start();
    }

    private void showTools(Bundle extras) {
        String[] names = extras.getStringArray("tools");
        StringBuilder text = new StringBuilder();
        for (String name : names == null ? new String[0] : names) {
            text.append(name).append(": ").append(extras.getString(name + ".description")).append('\n');
        }
        answer.setText(text.toString().trim());
    }

    @Override
    protected void onActivityResult(int requestCode, int resultCode, Intent data) {
        super.onActivityResult(requestCode, resultCode, data);
        if (requestCode != REQUEST_TOOL || data == null) {
            return;
        }
        String error = resultCode == RESULT_OK ? null : data.getStringExtra(EXTRA_ERROR);
        answer.setText(error == null ? data.getStringExtra(EXTRA_RESULT) : error);
    }
}
