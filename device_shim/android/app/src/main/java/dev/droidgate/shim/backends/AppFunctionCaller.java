package dev.droidgate.shim.backends;

import android.app.appfunctions.AppFunctionException;
import android.app.appfunctions.AppFunctionManager;
import android.app.appfunctions.ExecuteAppFunctionRequest;
import android.app.appfunctions.ExecuteAppFunctionResponse;
import android.content.Context;
import android.os.CancellationSignal;
import android.os.OutcomeReceiver;
import dev.droidgate.shim.core.BackendAnswer.FunctionAnswer;
import dev.droidgate.shim.core.CallFailure;
import dev.droidgate.shim.core.FailureTokens;
import dev.droidgate.shim.platform.Documents;
import dev.droidgate.shim.platform.Failures;
import dev.droidgate.shim.platform.Packages;
import java.util.Map;
import java.util.concurrent.Executor;

/** Executes one app function. From Android 16 on (API 36): loaded only there. */
public final class AppFunctionCaller
        implements OutcomeReceiver<ExecuteAppFunctionResponse, AppFunctionException> {
    private static final String NOT_ALLOWED =
            "Android does not let this app call app functions; run droidgate shim install from a computer";

    private final FunctionOutcome outcome;

    /** Without the permission Android hides the functions of other apps. */
    private final boolean permitted;

    private final CancellationSignal signal = new CancellationSignal();

    private AppFunctionCaller(FunctionOutcome outcome, boolean permitted) {
        this.outcome = outcome;
        this.permitted = permitted;
    }

    /**
     * Asks whether a function is enabled, now, and executes it if it is.
     *
     * @param executor where the outcome is taken
     * @param document the parameters, as the engine has them
     * @return what cancels it: the function may go on in the app, and what it answers later is dropped
     * @throws CallFailure {@code unavailable} or {@code denied}; there is no outcome then
     */
    static Runnable execute(
            Context context,
            Executor executor,
            String packageName,
            String function,
            Map<String, Object> document,
            FunctionOutcome outcome)
            throws CallFailure {
        AppFunctionManager manager = context.getSystemService(AppFunctionManager.class);
        if (manager == null) {
            throw new CallFailure(FailureTokens.UNAVAILABLE, "this system has no app functions");
        }
        AppFunctionCaller caller = new AppFunctionCaller(outcome, Packages.mayCallFunctions(context));
        ExecuteAppFunctionRequest request =
                new ExecuteAppFunctionRequest.Builder(packageName, function)
                        .setParameters(Documents.write(document))
                        .build();
        try {
            manager.isAppFunctionEnabled(
                    function, packageName, executor, new Enabled(caller, manager, executor, request));
        } catch (SecurityException refused) {
            throw new CallFailure(FailureTokens.DENIED, NOT_ALLOWED);
        }
        return caller.signal::cancel;
    }

    /** Goes on with a call when its function is enabled. */
    private static final class Enabled implements OutcomeReceiver<Boolean, Exception> {
        private final AppFunctionCaller caller;
        private final AppFunctionManager manager;
        private final Executor executor;
        private final ExecuteAppFunctionRequest request;

        Enabled(
                AppFunctionCaller caller,
                AppFunctionManager manager,
                Executor executor,
                ExecuteAppFunctionRequest request) {
            this.caller = caller;
            this.manager = manager;
            this.executor = executor;
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
            CallFailure obstacle = caller.outcome.obstacle();
            if (obstacle != null) {
                caller.outcome.failed(obstacle);
                return;
            }
            try {
                manager.executeAppFunction(request, executor, caller.signal, caller);
            } catch (SecurityException refused) {
                caller.fail(FailureTokens.DENIED, NOT_ALLOWED);
            } catch (RuntimeException failed) {
                caller.fail(FailureTokens.BACKEND_FAILURE, Failures.textOf(failed));
            }
        }

        @Override
        public void onError(Exception error) {
            boolean missing = error instanceof IllegalArgumentException;
            boolean unknown = missing && caller.permitted;
            boolean refused = missing && !caller.permitted || error instanceof SecurityException;
            caller.fail(
                    unknown
                            ? FailureTokens.UNKNOWN_CAPABILITY
                            : refused ? FailureTokens.DENIED : FailureTokens.BACKEND_FAILURE,
                    refused ? NOT_ALLOWED : Failures.textOf(error));
        }
    }

    private void fail(String token, String text) {
        outcome.failed(new CallFailure(token, text));
    }

    @Override
    public void onResult(ExecuteAppFunctionResponse response) {
        try {
            outcome.answered(new FunctionAnswer(Documents.read(response.getResultDocument())));
        } catch (CallFailure malformed) {
            outcome.failed(malformed);
        } catch (RuntimeException unreadable) {
            fail(FailureTokens.MALFORMED_RESPONSE, Failures.textOf(unreadable));
        }
    }

    @Override
    public void onError(AppFunctionException error) {
        if (!permitted && error.getErrorCode() == AppFunctionException.ERROR_DENIED) {
            fail(FailureTokens.DENIED, NOT_ALLOWED);
            return;
        }
        outcome.answered(new FunctionAnswer(error.getErrorCode(), error.getErrorMessage()));
    }
}
