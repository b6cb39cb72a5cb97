package dev.droidgate.sample.notes;

import android.app.appfunctions.AppFunctionException;
import android.app.appfunctions.AppFunctionService;
import android.app.appfunctions.ExecuteAppFunctionRequest;
import android.app.appfunctions.ExecuteAppFunctionResponse;
import android.app.appsearch.GenericDocument;
import android.content.pm.SigningInfo;
import android.os.CancellationSignal;
import android.os.OutcomeReceiver;
import android.util.Log;
import java.io.IOException;
import java.time.LocalDateTime;
import org.json.JSONException;

/** Runs the functions that assets/notes_service.xml declares. */
public final class NotesService extends AppFunctionService {
    private static final String TAG = "Notes";
    private static final String PREFIX = "dev.droidgate.sample.notes.NotesService#";

    @Override
    public void onExecuteFunction(
            ExecuteAppFunctionRequest request,
            String callingPackage,
            SigningInfo callingPackageSigningInfo,
            CancellationSignal cancellationSignal,
            OutcomeReceiver<ExecuteAppFunctionResponse, AppFunctionException> callback) {
        GenericDocument result;
        try {
            String id = request.getFunctionIdentifier();
            String name = id.startsWith(PREFIX) ? id.substring(PREFIX.length()) : "";
            NoteFunctions functions = new NoteFunctions(NoteStore.open(this), LocalDateTime.now());
            if (cancellationSignal.isCanceled()) {
                throw new AppFunctionException(AppFunctionException.ERROR_CANCELLED, "The caller gave up");
            }
            result = functions.run(name, new Arguments(request.getParameters(), ""));
            if (result == null) {
                throw new AppFunctionException(
                        AppFunctionException.ERROR_FUNCTION_NOT_FOUND,
                        "This app has no function \"" + id + "\"");
            }
        } catch (AppFunctionException e) {
            callback.onError(e);
            return;
        } catch (IOException | JSONException | RuntimeException e) {
            Log.e(TAG, "The call failed", e);
            callback.onError(new AppFunctionException(
                    AppFunctionException.ERROR_APP_UNKNOWN_ERROR, "The notes could not be read or written"));
            return;
        }
        callback.onResult(new ExecuteAppFunctionResponse(result));
    }
}
