package dev.droidgate.sample.agent;

import android.app.PendingIntent;
import android.content.ComponentName;
import android.content.Context;
import android.content.Intent;
import android.content.ServiceConnection;
import android.os.Build;
import android.os.Bundle;
import android.os.Handler;
import android.os.IBinder;
import android.os.Looper;
import android.os.Message;
import android.os.Messenger;
import android.os.RemoteException;
import java.util.UUID;
import org.json.JSONException;
import org.json.JSONObject;

/**
 * One Mobile-MCP 1.0 call: the service is bound and sent a message; where it cannot be bound it is started
 * with a PendingIntent for the answer. The outcome is reported once, on the main thread.
 */
final class MobileMcpCaller implements ServiceConnection {
    interface Outcome {
        void onAnswer(String response);

        void onFailure(String reason);
    }

    static final String EXTRA_REQUEST = "mobile-mcp-request";
    static final String EXTRA_RESPONSE = "mobile-mcp-response";
    static final String EXTRA_CALLBACK = "mcp_callback";

    private static final int MSG_REQUEST = 1;
    private static final int MSG_RESPONSE = 2;
    private static final long PATIENCE_MILLIS = 30_000;

    private static final class ReplyHandler extends Handler {
        private final MobileMcpCaller caller;

        ReplyHandler(MobileMcpCaller caller) {
            super(Looper.getMainLooper());
            this.caller = caller;
        }

        @Override
        public void handleMessage(Message message) {
            if (message.what == MSG_RESPONSE) {
                caller.finish(message.getData().getString(EXTRA_RESPONSE), null);
            }
        }
    }

    private final Handler timer = new Handler(Looper.getMainLooper());
    private final Context context;
    private final ComponentName service;
    private final String requestId = UUID.randomUUID().toString();
    private final String request;
    private final Outcome outcome;
    private boolean bound;
    private boolean finished;

    MobileMcpCaller(
            Context context, ComponentName service, String capability, JSONObject args, Outcome outcome)
            throws JSONException {
        this.context = context;
        this.service = service;
        this.request = requestFor(requestId, capability, args);
        this.outcome = outcome;
    }

    static String requestFor(String requestId, String capability, JSONObject args) throws JSONException {
        JSONObject inner = new JSONObject()
                .put("id", requestId)
                .put("capability", new JSONObject().put("id", capability).put("args", args));
        return new JSONObject()
                .put("mobile-mcp-request", new JSONObject().put("version", "1.0").put("request", inner))
                .toString();
    }

    void start() {
        timer.postDelayed(() -> finish(null, "no answer in time"), PATIENCE_MILLIS);
        try {
            bound = context.bindService(new Intent().setComponent(service), this, Context.BIND_AUTO_CREATE);
        } catch (SecurityException refused) {
            finish(null, refused.getMessage());
            return;
        }
        if (!bound) {
            startInstead();
        }
    }

    @Override
    public void onServiceConnected(ComponentName name, IBinder binder) {
        Bundle data = new Bundle();
        data.putString(EXTRA_REQUEST, request);
        Message message = Message.obtain(null, MSG_REQUEST);
        message.setData(data);
        message.replyTo = new Messenger(new ReplyHandler(this));
        try {
            new Messenger(binder).send(message);
        } catch (RemoteException gone) {
            finish(null, "the app died");
        }
    }

    @Override
    public void onServiceDisconnected(ComponentName name) {
        finish(null, "the app died");
    }

    @Override
    public void onNullBinding(ComponentName name) {
        startInstead();
    }

    private void startInstead() {
        AnswerReceiver.expect(requestId, this);
        Intent answer = new Intent(context, AnswerReceiver.class)
                .putExtra(AnswerReceiver.EXTRA_REQUEST_ID, requestId);
        int flags = PendingIntent.FLAG_ONE_SHOT | PendingIntent.FLAG_UPDATE_CURRENT;
        if (Build.VERSION.SDK_INT >= Build.VERSION_CODES.S) {
            flags |= PendingIntent.FLAG_MUTABLE;
        }
        Intent start = new Intent()
                .setComponent(service)
                .putExtra(EXTRA_REQUEST, request)
                .putExtra(
                        EXTRA_CALLBACK,
                        PendingIntent.getBroadcast(context, requestId.hashCode(), answer, flags));
        try {
            if (context.startService(start) == null) {
                finish(null, "the service does not exist");
            }
        } catch (IllegalStateException | SecurityException refused) {
            finish(null, refused.getMessage());
        }
    }

    /** Reports the outcome once; later ones are dropped. */
    void finish(String response, String failure) {
        if (finished) {
            return;
        }
        finished = true;
        timer.removeCallbacksAndMessages(null);
        AnswerReceiver.forget(requestId);
        if (bound) {
            context.unbindService(this);
        }
        if (response == null) {
            outcome.onFailure(failure == null ? "the answer was empty" : failure);
        } else {
            outcome.onAnswer(response);
        }
    }
}
