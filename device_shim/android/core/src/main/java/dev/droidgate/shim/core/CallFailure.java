package dev.droidgate.shim.core;

/** A call that failed: the token, and what happened in words. */
public final class CallFailure extends Exception {
    private static final long serialVersionUID = 1L;

    /** One of {@link FailureTokens}. */
    public final String token;

    /** Makes a failure; the text may be empty. */
    public CallFailure(String token, String text) {
        super(text, null, false, false);
        this.token = token;
    }

    /** Returns the message that has the token at its head and always a text, never a long one. */
    String written() {
        return FailureTokens.message(token, getMessage());
    }
}
