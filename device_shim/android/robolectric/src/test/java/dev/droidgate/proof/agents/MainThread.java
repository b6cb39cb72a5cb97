package dev.droidgate.proof.agents;

import android.os.Looper;
import android.os.Message;
import android.os.MessageQueue;
import org.robolectric.util.ReflectionHelpers;

/** What waits for the shim's main thread. */
public final class MainThread {
    /** Returns whether a message waits there for a handler whose class belongs to one of the shim's classes. */
    public boolean hasWorkBy(String className) {
        MessageQueue queue = Looper.getMainLooper().getQueue();
        synchronized (queue) {
            Message next = ReflectionHelpers.getField(queue, "mMessages");
            for (; next != null; next = ReflectionHelpers.getField(next, "next")) {
                if (next.getTarget() != null && next.getTarget().getClass().getName().contains(className)) {
                    return true;
                }
            }
        }
        return false;
    }
}
