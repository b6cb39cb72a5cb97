package dev.droidgate.sample.agent;

import android.app.Activity;
import android.os.Bundle;
import android.widget.TextView;
import org.json.JSONArray;
import org.json.JSONObject;

/** Lists the components that offer tools, which this app may see. */
public final class MainActivity extends Activity {
    private TextView tools;

    @Override
    protected void onCreate(Bundle savedState) {
        super.onCreate(savedState);
        tools = new TextView(this);
        tools.setFitsSystemWindows(true);
        setContentView(tools);
    }

    @Override
    protected void onResume() {
        super.onResume();
        JSONArray found = ToolApps.findAll(this);
        StringBuilder lines = new StringBuilder();
        for (int index = 0; index < found.length(); index++) {
            JSONObject item = found.optJSONObject(index);
            lines.append(item.optString("protocol")).append(' ').append(item.optString("component"));
            lines.append('\n');
        }
        tools.setText(found.length() == 0 ? "No app on this phone offers tools." : lines.toString().trim());
    }
}
