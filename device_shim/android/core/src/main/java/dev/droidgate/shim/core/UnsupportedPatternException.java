package dev.droidgate.shim.core;

/** A pattern outside the subset, or a text too long for it: it lets everything pass, so nobody asks why. */
final class UnsupportedPatternException extends Exception {
    private static final long serialVersionUID = 1L;

    UnsupportedPatternException() {
        super(null, null, false, false);
    }
}
