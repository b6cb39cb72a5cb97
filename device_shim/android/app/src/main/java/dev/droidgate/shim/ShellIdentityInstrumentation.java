package dev.droidgate.shim;

import android.app.Instrumentation;
import android.app.UiAutomation;
import android.os.Build;
import android.os.Bundle;
import android.os.SystemClock;

/**
 * Lends the app the shell's right to call app functions, for as long as adb runs this instrumentation
 * (AppFunctions reference 7.3).
 */
public final class ShellIdentityInstrumentation extends Instrumentation {
    private static final long FOR_EVER = 3_600_000;

    @Override
    public void onCreate(Bundle arguments) {
        super.onCreate(arguments);
        start();
    }

    @Override
    public void onStart() {
        UiAutomation shell = getUiAutomation();
        Bundle status = new Bundle();
        boolean lent = shell != null && Build.VERSION.SDK_INT >= 29;
        if (lent) {
            shell.adoptShellPermissionIdentity(Names.EXECUTE_APP_FUNCTIONS);
        }
        status.putString("lent", String.valueOf(lent));
        sendStatus(0, status);
        // The identity ends with the instrumentation.
        while (lent) {
            SystemClock.sleep(FOR_EVER);
        }
        finish(1, status);
    }
}
