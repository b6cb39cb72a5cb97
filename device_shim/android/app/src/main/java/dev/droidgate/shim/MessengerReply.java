package dev.droidgate.shim;

import android.os.Message;
import android.os.Messenger;
import android.os.RemoteException;
import android.util.Log;
import java.util.Map;

/** The answer to a bound agent's message. */
final class MessengerReply extends Reply {
    private final Messenger replyTo;

    MessengerReply(Caller caller, Messenger replyTo) {
        super(caller, true);
        this.replyTo = replyTo;
    }

    @Override
    void send(Map<String, String> extras, String token) {
        if (extras == null) {
            return;
        }
        Message message = Message.obtain(null, Names.MESSAGE_RESULT);
        message.setData(Extras.bundle(extras));
        try {
            replyTo.send(message);
        } catch (RemoteException | RuntimeException gone) {
            Log.w("droidgate", "an answer finds nobody", gone);
        }
    }
}
