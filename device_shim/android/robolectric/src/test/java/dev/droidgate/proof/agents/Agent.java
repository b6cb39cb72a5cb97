package dev.droidgate.proof.agents;

import android.app.PendingIntent;
import android.content.BroadcastReceiver;
import android.content.Context;
import android.content.Intent;
import android.content.IntentFilter;
import android.os.Bundle;
import android.os.Handler;
import android.os.IBinder;
import android.os.Looper;
import android.os.Message;
import android.os.Messenger;
import android.os.Parcel;
import android.os.Parcelable;
import android.os.RemoteException;
import dev.droidgate.proof.phone.Inputs.App;
import dev.droidgate.proof.phone.Phone;
import dev.droidgate.shim.frontends.ToolService;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.json.JSONArray;
import org.json.JSONException;
import org.json.JSONObject;
import org.robolectric.shadow.api.Shadow;
import org.robolectric.shadows.ShadowPendingIntent;

/**
 * An agent that knows section 3 of the Mobile-MCP specification of 14 February 2026 and nothing of the shim.
 *
 * <p>The names that it leaves open (the message's numbers, the callback's extra) are the reference
 * implementation's.
 */
public final class Agent {
    /** A Mobile-MCP response as an agent reads it; the message is null where the call succeeded. */
    public record Answer(String id, String message, Map<String, Object> outputs) {
        /** Returns the failure's token: what is before the message's first colon. */
        public String token() {
            return message == null ? null : message.split(":", 2)[0];
        }
    }

    /** What came back, in its order. */
    public final List<Answer> answers = new ArrayList<>();

    private final Phone phone;
    private final App app;
    private final String action;
    private IBinder binder;
    private Intent lastStart;
    private int starts;

    public Agent(Phone phone, App app) {
        this.phone = phone;
        this.app = app;
        action = "dev.droidgate.proof.ANSWER." + app.name();
        phone.shim.registerReceiver(
                new BroadcastReceiver() {
                    @Override
                    public void onReceive(Context by, Intent intent) {
                        took(intent.getExtras());
                    }
                },
                new IntentFilter(action));
        bind();
    }

    /** Binds the shim's service, as {@code Context.bindService} with its component does. */
    private void bind() {
        Intent intent = new Intent().setClassName(phone.shim, ToolService.class.getName());
        phone.as(app.uid(), () -> binder = phone.service(ToolService.class).onBind(intent));
    }

    private static String request(String id, String capability, Object... arguments) {
        Map<String, Object> given = new LinkedHashMap<>();
        for (int index = 0; index < arguments.length; index += 2) {
            given.put((String) arguments[index], arguments[index + 1]);
        }
        return String.format(
                "{\"mobile-mcp-request\": {\"version\": \"1.0\", \"request\":"
                        + " {\"id\": \"%s\", \"capability\": {\"id\": \"%s\", \"args\": %s}}}}",
                id, capability, new JSONObject(given));
    }

    /** Sends a request over the binding; names and values in turn make the arguments. */
    public void send(String id, String capability, Object... arguments) {
        Bundle data = new Bundle();
        data.putString("mobile-mcp-request", request(id, capability, arguments));
        send(data);
    }

    /** Sends a request next to an extra that cannot be read without the agent's own class. */
    public void sendPoison(String id, String capability) {
        Bundle data = new Bundle();
        data.putParcelable("request", new Poison());
        data.putString("mobile-mcp-request", request(id, capability));
        Parcel parcel = Parcel.obtain();
        data.writeToParcel(parcel, 0);
        parcel.setDataPosition(0);
        send(Bundle.CREATOR.createFromParcel(parcel));
    }

    private static final class Poison implements Parcelable {
        @Override
        public int describeContents() {
            return 0;
        }

        @Override
        public void writeToParcel(Parcel out, int flags) {
            out.writeInt(1);
        }
    }

    private void send(Bundle data) {
        Message message = Message.obtain(null, 1);
        message.setData(data);
        message.replyTo =
                new Messenger(
                        new Handler(Looper.getMainLooper()) {
                            @Override
                            public void handleMessage(Message answer) {
                                took(answer.getData());
                            }
                        });
        phone.as(
                app.uid(),
                () -> {
                    try {
                        new Messenger(binder).send(message);
                    } catch (RemoteException gone) {
                        throw new AssertionError(gone);
                    }
                });
    }

    /**
     * Starts the shim's service with a request; the specification's intent names the component and no action.
     */
    public void start(String id, String capability, Object... arguments) {
        PendingIntent callback =
                PendingIntent.getBroadcast(
                        phone.shim,
                        id.hashCode(),
                        new Intent(action),
                        PendingIntent.FLAG_UPDATE_CURRENT | PendingIntent.FLAG_MUTABLE);
        ShadowPendingIntent shadow = Shadow.extract(callback);
        shadow.setCreatorPackage(app.packageName());
        shadow.setCreatorUid(app.uid());
        Intent intent =
                new Intent()
                        .setClassName(phone.shim, ToolService.class.getName())
                        .putExtra("mobile-mcp-request", request(id, capability, arguments))
                        .putExtra("mcp_callback", callback);
        lastStart = new Intent(intent);
        phone.service(ToolService.class).onStartCommand(intent, 0, ++starts);
    }

    /** Delivers the last start once more, as Android does after the death of a process. */
    public void startAgain() {
        phone.service(ToolService.class)
                .onStartCommand(lastStart, ToolService.START_FLAG_REDELIVERY, ++starts);
    }

    private void took(Bundle extras) {
        String text = extras.getString("mobile-mcp-response");
        try {
            JSONObject response =
                    new JSONObject(text).getJSONObject("mobile-mcp-response").getJSONObject("response");
            Map<String, Object> outputs = new LinkedHashMap<>();
            String message = null;
            if ("success".equals(response.getString("status"))) {
                JSONArray list = response.getJSONObject("capability").getJSONArray("output");
                for (int index = 0; index < list.length(); index++) {
                    JSONObject item = list.getJSONObject(index);
                    outputs.put(item.getString("name"), item.get("value"));
                }
            } else {
                message = response.getString("message");
            }
            answers.add(new Answer(response.getString("id"), message, outputs));
        } catch (JSONException malformed) {
            throw new AssertionError(text, malformed);
        }
    }

    /** Waits for an answer, and returns and forgets it; that it is the only one is seen to. */
    public Answer answer() {
        phone.until("an answer to " + app.name(), () -> !answers.isEmpty());
        if (answers.size() != 1) {
            throw new AssertionError(answers);
        }
        return answers.remove(0);
    }
}
