package com.example.faulty;

import android.app.Activity;
import android.content.BroadcastReceiver;
import android.content.Context;
import android.content.Intent;
import android.os.Bundle;
import org.json.JSONException;
import org.json.JSONObject;

/** Tools of both forms of mMCP that are right, or have the fault that a file names. */
public final class Mmcp {
    private Mmcp() {}

    private static String problem(String tool, String parameters) {
        try {
            new JSONObject(String.valueOf(parameters));
        } catch (JSONException malformed) {
            return "the parameters are not a JSON object";
        }
        return "echo".equals(tool) ? null : "unknown tool";
    }

    /** The activity of mMCP. */
    public static final class Screen extends Activity {
        @Override
        protected void onCreate(Bundle state) {
            super.onCreate(state);
            String fault = Tool.fault(this);
            Bundle given = getIntent().getExtras() == null ? new Bundle() : getIntent().getExtras();
            String problem = problem(given.getString("tool_name"), given.getString("parameters"));
            if (fault.equals("silent") || fault.equals("silent on refusal") && problem != null) {
                return;
            }
            Intent result = new Intent();
            if (problem != null) {
                result.putExtra("error", problem);
            } else if (fault.equals("result as number")) {
                result.putExtra("result", 1);
            } else if (!fault.equals("no result")) {
                result.putExtra("result", "{}");
            }
            setResult(problem != null || fault.equals("canceled") ? RESULT_CANCELED : RESULT_OK, result);
            finish();
        }
    }

    /** The receiver of mMCP by broadcast. */
    public static final class Radio extends BroadcastReceiver {
        @Override
        public void onReceive(Context context, Intent intent) {
            String fault = Tool.fault(context);
            if ("com.example.ACTION_MMCP_DISCOVERY".equals(intent.getAction())) {
                setResultExtras(described(fault));
                return;
            }
            String problem = problem(intent.getStringExtra("tool"), intent.getStringExtra("params"));
            if (fault.equals("no data") || fault.equals("no data on refusal") && problem != null) {
                return;
            }
            setResultCode(-1);
            setResultData(problem == null ? "{}" : "Error: " + problem);
        }

        private static Bundle described(String fault) {
            Bundle tools = new Bundle();
            if (fault.equals("tools as text")) {
                tools.putString("tools", "echo");
            } else if (!fault.equals("no tools")) {
                tools.putStringArray("tools", new String[] {"echo"});
            }
            if (!fault.equals("no description")) {
                tools.putString("echo.description", "It echoes.");
            }
            String prose = "text: string";
            String described = fault.equals("parameters as prose") ? prose : "{\"text\": \"string\"}";
            tools.putString("echo.parameters", described);
            return tools;
        }
    }
}
