package android.app.appfunctions;

import android.content.pm.SigningInfo;
import android.os.CancellationSignal;
import android.os.OutcomeReceiver;

/** Replaces the framework's class, whose instances need a native binder, when a service is run on a JVM. */
public abstract class AppFunctionService extends android.app.Service {
    @Override
    public final android.os.IBinder onBind(android.content.Intent intent) {
        return null;
    }

    public abstract void onExecuteFunction(
            ExecuteAppFunctionRequest request,
            String callingPackage,
            SigningInfo callingPackageSigningInfo,
            CancellationSignal cancellationSignal,
            OutcomeReceiver<ExecuteAppFunctionResponse, AppFunctionException> callback);
}
