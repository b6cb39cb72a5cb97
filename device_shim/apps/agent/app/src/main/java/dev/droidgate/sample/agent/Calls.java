package dev.droidgate.sample.agent;

import android.app.PendingIntent;
import android.content.BroadcastReceiver;
import android.content.ComponentName;
import android.content.Context;
import android.content.Intent;
import android.content.IntentFilter;
import android.content.ServiceConnection;
import android.os.Build;
import android.os.Bundle;
import android.os.Handler;
import android.os.IBinder;
import android.os.Looper;
import android.os.Message;
import android.os.Messenger;
import android.os.RemoteException;
import android.os.SystemClock;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import org.json.JSONArray;
import org.json.JSONException;
import org.json.JSONObject;

/**
 * The calls of tools that a computer asks for, and a log of everything that comes of them. Nothing here knows
 * what a request or a response says: the computer writes requests and reads responses.
 */
final class Calls {
    private static final String CALLBACK = "mcp_callback";
    static final String CALL = "call";
    private static final int LONGEST_PAGE = 3 * RawValues.LONGEST_TEXT;
    private static final int MOST_EVENTS = 10_000;

    private static Calls only;

    private final Context context;
    private final Handler main = new Handler(Looper.getMainLooper());
    private final List<JSONObject> log = new ArrayList<>();
    private final Map<ComponentName, Bound> bound = new HashMap<>();
    private final Map<String, Intent> opened = new HashMap<>();
    private final Map<String, FunctionCall> functions = new HashMap<>();

    /** Before Android 13 any app can send to a receiver that is made in code: so the action is a secret. */
    private final String action = Calls.class.getPackage().getName() + "." + UUID.randomUUID();

    private int lastEvent;

    private Calls(Context context) {
        this.context = context;
        IntentFilter filter = new IntentFilter(action);
        BroadcastReceiver receiver = new BroadcastReceiver() {
            @Override
            public void onReceive(Context unused, Intent sent) {
                record("callback", CALL, sent.getStringExtra(CALL), "extras", RawValues.of(sent.getExtras()));
            }
        };
        if (Build.VERSION.SDK_INT >= Build.VERSION_CODES.TIRAMISU) {
            context.registerReceiver(receiver, filter, null, main, Context.RECEIVER_NOT_EXPORTED);
        } else {
            context.registerReceiver(receiver, filter, null, main);
        }
    }

    static synchronized Calls of(Context any) {
        if (only == null) {
            only = new Calls(any.getApplicationContext());
        }
        return only;
    }

    synchronized void record(String kind, Object... pairs) {
        JSONObject event = RawValues.object(pairs);
        RawValues.put(event, "number", ++lastEvent);
        RawValues.put(event, "at_ms", SystemClock.elapsedRealtime());
        RawValues.put(event, "kind", kind);
        log.add(event);
        if (log.size() > MOST_EVENTS) {
            log.remove(0);
        }
    }

    /** Returns the events after the one of a number: at least one, and as many as one answer holds. */
    synchronized JSONArray eventsAfter(int number) {
        JSONArray page = new JSONArray();
        int length = 0;
        for (JSONObject event : log) {
            if (event.optInt("number") > number && length < LONGEST_PAGE) {
                page.put(event);
                length += event.toString().length();
            }
        }
        return page;
    }

    synchronized int lastEvent() {
        return lastEvent;
    }

    /** Carries out a call, or begins to: events say what comes of it. */
    void send(JSONObject asked) throws JSONException {
        String call = asked.getString(CALL);
        String transport = asked.getString("transport");
        ComponentName component = ComponentName.unflattenFromString(asked.getString("component"));
        if (component == null) {
            throw new JSONException("component is not PACKAGE/CLASS");
        }
        Intent intent = new Intent().setComponent(component);
        if (!asked.isNull("action")) {
            intent.setAction(asked.getString("action"));
        }
        JSONObject extras = asked.getJSONObject("extras");
        for (Iterator<String> names = extras.keys(); names.hasNext(); ) {
            String name = names.next();
            intent.putExtra(name, extras.getString(name));
        }
        record("sent", CALL, call, "transport", transport, "intent", RawValues.of(intent));
        switch (transport) {
            case "bind":
                main.post(() -> run(call, () -> bind(intent, asked.optInt("what", 1))));
                break;
            case "start":
            case "start-foreground":
                main.post(() -> run(call, () -> start(call, intent, transport)));
                break;
            case "broadcast":
                main.post(() -> run(call, () -> broadcast(call, intent)));
                break;
            case "activity":
                synchronized (this) {
                    opened.put(call, intent);
                }
                break;
            default:
                throw new JSONException("transport is not known");
        }
    }

    private void run(String call, Runnable code) {
        try {
            code.run();
        } catch (RuntimeException refused) {
            refuse(call, refused);
        }
    }

    private void refuse(String call, RuntimeException refused) {
        record(
                "refused",
                CALL, call,
                "exception", refused.getClass().getName(),
                "message", String.valueOf(refused.getMessage()));
    }

