package dev.droidgate.shim.backends;

import android.app.Instrumentation;
import android.os.Bundle;

/**
 * Lets this app borrow the shell's right to call app functions, for as long as adb runs this instrumentation
 * (AppFunctions reference 7.3): it never finishes itself. It takes nothing; {@link ShellIdentity} does, while
 * calls are open.
 */
public final class ShellIdentityInstrumentation extends Instrumentation {
    @Override
    public void onCreate(Bundle arguments) {
        super.onCreate(arguments);
        ShellIdentity.lend(this);
    }
}
