package dev.droidgate.shim.platform;

import android.os.Handler;
import android.os.Looper;
import android.os.Message;
import java.util.function.Consumer;

/**
 * Takes a Messenger's messages on the Binder threads that bring them, so that the main thread has no part in
 * it. A Messenger hands each message, with its sender, to its handler before it is in any thread's queue.
 */
public final class BinderHandler extends Handler {
    private final Consumer<Message> taker;

    /** Makes one; the taker's messages may come from several senders at the same time. */
    public BinderHandler(Consumer<Message> taker) {
        super(Looper.getMainLooper());
        this.taker = taker;
    }

    @Override
    public boolean sendMessageAtTime(Message message, long uptimeMillis) {
        taker.accept(message);
        return true;
    }
}
