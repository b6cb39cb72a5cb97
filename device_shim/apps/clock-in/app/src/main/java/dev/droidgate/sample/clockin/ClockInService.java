package dev.droidgate.sample.clockin;

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
import java.time.Clock;

/**
 * The Mobile-MCP service of the app. An assistant either binds and sends messages (what = 1, answered with what = 2), or
 * starts the service with a PendingIntent for the answer.
 */
public final class ClockInService extends Service {
    static final int MSG_REQUEST = 1;
    static final int MSG_RESPONSE = 2;
    static final String KEY_REQUEST = "request";
    static final String KEY_RESPONSE = "response";
    static final String EXTRA_REQUEST = "mobile-mcp-request";
    static final String EXTRA_RESPONSE = "mobile-mcp-response";
    static final String EXTRA_CALLBACK = "mcp_callback";

    private static final String TAG = "ClockIn";
    private static final String CHANNEL = "requests";
    private static final int NOTIFICATION = 1;

    private static final class RequestHandler extends Handler {
        private final RequestEngine engine;

        RequestHandler(RequestEngine engine) {
            super(Looper.getMainLooper());
            this.engine = engine;
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
                Log.w(TAG, "The message holds something this app cannot unpack", unreadable);
                request = null;
            }
            Bundle answer = new Bundle();
            answer.putString(responseKey, engine.answer(request));
            Message reply = Message.obtain(null, MSG_RESPONSE);
            reply.setData(answer);
            try {
                message.replyTo.send(reply);
            } catch (RemoteException gone) {
                Log.i(TAG, "The assistant left before its answer");
            }
        }
    }

    private RequestEngine engine;
    private Messenger messenger;

    @Override
    public void onCreate() {
        super.onCreate();
        engine = new RequestEngine(
                Descriptor.load(getResources()), new ClockInBook(this), Clock.systemDefaultZone());
        messenger = new Messenger(new RequestHandler(engine));
    }

    @Override
    public IBinder onBind(Intent intent) {
        return messenger.getBinder();
    }

    @Override
    public int onStartCommand(Intent intent, int flags, int startId) {
        enterForeground();
        if (intent != null) {
            answerStarted(intent);
        }
        stopForeground(STOP_FOREGROUND_REMOVE);
        stopSelf(startId);
        return START_NOT_STICKY;
    }

    @SuppressWarnings("deprecation")
    private void answerStarted(Intent intent) {
        String request;
        PendingIntent callback;
        try {
            request = intent.getStringExtra(EXTRA_REQUEST);
            callback = intent.getParcelableExtra(EXTRA_CALLBACK);
        } catch (RuntimeException unreadable) {
            Log.w(TAG, "The intent holds something this app cannot unpack", unreadable);
            return;
        }
        if (callback == null) {
            Log.w(TAG, "A started request names nobody to answer; nothing was done");
            return;
        }
        Intent answer = new Intent().putExtra(EXTRA_RESPONSE, engine.answer(request));
        try {
            callback.send(this, 0, answer);
        } catch (PendingIntent.CanceledException gone) {
            Log.i(TAG, "The assistant withdrew its callback");
        }
    }

    /** An assistant may have used startForegroundService; this app would be stopped if it ignored that. */
    private void enterForeground() {
        getSystemService(NotificationManager.class).createNotificationChannel(new NotificationChannel(
                CHANNEL, getString(R.string.service_channel), NotificationManager.IMPORTANCE_LOW));
        Notification notification = new Notification.Builder(this, CHANNEL)
                .setSmallIcon(android.R.drawable.ic_menu_today)
                .setContentTitle(getString(R.string.service_notification))
                .build();
        try {
            startForeground(NOTIFICATION, notification);
        } catch (IllegalStateException | SecurityException refused) {
            Log.i(TAG, "Going on as an ordinary service", refused);
        }
    }
}
