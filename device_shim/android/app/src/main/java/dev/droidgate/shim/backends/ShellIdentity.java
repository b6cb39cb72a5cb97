package dev.droidgate.shim.backends;

import android.app.Instrumentation;
import android.app.UiAutomation;
import android.content.Context;
import android.os.Build;
import android.os.Bundle;
import android.util.Log;
import dev.droidgate.shim.AppProcess;
import dev.droidgate.shim.core.BackendAnswer.FunctionAnswer;
import dev.droidgate.shim.core.CallFailure;
import dev.droidgate.shim.core.FailureTokens;
import dev.droidgate.shim.platform.Failures;
import dev.droidgate.shim.platform.Names;
import dev.droidgate.shim.platform.Packages;
import java.util.Map;

/**
 * The shell's right to call app functions, which this app borrows for all shims while calls are open (shim.md
 * 4). Android lets one app at a time act with the shell's permissions, so it is given back soon.
 */
public final class ShellIdentity {
    /** Neither ends other accessibility services nor keeps others from using one (UiAutomationManager). */
    private static final int FLAGS =
            UiAutomation.FLAG_DONT_SUPPRESS_ACCESSIBILITY_SERVICES | UiAutomation.FLAG_DONT_USE_ACCESSIBILITY;

    private static final long KEPT_MS = 5_000;
    private static final CallFailure NOT_RUNNING =
            new CallFailure(
                    FailureTokens.DENIED,
                    "nothing lends this app the right to call app functions; "
                            + "run droidgate shim install from a computer");
    private static final CallFailure TAKEN =
            new CallFailure(
                    FailureTokens.BUSY,
                    "another test program uses the shell's permissions; retry when it has ended");

    private static volatile Instrumentation instrumentation;

    private final AppProcess process;
    private final Runnable giveBack;
    private UiAutomation shell;
    private int open;

    public ShellIdentity(AppProcess process) {
        this.process = process;
        giveBack = () -> process.calls.execute(this::giveBack);
    }

    /** Takes the instrumentation that adb runs in this process. */
    static void lend(Instrumentation running) {
        instrumentation = running;
    }

    /** Returns whether an app is the one that borrows it. */
    public static boolean isHolder(Context context) {
        return Names.SHELL_IDENTITY_PACKAGE.equals(context.getPackageName());
    }

    /** Returns whether it can be borrowed, as far as that shows. */
    public static boolean isLent() {
        return instrumentation != null && Build.VERSION.SDK_INT >= 31;
    }

    /**
     * Executes an app function with it. For one thread.
     *
     * @return what cancels the call
     * @throws CallFailure it cannot be borrowed, or the call cannot be made; there is no outcome then
     */
    Runnable execute(
            String packageName, String function, Map<String, Object> document, FunctionOutcome outcome)
            throws CallFailure {
        if (Build.VERSION.SDK_INT < 36) {
            throw new CallFailure(FailureTokens.UNAVAILABLE, "app functions need Android 16");
        }
        borrow();
        Ending ending = new Ending(outcome);
        try {
            Runnable cancel =
                    AppFunctionCaller.execute(
                            process.context, process.calls, packageName, function, document, ending);
            return () -> {
                cancel.run();
                ending.end();
            };
        } catch (CallFailure | RuntimeException failed) {
            ending.end();
            throw failed;
        }
    }

    private synchronized void borrow() throws CallFailure {
        if (!Packages.mayCallFunctions(process.context)) {
            adopt();
        }
        process.main.removeCallbacks(giveBack);
        open++;
    }

    private void adopt() throws CallFailure {
        Instrumentation running = instrumentation;
        if (running == null) {
            throw NOT_RUNNING;
        }
        try {
            UiAutomation automation = running.getUiAutomation(FLAGS);
            if (automation == null) {
                throw NOT_RUNNING;
            }
            automation.adoptShellPermissionIdentity(Names.EXECUTE_APP_FUNCTIONS);
            shell = automation;
        } catch (IllegalStateException | SecurityException taken) {
            throw TAKEN;
        } catch (RuntimeException ended) {
            instrumentation = null;
            throw new CallFailure(
                    FailureTokens.UNAVAILABLE,
                    "the command on the computer that lends the right has ended; run droidgate shim install: "
                            + Failures.textOf(ended));
        }
        if (!Packages.mayCallFunctions(process.context)) {
            giveBack();
            throw NOT_RUNNING;
        }
    }

    private synchronized void end() {
        open--;
        if (open == 0) {
            process.main.postDelayed(giveBack, KEPT_MS);
        }
    }

    synchronized void giveBack() {
        if (open == 0 && shell != null) {
            Instrumentation running = instrumentation;
            try {
                shell.dropShellPermissionIdentity();
            } catch (RuntimeException ended) {
                Log.w("droidgate", "adb's command has ended; so does the instrumentation", ended);
                instrumentation = null;
                if (running != null) {
                    // Only so Android takes back what nobody can give back any more.
                    running.finish(0, new Bundle());
                }
            }
            shell = null;
        }
    }

    /** Lets go when a call has ended, once. */
    private final class Ending implements FunctionOutcome {
        private final FunctionOutcome outcome;
        private boolean ended;

        Ending(FunctionOutcome outcome) {
            this.outcome = outcome;
        }

        void end() {
            synchronized (this) {
                if (ended) {
                    return;
                }
                ended = true;
            }
            ShellIdentity.this.end();
        }

        @Override
        public CallFailure obstacle() {
            return outcome.obstacle();
        }

        @Override
        public void answered(FunctionAnswer answer) {
            end();
            outcome.answered(answer);
        }

        @Override
        public void failed(CallFailure failure) {
            end();
            outcome.failed(failure);
        }
    }
}
