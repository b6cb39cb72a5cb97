package dev.droidgate.shim.frontends;

import android.app.PendingIntent;
import android.app.Service;
import android.content.Intent;
import android.os.Bundle;
import android.os.IBinder;
import android.os.Message;
import android.os.Messenger;
import android.util.Log;
import dev.droidgate.shim.Caller;
import dev.droidgate.shim.Reply;
import dev.droidgate.shim.Shim;
import dev.droidgate.shim.platform.BinderHandler;
import dev.droidgate.shim.platform.Extras;
import dev.droidgate.shim.platform.Names;
import dev.droidgate.shim.windows.Notifications;
import dev.droidgate.shim.windows.Texts;
import java.util.Map;
import java.util.TreeMap;

/** The Mobile-MCP tool: bound by a Messenger, or started with a callback (shim.md 2). */
public final class ToolService extends Service {
    private static final int NOTIFICATION = 1;
    private static final long AGAIN_MS = 60_000;

    private Shim shim;
    private IBinder binder;

    /** The starts that are not answered yet, and the last of all; on the main thread. */
    private final TreeMap<Integer, Reply> starts = new TreeMap<>();

    private int lastStart;
    private long foregroundUntil;

    @Override
    public void onCreate() {
        super.onCreate();
        shim = Shim.of(this);
        // Agents keep the binder, and with it what its handler holds: so not this service.
        Shim taking = shim;
        binder = new Messenger(new BinderHandler(message -> take(taking, message))).getBinder();
    }

    /**
     * Takes messages on the Binder threads that bring them: the main thread never reads a request. One binder
     * is cached for all agents, so each message says who sent it (reference android-runtime 2.1).
     */
    private static void take(Shim shim, Message message) {
        if (message.what == Names.MESSAGE_INVOKE && message.replyTo != null) {
            Reply reply = new MessengerReply(Caller.unresolved(message.sendingUid), message.replyTo);
            shim.receive(reply, Extras.ofRequest(message.peekData()), false);
        }
    }

    @Override
    public IBinder onBind(Intent intent) {
        return binder;
    }

    @Override
    public int onStartCommand(Intent intent, int flags, int start) {
        Bundle extras = intent == null ? null : intent.getExtras();
        PendingIntent callback = CallbackReply.in(extras);
        Reply reply =
                callback == null
                        ? null
                        : new CallbackReply(shim, callback, () -> shim.main.post(() -> acknowledge(start)));
        lastStart = start;
        if (reply != null) {
            starts.put(start, reply);
        }
        if (shim.now() >= foregroundUntil) {
            goToForeground();
        }
        if (reply == null) {
            // Nobody would learn what is done.
            acknowledge(start);
            return START_NOT_STICKY;
        }
        Map<String, Object> request = Extras.ofRequest(extras);
        if ((flags & START_FLAG_REDELIVERY) == 0) {
            shim.receive(reply, request, false);
        } else {
            shim.receiveAgain(reply, request);
        }
        // Before Android 14 the intent, and so the callback, comes again after this process has died. A
        // shortService is not started again (ServiceInfo.FOREGROUND_SERVICE_TYPE_SHORT_SERVICE).
        return START_REDELIVER_INTENT;
    }

    /**
     * A start for the foreground requires it within seconds, and no start says whether it is one. Where
     * Android lets a later start do so again, the three minutes of a shortService begin anew.
     */
    private void goToForeground() {
        try {
            startForeground(
                    NOTIFICATION,
                    Notifications.builder(this, false).setContentTitle(Texts.WORKING).build());
            foregroundUntil = shim.now() + AGAIN_MS;
        } catch (RuntimeException notAllowed) {
            Log.i("droidgate", "goes on in the background", notAllowed);
        }
    }

    /**
     * Lets go of a start. Android forgets all starts up to the one that it is given, so an earlier one that
     * is open holds back the later ones.
     */
    private void acknowledge(int start) {
        starts.remove(start);
        if (starts.isEmpty()) {
            leaveForeground();
            stopSelf(lastStart);
        } else if (starts.firstKey() > start) {
            stopSelf(starts.firstKey() - 1);
        }
    }

    private void leaveForeground() {
        foregroundUntil = 0;
        stopForeground(STOP_FOREGROUND_REMOVE);
    }

    /**
     * The time of a shortService is over: what is open goes on in the background, as long as Android lets it.
     */
    @Override
    public void onTimeout(int start) {
        leaveForeground();
    }

    /** What is open is answered while this process may still do so. */
    @Override
    public void onDestroy() {
        for (Reply reply : starts.values()) {
            shim.interrupt(reply);
        }
        super.onDestroy();
    }
}
