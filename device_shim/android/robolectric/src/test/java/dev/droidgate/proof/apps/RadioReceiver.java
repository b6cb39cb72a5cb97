package dev.droidgate.proof.apps;

import android.content.BroadcastReceiver;
import android.content.Context;
import android.content.Intent;
import android.os.Bundle;
import java.util.ArrayList;
import java.util.List;

/** A tool of mMCP's broadcast dialect: says the weather. */
public final class RadioReceiver extends BroadcastReceiver {
    public static volatile Behaviour behaviour = Behaviour.ANSWER;

    /** The intents that came. */
    public static final List<Intent> CALLS = new ArrayList<>();

    /** What it offers; tests change it. */
    public static volatile String description = "Say the weather.";

    private static PendingResult pending;

    @Override
    public void onReceive(Context context, Intent intent) {
        CALLS.add(intent);
        if ("com.example.ACTION_MMCP_DISCOVERY".equals(intent.getAction())) {
            Bundle bundle = new Bundle();
            bundle.putStringArray("tools", new String[] {"forecast"});
            bundle.putString("forecast.description", description);
            bundle.putString("forecast.parameters", "{\"place\":\"string\"}");
            setResultExtras(bundle);
            setResultCode(-1);
            return;
        }
        switch (behaviour) {
            case ANSWER:
            case TWICE:
                setResultCode(-1);
                setResultData("sunny");
                break;
            case REFUSE:
                setResultData("Error: denied: not today");
                break;
            case GARBAGE:
                setResultCode(-1);
                setResultData("Unknown tool: " + intent.getStringExtra("tool"));
                break;
            case SILENT:
            case LATE:
                pending = goAsync();
                break;
            default:
                break;
        }
    }

    /** Answers what was left open. */
    public static void done() {
        pending.setResultCode(-1);
        pending.setResultData("rain");
        pending.finish();
    }
}
