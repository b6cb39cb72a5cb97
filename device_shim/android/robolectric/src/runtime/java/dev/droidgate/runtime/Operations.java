package dev.droidgate.runtime;

import static org.robolectric.Shadows.shadowOf;

import android.app.AlarmManager;
import android.app.Instrumentation;
import android.app.Service;
import android.content.BroadcastReceiver;
import android.content.ComponentName;
import android.content.ContentProvider;
import android.content.Intent;
import android.content.ServiceConnection;
import android.net.Uri;
import android.os.Bundle;
import android.os.CancellationSignal;
import android.os.IBinder;
import android.os.Message;
import android.os.Messenger;
import android.os.ParcelFileDescriptor;
import android.os.SystemClock;
import dev.droidgate.robolectric.BinderOnPhone;
import java.io.InputStream;
import java.io.OutputStream;
import java.lang.reflect.Method;
import org.json.JSONArray;
import org.json.JSONObject;
import org.robolectric.shadow.api.Shadow;
import org.robolectric.shadows.ShadowBroadcastPendingResult;

/** What the phone can have a process do. */
final class Operations {
    private static final int TYPE_UNREGISTERED = 2;

    private Operations() {}

    static Object run(ShimProcess process, JSONObject asked) throws Exception {
        switch (asked.getString("op")) {
            case "service_start":
                return started(process, asked);
            case "service_bind":
                Intent bound = Values.intent(process, asked.getJSONObject("intent"));
                IBinder binder = process.service(asked.getString("class_name")).onBind(bound);
                return binder == null ? null : process.numberOf(binder);
            case "service_timeout":
                process.service(asked.getString("class_name")).onTimeout(asked.getInt("start"));
                return null;
            case "service_destroy":
                Service service = process.services.remove(asked.getString("class_name"));
                if (service != null) {
                    service.onDestroy();
                }
                return null;
            case "next_wake":
                return nextWake(process);
            case "deliver":
                return delivered(process, asked);
            case "died":
                ((IBinder.DeathRecipient) process.thing(asked.getInt("recipient"))).binderDied();
                return null;
            case "instrument":
                Instrumentation instrumentation =
                        (Instrumentation) process.create(asked.getString("class_name"));
                ProcessLink.own(instrumentation, process);
                instrumentation.onCreate(new Bundle());
                return null;
            case "connection":
                return connection(process, asked);
            case "broadcast":
                return broadcast(process, asked);
            case "broadcast_result":
                return broadcastResult(process, asked);
            case "pending_sent":
                process.receive(Values.intent(process, asked.getJSONObject("intent")));
                return null;
            case "provider_call":
                return providerCall(process, asked);
            case "provider_open":
                return providerOpen(process, asked);
            case "function":
                return FunctionsOnPhone.begin(process, asked);
            case "function_cancel":
                CancellationSignal signal = (CancellationSignal) process.thing(asked.getInt("signal"));
                if (signal != null) {
                    signal.cancel();
                }
                return null;
            case "function_outcome":
                int call = asked.getInt("call");
                FunctionsOnPhone.finished(process.thing(call), asked);
                process.forget(call);
                return null;
            default:
                return screen(process, asked);
        }
    }

    private static Object screen(ShimProcess process, JSONObject asked) throws Exception {
        int number = asked.getInt("activity");
        switch (asked.getString("op")) {
            case "activity_create":
                Intent intent = Values.intent(process, asked.getJSONObject("intent"));
                JSONArray saved = asked.optJSONArray("saved");
                Bundle state = saved == null ? null : Values.bundle(process, saved);
                return process.screens.create(number, asked.getString("class_name"), intent, state);
            case "activity_save":
                return Values.toJson(process, process.screens.save(number));
            case "activity_recreate":
                process.screens.recreate(number);
                return null;
            case "activity_stop":
                process.screens.stop(number);
                return null;
            case "activity_close":
                process.screens.close(number);
                return null;
            case "activity_result":
                process.screens.result(
                        number,
                        asked.getInt("request"),
                        asked.getInt("code"),
                        Values.intent(process, asked.optJSONObject("data")),
                        asked.getInt("uid"));
                return null;
            case "activity_view":
                return process.screens.view(number);
            case "activity_click":
                process.screens.click(number, asked.getString("view"), asked.optInt("flags"));
                return null;
            default:
                throw new IllegalArgumentException("no such operation: " + asked.getString("op"));
        }
    }

    /** Returns in how many milliseconds the process's next alarm wakes the device, null without one. */
    private static Object nextWake(ShimProcess process) {
        AlarmManager manager = process.context.getSystemService(AlarmManager.class);
        return shadowOf(manager).getScheduledAlarms().stream()
                .filter(alarm -> alarm.getType() == AlarmManager.ELAPSED_REALTIME_WAKEUP)
                .filter(alarm -> alarm.onAlarmListener.getClass().getClassLoader() == process.code())
                .map(alarm -> alarm.getTriggerAtMs() - SystemClock.elapsedRealtime())
                .min(Long::compare)
                .orElse(null);
    }

