package dev.droidgate.sample.agent;

import android.app.appfunctions.AppFunctionException;
import android.app.appfunctions.AppFunctionManager;
import android.app.appfunctions.ExecuteAppFunctionRequest;
import android.app.appfunctions.ExecuteAppFunctionResponse;
import android.app.appsearch.GenericDocument;
import android.content.ContentResolver;
import android.content.Context;
import android.net.Uri;
import android.os.CancellationSignal;
import android.os.OutcomeReceiver;
import java.io.IOException;
import java.io.InputStream;
import java.lang.reflect.Array;
import java.util.Iterator;
import java.util.List;
import org.json.JSONArray;
import org.json.JSONException;
import org.json.JSONObject;

/** One app function that is executed. From Android 16 on (API 36): loaded only there. */
final class FunctionCall implements OutcomeReceiver<ExecuteAppFunctionResponse, AppFunctionException> {
    final CancellationSignal signal = new CancellationSignal();

    /** How much of a file is read, to see that it can be. */
    private static final int MOST_BYTES = 65_536;

    private final Calls calls;
    private final Context context;
    private final String call;

    FunctionCall(Calls calls, Context context, String call) {
        this.calls = calls;
        this.context = context;
        this.call = call;
    }

    void execute(JSONObject asked) throws JSONException {
        ExecuteAppFunctionRequest request =
                new ExecuteAppFunctionRequest.Builder(asked.getString("package"), asked.getString("function"))
                        .setParameters(document(asked.getJSONObject("arguments")))
                        .build();
        context.getSystemService(AppFunctionManager.class)
                .executeAppFunction(request, context.getMainExecutor(), signal, this);
    }

    @Override
    public void onResult(ExecuteAppFunctionResponse response) {
        JSONObject document = json(response.getResultDocument());
        int length = document.toString().length();
        boolean fits = length <= RawValues.LONGEST_TEXT;
        calls.ended(call);
        calls.record(
                "function-result",
                Calls.CALL, call,
                "document", fits ? document : null,
                "length", length,
                "extras", RawValues.of(response.getExtras()),
                "attachments", attachments(response));
    }

    /**
     * Returns the files that came along, each as far as this app can read it: what a provider refuses has an
     * error. Releases before Android 17, and some builds of 16, have none.
     */
    private JSONArray attachments(ExecuteAppFunctionResponse response) {
        JSONArray attachments = new JSONArray();
        try {
            List<?> grants = (List<?>) response.getClass().getMethod("getUriGrants").invoke(response);
            for (Object grant : grants) {
                Uri uri = (Uri) grant.getClass().getMethod("getUri").invoke(grant);
                Object flags = grant.getClass().getMethod("getModeFlags").invoke(grant);
                attachments.put(attachment(uri, flags));
            }
        } catch (ReflectiveOperationException none) {
            return attachments;
        }
        return attachments;
    }

    private JSONObject attachment(Uri uri, Object flags) {
        ContentResolver resolver = context.getContentResolver();
        JSONObject attachment = RawValues.object("uri", uri.toString(), "mode_flags", flags);
        try (InputStream in = resolver.openInputStream(uri)) {
            byte[] bytes = new byte[MOST_BYTES];
            int length = 0;
            for (int read = 0; in != null && read >= 0 && length < MOST_BYTES; length += Math.max(read, 0)) {
                read = in.read(bytes, length, MOST_BYTES - length);
            }
            RawValues.put(attachment, "type", resolver.getType(uri));
            RawValues.put(attachment, "bytes_read", length);
        } catch (IOException | RuntimeException refused) {
            RawValues.put(attachment, "error", String.valueOf(refused));
        }
        return attachment;
    }

    @Override
    public void onError(AppFunctionException error) {
        calls.ended(call);
        calls.record(
                "function-error",
                Calls.CALL, call,
                "code", error.getErrorCode(),
                "message", error.getErrorMessage());
    }

    /** As Android's shell makes a document of JSON: no value is read but for its own type. */
    private static GenericDocument document(JSONObject json) throws JSONException {
        GenericDocument.Builder<?> builder =
                new GenericDocument.Builder<>("", "", json.optString("schemaType"));
        for (Iterator<String> names = json.keys(); names.hasNext(); ) {
            String name = names.next();
            Object value = json.get(name);
            put(builder, name, value instanceof JSONArray ? (JSONArray) value : new JSONArray().put(value));
        }
        return builder.build();
    }

    private static void put(GenericDocument.Builder<?> builder, String name, JSONArray values)
            throws JSONException {
        int size = values.length();
        Object first = values.opt(0);
        if (first instanceof JSONObject) {
            GenericDocument[] documents = new GenericDocument[size];
            for (int index = 0; index < size; index++) {
                documents[index] = document(values.getJSONObject(index));
            }
            builder.setPropertyDocument(name, documents);
        } else if (first instanceof Boolean) {
            boolean[] flags = new boolean[size];
            for (int index = 0; index < size; index++) {
                flags[index] = values.getBoolean(index);
            }
            builder.setPropertyBoolean(name, flags);
        } else if (first instanceof Integer || first instanceof Long) {
            long[] integers = new long[size];
            for (int index = 0; index < size; index++) {
                integers[index] = values.getLong(index);
            }
            builder.setPropertyLong(name, integers);
        } else if (first instanceof Number) {
            double[] numbers = new double[size];
            for (int index = 0; index < size; index++) {
                numbers[index] = values.getDouble(index);
            }
            builder.setPropertyDouble(name, numbers);
        } else if (first instanceof String) {
            String[] texts = new String[size];
            for (int index = 0; index < size; index++) {
                texts[index] = values.getString(index);
            }
            builder.setPropertyString(name, texts);
        }
    }

    /** Returns each property as an array, as Android's shell prints it; what JSON cannot hold is null. */
    private static JSONObject json(GenericDocument document) {
        JSONObject json = new JSONObject();
        for (String name : document.getPropertyNames()) {
            Object values = document.getProperty(name);
            JSONArray list = new JSONArray();
            for (int index = 0; values != null && index < Array.getLength(values); index++) {
                Object item = Array.get(values, index);
                if (item instanceof Double && !Double.isFinite((Double) item) || item instanceof byte[]) {
                    list.put(null);
                } else {
                    list.put(item instanceof GenericDocument ? json((GenericDocument) item) : item);
                }
            }
            RawValues.put(json, name, list);
        }
        return json;
    }
}
