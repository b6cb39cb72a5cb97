package dev.droidgate.runtime;

import android.os.IMessenger;
import android.os.Message;
import android.os.RemoteException;
import org.json.JSONObject;

/** Another process's Messenger, or the binder that a bound service handed out. */
final class RemoteMessenger extends IMessenger.Stub {
    final String token;
    private final ShimProcess process;
    private final String operation;
    private final String key;

    RemoteMessenger(ShimProcess process, String operation, String key, String token) {
        this.process = process;
        this.operation = operation;
        this.key = key;
        this.token = token;
    }

    @Override
    public void send(Message message) throws RemoteException {
        JSONObject told = Values.told(process, message);
        try {
            process.ask(operation, key, token, "message", told);
        } catch (PhoneRefusal refused) {
            throw new RemoteException(refused.getMessage());
        }
    }
}
