package dev.droidgate.runtime;

import java.io.BufferedReader;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.OutputStreamWriter;
import java.io.Writer;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import org.json.JSONException;
import org.json.JSONObject;

/**
 * Lines of JSON to and from the phone. {@code {"id", "op", ...}} asks, {@code {"re", "value"}} or
 * {@code {"re", "error": {"exception", "message"}}} answers; what has no id gets no answer.
 */
final class Wire {
    private final Writer out =
            new OutputStreamWriter(new FileOutputStream(FileDescriptor.out), StandardCharsets.UTF_8);
    private final AtomicLong numbers = new AtomicLong();
    private final Map<Long, CompletableFuture<JSONObject>> asked = new ConcurrentHashMap<>();

    /** Reads until the phone hangs up. */
    void read(Consumer<JSONObject> taker) throws IOException, JSONException {
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            JSONObject json = new JSONObject(line);
            if (json.has("re")) {
                CompletableFuture<JSONObject> waiting = asked.remove(json.getLong("re"));
                if (waiting != null) {
                    waiting.complete(json);
                }
            } else {
                taker.accept(json);
            }
        }
        for (CompletableFuture<JSONObject> item : asked.values()) {
            item.complete(refusal(new IllegalStateException("the phone is gone")));
        }
    }

    /** Asks the phone and returns what it answers, null for JSON's null. */
    Object ask(JSONObject request) {
        long number = numbers.incrementAndGet();
        CompletableFuture<JSONObject> answer = new CompletableFuture<>();
        asked.put(number, answer);
        try {
            send(request.put("id", number));
            JSONObject json = answer.get();
            JSONObject error = json.optJSONObject("error");
            if (error != null) {
                throw PhoneRefusal.of(error.getString("exception"), error.getString("message"));
            }
            return json.isNull("value") ? null : json.get("value");
        } catch (InterruptedException | ExecutionException | JSONException stopped) {
            throw new IllegalStateException(stopped);
        }
    }

    /** Writes a line. */
    void send(JSONObject json) {
        String line = json.toString();
        synchronized (out) {
            try {
                out.write(line);
                out.write('\n');
                out.flush();
            } catch (IOException gone) {
                throw new IllegalStateException(gone);
            }
        }
    }

    void answer(JSONObject request, Object value) {
        if (request.has("id")) {
            send(
                    Values.object(
                            "re", request.optLong("id"), "value", value == null ? JSONObject.NULL : value));
        }
    }

    void refuse(JSONObject request, Throwable thrown) {
        if (request.has("id")) {
            JSONObject json = refusal(thrown);
            send(Values.with(json, "re", request.optLong("id")));
        }
    }

    private static JSONObject refusal(Throwable thrown) {
        String name =
                thrown instanceof PhoneRefusal
                        ? ((PhoneRefusal) thrown).exception
                        : thrown.getClass().getName();
        JSONObject error = Values.object("exception", name, "message", String.valueOf(thrown.getMessage()));
        return Values.object("error", error);
    }
}
