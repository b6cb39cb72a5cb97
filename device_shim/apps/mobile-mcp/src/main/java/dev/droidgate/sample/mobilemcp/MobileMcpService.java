package dev.droidgate.sample.mobilemcp;

import android.app.Notification;
import android.app.NotificationChannel;
import android.app.NotificationManager;
import android.app.PendingIntent;
import android.app.Service;
import android.content.Intent;
import android.os.Bundle;
import android.os.Handler;
import android.os.IBinder;
import android.os.Looper;
import android.os.Message;
import android.os.Messenger;
import android.os.RemoteException;
import android.util.Log;
import java.util.function.BiFunction;

/**
 * A Mobile-MCP service. An assistant either binds and sends messages (what = 1, answered with what = 2), or
 * starts the service with a PendingIntent for the answer.
 */
public abstract class MobileMcpService extends Service {
    private static final int MSG_REQUEST = 1;
    private static final int MSG_RESPONSE = 2;
    private static final String KEY_REQUEST = "request";
    private static final String KEY_RESPONSE = "response";
    private static final String EXTRA_REQUEST = "mobile-mcp-request";
    private static final String EXTRA_RESPONSE = "mobile-mcp-response";
    private static final String EXTRA_CALLBACK = "mcp_callback";

    private static final String CHANNEL = "requests";
    private static final int NOTIFICATION = 1;

    private static final class RequestHandler extends Handler {
        private final String tag;
        private final BiFunction<String, Integer, String> answers;

        RequestHandler(String tag, BiFunction<String, Integer, String> answers) {
            super(Looper.getMainLooper());
            this.tag = tag;
            this.answers = answers;
        }

        @Override
        public void handleMessage(Message message) {
            if (message.what != MSG_REQUEST || message.replyTo == null) {
                return;
            }
            Bundle data = message.getData();
            String requestKey = KEY_REQUEST;
            String responseKey = KEY_RESPONSE;
            String request;
            try {
                if (data.containsKey(EXTRA_REQUEST)) {
                    requestKey = EXTRA_REQUEST;
                    responseKey = EXTRA_RESPONSE;
                }
                request = data.getString(requestKey);
            } catch (RuntimeException unreadable) {
                Log.w(tag, "The message holds something this app cannot unpack", unreadable);
                request = null;
            }
            Bundle answer = new Bundle();
            answer.putString(responseKey, answers.apply(request, message.sendingUid));
            Message reply = Message.obtain(null, MSG_RESPONSE);
            reply.setData(answer);
            try {
                message.replyTo.send(reply);
            } catch (RemoteException gone) {
                Log.i(tag, "The assistant left before its answer");
            }
        }
    }

    private final String tag;
    private final int icon;
    private final int channelName;
    private final int title;

    /** Takes what the notification of a foreground start shows: a drawable and two strings. */
    protected MobileMcpService(String tag, int icon, int channelName, int title) {
        this.tag = tag;
        this.icon = icon;
        this.channelName = channelName;
        this.title = title;
    }

    /**
     * Returns a binder whose requests are answered from their text and the uid that Android says they come
     * from.
     */
    protected final IBinder binderOf(BiFunction<String, Integer, String> answers) {
        return new Messenger(new RequestHandler(tag, answers)).getBinder();
    }

    /** Answers a request that came with a start, of whose sender nothing is known. */
    protected abstract String answerStarted(String request);

    @Override
    public final int onStartCommand(Intent intent, int flags, int startId) {
        enterForeground();
        if (intent != null) {
            callBack(intent);
        }
        stopForeground(STOP_FOREGROUND_REMOVE);
        stopSelf(startId);
        return START_NOT_STICKY;
    }

    @SuppressWarnings("deprecation")
    private void callBack(Intent intent) {
        String request;
        PendingIntent callback;
        try {
            request = intent.getStringExtra(EXTRA_REQUEST);
            callback = intent.getParcelableExtra(EXTRA_CALLBACK);
        } catch (RuntimeException unreadable) {
            Log.w(tag, "The intent holds something this app cannot unpack", unreadable);
            return;
        }
        if (callback == null) {
            Log.w(tag, "A started request names nobody to answer; nothing was done");
            return;
        }
        Intent answer = new Intent().putExtra(EXTRA_RESPONSE, answerStarted(request));
        try {
            callback.send(this, 0, answer);
        } catch (PendingIntent.CanceledException gone) {
            Log.i(tag, "The assistant withdrew its callback");
        }
    }

    /** An assistant may have used startForegroundService; this app would be stopped if it ignored that. */
    private void enterForeground() {
        getSystemService(NotificationManager.class).createNotificationChannel(new NotificationChannel(
                CHANNEL, getString(channelName), NotificationManager.IMPORTANCE_LOW));
        Notification notification = new Notification.Builder(this, CHANNEL)
                .setSmallIcon(icon)
                .setContentTitle(getString(title))
                .build();
        try {
            startForeground(NOTIFICATION, notification);
        } catch (IllegalStateException | SecurityException refused) {
            Log.i(tag, "Going on as an ordinary service", refused);
        }
    }
}
