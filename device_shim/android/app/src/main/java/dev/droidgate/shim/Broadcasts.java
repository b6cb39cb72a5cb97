package dev.droidgate.shim;

import android.content.BroadcastReceiver;
import android.content.ComponentName;
import android.content.Context;
import android.content.Intent;
import android.os.Bundle;
import android.os.Looper;
import dev.droidgate.shim.core.BackendAnswer;
import dev.droidgate.shim.core.CallFailure;
import dev.droidgate.shim.core.FailureTokens;
import dev.droidgate.shim.core.Json;
import dev.droidgate.shim.core.JsonWriter;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

/** Calls and discoveries of mMCP's broadcast dialect: explicit ordered broadcasts (docs/shim.md 4). */
final class Broadcasts {
    private static final long CALL_TIME = 10_000;
    private static final long DISCOVERY_TIME = 5_000;
    private static final int MOST_TOOLS = 256;

    private final Shim shim;

    /** Of a component, for the version of its package: the tools that it told. */
    private final Map<String, List<Object>> told = new HashMap<>();

    Broadcasts(Shim shim) {
        this.shim = shim;
    }

    /** Hands what became of a broadcast to whom it may concern. */
    private static final class Result extends BroadcastReceiver {
        private final Consumer<Result> taker;

        Result(Consumer<Result> taker) {
            this.taker = taker;
        }

        @Override
        public void onReceive(Context context, Intent intent) {
            taker.accept(this);
        }
    }

    /** Calls a tool. */
    void call(long call, Reply reply, Intent intent) {
        Runnable late =
                () ->
                        shim.answered(
                                call,
                                BackendAnswer.ofFailure(
                                        new CallFailure(
                                                FailureTokens.TIMEOUT, "the receiver gave no answer")));
        reply.whenAnswered(() -> shim.main.removeCallbacks(late));
        shim.main.postDelayed(late, CALL_TIME);
        send(
                intent,
                result ->
                        shim.answered(
                                call,
                                BackendAnswer.ofBroadcast(
                                        result.getResultCode(), result.getResultData())));
    }

    private void send(Intent intent, Consumer<Result> taker) {
        shim.context.sendOrderedBroadcast(intent, null, new Result(taker), shim.main, 0, null, null);
    }

    /** Returns a discovery's answer as its digest has it; null where there is none. */
    String discovered(String component) {
        List<Object> tools = discover(component);
        if (tools == null) {
            return null;
        }
        List<Object> told = new ArrayList<>();
        for (Object one : tools) {
            List<Object> tool = new ArrayList<>(Json.list(one));
            tool.set(1, tool.get(1) == null ? "" : tool.get(1));
            tool.set(2, tool.get(2) == null ? "{}" : tool.get(2));
            told.add(tool);
        }
        return JsonWriter.write(Collections.singletonMap(Names.TOOLS, told));
    }

    /**
     * Asks a receiver for its tools, waiting for up to five seconds.
     *
     * @return for each tool its name, description and parameters, null for what it lacks; null where no
     *     answer came
     */
    List<Object> discover(String component) {
        ComponentName named = ComponentName.unflattenFromString(component);
        // The answer comes on the main thread, which so cannot wait for it.
        if (named == null || Looper.myLooper() == Looper.getMainLooper()) {
            return null;
        }
        String key = component + ' ' + shim.installed.version(named.getPackageName());
        synchronized (told) {
            if (told.containsKey(key)) {
                return told.get(key);
            }
        }
        List<List<Object>> answer = new ArrayList<>();
        CountDownLatch arrived = new CountDownLatch(1);
        send(
                new Intent(Names.MMCP_DISCOVERY).setComponent(named),
                result -> {
                    List<Object> tools = tools(result.getResultExtras(false));
                    if (tools != null) {
                        answer.add(tools);
                    }
                    arrived.countDown();
                });
        try {
            if (!arrived.await(DISCOVERY_TIME, TimeUnit.MILLISECONDS) || answer.isEmpty()) {
                return null;
            }
        } catch (InterruptedException stopped) {
            return null;
        }
        synchronized (told) {
            told.put(key, answer.get(0));
        }
        return answer.get(0);
    }

    private static List<Object> tools(Bundle extras) {
        Object named = extras == null ? null : Extras.any(extras, Names.TOOLS);
        if (!(named instanceof String[]) || ((String[]) named).length > MOST_TOOLS) {
            return null;
        }
        List<Object> tools = new ArrayList<>();
        for (String name : (String[]) named) {
            if (name != null) {
                String description = Extras.text(extras, name + '.' + Names.DESCRIPTION);
                String parameters = Extras.text(extras, name + '.' + Names.PARAMETERS);
                tools.add(Arrays.<Object>asList(name, description, parameters));
            }
        }
        return tools;
    }
}
