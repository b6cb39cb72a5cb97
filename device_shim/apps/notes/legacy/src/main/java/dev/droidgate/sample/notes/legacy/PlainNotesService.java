package dev.droidgate.sample.notes.legacy;

import android.app.appfunctions.AppFunctionException;
import android.app.appfunctions.AppFunctionService;
import android.app.appfunctions.ExecuteAppFunctionRequest;
import android.app.appfunctions.ExecuteAppFunctionResponse;
import android.app.appsearch.GenericDocument;
import android.content.SharedPreferences;
import android.content.pm.SigningInfo;
import android.os.CancellationSignal;
import android.os.OutcomeReceiver;
import android.util.Log;
import org.json.JSONArray;
import org.json.JSONException;
import org.json.JSONObject;

/** createNote on the bare platform classes, declared by hand in assets/app_functions.xml. */
public final class PlainNotesService extends AppFunctionService {
    private static final String TAG = "PlainNotes";
    private static final String FILE = "notes";
    private static final String NOTES = "notes";
    private static final int MAX_NOTES = 1000;
    private static final int MAX_TITLE = 120;
    private static final int MAX_CONTENT = 20_000;
    private static final long DEFAULT_PRIORITY = 3;

    @Override
    public void onExecuteFunction(
            ExecuteAppFunctionRequest request,
            String callingPackage,
            SigningInfo callingPackageSigningInfo,
            CancellationSignal cancellationSignal,
            OutcomeReceiver<ExecuteAppFunctionResponse, AppFunctionException> callback) {
        ExecuteAppFunctionResponse response;
        try {
            if (!request.getFunctionIdentifier().equals("createNote")) {
                throw new AppFunctionException(AppFunctionException.ERROR_FUNCTION_NOT_FOUND,
                        "This app has no function \"" + request.getFunctionIdentifier() + "\"");
            }
            response = createNote(request.getParameters());
        } catch (AppFunctionException e) {
            callback.onError(e);
            return;
        } catch (JSONException | RuntimeException e) {
            Log.e(TAG, "The call failed", e);
            callback.onError(new AppFunctionException(
                    AppFunctionException.ERROR_APP_UNKNOWN_ERROR, "The note could not be kept"));
            return;
        }
        callback.onResult(response);
    }

    private ExecuteAppFunctionResponse createNote(GenericDocument parameters)
            throws AppFunctionException, JSONException {
        String title = text(parameters, "title", 1, MAX_TITLE);
        String content = text(parameters, "content", 0, MAX_CONTENT);
        long priority = priority(parameters);

        SharedPreferences preferences = getSharedPreferences(FILE, MODE_PRIVATE);
        JSONArray notes = new JSONArray(preferences.getString(NOTES, "[]"));
        if (notes.length() >= MAX_NOTES) {
            throw new AppFunctionException(
                    AppFunctionException.ERROR_APP_UNKNOWN_ERROR,
                    "There is room for " + MAX_NOTES + " notes only");
        }
        String noteId = "note-" + (notes.length() + 1);
        notes.put(new JSONObject()
                .put("noteId", noteId)
                .put("title", title)
                .put("content", content)
                .put("priority", priority));
        if (!preferences.edit().putString(NOTES, notes.toString()).commit()) {
            throw new IllegalStateException("the preferences could not be written");
        }
        return new ExecuteAppFunctionResponse(new GenericDocument.Builder<>("", noteId, "PlainNoteCreated")
                .setPropertyString("noteId", noteId)
                .setPropertyString("message", "Noted \"" + title + "\" with priority " + priority + ".")
                .build());
    }

    private static String text(GenericDocument parameters, String name, int min, int max)
            throws AppFunctionException {
        Object value = parameters.getProperty(name);
        if (!(value instanceof String[]) || ((String[]) value).length != 1) {
            throw invalid("\"" + name + "\" must be one text");
        }
        String text = ((String[]) value)[0];
        int length = text.codePointCount(0, text.length());
        if (length < min || length > max) {
            throw invalid("\"" + name + "\" must have " + min + " to " + max + " characters");
        }
        return text;
    }

    private static long priority(GenericDocument parameters) throws AppFunctionException {
        Object value = parameters.getProperty("priority");
        if (value == null) {
            return DEFAULT_PRIORITY;
        }
        if (value instanceof long[] && ((long[]) value).length == 1) {
            long priority = ((long[]) value)[0];
            if (priority >= 1 && priority <= 5) {
                return priority;
            }
        }
        throw invalid("\"priority\" must be a whole number from 1 to 5");
    }

    private static AppFunctionException invalid(String reason) {
        return new AppFunctionException(AppFunctionException.ERROR_INVALID_ARGUMENT, reason);
    }
}
