package dev.droidgate.proof.apps;

import android.app.PendingIntent;
import android.app.Service;
import android.content.Intent;
import android.os.IBinder;
import java.util.ArrayList;
import java.util.List;
import org.json.JSONException;
import org.json.JSONObject;

/** A Mobile-MCP tool that can only be started, as the prototype's: its binding is null. */
public final class LampService extends Service {
    public static volatile Behaviour behaviour = Behaviour.ANSWER;

    /** The intents that came. */
    public static final List<Intent> CALLS = new ArrayList<>();

    private Intent request;

    @Override
    public IBinder onBind(Intent intent) {
        return null;
    }

    @Override
    public int onStartCommand(Intent intent, int flags, int startId) {
        CALLS.add(intent);
        if (behaviour == Behaviour.ANSWER || behaviour == Behaviour.TWICE) {
            answer(intent);
        }
        if (behaviour == Behaviour.TWICE) {
            answer(intent);
        }
        if (behaviour == Behaviour.CROSSED && CALLS.size() == 2) {
            // The first one's request, with the second one's callback.
            answer(new Intent(CALLS.get(0)).putExtra("mcp_callback", (PendingIntent) intent.getParcelableExtra("mcp_callback")));
        }
        request = intent;
        return START_NOT_STICKY;
    }

    /** Answers what was left open. */
    public void done() {
        answer(request);
    }

    private void answer(Intent intent) {
        ToolServices.Request request = ToolServices.read(intent.getExtras());
        PendingIntent callback = intent.getParcelableExtra("mcp_callback");
        try {
            JSONObject outputs = new JSONObject().put("on", request.arguments().getBoolean("on"));
            callback.send(this, 0, new Intent().putExtras(request.success(outputs)));
        } catch (JSONException | PendingIntent.CanceledException failed) {
            throw new IllegalStateException(failed);
        }
    }
}
