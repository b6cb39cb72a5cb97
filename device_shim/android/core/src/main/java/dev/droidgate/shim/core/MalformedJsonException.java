package dev.droidgate.shim.core;

/** A text that is no JSON within the limits, or JSON that is not what it should be. */
public final class MalformedJsonException extends Exception {
    private static final long serialVersionUID = 1L;

    MalformedJsonException(String message) {
        super(message, null, false, false);
    }
}
