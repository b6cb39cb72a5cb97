package dev.droidgate.sample.agent;

import android.content.BroadcastReceiver;
import android.content.Context;
import android.content.Intent;
import java.util.HashMap;
import java.util.Map;

/** Takes the answers of services that were started. It is not exported: only the PendingIntent leads here. */
public final class AnswerReceiver extends BroadcastReceiver {
    static final String EXTRA_REQUEST_ID = "mcp_request_id";

    private static final Map<String, MobileMcpCaller> WAITING = new HashMap<>();

    static void expect(String requestId, MobileMcpCaller caller) {
        WAITING.put(requestId, caller);
    }

    static void forget(String requestId) {
        WAITING.remove(requestId);
    }

    @Override
    public void onReceive(Context context, Intent intent) {
        MobileMcpCaller caller = WAITING.get(intent.getStringExtra(EXTRA_REQUEST_ID));
        if (caller != null) {
            caller.finish(intent.getStringExtra(MobileMcpCaller.EXTRA_RESPONSE), null);
        }
    }
}
