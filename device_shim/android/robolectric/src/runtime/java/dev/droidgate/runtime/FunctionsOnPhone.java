package dev.droidgate.runtime;

import android.app.appfunctions.AppFunctionException;
import android.app.appfunctions.AppFunctionManager;
import android.app.appfunctions.AppFunctionService;
import android.app.appfunctions.ExecuteAppFunctionAidlRequest;
import android.app.appfunctions.ExecuteAppFunctionRequest;
import android.app.appfunctions.ExecuteAppFunctionResponse;
import android.app.appfunctions.IAppFunctionEnabledCallback;
import android.app.appfunctions.IAppFunctionManager;
import android.app.appfunctions.IExecuteAppFunctionCallback;
import android.content.Context;
import android.os.CancellationSignal;
import android.os.ICancellationSignal;
import android.os.OutcomeReceiver;
import android.os.RemoteException;
import android.os.UserHandle;
import dev.droidgate.runtime.shadows.PackagesOnPhone;
import org.json.JSONException;
import org.json.JSONObject;

/** The phone's app function service, behind Android's own manager. */
final class FunctionsOnPhone extends IAppFunctionManager.Stub {
    private final ProcessLink process;

    FunctionsOnPhone(ProcessLink process) {
        this.process = process;
    }

    /** Returns Android's manager of app functions, which loads only where Android has it. */
    static Object manager(ProcessLink process, Context context) {
        return new AppFunctionManager(new FunctionsOnPhone(process), context);
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
    static void finished(Object thing, JSONObject json) throws JSONException, RemoteException {
        IExecuteAppFunctionCallback callback = (IExecuteAppFunctionCallback) thing;
        JSONObject error = json.optJSONObject("error");
        if (error != null) {
            callback.onError(new AppFunctionException(error.getInt("code"), error.getString("message")));
        } else {
            callback.onSuccess(
                    new ExecuteAppFunctionResponse(Documents.document(json.getJSONObject("outcome"))));
        }
    }

    /** Executes an app function of a shim; returns the number of what cancels it. */
    static Object begin(ShimProcess process, JSONObject asked) throws Exception {
        AppFunctionService service = (AppFunctionService) process.service(asked.getString("class_name"));
        ExecuteAppFunctionRequest request =
                new ExecuteAppFunctionRequest.Builder(process.packageName, asked.getString("function"))
                        .setParameters(Documents.document(asked.getJSONObject("parameters")))
                        .build();
        int call = asked.getInt("call");
        CancellationSignal signal = new CancellationSignal();
        int number = process.numberOf(signal);
        service.onExecuteFunction(
                request,
                asked.getString("caller"),
                PackagesOnPhone.signing(Values.texts(asked.getJSONArray("certificates"))),
                signal,
                new OutcomeReceiver<ExecuteAppFunctionResponse, AppFunctionException>() {
                    @Override
                    public void onResult(ExecuteAppFunctionResponse response) {
                        process.forget(number);
                        JSONObject outcome = Documents.toJson(response.getResultDocument());
                        process.send("function_done", "call", call, "outcome", outcome);
                    }

                    @Override
                    public void onError(AppFunctionException failed) {
                        process.forget(number);
                        JSONObject error =
                                Values.object(
                                        "code", failed.getErrorCode(), "message", failed.getErrorMessage());
                        process.send("function_done", "call", call, "error", error);
                    }
                });
        return number;
    }
}
