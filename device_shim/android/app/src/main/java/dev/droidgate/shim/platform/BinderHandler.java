package dev.droidgate.shim.platform;

import android.os.Handler;
import android.os.Looper;
import android.os.Message;

/**
 * Takes a Messenger's messages on the Binder threads that bring them, so that the main thread has no part in
 * it. A Messenger hands each message, with its sender, to its handler before it is in any thread's queue.
 */
public abstract class BinderHandler extends Handler {
    public BinderHandler() {
        super(Looper.getMainLooper());
    }

    /** Takes a message; messages of several senders may come at the same time. */
    public abstract void take(Message message);

    @Override
    public final boolean sendMessageAtTime(Message message, long uptimeMillis) {
        take(message);
        return true;
    }
}
