package dev.droidgate.runtime;

import android.app.Application;
import android.app.PendingIntent;
import android.app.Service;
import android.content.BroadcastReceiver;
import android.content.ContentProvider;
import android.content.Context;
import android.content.Intent;
import android.content.IntentFilter;
import android.content.ServiceConnection;
import android.content.pm.ProviderInfo;
import android.os.Handler;
import android.os.IBinder;
import android.os.Messenger;
import dev.droidgate.runtime.shadows.PendingIntentOnPhone;
import java.io.File;
import java.io.IOException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;
import org.json.JSONArray;
import org.json.JSONException;
import org.json.JSONObject;
import org.robolectric.RuntimeEnvironment;
import org.robolectric.util.ReflectionHelpers;
import org.robolectric.util.ReflectionHelpers.ClassParameter;

/**
 * One process of a shim: its classes in a loader of their own, so that nothing static outlives it, and all
 * that the phone and it know each other's things by.
 */
public final class ShimProcess extends ProcessLink {
    /** A receiver that the process registered itself. */
    private record Registered(BroadcastReceiver receiver, IntentFilter filter) {}

    /** Begins the names of the class loaders of shims. */
    private static final String LOADER = "shim-";

    public final ShimContext context;
    final Screens screens = new Screens(this);
    final Map<String, Service> services = new HashMap<>();
    private final Wire wire;
    private final ClassLoader code;
    private final Map<String, ContentProvider> providers = new HashMap<>();
    private final Map<Integer, Object> things = new HashMap<>();
    private final Map<Object, Integer> numbers = new IdentityHashMap<>();
    private final List<Registered> registered = new ArrayList<>();
    private final Map<String, byte[]> files = new HashMap<>();
    private final Map<IBinder, String> tokens = new ConcurrentHashMap<>();
    private int lastNumber;
    private volatile boolean ended;

    ShimProcess(Wire wire, JSONObject json) throws IOException, JSONException, ReflectiveOperationException {
        super(
                json.getInt("process"),
                json.getString("package"),
                json.getInt("uid"),
                Files.createTempDirectory("shim-" + json.getInt("process") + "-").toFile());
        this.wire = wire;
        URL[] classes = {new File(json.getString("classes")).toURI().toURL()};
        code = new URLClassLoader(LOADER + number, classes, ShimProcess.class.getClassLoader());
        JSONObject kept = json.getJSONObject("files");
        File own = new File(folder, "files");
        own.mkdirs();
        for (Iterator<String> names = kept.keys(); names.hasNext(); ) {
            String name = names.next();
            byte[] content = Values.bytes(kept.getString(name));
            Files.write(new File(own, name).toPath(), content);
            files.put(name, content);
        }
        context = new ShimContext(this, RuntimeEnvironment.getApplication(), json.getString("apk"));
        ReflectionHelpers.callInstanceMethod(
                android.content.ContextWrapper.class,
                application,
                "attachBaseContext",
                ClassParameter.from(Context.class, context));
    }

    @Override
    public Object ask(String operation, Object... pairs) {
        if (ended) {
            throw new IllegalStateException("the process has ended");
        }
        return wire.ask(Values.with(Values.object("op", operation, "process", number), pairs));
    }

    @Override
    public void send(String operation, Object... pairs) {
        if (!ended) {
            wire.send(Values.with(Values.object("op", operation, "process", number), pairs));
        }
    }

    @Override
    public Context context() {
        return context;
    }

    @Override
    Object create(String className) throws ReflectiveOperationException {
        return code.loadClass(className).getDeclaredConstructor().newInstance();
    }

    @Override
    ClassLoader code() {
        return code;
    }

    Service service(String className) throws ReflectiveOperationException {
        Service service = services.get(className);
        if (service == null) {
            service = (Service) create(className);
            ReflectionHelpers.callInstanceMethod(
                    Service.class,
                    service,
                    "attach",
                    ClassParameter.from(Context.class, context),
                    ClassParameter.from(android.app.ActivityThread.class, null),
                    ClassParameter.from(String.class, className),
                    ClassParameter.from(IBinder.class, new android.os.Binder()),
                    ClassParameter.from(Application.class, application),
                    ClassParameter.from(Object.class, null));
            services.put(className, service);
            service.onCreate();
        }
        return service;
    }

    synchronized ContentProvider provider(String className, String authority)
            throws ReflectiveOperationException {
        ContentProvider provider = providers.get(className);
        if (provider == null) {
            provider = (ContentProvider) create(className);
            ProviderInfo info = new ProviderInfo();
            info.authority = authority;
            info.exported = true;
            provider.attachInfo(context, info);
            providers.put(className, provider);
        }
        return provider;
    }

    @Override
    public synchronized int numberOf(Object thing) {
        Integer known = numbers.get(thing);
        if (known == null) {
            known = ++lastNumber;
            numbers.put(thing, known);
            things.put(known, thing);
        }
        return known;
    }

    synchronized Object thing(int known) {
        return things.get(known);
    }

    @Override
    synchronized void forget(int known) {
        numbers.remove(things.remove(known));
    }

