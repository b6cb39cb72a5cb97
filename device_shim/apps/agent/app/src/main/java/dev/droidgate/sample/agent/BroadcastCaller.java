package dev.droidgate.sample.agent;

import android.content.BroadcastReceiver;
import android.content.ComponentName;
import android.content.Context;
import android.content.Intent;
import android.os.Bundle;
import org.json.JSONObject;

/** The broadcast dialect of mMCP: ordered broadcasts to one receiver, whose result comes back at the end. */
final class BroadcastCaller {
    interface Outcome {
        void onResult(int code, String data, Bundle extras);
    }

    private static final String ACTION_INVOKE = "com.example.ACTION_MMCP_INVOKE";
    private static final String EXTRA_TOOL = "tool";
    private static final String EXTRA_PARAMS = "params";

    private BroadcastCaller() {
    }

    /** Asks which tools there are: extras tools, NAME.description and NAME.parameters. */
    static void discover(Context context, ComponentName receiver, Outcome outcome) {
        send(context, new Intent(ToolApp.ACTION_BROADCAST).setComponent(receiver), outcome);
    }

    static void call(
            Context context, ComponentName receiver, String tool, JSONObject params, Outcome outcome) {
        send(context, new Intent(ACTION_INVOKE)
                .setComponent(receiver)
                .putExtra(EXTRA_TOOL, tool)
                .putExtra(EXTRA_PARAMS, params.toString()), outcome);
    }

    private static void send(Context context, Intent intent, Outcome outcome) {
        context.sendOrderedBroadcast(intent, null, new BroadcastReceiver() {
            @Override
            public void onReceive(Context unused, Intent sent) {
                outcome.onResult(getResultCode(), getResultData(), getResultExtras(true));
            }
        }, null, 0, null, null);
    }
}
