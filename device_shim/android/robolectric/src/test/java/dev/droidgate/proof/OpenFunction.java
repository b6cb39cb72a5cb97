package dev.droidgate.proof;

import static org.robolectric.Shadows.shadowOf;

import android.app.appfunctions.AppFunctionException;
import android.app.appfunctions.AppFunctionManager;
import android.app.appfunctions.AppFunctionService;
import android.app.appfunctions.ExecuteAppFunctionAidlRequest;
import android.app.appfunctions.ExecuteAppFunctionRequest;
import android.app.appfunctions.ExecuteAppFunctionResponse;
import android.app.appfunctions.IAppFunctionManager;
import android.app.appfunctions.IAppFunctionService;
import android.app.appfunctions.ICancellationCallback;
import android.app.appfunctions.IExecuteAppFunctionCallback;
import android.app.appfunctions.SafeOneTimeExecuteAppFunctionCallback;
import android.app.appsearch.GenericDocument;
import android.content.Context;
import android.content.ContextWrapper;
import android.content.Intent;
import android.content.ServiceConnection;
import android.content.pm.SigningInfo;
import android.net.Uri;
import android.os.Bundle;
import android.os.CancellationSignal;
import android.os.ICancellationSignal;
import android.os.OutcomeReceiver;
import android.os.Process;
import android.os.UserHandle;
import com.android.server.appfunctions.RemoteServiceCallerImpl;
import com.android.server.appfunctions.RunAppFunctionServiceCallback;
import com.android.server.appfunctions.ServiceConfigImpl;
import java.io.ByteArrayInputStream;
import java.lang.reflect.Proxy;
import java.util.List;
import java.util.Map;
import org.json.JSONObject;
import org.robolectric.Robolectric;
import org.robolectric.RuntimeEnvironment;
import org.robolectric.util.ReflectionHelpers;
import org.robolectric.util.ReflectionHelpers.ClassParameter;

/**
 * An app function that the agent executes; Android's own server classes take the call to its app. From
 * Android 16 on: loaded only there.
 */
final class OpenFunction {
    private final AgentApp agent;
    private Functions function;

    OpenFunction(AgentApp agent) {
        this.agent = agent;
    }

    /** Executes an app function that stays open; Android's own server classes take the call to its app. */
    void execute() {
        agent.phone.allow(Process.myUid(), "android.permission.BIND_APP_FUNCTION_SERVICE");
        function = Robolectric.buildService(Functions.class).create().get();
        IAppFunctionManager service =
                (IAppFunctionManager)
                        Proxy.newProxyInstance(
                                getClass().getClassLoader(),
                                new Class<?>[] {IAppFunctionManager.class},
                                (proxy, method, given) ->
                                        open(
                                                (ExecuteAppFunctionAidlRequest) given[0],
                                                (IExecuteAppFunctionCallback) given[1]));
        Shadows.appFunctions = new AppFunctionManager(service, agent.phone.shim);
        Map<String, ?> arguments = Map.of("title", "Milk", "count", 2);
        agent.ask("execute", Map.of("call", "f", "package", "p", "function", "f", "arguments", arguments));
        agent.phone.quiet();
    }

    /** As AppFunctionManagerServiceImpl does once a call is allowed. */
    private ICancellationSignal open(
            ExecuteAppFunctionAidlRequest request, IExecuteAppFunctionCallback callback) {
        ICancellationSignal transport = CancellationSignal.createTransport();
        CancellationSignal signal = CancellationSignal.fromTransport(transport);
        Context context =
                new ContextWrapper(agent.phone.shim) {
                    @Override
                    public boolean bindServiceAsUser(
                            Intent intent, ServiceConnection connection, int flags, UserHandle user) {
                        connection.onServiceConnected(null, function.onBind(intent));
                        return true;
                    }

                    @Override
                    public void unbindService(ServiceConnection connection) {
                        // It is not bound.
                    }
                };
        ICancellationCallback remote =
                new ICancellationCallback.Stub() {
                    @Override
                    public void sendCancellationTransport(ICancellationSignal of) {
                        signal.setRemote(of);
                    }
                };

        new RemoteServiceCallerImpl<>(context, IAppFunctionService.Stub::asInterface, Runnable::run)
                .runServiceCall(
                        new Intent(),
                        0,
                        UserHandle.of(0),
                        new ServiceConfigImpl().getExecuteAppFunctionCancellationTimeoutMillis(),
                        signal,
                        new RunAppFunctionServiceCallback(
                                request,
                                remote,
                                new SafeOneTimeExecuteAppFunctionCallback(callback),
                                new SigningInfo()),
                        callback.asBinder());
        return transport;
    }

    /** Returns whether the function's app was asked to cancel it. */
    boolean isCanceled() {
        return function.signal.isCanceled();
    }

    /** An app whose function is answered by the test. */
    public static final class Functions extends AppFunctionService {
        CancellationSignal signal;
        OutcomeReceiver<ExecuteAppFunctionResponse, AppFunctionException> callback;

        @Override
        public void onExecuteFunction(
                ExecuteAppFunctionRequest request,
                String callingPackage,
                SigningInfo signing,
                CancellationSignal cancellation,
                OutcomeReceiver<ExecuteAppFunctionResponse, AppFunctionException> receiver) {
            signal = cancellation;
            callback = receiver;
        }
    }

    /** Answers the open function, from Android 17 on with two files, and returns what ends the call. */
    JSONObject answerWithFiles() throws Exception {
        GenericDocument document =
                new GenericDocument.Builder<>("", "", "").setPropertyString("title", "Milk").build();
        Bundle extras = new Bundle();
        extras.putString("property/kept", "here");
        ExecuteAppFunctionResponse response = new ExecuteAppFunctionResponse(document, extras);
        if (RuntimeEnvironment.getApiLevel() >= 37) {
            Uri readable = Uri.parse("content://notes/1");
            shadowOf(agent.phone.shim.getContentResolver())
                    .registerInputStream(readable, new ByteArrayInputStream(new byte[70_000]));
            List<?> grants = List.of(grant(readable), grant(Uri.parse("content://nobody/2")));
            response =
                    ReflectionHelpers.callConstructor(
                            ExecuteAppFunctionResponse.class,
                            ClassParameter.from(GenericDocument.class, document),
                            ClassParameter.from(Bundle.class, extras),
                            ClassParameter.from(List.class, grants));
        }
        function.callback.onResult(response);
        return agent.end();
    }

    private static Object grant(Uri uri) throws ClassNotFoundException {
        return ReflectionHelpers.callConstructor(
                Class.forName("android.app.appfunctions.AppFunctionUriGrant"),
                ClassParameter.from(Uri.class, uri),
                ClassParameter.from(int.class, Intent.FLAG_GRANT_READ_URI_PERMISSION));
    }
}