    @Override
    String tokenOf(Messenger messenger) {
        IBinder binder = messenger.getBinder();
        if (binder instanceof RemoteMessenger) {
            return ((RemoteMessenger) binder).token;
        }
        // Android knows one Binder as one, however often it is handed on.
        String token = tokens.get(binder);
        if (token == null) {
            token = (String) ask("create_messenger", "binder", numberOf(binder));
            tokens.put(binder, token);
        }
        return token;
    }

    @Override
    Messenger messenger(String token) {
        return new Messenger(new RemoteMessenger(this, "send_message", "token", token));
    }

    @Override
    String tokenOf(PendingIntent pending) {
        return PendingIntentOnPhone.tokenOf(pending);
    }

    @Override
    PendingIntent pendingIntent(String token) {
        return PendingIntentOnPhone.of(this, token);
    }

    @Override
    public PendingIntent createPendingIntent(String kind, Intent intent, boolean mutable) {
        Object token =
                ask(
                        "create_pending", "kind", kind, "intent", Values.toJson(this, intent), "mutable",
                        mutable);
        return pendingIntent((String) token);
    }

    @Override
    public void sendPendingIntent(String token, Intent added) {
        Intent fillIn = added == null ? new Intent() : added;
        ask("send_pending", "token", token, "intent", Values.toJson(this, fillIn));
    }

    @Override
    void register(BroadcastReceiver receiver, IntentFilter filter) {
        synchronized (registered) {
            registered.add(new Registered(receiver, filter));
        }
    }

    @Override
    void unregister(BroadcastReceiver receiver) {
        synchronized (registered) {
            registered.removeIf(item -> item.receiver() == receiver);
        }
    }

    /** Hands an intent to the receivers that the process registered. */
    void receive(Intent intent) {
        List<Registered> found;
        synchronized (registered) {
            found = new ArrayList<>(registered);
        }
        for (Registered registration : found) {
            if (registration.filter().hasAction(intent.getAction())) {
                registration.receiver().onReceive(application, intent);
            }
        }
    }

    @Override
    boolean bind(Intent intent, int flags, ServiceConnection connection) {
        Object bound =
                ask(
                        "bind", "intent", Values.toJson(this, intent), "flags", flags, "connection",
                        numberOf(connection));
        return Boolean.TRUE.equals(bound);
    }

    /** Sends the phone what has changed of the process's private files. */
    synchronized void reportFiles() {
        File[] all = new File(folder, "files").listFiles((in, name) -> name.endsWith(".json"));
        if (ended || all == null) {
            return;
        }
        for (File file : all) {
            try {
                byte[] content = Files.readAllBytes(file.toPath());
                if (!Arrays.equals(content, files.get(file.getName()))) {
                    files.put(file.getName(), content);
                    send("file", "name", file.getName(), "content", Values.text(content));
                }
            } catch (IOException replaced) {
                continue;
            }
        }
    }

    boolean hasThrown(Throwable thrown) {
        return isOfLoader(thrown, code.getName()::equals);
    }

    /** Returns whether code of any shim has thrown this, which may have ended since. */
    static boolean isOfAShim(Throwable thrown) {
        return isOfLoader(thrown, name -> name.startsWith(LOADER));
    }

    private static boolean isOfLoader(Throwable thrown, Predicate<String> isMeant) {
        for (Throwable cause = thrown; cause != null; cause = cause.getCause()) {
            for (StackTraceElement frame : cause.getStackTrace()) {
                if (frame.getClassLoaderName() != null && isMeant.test(frame.getClassLoaderName())) {
                    return true;
                }
            }
        }
        return false;
    }

    /** Ends it: threads and whatever waits on the main thread. */
    void end() {
        ended = true;
        try {
            Map<?, ?> shims =
                    ReflectionHelpers.getStaticField(code.loadClass("dev.droidgate.shim.Shim"), "ALL");
            for (Object shim : shims.values()) {
                for (String name : List.of("calls", "refusals")) {
                    Object thread = ReflectionHelpers.getField(shim, name);
                    ThreadPoolExecutor executor = ReflectionHelpers.getField(thread, "thread");
                    executor.shutdownNow();
                    // What it is doing may post to the main thread.
                    executor.awaitTermination(1, TimeUnit.SECONDS);
                }
                ReflectionHelpers.<Handler>getField(shim, "main").removeCallbacksAndMessages(null);
            }
        } catch (ClassNotFoundException agent) {
            // The agent has no thread of its own.
            return;
        } catch (ReflectiveOperationException notLoaded) {
            throw new IllegalStateException(notLoaded);
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
        } finally {
            delete(folder.toPath());
        }
    }

    private static void delete(Path path) {
        File[] inside = path.toFile().listFiles();
        if (inside != null) {
            for (File file : inside) {
                delete(file.toPath());
            }
        }
        path.toFile().delete();
    }

    @Override
    public JSONObject facts(String operation, Object... pairs) {
        return (JSONObject) ask(operation, pairs);
    }

    @Override
    public List<String> names(String operation, Object... pairs) {
        return Values.texts((JSONArray) ask(operation, pairs));
    }
}
