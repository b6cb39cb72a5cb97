package dev.droidgate.shim.core;

/** A text that is not JSON within the limits, or JSON that is not what it should be. */
public final class MalformedJsonException extends Exception {
    private static final long serialVersionUID = 1L;
    private static final int NOWHERE = -1;

    private final int character;
    private String pointer = "";

    MalformedJsonException(String message) {
        this(message, NOWHERE);
    }

    /**
     * Makes a mistake in a text.
     *
     * @param character the index at which it is
     */
    MalformedJsonException(String message, int character) {
        super(message, null, false, false);
        this.character = character;
    }

    /** Adds what the mistake is under: a JSON Pointer, null for nothing. */
    MalformedJsonException within(String outer) {
        pointer = outer == null ? pointer : outer + pointer;
        return this;
    }

    /** Returns what is wrong, with its JSON Pointer and its character where these are known. */
    @Override
    public String getMessage() {
        if (character == NOWHERE) {
            return super.getMessage();
        }
        String where = pointer.isEmpty() ? "the top level" : pointer;
        return super.getMessage() + " at " + where + " (character " + character + ")";
    }
}
