package dev.droidgate.shim.targets;

import android.content.ComponentName;
import android.content.Intent;
import android.os.Bundle;
import android.os.Looper;
import dev.droidgate.shim.AppProcess;
import dev.droidgate.shim.core.Json;
import dev.droidgate.shim.core.JsonWriter;
import dev.droidgate.shim.platform.Extras;
import dev.droidgate.shim.platform.Names;
import dev.droidgate.shim.platform.OrderedBroadcast;
import dev.droidgate.shim.platform.Packages;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;

/** What receivers of mMCP's broadcast dialect report about their tools: only they know (shim.md 4, 5). */
public final class Discoveries {
    /** Of the digests of what a receiver reports. */
    public static final String RECIPE = "broadcast";

    private static final long DISCOVERY_MS = 5_000;
    private static final int MOST_TOOLS = 256;

    private final AppProcess process;

    /** Of a component, for its package as it was installed last: the tools that it reported. */
    private final Map<String, List<Object>> reported = new HashMap<>();

    /** Those who wait for what it reports. */
    private final Map<String, List<Consumer<List<Object>>>> waiting = new HashMap<>();

    public Discoveries(AppProcess process) {
        this.process = process;
    }

    /** Returns what a receiver reported as its digest has it; null for nothing. */
    public static String text(List<Object> tools) {
        if (tools == null) {
            return null;
        }
        List<Object> named = new ArrayList<>();
        for (Object item : tools) {
            List<Object> tool = new ArrayList<>(Json.list(item));
            tool.set(1, tool.get(1) == null ? "" : tool.get(1));
            tool.set(2, tool.get(2) == null ? "{}" : tool.get(2));
            named.add(tool);
        }
        return JsonWriter.write(Collections.singletonMap(Names.TOOLS, named));
    }

    /**
     * Asks a receiver for its tools, waiting for up to five seconds.
     *
     * @return for each tool its name, description and parameters, null for what it lacks; null where no
     *     answer came
     */
    public List<Object> discover(String component) {
        // The answer comes on the main thread, which so cannot wait for it.
        if (Looper.myLooper() == Looper.getMainLooper()) {
            return null;
        }
        AtomicReference<List<Object>> answer = new AtomicReference<>();
        CountDownLatch arrived = new CountDownLatch(1);
        ask(
                component,
                tools -> {
                    answer.set(tools);
                    arrived.countDown();
                });
        try {
            // The time is the main thread's; this is for one that is stuck.
            arrived.await(2 * DISCOVERY_MS, TimeUnit.MILLISECONDS);
        } catch (InterruptedException stopped) {
            return null;
        }
        return answer.get();
    }

    /**
     * Asks a receiver for its tools, unless it has reported them.
     *
     * @param then takes them, null where none came in time; at once or on the engine's thread, in the order
     *     of those who ask
     */
    public void ask(String component, Consumer<List<Object>> then) {
        ComponentName named = ComponentName.unflattenFromString(component);
        if (named == null) {
            then.accept(null);
            return;
        }
        String key = component + ' ' + Packages.edition(process.context, named.getPackageName());
        List<Object> known;
        synchronized (reported) {
            known = reported.get(key);
            if (known == null) {
                List<Consumer<List<Object>>> others = waiting.get(key);
                if (others != null) {
                    others.add(then);
                    return;
                }
                waiting.put(key, new ArrayList<>(Collections.singletonList(then)));
            }
        }
        if (known != null) {
            then.accept(known);
            return;
        }
        Runnable late = () -> process.calls.execute(() -> take(key, null));
        process.main.postDelayed(late, DISCOVERY_MS);
        try {
            OrderedBroadcast.send(
                    process.context,
                    process.main,
                    new Intent(Names.MMCP_DISCOVERY).setComponent(named),
                    result -> {
                        process.main.removeCallbacks(late);
                        Bundle extras = result.getResultExtras(false);
                        process.calls.execute(() -> take(key, tools(extras)));
                    });
        } catch (RuntimeException refused) {
            process.main.removeCallbacks(late);
            take(key, null);
        }
    }

    /** Goes on, holding the lock: who asks from now on does not overtake those who have waited. */
    private void take(String key, List<Object> tools) {
        synchronized (reported) {
            if (tools != null) {
                reported.put(key, tools);
            }
            List<Consumer<List<Object>>> others = waiting.remove(key);
            if (others != null) {
                for (Consumer<List<Object>> other : others) {
                    other.accept(tools);
                }
            }
        }
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
