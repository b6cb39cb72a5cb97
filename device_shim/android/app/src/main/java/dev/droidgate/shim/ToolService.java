package dev.droidgate.shim;

import android.app.PendingIntent;
import android.app.Service;
import android.content.Intent;
import android.os.Bundle;
import android.os.Handler;
import android.os.IBinder;
import android.os.Looper;
import android.os.Message;
import android.os.Messenger;
import android.util.Log;
import dev.droidgate.shim.core.Journal;
import java.util.Map;
import java.util.TreeMap;

/** The Mobile-MCP tool: bound by a Messenger, or started with a callback (docs/shim.md 2). */
public final class ToolService extends Service {
    private static final int NOTIFICATION = 1;

    private Shim shim;
    private IBinder binder;

    /** The starts that are not answered yet, and the last of all. */
    private final TreeMap<Integer, Reply> starts = new TreeMap<>();

    private int lastStart;

    @Override
    public void onCreate() {
        super.onCreate();
        shim = Shim.of(this);
        binder = new Messenger(new Incoming(shim)).getBinder();
    }

    /** One binder is cached for all agents, so each message tells who sent it (runtime reference 2.1). */
    private static final class Incoming extends Handler {
        private final Shim shim;

        Incoming(Shim shim) {
            super(Looper.getMainLooper());
            this.shim = shim;
        }

        @Override
        public void handleMessage(Message message) {
            if (message.what == Names.MESSAGE_INVOKE && message.replyTo != null) {
                Map<String, Object> extras = Extras.ofRequest(message.peekData());
                shim.receive(message.sendingUid, message.replyTo, extras);
            }
        }
    }

    @Override
    public IBinder onBind(Intent intent) {
        return binder;
    }

    @Override
    public int onStartCommand(Intent intent, int flags, int start) {
        goToForeground();
        synchronized (starts) {
            lastStart = start;
        }
        Bundle extras = intent == null ? null : intent.getExtras();
        PendingIntent callback = CallbackReply.in(extras);
        if (callback == null) {
            // Nobody could be told of what would be done.
            acknowledge(start);
            return START_NOT_STICKY;
        }
        Reply reply = new CallbackReply(shim, callback, () -> acknowledge(start));
        Map<String, Object> request = Extras.ofRequest(extras);
        synchronized (starts) {
            starts.put(start, reply);
        }
        String entry = (flags & START_FLAG_REDELIVERY) == 0 ? null : Journal.entry(false, request);
        if (entry != null && shim.journal.claim(entry)) {
            reply.entry = entry;
            shim.interrupt(reply);
        } else {
            shim.receive(reply, request, false);
        }
        // Before Android 14 the intent, and so the callback, comes again after this process has died. A
        // shortService is not started again (ServiceInfo.FOREGROUND_SERVICE_TYPE_SHORT_SERVICE).
        return START_REDELIVER_INTENT;
    }

    /** Within seconds of a start it has to be told; whether it was one for the foreground nobody tells. */
    private void goToForeground() {
        try {
            startForeground(
                    NOTIFICATION,
                    Notifications.builder(this, false).setContentTitle(Texts.WORKING).build());
        } catch (RuntimeException notAllowed) {
            Log.i("droidgate", "goes on in the background", notAllowed);
        }
    }

    /**
     * Lets go of a start. Android forgets all starts up to the one that is told, so an earlier one that is
     * open holds back the later ones.
     */
    private void acknowledge(int start) {
        synchronized (starts) {
            starts.remove(start);
            if (starts.isEmpty()) {
                stopForeground(STOP_FOREGROUND_REMOVE);
                stopSelf(lastStart);
            } else if (starts.firstKey() > start) {
                stopSelf(starts.firstKey() - 1);
            }
        }
    }

    /** The time of a shortService is over: what is open is answered while this process may still do so. */
    @Override
    public void onTimeout(int start) {
        Reply[] open;
        synchronized (starts) {
            open = starts.values().toArray(new Reply[0]);
        }
        for (Reply one : open) {
            shim.interrupt(one);
            shim.cancel(one);
        }
        stopForeground(STOP_FOREGROUND_REMOVE);
        stopSelf(lastStart);
    }
}
