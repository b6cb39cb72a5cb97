package dev.droidgate.runtime;

import org.junit.runner.JUnitCore;
import org.junit.runner.Result;
import org.junit.runner.notification.Failure;

/** Runs shims for a virtual phone, which speaks through standard input and output, until the input ends. */
public final class Main {
    private Main() {}

    public static void main(String[] arguments) {
        // Only the wire writes to standard output.
        System.setOut(System.err);
        Result result = JUnitCore.runClasses(Server.class);
        for (Failure failure : result.getFailures()) {
            System.err.println(failure.getTrace());
        }
        System.exit(result.wasSuccessful() ? 0 : 1);
    }
}
