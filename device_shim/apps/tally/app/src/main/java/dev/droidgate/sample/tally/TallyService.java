package dev.droidgate.sample.tally;

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
import java.util.HashMap;
import java.util.Map;

/**
 * The Mobile-MCP service of an app that keeps state between calls: the points of a game, for as long as an
 * assistant is bound (messages with what = 1, answered with what = 2).
 *
 * <p>Android creates one service for all clients, and asks it for a binder once for each intent that differs from the
 * others (Intent.filterEquals); clients that bind with an equal one get that same binder. So the points are kept for
 * each such intent and, within it, for each uid that Android says a message comes from (Message.sendingUid). What an
 * assistant says about itself in a request decides nothing.
 */
public final class TallyService extends Service {
    static final int MSG_REQUEST = 1;
    static final int MSG_RESPONSE = 2;
    static final String KEY_REQUEST = "request";
    static final String KEY_RESPONSE = "response";
    static final String EXTRA_REQUEST = "mobile-mcp-request";
    static final String EXTRA_RESPONSE = "mobile-mcp-response";
    static final String EXTRA_CALLBACK = "mcp_callback";

    private static final String TAG = "Tally";
    private static final String CHANNEL = "requests";
    private static final int NOTIFICATION = 1;

    /** Answers the clients that got the binder of one intent. */
    private static final class RequestHandler extends Handler {
        private final RequestEngine engine;
        private final Map<Integer, Totals> totalsByUid = new HashMap<>();

        RequestHandler(RequestEngine engine) {
            super(Looper.getMainLooper());
            this.engine = engine;
        }

        void forgetTotals() {
            totalsByUid.clear();
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
            Totals totals = totalsByUid.computeIfAbsent(message.sendingUid, uid -> new Totals());
            Bundle answer = new Bundle();
            answer.putString(responseKey, engine.answer(request, totals));
            Message reply = Message.obtain(null, MSG_RESPONSE);
            reply.setData(answer);
            try {
                message.replyTo.send(reply);
            } catch (RemoteException gone) {
                Log.i(TAG, "The assistant left before its answer");
            }
        }
    }

    private final Map<Intent.FilterComparison, RequestHandler> handlers = new HashMap<>();
    private RequestEngine engine;

    @Override
    public void onCreate() {
        super.onCreate();
        engine = new RequestEngine(Descriptor.load(getResources()));
    }

    @Override
    public IBinder onBind(Intent intent) {
        RequestHandler handler = new RequestHandler(engine);
        // The compared parts identify the binder; the intent's other parts are not kept.
        handlers.put(new Intent.FilterComparison(intent.cloneFilter()), handler);
        return new Messenger(handler).getBinder();
    }

    /**
     * The last client bound with this intent has unbound. While the service lives on for others, Android returns the
     * same binder again without asking, so its handler stays and begins anew.
     *
     * @return true: without it Android would not call onUnbind again
     */
    @Override
    public boolean onUnbind(Intent intent) {
        handlers.get(new Intent.FilterComparison(intent)).forgetTotals();
        return true;
    }

    /** Refuses a start: it leaves no client bound for whom points could be kept. */
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
        Intent answer = new Intent().putExtra(EXTRA_RESPONSE, engine.answer(request, null));
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
                .setSmallIcon(android.R.drawable.ic_menu_sort_by_size)
                .setContentTitle(getString(R.string.service_notification))
                .build();
        try {
            startForeground(NOTIFICATION, notification);
        } catch (IllegalStateException | SecurityException refused) {
            Log.i(TAG, "Going on as an ordinary service", refused);
        }
    }
}
