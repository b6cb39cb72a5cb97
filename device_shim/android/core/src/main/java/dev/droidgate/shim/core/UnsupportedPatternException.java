package dev.droidgate.shim.core;

/** A pattern outside the subset, or a text too long for it. */
final class UnsupportedPatternException extends Exception {
    private static final long serialVersionUID = 1L;

    UnsupportedPatternException(String message) {
        super(message, null, false, false);
    }
}
