package dev.droidgate.runtime;

import android.app.Application;
import android.app.PendingIntent;
import android.content.BroadcastReceiver;
import android.content.Context;
import android.content.ContextWrapper;
import android.content.Intent;
import android.content.IntentFilter;
import android.content.ServiceConnection;
import android.os.Messenger;
import java.io.File;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.WeakHashMap;
import org.json.JSONObject;

/**
 * What Android's classes in a process of a shim know of that process: who it is, and the way to the phone.
 */
public abstract class ProcessLink {
    private static final Map<Object, ProcessLink> OWNERS = Collections.synchronizedMap(new WeakHashMap<>());

    public final int number;
    public final String packageName;
    public final int uid;
    public final Application application = new Application();
    final File folder;

    ProcessLink(int number, String packageName, int uid, File folder) {
        this.number = number;
        this.packageName = packageName;
        this.uid = uid;
        this.folder = folder;
    }

    /** Gives a thing of Android's to a process. */
    public static void own(Object thing, ProcessLink process) {
        OWNERS.put(thing, process);
    }

    /** Returns the process of a context or of one of its managers, null for Robolectric's own. */
    public static ProcessLink ownerOf(Object item) {
        Object inner = item;
        while (inner instanceof ContextWrapper && !OWNERS.containsKey(inner)) {
            inner = ((ContextWrapper) inner).getBaseContext();
        }
        return OWNERS.get(inner);
    }

    /** Returns what the process sees of Android. */
    public abstract Context context();

    /** Asks the phone. */
    public abstract Object ask(String operation, Object... pairs);

    /** Sends the phone something that has no answer. */
    public abstract void send(String operation, Object... pairs);

    /** Returns what the phone answers as an object, null for none. */
    public abstract JSONObject facts(String operation, Object... pairs);

    /** Returns a list of the phone's. */
    public abstract List<String> names(String operation, Object... pairs);

    /** Returns the number by which the phone knows a thing of this process. */
    public abstract int numberOf(Object thing);

    abstract void forget(int known);

    /** Returns the phone's token of a Messenger, of this process or another. */
    abstract String tokenOf(Messenger messenger);

    abstract Messenger messenger(String token);

    abstract String tokenOf(PendingIntent pending);

    abstract PendingIntent pendingIntent(String token);

    /** Makes a PendingIntent of this process. */
    public abstract PendingIntent createPendingIntent(String kind, Intent intent, boolean mutable);

    /** Sends one. */
    public abstract void sendPendingIntent(String token, Intent added);

    abstract void register(BroadcastReceiver receiver, IntentFilter filter);

    abstract void unregister(BroadcastReceiver receiver);

    abstract boolean bind(Intent intent, int flags, ServiceConnection connection);

    abstract Object create(String className) throws ReflectiveOperationException;

    abstract ClassLoader code();
}
