package com.example.faulty;

import android.app.PendingIntent;
import android.app.Service;
import android.content.Context;
import android.content.Intent;
import android.os.Bundle;
import android.os.Handler;
import android.os.IBinder;
import android.os.Looper;
import android.os.Message;
import android.os.Messenger;
import android.os.RemoteException;
import java.io.IOException;
import java.nio.file.Files;
import java.util.HashSet;
import java.util.Set;
import org.json.JSONArray;
import org.json.JSONException;
import org.json.JSONObject;

/** A tool of Mobile-MCP on Android's own classes that is right, or has the fault that a file names. */
public final class Tool extends Service {
    private static final String REQUEST = "mobile-mcp-request";
    private static final String RESPONSE = "mobile-mcp-response";

    private final Handler handler = new Handler(Looper.getMainLooper(), this::take);
    private final Messenger messenger = new Messenger(handler);
    private final Set<String> seen = new HashSet<>();
    private boolean isBusy;
    private String fault;

    private interface Reply {
        void send(Bundle extras) throws RemoteException, PendingIntent.CanceledException;
    }

    @Override
    public void onCreate() {
        fault = fault(this);
    }

    /** Returns what is planted in the app; empty for nothing. */
    static String fault(Context context) {
        try {
            return new String(Files.readAllBytes(context.getFilesDir().toPath().resolve("fault")));
        } catch (IOException absent) {
            return "";
        }
    }

    @Override
    public IBinder onBind(Intent intent) {
        return fault.equals("no binder") ? null : messenger.getBinder();
    }

    private boolean take(Message message) {
        Messenger to = message.replyTo;
        answer(message.getData().getString(REQUEST), extras -> {
            Message answer = Message.obtain(null, 2);
            answer.setData(extras);
            to.send(answer);
        });
        return true;
    }

    @Override
    public int onStartCommand(Intent intent, int flags, int startId) {
        PendingIntent callback = intent.getParcelableExtra("mcp_callback");
        answer(intent.getStringExtra(REQUEST),
                extras -> callback.send(this, 0, new Intent().putExtras(extras)));
        return START_NOT_STICKY;
    }

    private void answer(String text, Reply reply) {
        try {
            JSONObject wrapper = new JSONObject(text).getJSONObject(REQUEST);
            JSONObject request = wrapper.getJSONObject("request");
            JSONObject call = request.getJSONObject("capability");
            JSONObject given = call.has("args") ? call.getJSONObject("args") : call.getJSONObject("input");
            String capability = call.getString("id");
            if (fault.equals("crash") && given.length() == 0 && capability.equals("echo")) {
                throw new IllegalStateException("planted");
            }
            boolean isNew = seen.add(request.getString("id"));
            if (fault.equals("silent") || (fault.equals("id once") && !isNew)) {
                return;
            }
            String problem = problem(wrapper.getString("version"), capability, given);
            String response = response(request.getString("id"), capability, given, problem);
            if (fault.equals("late")) {
                handler.postDelayed(() -> send(reply, response), 5_000);
            } else if (fault.equals("late refusal") && "missing argument".equals(problem)) {
                handler.postDelayed(() -> send(reply, response), 2_600);
            } else if (fault.equals("one at a time")) {
                sendAlone(reply, response);
            } else {
                send(reply, response);
                if (fault.equals("twice")) {
                    send(reply, response);
                }
            }
        } catch (JSONException malformed) {
            throw new IllegalArgumentException(malformed);
        }
    }

    private void sendAlone(Reply reply, String response) {
        if (!isBusy) {
            isBusy = true;
            handler.postDelayed(() -> {
                isBusy = false;
                send(reply, response);
            }, 250);
        }
    }

    private static void send(Reply reply, String response) {
        Bundle extras = new Bundle();
        extras.putString(RESPONSE, response);
        try {
            reply.send(extras);
        } catch (RemoteException | PendingIntent.CanceledException gone) {
            // Nobody waits any more.
        }
    }

    private String problem(String version, String capability, JSONObject given) {
        if (!version.equals("1.0") && !fault.equals("any version")) {
            return "unsupported version";
        }
        if (!capability.equals("echo") && !fault.equals("any capability")) {
            return "unknown capability";
        }
        if (!given.has("text") && capability.equals("echo") && !fault.equals("nothing required")) {
            return "missing argument";
        }
        boolean isTyped = given.opt("text") instanceof String && given.opt("count") instanceof Integer;
        boolean isText = !given.has("text") || given.opt("text") instanceof String;
        return isTyped || (isText && !given.has("count")) || fault.equals("any type") ? null : "wrong type";
    }

    private String response(String id, String capability, JSONObject given, String problem)
            throws JSONException {
        if (fault.equals("prose")) {
            return "It is done.";
        }
        String text = fault.equals("huge") ? "x".repeat(70_000) : given.optString("text");
        JSONArray output = new JSONArray().put(output("text", "string", text));
        output.put(output("count", "integer", fault.equals("output as text") ? (Object) "2" : (Object) 2));
        if (fault.equals("undeclared output")) {
            output.put(output("more", "string", ""));
        }
        JSONObject described = new JSONObject().put("id", capability);
        JSONObject response = new JSONObject().put("id", fault.equals("wrong id") ? "1" : id);
        if (!fault.equals("no capability")) {
            response.put("capability", problem == null ? described.put("output", output) : described);
        }
        String failure = fault.equals("status error") ? "error" : "failure";
        response.put("status", problem == null ? "success" : failure);
        if (fault.equals("no wrapper")) {
            return response.toString();
        }
        JSONObject wrapper = new JSONObject().put("response", response);
        if (!fault.equals("no version")) {
            wrapper.put("version", "1.0");
        }
        return new JSONObject().put(RESPONSE, wrapper).toString();
    }

    private static JSONObject output(String name, String type, Object value) throws JSONException {
        return new JSONObject().put("name", name).put("type", type).put("value", value);
    }
}
