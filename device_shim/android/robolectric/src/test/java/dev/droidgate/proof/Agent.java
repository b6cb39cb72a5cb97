package dev.droidgate.proof;

import android.content.Intent;
import android.os.Bundle;
import android.os.Handler;
import android.os.IBinder;
import android.os.Looper;
import android.os.Message;
import android.os.Messenger;
import android.os.Parcel;
import android.os.Parcelable;
import dev.droidgate.shim.frontends.ToolService;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.json.JSONArray;
import org.json.JSONException;
import org.json.JSONObject;

/**
 * An agent that knows section 3 of the Mobile-MCP specification of 14 February 2026 and nothing of the shim.
 *
 * <p>The names that it leaves open (the message's numbers, the callback's extra) are the reference
 * implementation's.
 */
final class Agent {
    /** A successful answer, with the value of its one output. */
    record Answer(String id, Object output) {}

    /** What came back, in its order. */
    final List<Answer> answers = new ArrayList<>();

    private final Phone phone;
    private final Inputs.App app;
    private IBinder binder;

    Agent(Phone phone, Inputs.App app) {
        this.phone = phone;
        this.app = app;
        Intent service = new Intent().setClassName(phone.shim, ToolService.class.getName());
        phone.as(app.uid(), () -> binder = phone.service(ToolService.class).onBind(service));
    }

    /** Returns a request with at most one argument, its name and its value. */
    private static String request(String id, String capability, Object... argument) {
        Map<?, ?> given = argument.length == 0 ? Map.of() : Map.of(argument[0], argument[1]);
        Map<?, ?> request = Map.of("id", id, "capability", Map.of("id", capability, "args", given));
        Map<?, ?> versioned = Map.of("version", "1.0", "request", request);
        return new JSONObject(Map.of("mobile-mcp-request", versioned)).toString();
    }

    /** Sends a request over the binding. */
    void send(String id, String capability, Object... arguments) {
        Bundle data = new Bundle();
        data.putString("mobile-mcp-request", request(id, capability, arguments));
        send(data);
    }

    /** Sends a request next to an extra that cannot be read without the agent's own class. */
    void sendPoison(String id, String capability) {
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
        Handler.Callback taker =
                answer -> {
                    took(answer.getData());
                    return true;
                };
        message.replyTo = new Messenger(new Handler(Looper.getMainLooper(), taker));
        phone.as(app.uid(), () -> new Messenger(binder).send(message));
    }

    private void took(Bundle extras) {
        String text = extras.getString("mobile-mcp-response");
        try {
            JSONObject response =
                    new JSONObject(text).getJSONObject("mobile-mcp-response").getJSONObject("response");
            JSONArray outputs = response.getJSONObject("capability").getJSONArray("output");
            answers.add(new Answer(response.getString("id"), outputs.getJSONObject(0).get("value")));
        } catch (JSONException malformed) {
            throw new AssertionError(text, malformed);
        }
    }

    /** Waits for the one answer, forgets it, and returns its output. */
    Object output() {
        phone.until("an answer", () -> !answers.isEmpty());
        if (answers.size() != 1) {
            throw new AssertionError(answers);
        }
        return answers.remove(0).output();
    }
}
