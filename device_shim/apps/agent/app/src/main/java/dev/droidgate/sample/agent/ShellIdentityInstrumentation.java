package dev.droidgate.sample.agent;

import android.app.Instrumentation;
import android.app.UiAutomation;
import android.os.Bundle;

/**
 * Lets this app borrow the shell's right to call app functions, for as long as adb runs this
 * instrumentation: it never finishes itself.
 */
public final class ShellIdentityInstrumentation extends Instrumentation {
    private static final int FLAGS =
            UiAutomation.FLAG_DONT_SUPPRESS_ACCESSIBILITY_SERVICES | UiAutomation.FLAG_DONT_USE_ACCESSIBILITY;

    private static Instrumentation running;
    private static UiAutomation shell;

    @Override
    public void onCreate(Bundle arguments) {
        super.onCreate(arguments);
        lend(this);
    }

    private static synchronized void lend(Instrumentation started) {
        running = started;
    }

    static synchronized boolean isLent() {
        return running != null;
    }

    /** Borrows the right, where adb lends it; Android lets one app at a time. */
    static synchronized void borrow() {
        if (running != null && shell == null) {
            UiAutomation automation = running.getUiAutomation(FLAGS);
            automation.adoptShellPermissionIdentity("android.permission.EXECUTE_APP_FUNCTIONS");
            shell = automation;
        }
    }

    static synchronized void giveBack() {
        if (shell != null) {
            shell.dropShellPermissionIdentity();
            shell = null;
        }
    }
}
