package dev.droidgate.proof.apps;

import android.app.PendingIntent;
import android.app.Service;
import android.content.Intent;
import android.os.IBinder;

/** A Mobile-MCP tool that can only be started, as the prototype's: its binding is null. */
public final class LampService extends Service {
    @Override
    public IBinder onBind(Intent intent) {
        return null;
    }

    @Override
    public int onStartCommand(Intent intent, int flags, int startId) {
        Apps.CALLS.add(intent.getStringExtra("mobile-mcp-request"));
        if (!Apps.silent) {
            PendingIntent callback = intent.getParcelableExtra("mcp_callback");
            try {
                String output = "[{\"name\": \"on\", \"type\": \"boolean\", \"value\": true}]";
                callback.send(this, 0, new Intent().putExtras(Apps.answerTo(intent.getExtras(), output)));
            } catch (PendingIntent.CanceledException gone) {
                throw new IllegalStateException(gone);
            }
        }
        return START_NOT_STICKY;
    }
}
