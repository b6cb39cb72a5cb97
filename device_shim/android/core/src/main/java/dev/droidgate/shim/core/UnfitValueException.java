package dev.droidgate.shim.core;

/** A value that does not fit its declaration. */
final class UnfitValueException extends Exception {
    private static final long serialVersionUID = 1L;

    /** JSON Pointer of the value. */
    final String pointer;

    UnfitValueException(String pointer, String reason) {
        super(reason, null, false, false);
        this.pointer = pointer;
    }

    /** Returns the pointer and the reason. */
    String describe() {
        return pointer.isEmpty() ? getMessage() : pointer + ": " + getMessage();
    }
}
