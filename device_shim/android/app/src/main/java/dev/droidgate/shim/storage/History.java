package dev.droidgate.shim.storage;

import android.content.Context;
import android.os.Handler;
import dev.droidgate.shim.Caller;
import dev.droidgate.shim.core.FailureTokens;
import dev.droidgate.shim.core.Json;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Executor;

/** The last calls: who called what and how it ended, never arguments or results (shim.md 3). */
public final class History {
    private static final int MOST_CALLS = 200;
    private static final int LONGEST_ID = 200;
    private static final long WRITING_DELAY_MS = 1_000;

    private final JsonFile file;
    private final Handler handler;
    private final Runnable writing;
    private final List<Object> calls = new ArrayList<>();

    public History(Context context, Handler handler, Executor workers) {
        file = new JsonFile(context, "history.json");
        this.handler = handler;
        writing = () -> workers.execute(() -> file.write(all()));
        List<Object> stored = Json.list(file.read());
        if (stored != null) {
            calls.addAll(stored.subList(Math.max(0, stored.size() - MOST_CALLS), stored.size()));
        }
    }

    /** Adds a call, but for one that was refused as too much: a flood would push everything else out. */
    public synchronized void add(Caller caller, String capability, String token, long milliseconds) {
        if (FailureTokens.BUSY.equals(token)) {
            return;
        }
        Map<String, Object> call = new LinkedHashMap<>();
        call.put("time", System.currentTimeMillis());
        call.put("caller", caller.packages.isEmpty() ? null : caller.packageName());
        call.put("capability", capability.substring(0, Math.min(capability.length(), LONGEST_ID)));
        call.put("token", token);
        call.put("ms", milliseconds);
        if (calls.size() >= MOST_CALLS) {
            calls.remove(0);
        }
        calls.add(call);
        write();
    }

    public synchronized List<Object> all() {
        return new ArrayList<>(calls);
    }

    public synchronized void clear() {
        calls.clear();
        write();
    }

    private void write() {
        handler.removeCallbacks(writing);
        handler.postDelayed(writing, WRITING_DELAY_MS);
    }
}
