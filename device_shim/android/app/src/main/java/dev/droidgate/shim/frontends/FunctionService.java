package dev.droidgate.shim.frontends;

import android.app.appfunctions.AppFunctionException;
import android.app.appfunctions.AppFunctionService;
import android.app.appfunctions.ExecuteAppFunctionRequest;
import android.app.appfunctions.ExecuteAppFunctionResponse;
import android.content.pm.PackageManager;
import android.content.pm.SigningInfo;
import android.os.CancellationSignal;
import android.os.OutcomeReceiver;
import dev.droidgate.shim.Caller;
import dev.droidgate.shim.Reply;
import dev.droidgate.shim.Shim;
import dev.droidgate.shim.core.CallFailure;
import dev.droidgate.shim.core.FailureTokens;
import dev.droidgate.shim.core.Frontend;
import dev.droidgate.shim.core.Json;
import dev.droidgate.shim.core.Route;
import dev.droidgate.shim.platform.Documents;
import dev.droidgate.shim.platform.Failures;
import dev.droidgate.shim.platform.SigningCertificates;
import java.util.Collections;
import java.util.Map;
import java.util.Set;
import java.util.UUID;

/** The capabilities as app functions (shim.md 6); loaded from Android 16 on (API 36) only. */
public final class FunctionService extends AppFunctionService {
    /** The answer to one execution. */
    private static final class FunctionReply extends Reply {
        private final Shim shim;
        private final Route route;
        private final OutcomeReceiver<ExecuteAppFunctionResponse, AppFunctionException> callback;
        private volatile String refusal;

        FunctionReply(
                Shim shim,
                Caller caller,
                Route route,
                OutcomeReceiver<ExecuteAppFunctionResponse, AppFunctionException> callback) {
            super(caller, true);
            this.shim = shim;
            this.route = route;
            this.callback = callback;
        }

        @Override
        public void refuse(CallFailure failure) {
            refusal = failure.getMessage();
            super.refuse(new CallFailure(FailureTokens.INVALID_ARGUMENT, refusal));
        }

        @Override
        public void send(Map<String, String> extras, String token) {
            if (extras == null) {
                fail(callback, token, refusal);
                return;
            }
            try {
                Map<String, Object> document =
                        Frontend.document(Frontend.outputs(extras), route, shim.routes);
                callback.onResult(new ExecuteAppFunctionResponse(Documents.write(document)));
            } catch (CallFailure failure) {
                fail(callback, failure.token, failure.getMessage());
            } catch (RuntimeException tooMuch) {
                fail(callback, FailureTokens.MALFORMED_RESPONSE, Failures.textOf(tooMuch));
            }
        }
    }

    /**
     * Reads what a function is called with; a class of its own, since no lambda says from which release on it
     * is there.
     */
    private static final class FunctionArguments implements Shim.Writing {
        private final Shim shim;
        private final Route route;
        private final ExecuteAppFunctionRequest request;

        FunctionArguments(Shim shim, Route route, ExecuteAppFunctionRequest request) {
            this.shim = shim;
            this.route = route;
            this.request = request;
        }

        @Override
        public Map<String, Object> extras() throws CallFailure {
            Map<String, Object> document = Documents.read(request.getParameters());
            return Frontend.request(
                    route.id, UUID.randomUUID().toString(), Frontend.arguments(document, route, shim.routes));
        }
    }

    private static void fail(
            OutcomeReceiver<ExecuteAppFunctionResponse, AppFunctionException> callback,
            String token,
            String text) {
        String message = FailureTokens.message(token, text);
        callback.onError(new AppFunctionException(FailureTokens.codeOf(token), message));
    }

    @Override
    public void onExecuteFunction(
            ExecuteAppFunctionRequest request,
            String callingPackage,
            SigningInfo callingPackageSigningInfo,
            CancellationSignal signal,
            OutcomeReceiver<ExecuteAppFunctionResponse, AppFunctionException> callback) {
        Shim shim = Shim.of(this);
        Route route = routeOf(shim, request.getFunctionIdentifier());
        if (route == null) {
            fail(callback, FailureTokens.UNKNOWN_CAPABILITY, null);
            return;
        }
        Caller caller = callerOf(shim, callingPackage, callingPackageSigningInfo);
        FunctionReply outcome = new FunctionReply(shim, caller, route, callback);
        signal.setOnCancelListener(() -> shim.cancel(outcome));
        shim.receive(outcome, new FunctionArguments(shim, route, request));
    }

    /**
     * The system binds this service, not the agent: so Android may keep the agent out of this app's sight.
     */
    private Caller callerOf(Shim shim, String name, SigningInfo signing) {
        try {
            Caller seen = shim.grants.caller(getPackageManager().getPackageUid(name, 0));
            if (seen.packages.contains(name)) {
                return seen;
            }
        } catch (PackageManager.NameNotFoundException unseen) {
            // Then the system's word is all there is.
        }
        return Caller.unseen(name, digests(signing));
    }

    private static Set<String> digests(SigningInfo signing) {
        try {
            return SigningCertificates.digests(signing);
        } catch (RuntimeException unreadable) {
            return Collections.emptySet();
        }
    }

    private static Route routeOf(Shim shim, String function) {
        Map<String, Object> functions = Json.object(shim.app.get("functions"));
        Object id = functions == null ? null : functions.get(function);
        return id instanceof String ? shim.routes.find((String) id) : null;
    }
}
