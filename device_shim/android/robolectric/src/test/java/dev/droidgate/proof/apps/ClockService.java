package dev.droidgate.proof.apps;

import android.app.Service;
import android.content.Intent;
import android.os.Bundle;
import android.os.Handler;
import android.os.IBinder;
import android.os.Looper;
import android.os.Message;
import android.os.Messenger;
import android.os.RemoteException;
import dev.droidgate.proof.phone.Phone;
import java.util.ArrayList;
import java.util.List;
import org.json.JSONException;
import org.json.JSONObject;

/** A Mobile-MCP tool that is bound: says the time, and counts the calls that come to each of its binders. */
public final class ClockService extends Service {
    public static volatile Behaviour behaviour = Behaviour.ANSWER;

    /** The messages' data that came. */
    public static final List<Bundle> CALLS = new ArrayList<>();

    private Runnable late;

    @Override
    public IBinder onBind(Intent intent) {
        return new Messenger(
                        new Handler(Looper.getMainLooper()) {
                            private int visits;

                            @Override
                            public void handleMessage(Message message) {
                                visits++;
                                called(Message.obtain(message), visits);
                            }
                        })
                .getBinder();
    }

    private void called(Message message, int visits) {
        CALLS.add(message.getData());
        if (message.what != 1) {
            return;
        }
        switch (behaviour) {
            case ANSWER:
            case FORGED:
                answer(message, visits, "12:00");
                break;
            case TWICE:
                answer(message, visits, "12:00");
                answer(message, visits, "13:00");
                break;
            case REFUSE:
                refuse(message);
                break;
            case GARBAGE:
                Bundle bundle = new Bundle();
                bundle.putString("mobile-mcp-response", "{{{");
                send(message, bundle);
                break;
            case EMPTY:
                answerNothing(message);
                break;
            case CROSSED:
                answerFirst(message);
                break;
            case LATE:
                late = () -> answer(message, visits, "14:00");
                break;
            default:
                break;
        }
    }

    private static void answer(Message message, int visits, String time) {
        try {
            JSONObject outputs = new JSONObject().put("time", time).put("visits", visits);
            send(message, ToolServices.read(message.getData()).success(outputs));
        } catch (JSONException impossible) {
            throw new IllegalStateException(impossible);
        }
    }

    private static void answerNothing(Message message) {
        try {
            send(message, ToolServices.read(message.getData()).nothing());
        } catch (JSONException impossible) {
            throw new IllegalStateException(impossible);
        }
    }

    /** Keeps the first request; answers it to whoever sends the second one. */
    private void answerFirst(Message message) {
        if (CALLS.size() < 2) {
            return;
        }
        try {
            JSONObject outputs = new JSONObject().put("time", "the first caller's").put("visits", 1);
            send(message, ToolServices.read(CALLS.get(0)).success(outputs));
        } catch (JSONException impossible) {
            throw new IllegalStateException(impossible);
        }
    }

    private static void refuse(Message message) {
        try {
            send(message, ToolServices.read(message.getData()).failure("disabled: not today"));
        } catch (JSONException impossible) {
            throw new IllegalStateException(impossible);
        }
    }

    private static void send(Message message, Bundle extras) {
        Message answer = Message.obtain(null, 2);
        answer.setData(extras);
        Phone.speak(
                behaviour == Behaviour.FORGED ? "dev.droidgate.proof.desk" : "dev.droidgate.proof.clock",
                () -> {
                    try {
                        message.replyTo.send(answer);
                    } catch (RemoteException gone) {
                        throw new IllegalStateException(gone);
                    }
                });
    }

    /** Answers what was left open. */
    public void done() {
        late.run();
    }
}
