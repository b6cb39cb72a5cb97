package dev.droidgate.proof.phone;

import android.app.appfunctions.AppFunctionException;
import android.app.appfunctions.ExecuteAppFunctionAidlRequest;
import android.app.appfunctions.ExecuteAppFunctionRequest;
import android.app.appfunctions.ExecuteAppFunctionResponse;
import android.app.appfunctions.IAppFunctionEnabledCallback;
import android.app.appfunctions.IAppFunctionManager;
import android.app.appfunctions.IExecuteAppFunctionCallback;
import android.app.appsearch.GenericDocument;
import android.os.CancellationSignal;
import android.os.ICancellationSignal;
import android.os.RemoteException;
import android.os.UserHandle;
import dev.droidgate.proof.apps.Behaviour;
import java.util.ArrayList;
import java.util.List;
import org.robolectric.shadows.ShadowServiceManager;

/** Android 16's app function service, with the notes app's functions behind it: the manager before it is the real one. */
public final class FunctionsOnPhone extends IAppFunctionManager.Stub {
    public static volatile Behaviour behaviour = Behaviour.ANSWER;

    /** The code that a refusal has. */
    public static volatile int code = AppFunctionException.ERROR_DENIED;

    /** The requests that came. */
    public static final List<ExecuteAppFunctionRequest> CALLS = new ArrayList<>();

    /** Whether calls were cancelled. */
    public static volatile boolean cancelled;

    private IExecuteAppFunctionCallback waiting;

    /** Puts the service where Android has it. */
    public static FunctionsOnPhone install() {
        FunctionsOnPhone service = new FunctionsOnPhone();
        ShadowServiceManager.addBinderService("app_function", IAppFunctionManager.class, service);
        CALLS.clear();
        cancelled = false;
        behaviour = Behaviour.ANSWER;
        FunctionStatesOnPhone.state = Boolean.TRUE;
        return service;
    }

    @Override
    public ICancellationSignal executeAppFunction(
            ExecuteAppFunctionAidlRequest asked, IExecuteAppFunctionCallback callback) throws RemoteException {
        ExecuteAppFunctionRequest request = asked.getClientRequest();
        CALLS.add(request);
        waiting = callback;
        switch (behaviour) {
            case ANSWER:
                done();
                break;
            case TWICE:
                done();
                done();
                break;
            case REFUSE:
                callback.onError(new AppFunctionException(code, "not today"));
                break;
            case GARBAGE:
                callback.onSuccess(
                        new ExecuteAppFunctionResponse(
                                new GenericDocument.Builder<>("", "", "")
                                        .setPropertyString("androidAppfunctionsReturnValue", "a", "b")
                                        .build()));
                break;
            case ODD:
                throw new IllegalStateException("odd");
            case CRASH:
                throw new SecurityException("the caller may not");
            default:
                break;
        }
        ICancellationSignal transport = CancellationSignal.createTransport();
        CancellationSignal.fromTransport(transport).setOnCancelListener(() -> cancelled = true);
        return transport;
    }

    /** Answers the last call. */
    public void done() throws RemoteException {
        ExecuteAppFunctionRequest request = CALLS.get(CALLS.size() - 1);
        GenericDocument.Builder<?> answer = new GenericDocument.Builder<>("", "", "");
        if ("countNotes".equals(request.getFunctionIdentifier())) {
            answer.setPropertyLong(ExecuteAppFunctionResponse.PROPERTY_RETURN_VALUE, CALLS.size());
        } else {
            answer.setPropertyString(
                    ExecuteAppFunctionResponse.PROPERTY_RETURN_VALUE,
                    "kept " + request.getParameters().getPropertyString("title"));
        }
        waiting.onSuccess(new ExecuteAppFunctionResponse(answer.build()));
    }

    @Override
    public void setAppFunctionEnabled(
            String packageName, String function, UserHandle user, int state, IAppFunctionEnabledCallback callback) {}
}
