package dev.droidgate.shim.frontends;

import android.os.IBinder;
import android.os.Message;
import android.os.Messenger;
import android.os.RemoteException;
import android.util.Log;
import dev.droidgate.shim.Caller;
import dev.droidgate.shim.Reply;
import dev.droidgate.shim.platform.Extras;
import dev.droidgate.shim.platform.Names;
import java.util.Map;

/** The answer to a bound agent's message. */
public final class MessengerReply extends Reply {
    private final Messenger replyTo;

    MessengerReply(Caller caller, Messenger replyTo) {
        super(caller, true);
        this.replyTo = replyTo;
    }

    @Override
    public boolean watch(Runnable died) {
        IBinder binder = replyTo.getBinder();
        IBinder.DeathRecipient recipient = died::run;
        try {
            binder.linkToDeath(recipient, 0);
        } catch (RemoteException dead) {
            return false;
        } catch (RuntimeException unsupported) {
            return true;
        }
        whenAnswered(() -> binder.unlinkToDeath(recipient, 0));
        return true;
    }

    @Override
    public void send(Map<String, String> extras, String token) {
        deliver(entry, extras, this::deliver);
    }

    private boolean deliver(Map<String, String> extras) {
        Message message = Message.obtain(null, Names.MESSAGE_RESULT);
        message.setData(Extras.bundle(extras));
        try {
            replyTo.send(message);
            return true;
        } catch (RemoteException | RuntimeException undelivered) {
            Log.w("droidgate", "an answer was not delivered", undelivered);
            return false;
        }
    }
}
