package dev.droidgate.proof.apps;

import android.app.Service;
import android.content.Intent;
import android.os.Handler;
import android.os.IBinder;
import android.os.Looper;
import android.os.Message;
import android.os.Messenger;
import android.os.RemoteException;
import dev.droidgate.proof.phone.Phone;

/** A Mobile-MCP tool that is bound: says the time. */
public final class ClockService extends Service {
    private final Messenger messenger =
            new Messenger(
                    new Handler(Looper.getMainLooper()) {
                        @Override
                        public void handleMessage(Message message) {
                            called(message);
                        }
                    });

    @Override
    public IBinder onBind(Intent intent) {
        return messenger.getBinder();
    }

    private static void called(Message message) {
        if (message.what != 1) {
            return;
        }
        Apps.CALLS.add(message.getData().getString("mobile-mcp-request"));
        if (Apps.silent) {
            return;
        }
        Message answer = Message.obtain(null, 2);
        answer.setData(Apps.answerTo(message.getData(), "{\"time\": \"12:00\"}"));
        Messenger replyTo = message.replyTo;
        Phone.speak(
                "dev.droidgate.proof.clock",
                () -> {
                    try {
                        replyTo.send(answer);
                    } catch (RemoteException gone) {
                        throw new IllegalStateException(gone);
                    }
                });
    }
}
