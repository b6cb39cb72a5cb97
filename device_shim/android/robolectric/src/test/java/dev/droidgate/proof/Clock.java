package dev.droidgate.proof;

import android.app.Service;
import android.content.Intent;
import android.os.Bundle;
import android.os.Handler;
import android.os.IBinder;
import android.os.Looper;
import android.os.Message;
import android.os.Messenger;
import java.util.ArrayList;
import java.util.List;
import org.json.JSONException;
import org.json.JSONObject;

/** A Mobile-MCP tool that is bound: says the time. */
public final class Clock extends Service {
    /** The requests of a test, in their order. */
    static final List<String> CALLS = new ArrayList<>();

    private final Messenger messenger =
            new Messenger(
                    new Handler(Looper.getMainLooper()) {
                        @Override
                        public void handleMessage(Message message) {
                            answer(message);
                        }
                    });

    @Override
    public IBinder onBind(Intent intent) {
        return messenger.getBinder();
    }

    private static void answer(Message message) {
        String request = message.getData().getString("mobile-mcp-request");
        CALLS.add(request);
        String form =
                "{\"mobile-mcp-response\": {\"version\": \"1.0\", \"response\": {\"id\": \"%s\", \"status\":"
                        + " \"success\", \"capability\":"
                        + " {\"id\": \"now\", \"output\": {\"time\": \"12:00\"}}}}}";
        Bundle extras = new Bundle();
        try {
            JSONObject asked = new JSONObject(request).getJSONObject("mobile-mcp-request");
            String id = asked.getJSONObject("request").getString("id");
            extras.putString("mobile-mcp-response", String.format(form, id));
        } catch (JSONException malformed) {
            throw new IllegalArgumentException(malformed);
        }
        Message answer = Message.obtain(null, 2);
        answer.setData(extras);
        Messenger replyTo = message.replyTo;
        Phone.as("dev.droidgate.proof.clock", () -> replyTo.send(answer));
    }
}