    /** Executes an app function: with the shell's right where adb lends it, else with this app's own. */
    void execute(JSONObject asked) throws JSONException {
        if (Build.VERSION.SDK_INT < 36) {
            throw new JSONException("app functions need Android 16");
        }
        String call = asked.getString(CALL);
        record(
                "sent",
                CALL, call,
                "transport", "app-function",
                "package", asked.getString("package"),
                "function", asked.getString("function"),
                "arguments", asked.getJSONObject("arguments"));
        FunctionCall made = new FunctionCall(this, context, call);
        synchronized (functions) {
            functions.put(call, made);
        }
        try {
            ShellIdentityInstrumentation.borrow();
            made.execute(asked);
        } catch (RuntimeException refused) {
            ended(call);
            refuse(call, refused);
        }
    }

    /** Asks Android to cancel the execution of a function. */
    void cancel(String call) {
        FunctionCall made;
        synchronized (functions) {
            made = functions.get(call);
        }
        if (made != null) {
            record("cancelled", CALL, call);
            made.signal.cancel();
            // Android drops what the app may still answer.
            ended(call);
        }
    }

    /** Forgets an execution, and gives the right back after the last. */
    void ended(String call) {
        synchronized (functions) {
            if (functions.remove(call) != null && functions.isEmpty()) {
                ShellIdentityInstrumentation.giveBack();
            }
        }
    }

    /** Returns the intent of a call that only an activity can send, once. */
    synchronized Intent takeOpened(String call) {
        return opened.remove(call);
    }

    void unbind(ComponentName component) {
        main.post(() -> {
            Bound item = bound.remove(component);
            if (item != null) {
                context.unbindService(item);
            }
        });
    }

    private void bind(Intent intent, int what) {
        Bound item = bound.get(intent.getComponent());
        if (item == null) {
            item = new Bound(intent.getComponent());
            Intent service = new Intent().setComponent(intent.getComponent());
            if (!context.bindService(service, item, Context.BIND_AUTO_CREATE)) {
                throw new IllegalArgumentException("the service is not there, or is not open to this app");
            }
            bound.put(intent.getComponent(), item);
        }
        Message message = Message.obtain(null, what);
        message.setData(intent.getExtras() == null ? new Bundle() : intent.getExtras());
        item.send(message);
    }

    private void start(String call, Intent intent, String transport) {
        Intent answer = new Intent(action).setPackage(context.getPackageName()).putExtra(CALL, call);
        int flags = Build.VERSION.SDK_INT >= Build.VERSION_CODES.S ? PendingIntent.FLAG_MUTABLE : 0;
        flags |= PendingIntent.FLAG_UPDATE_CURRENT;
        intent.putExtra(CALLBACK, PendingIntent.getBroadcast(context, call.hashCode(), answer, flags));
        boolean isForeground =
            transport.equals("start-foreground") && Build.VERSION.SDK_INT >= Build.VERSION_CODES.O;
        Object name = isForeground ? context.startForegroundService(intent) : context.startService(intent);
        if (name == null) {
            throw new IllegalArgumentException("the service is not there, or is not open to this app");
        }
    }

    private void broadcast(String call, Intent intent) {
        context.sendOrderedBroadcast(intent, null, new BroadcastReceiver() {
            @Override
            public void onReceive(Context unused, Intent sent) {
                record(
                        "broadcast-result",
                        CALL, call,
                        "code", getResultCode(),
                        "data", getResultData(),
                        "extras", RawValues.of(getResultExtras(true)));
            }
        }, main, 0, null, null);
    }

    /** A service that is bound: messages wait until it is connected. Used on the main thread only. */
    private final class Bound implements ServiceConnection {
        private final ComponentName component;
        private final List<Message> waiting = new ArrayList<>();
        private final Messenger replies;
        private Messenger tool;

        Bound(ComponentName component) {
            this.component = component;
            replies = new Messenger(new Handler(Looper.getMainLooper(), this::take));
        }

        private boolean take(Message message) {
            Bundle data = message.peekData();
            record(
                "message", "component", component.flattenToString(), "what", message.what,
                "extras", RawValues.of(data));
            return true;
        }

        void send(Message message) {
            message.replyTo = replies;
            if (tool == null) {
                waiting.add(message);
                return;
            }
            deliver(message);
        }

        private void deliver(Message message) {
            try {
                tool.send(message);
            } catch (RemoteException gone) {
                onServiceDisconnected(component);
            }
        }

        @Override
        public void onServiceConnected(ComponentName name, IBinder binder) {
            record("connected", "component", component.flattenToString());
            tool = new Messenger(binder);
            List<Message> ready = new ArrayList<>(waiting);
            waiting.clear();
            for (Message message : ready) {
                deliver(message);
            }
        }

        @Override
        public void onServiceDisconnected(ComponentName name) {
            end("disconnected");
        }

        @Override
        public void onNullBinding(ComponentName name) {
            end("null-binding");
        }

        private void end(String kind) {
            record(kind, "component", component.flattenToString());
            if (bound.remove(component) != null) {
                context.unbindService(this);
            }
        }
    }
}
