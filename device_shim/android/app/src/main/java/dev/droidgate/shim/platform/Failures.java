package dev.droidgate.shim.platform;

/** Words for what went wrong at an edge. */
public final class Failures {
    private Failures() {}

    /** Returns what an exception says, its class where it says nothing. */
    public static String textOf(Throwable problem) {
        String message = problem.getMessage();
        String kind = problem.getClass().getSimpleName();
        return message == null || message.isEmpty() ? kind : kind + ": " + message;
    }
}