    private static Object started(ShimProcess process, JSONObject asked) throws Exception {
        Intent intent = Values.intent(process, asked.getJSONObject("intent"));
        return process.service(asked.getString("class_name"))
                .onStartCommand(intent, asked.getInt("flags"), asked.getInt("start"));
    }

    private static Object delivered(ShimProcess process, JSONObject asked) throws Exception {
        IBinder binder = (IBinder) process.thing(asked.getInt("messenger"));
        Message message = Values.message(process, asked.getJSONObject("message"));
        BinderOnPhone.CALLER.set(asked.getInt("uid"));
        try {
            new Messenger(binder).send(message);
        } finally {
            BinderOnPhone.CALLER.remove();
        }
        return null;
    }

    private static Object connection(ShimProcess process, JSONObject asked) throws Exception {
        ServiceConnection connection = (ServiceConnection) process.thing(asked.getInt("connection"));
        ComponentName name = ComponentName.unflattenFromString(asked.getString("component"));
        switch (asked.getString("state")) {
            case "connected":
                String number = String.valueOf(asked.getInt("connection"));
                connection.onServiceConnected(
                        name, new RemoteMessenger(process, "send_bound", "connection", number));
                break;
            case "null":
                connection.onNullBinding(name);
                break;
            default:
                connection.onServiceDisconnected(name);
        }
        return null;
    }

    /** Delivers a broadcast of the manifest; its result is sent when it is there. */
    private static Object broadcast(ShimProcess process, JSONObject asked) throws Exception {
        BroadcastReceiver receiver = (BroadcastReceiver) process.create(asked.getString("class_name"));
        BroadcastReceiver.PendingResult pending = pending(process, asked);
        setPending(receiver, pending);
        int number = asked.getInt("receive");
        ShadowBroadcastPendingResult shadow = Shadow.extract(pending);
        receiver.onReceive(process.application, Values.intent(process, asked.getJSONObject("intent")));
        Runnable report =
                () ->
                        process.send(
                                "received",
                                "receive", number,
                                "code", pending.getResultCode(),
                                "data", pending.getResultData(),
                                "extras", Values.toJson(process, pending.getResultExtras(false)));
        if (receiver.getPendingResult() != null) {
            report.run();
        } else {
            shadow.getFuture().addListener(report, Runnable::run);
        }
        return null;
    }

    private static BroadcastReceiver.PendingResult pending(ShimProcess process, JSONObject json)
            throws Exception {
        Bundle extras = Values.bundle(process, json.optJSONArray("extras"));
        return new BroadcastReceiver.PendingResult(
                json.getInt("code"), Values.text(json, "data"), extras, TYPE_UNREGISTERED, true, false, null,
                0, 0);
    }

    private static void setPending(BroadcastReceiver receiver, BroadcastReceiver.PendingResult pending)
            throws ReflectiveOperationException {
        Method set =
                BroadcastReceiver.class.getMethod("setPendingResult", BroadcastReceiver.PendingResult.class);
        set.invoke(receiver, pending);
    }

    private static Object broadcastResult(ShimProcess process, JSONObject asked) throws Exception {
        int number = asked.getInt("receiver");
        BroadcastReceiver receiver = (BroadcastReceiver) process.thing(number);
        process.forget(number);
        setPending(receiver, pending(process, asked));
        receiver.onReceive(process.application, Values.intent(process, asked.getJSONObject("intent")));
        return null;
    }

    private static Object providerCall(ShimProcess process, JSONObject asked) throws Exception {
        ContentProvider provider =
                process.provider(asked.getString("class_name"), asked.getString("authority"));
        BinderOnPhone.CALLER.set(asked.getInt("uid"));
        try {
            Bundle answer =
                    provider.call(asked.getString("method"), Values.text(asked, "argument"), new Bundle());
            return answer == null ? null : Values.toJson(process, answer);
        } finally {
            BinderOnPhone.CALLER.remove();
        }
    }

    private static Object providerOpen(ShimProcess process, JSONObject asked) throws Exception {
        ContentProvider provider =
                process.provider(asked.getString("class_name"), asked.getString("authority"));
        String content = Values.text(asked, "content");
        BinderOnPhone.CALLER.set(asked.getInt("uid"));
        ParcelFileDescriptor file;
        try {
            file = provider.openFile(Uri.parse(asked.getString("uri")), content == null ? "r" : "w");
        } finally {
            BinderOnPhone.CALLER.remove();
        }
        if (content == null) {
            try (InputStream in = new ParcelFileDescriptor.AutoCloseInputStream(file)) {
                return Values.text(in.readAllBytes());
            }
        }
        try (OutputStream out = new ParcelFileDescriptor.AutoCloseOutputStream(file)) {
            out.write(Values.bytes(content));
        }
        return true;
    }
}
