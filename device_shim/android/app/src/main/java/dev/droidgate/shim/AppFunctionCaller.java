package dev.droidgate.shim;

import android.app.appfunctions.AppFunctionException;
import android.app.appfunctions.AppFunctionManager;
import android.app.appfunctions.ExecuteAppFunctionRequest;
import android.app.appfunctions.ExecuteAppFunctionResponse;
import android.os.CancellationSignal;
import android.os.OutcomeReceiver;
import dev.droidgate.shim.core.BackendAnswer;
import dev.droidgate.shim.core.CallFailure;
import dev.droidgate.shim.core.FailureTokens;
import dev.droidgate.shim.core.Outgoing;
import dev.droidgate.shim.core.Route;

/** Calls of app functions. From Android 16 on (API 36): loaded only there. */
final class AppFunctionCaller
        implements OutcomeReceiver<ExecuteAppFunctionResponse, AppFunctionException> {
    private static final String NOT_ALLOWED = "Android does not let this app call app functions";

    private final Shim shim;
    private final long call;
    private final CancellationSignal signal = new CancellationSignal();

    private AppFunctionCaller(Shim shim, long call) {
        this.shim = shim;
        this.call = call;
    }

    /**
     * Asks whether a function is enabled, now, and calls it if it is.
     *
     * @throws CallFailure {@code unavailable}: the system has no app functions
     */
    static void call(Shim shim, long call, Reply reply, Route route, Outgoing outgoing)
            throws CallFailure {
        AppFunctionManager manager = shim.context.getSystemService(AppFunctionManager.class);
        if (manager == null) {
            throw new CallFailure(FailureTokens.UNAVAILABLE, "this system has no app functions");
        }
        AppFunctionCaller caller = new AppFunctionCaller(shim, call);
        // A cancelled call may go on in the app; what it answers later is dropped.
        reply.whenAnswered(caller.signal::cancel);
        ExecuteAppFunctionRequest request =
                new ExecuteAppFunctionRequest.Builder(route.target.packageName, outgoing.function)
                        .setParameters(Documents.write(outgoing.document))
                        .build();
        try {
            manager.isAppFunctionEnabled(
                    outgoing.function,
                    route.target.packageName,
                    shim.answering,
                    new Enabled(caller, manager, request));
        } catch (SecurityException refused) {
            throw new CallFailure(FailureTokens.DENIED, NOT_ALLOWED);
        }
    }

    /** Goes on with a call when its function is enabled. */
    private static final class Enabled implements OutcomeReceiver<Boolean, Exception> {
        private final AppFunctionCaller caller;
        private final AppFunctionManager manager;
        private final ExecuteAppFunctionRequest request;

        Enabled(
                AppFunctionCaller caller,
                AppFunctionManager manager,
                ExecuteAppFunctionRequest request) {
            this.caller = caller;
            this.manager = manager;
            this.request = request;
        }

        @Override
        public void onResult(Boolean enabled) {
            if (caller.signal.isCanceled()) {
                return;
            }
            if (!enabled) {
                caller.fail(FailureTokens.DISABLED, "the app has switched the function off");
                return;
            }
            try {
                manager.executeAppFunction(
                        request, caller.shim.answering, caller.signal, caller);
            } catch (SecurityException refused) {
                caller.fail(FailureTokens.DENIED, NOT_ALLOWED);
            } catch (RuntimeException failed) {
                caller.fail(FailureTokens.BACKEND_FAILURE, Failures.textOf(failed));
            }
        }

        @Override
        public void onError(Exception error) {
            boolean unknown = error instanceof IllegalArgumentException;
            boolean refused = error instanceof SecurityException;
            caller.fail(
                    unknown
                            ? FailureTokens.UNKNOWN_CAPABILITY
                            : refused ? FailureTokens.DENIED : FailureTokens.BACKEND_FAILURE,
                    refused ? NOT_ALLOWED : Failures.textOf(error));
        }
    }

    private void fail(String token, String text) {
        shim.answered(call, BackendAnswer.ofFailure(new CallFailure(token, text)));
    }

    @Override
    public void onResult(ExecuteAppFunctionResponse response) {
        try {
            shim.answered(
                    call, BackendAnswer.ofDocument(Documents.read(response.getResultDocument())));
        } catch (CallFailure malformed) {
            shim.answered(call, BackendAnswer.ofFailure(malformed));
        } catch (RuntimeException unreadable) {
            fail(FailureTokens.MALFORMED_RESPONSE, Failures.textOf(unreadable));
        }
    }

    @Override
    public void onError(AppFunctionException error) {
        shim.answered(call, BackendAnswer.ofError(error.getErrorCode(), error.getErrorMessage()));
    }
}
