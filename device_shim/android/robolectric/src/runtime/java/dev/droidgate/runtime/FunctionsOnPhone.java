package dev.droidgate.runtime;

import android.app.appfunctions.AppFunctionException;
import android.app.appfunctions.ExecuteAppFunctionAidlRequest;
import android.app.appfunctions.ExecuteAppFunctionRequest;
import android.app.appfunctions.ExecuteAppFunctionResponse;
import android.app.appfunctions.IAppFunctionEnabledCallback;
import android.app.appfunctions.IAppFunctionManager;
import android.app.appfunctions.IExecuteAppFunctionCallback;
import android.os.CancellationSignal;
import android.os.ICancellationSignal;
import android.os.RemoteException;
import android.os.UserHandle;
import org.json.JSONException;
import org.json.JSONObject;

/** The phone's app function service, behind Android's own manager. */
final class FunctionsOnPhone extends IAppFunctionManager.Stub {
    private final ProcessLink process;

    FunctionsOnPhone(ProcessLink process) {
        this.process = process;
    }

    @Override
    public ICancellationSignal executeAppFunction(
            ExecuteAppFunctionAidlRequest asked, IExecuteAppFunctionCallback callback) {
        ExecuteAppFunctionRequest request = asked.getClientRequest();
        int call = process.numberOf(callback);
        process.ask(
                "execute_function",
                "package", request.getTargetPackageName(),
                "function", request.getFunctionIdentifier(),
                "parameters", Documents.toJson(request.getParameters()),
                "call", call);
        ICancellationSignal transport = CancellationSignal.createTransport();
        CancellationSignal.fromTransport(transport)
                .setOnCancelListener(() -> process.send("cancel_function", "call", call));
        return transport;
    }

    @Override
    public void setAppFunctionEnabled(
            String packageName, String function, UserHandle user, int state,
            IAppFunctionEnabledCallback callback) {}

    /** Hands the outcome of an execution to the shim. */
    static void finished(IExecuteAppFunctionCallback callback, JSONObject json)
            throws JSONException, RemoteException {
        JSONObject error = json.optJSONObject("error");
        if (error != null) {
            callback.onError(new AppFunctionException(error.getInt("code"), error.getString("message")));
        } else {
            callback.onSuccess(
                    new ExecuteAppFunctionResponse(Documents.document(json.getJSONObject("outcome"))));
        }
    }
}
