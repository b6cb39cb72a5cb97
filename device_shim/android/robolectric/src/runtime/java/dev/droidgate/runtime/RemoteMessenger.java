package dev.droidgate.runtime;

import android.os.DeadObjectException;
import android.os.IBinder;
import android.os.IMessenger;
import android.os.Message;
import android.os.RemoteException;
import org.json.JSONObject;

/** Another process's Messenger, or the binder that a bound service handed out. */
final class RemoteMessenger extends IMessenger.Stub {
    final String token;
    private final ProcessLink process;
    private final String operation;
    private final String key;

    RemoteMessenger(ProcessLink process, String operation, String key, String token) {
        this.process = process;
        this.operation = operation;
        this.key = key;
        this.token = token;
    }

    /** Of the Messengers of other processes the phone knows who holds them. */
    @Override
    public void linkToDeath(IBinder.DeathRecipient recipient, int flags) {
        try {
            process.ask("link_to_death", "token", token, "recipient", process.numberOf(recipient));
        } catch (PhoneRefusal dead) {
            throwUnchecked(new DeadObjectException());
        }
    }

    /** What a Binder of this process declares not to throw, one of another process throws. */
    @SuppressWarnings("unchecked")
    private static <E extends Throwable> void throwUnchecked(Throwable thrown) throws E {
        throw (E) thrown;
    }

    @Override
    public boolean unlinkToDeath(IBinder.DeathRecipient recipient, int flags) {
        int number = process.numberOf(recipient);
        process.send("unlink_to_death", "recipient", number);
        process.forget(number);
        return true;
    }

    /** Android has one proxy for one Binder of another process. */
    @Override
    public boolean equals(Object other) {
        return other instanceof RemoteMessenger && ((RemoteMessenger) other).token.equals(token);
    }

    @Override
    public int hashCode() {
        return token.hashCode();
    }

    @Override
    public void send(Message message) throws RemoteException {
        JSONObject json = Values.toJson(process, message);
        try {
            process.ask(operation, key, token, "message", json);
        } catch (PhoneRefusal refused) {
            throw new RemoteException(refused.getMessage());
        }
    }
}
