package dev.droidgate.shim.backends;

import android.os.Build;
import dev.droidgate.shim.AppProcess;
import dev.droidgate.shim.CallControl;
import dev.droidgate.shim.Reply;
import dev.droidgate.shim.core.BackendAnswer.FunctionAnswer;
import dev.droidgate.shim.core.CallFailure;
import dev.droidgate.shim.core.CallPermission;
import dev.droidgate.shim.core.FailureTokens;
import dev.droidgate.shim.core.Outgoing.AppFunctionCall;
import dev.droidgate.shim.platform.Certificates;
import dev.droidgate.shim.platform.Names;
import dev.droidgate.shim.platform.Packages;

/**
 * Calls of app functions: by this app where it holds the permission, else by the app that borrows it (shim.md
 * 4).
 */
public final class AppFunctions {
    private static final int FIRST_WITH_FUNCTIONS = 36;

    private final AppProcess process;
    private final CallControl control;
    private final Certificates certificates;
    private final ShellIdentity shellIdentity;

    public AppFunctions(
            AppProcess process, CallControl control, Certificates certificates, ShellIdentity shellIdentity) {
        this.process = process;
        this.control = control;
        this.certificates = certificates;
        this.shellIdentity = shellIdentity;
    }

    /**
     * Takes a call.
     *
     * @throws CallFailure it cannot be made
     */
    void call(long call, Reply reply, CallPermission permission, AppFunctionCall outgoing)
            throws CallFailure {
        if (Build.VERSION.SDK_INT < FIRST_WITH_FUNCTIONS) {
            throw new CallFailure(FailureTokens.UNAVAILABLE, "app functions need Android 16");
        }
        FunctionOutcome outcome = new EngineAnswer(call, reply, permission);
        String packageName = permission.route.target.packageName;
        boolean isHolder = ShellIdentity.isHolder(process.context);
        Runnable cancel;
        if (isHolder && ShellIdentity.isLent()) {
            cancel = shellIdentity.execute(packageName, outgoing.function, outgoing.document, outcome);
        } else if (!isHolder
                && !Packages.mayCallFunctions(process.context)
                && certificates.isOwn(process.context, Names.SHELL_IDENTITY_PACKAGE)) {
            cancel = new ShellIdentityCall(process, outcome)
                    .begin(packageName, outgoing.function, outgoing.document);
        } else {
            cancel =
                    AppFunctionCaller.execute(
                            process.context, process.calls, packageName, outgoing.function, outgoing.document,
                            outcome);
        }
        reply.whenAnswered(cancel);
    }

    /** Hands the outcome to the engine. */
    private final class EngineAnswer implements FunctionOutcome {
        private final long call;
        private final Reply reply;
        private final CallPermission permission;

        EngineAnswer(long call, Reply reply, CallPermission permission) {
            this.call = call;
            this.reply = reply;
            this.permission = permission;
        }

        @Override
        public CallFailure obstacle() {
            return control.obstacle(reply, permission);
        }

        @Override
        public void answered(FunctionAnswer answer) {
            control.answered(call, answer, null);
        }

        @Override
        public void failed(CallFailure failure) {
            control.fail(call, failure);
        }
    }
}
