package dev.droidgate.proof;

import android.app.Activity;
import android.app.PendingIntent;
import android.app.Service;
import android.content.BroadcastReceiver;
import android.content.Context;
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

/** The tool apps of the tests, one of each protocol. */
public final class Apps {
    private static final String CLOCK = "dev.droidgate.proof.clock";

    /** The texts with which the tools were called, in their order. */
    static final List<String> CALLS = new ArrayList<>();

    /** Whether they keep to themselves what they would answer. */
    static volatile boolean silent;

    private Apps() {}

    /** Makes all of them behave, and forget what came. */
    static void begin(Phone phone) {
        CALLS.clear();
        silent = false;
        phone.listen(new Radio());
    }

    /** Returns the extras that answer a request of Mobile-MCP. */
    private static Bundle answerTo(Bundle request, String output) {
        try {
            JSONObject outer = new JSONObject(request.getString("mobile-mcp-request"));
            JSONObject asked = outer.getJSONObject("mobile-mcp-request").getJSONObject("request");
            String called = asked.getJSONObject("capability").getString("id");
            String form = "{\"mobile-mcp-response\": {\"version\": \"1.0\", \"response\": {\"id\": \"%s\","
                    + " \"status\": \"success\", \"capability\": {\"id\": \"%s\", \"output\": %s}}}}";
            Bundle extras = new Bundle();
            String response = String.format(form, asked.getString("id"), called, output);
            extras.putString("mobile-mcp-response", response);
            return extras;
        } catch (JSONException malformed) {
            throw new IllegalArgumentException(malformed);
        }
    }

    /** A Mobile-MCP tool that is bound: says the time. */
    public static final class Clock extends Service {
        private final Messenger messenger =
                new Messenger(
                        new Handler(Looper.getMainLooper()) {
                            @Override
                            public void handleMessage(Message message) {
                                CALLS.add(message.getData().getString("mobile-mcp-request"));
                                if (!silent) {
                                    answer(message);
                                }
                            }
                        });

        @Override
        public IBinder onBind(Intent intent) {
            return messenger.getBinder();
        }

        private static void answer(Message message) {
            Message answer = Message.obtain(null, 2);
            answer.setData(answerTo(message.getData(), "{\"time\": \"12:00\"}"));
            Messenger replyTo = message.replyTo;
            Phone.as(CLOCK, () -> replyTo.send(answer));
        }
    }

    /** A Mobile-MCP tool that can only be started, as the prototype's: its binding is null. */
    public static final class Lamp extends Service {
        @Override
        public IBinder onBind(Intent intent) {
            return null;
        }

        @Override
        public int onStartCommand(Intent intent, int flags, int startId) {
            CALLS.add(intent.getStringExtra("mobile-mcp-request"));
            if (!silent) {
                PendingIntent callback = intent.getParcelableExtra("mcp_callback");
                String output = "[{\"name\": \"on\", \"type\": \"boolean\", \"value\": true}]";
                Intent answer = new Intent().putExtras(answerTo(intent.getExtras(), output));
                Phone.as(CLOCK, () -> callback.send(this, 0, answer));
            }
            return START_NOT_STICKY;
        }
    }

    /** A tool of mMCP's activity dialect: says what is set. */
    public static final class Desk extends Activity {
        @Override
        protected void onCreate(Bundle state) {
            super.onCreate(state);
            CALLS.add(getIntent().getStringExtra("parameters"));
            if (!silent) {
                answer();
            }
        }

        void answer() {
            setResult(RESULT_OK, new Intent().putExtra("result", "hello"));
            finish();
        }
    }

    /** A tool of mMCP's broadcast dialect: says the weather. */
    public static final class Radio extends BroadcastReceiver {
        @Override
        public void onReceive(Context context, Intent intent) {
            if ("com.example.ACTION_MMCP_DISCOVERY".equals(intent.getAction())) {
                Bundle tools = new Bundle();
                tools.putStringArray("tools", new String[] {"forecast"});
                tools.putString("forecast.description", "Say the weather.");
                tools.putString("forecast.parameters", "{\"place\":\"string\"}");
                setResultExtras(tools);
                return;
            }
            CALLS.add(intent.getStringExtra("params"));
            if (silent) {
                goAsync();
                return;
            }
            setResultCode(-1);
            setResultData("sunny");
        }
    }
}
