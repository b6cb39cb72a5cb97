package dev.droidgate.shim.host;

/** What the host gets instead of an answer. */
public final class HostFailure extends Exception {
    private static final long serialVersionUID = 1L;

    final String token;

    HostFailure(String token, String message) {
        super(message, null, false, false);
        this.token = token;
    }
}
