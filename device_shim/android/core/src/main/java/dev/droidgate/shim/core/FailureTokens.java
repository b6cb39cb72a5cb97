package dev.droidgate.shim.core;

import java.util.Arrays;

/**
 * The failure tokens and the AppFunctions error codes that mean them
 * (mappings/droidgate_mappings/tables/failure_tokens.toml).
 */
public final class FailureTokens {
    public static final String UNSUPPORTED_VERSION = "unsupported_version";
    public static final String UNKNOWN_CAPABILITY = "unknown_capability";
    public static final String INVALID_ARGUMENT = "invalid_argument";
    public static final String DENIED = "denied";
    public static final String NEEDS_APPROVAL = "needs_approval";
    public static final String NEEDS_USER = "needs_user";
    public static final String DISABLED = "disabled";
    public static final String UNAVAILABLE = "unavailable";
    public static final String TIMEOUT = "timeout";
    public static final String BUSY = "busy";
    public static final String CANCELED = "canceled";
    public static final String INTERRUPTED = "interrupted";
    public static final String BACKEND_FAILURE = "backend_failure";
    public static final String MALFORMED_RESPONSE = "malformed_response";

    private static final String[] TOKENS = {
        UNSUPPORTED_VERSION, UNKNOWN_CAPABILITY, INVALID_ARGUMENT, DENIED, NEEDS_APPROVAL,
        NEEDS_USER, DISABLED, UNAVAILABLE, TIMEOUT, BUSY, CANCELED, INTERRUPTED, BACKEND_FAILURE,
        MALFORMED_RESPONSE
    };

    /** The code that carries each token. */
    private static final int[] CODES = {
        1001, 1003, 1001, 1000, 1000, 3500, 1002, 2000, 2001, 2000, 2001, 2000, 3000, 3000
    };

    /** What each token means, for a failure without a text. */
    private static final String[] MEANINGS = {
        "The request is of a protocol version that the callee does not speak",
        "The callee has no capability of that id",
        "The arguments do not fit the capability, or name something that is not there, "
                + "is there already, or is over a limit",
        "The caller may not call this",
        "The user has not approved this capability, or not in its present form",
        "Somebody has to do something on the device first: unlock it, open the app, "
                + "grant it a permission",
        "The capability or its component is switched off",
        "The target is gone, has changed, or cannot be reached",
        "No answer came in time; the call may have run",
        "The callee has too many calls open, or one with this id",
        "The user or the caller ended the call",
        "The callee died during the call",
        "The app or the system behind the capability failed",
        "The callee answered with something that is not a response, or that does not fit "
                + "what it declares"
    };

    private static final int MAX_TEXT_UNITS = 2_000;

    private FailureTokens() {}

    /** Returns the tokens in the order of the table. */
    static String[] all() {
        return TOKENS.clone();
    }

    /** Returns the AppFunctions error code that carries a token. */
    public static int codeOf(String token) {
        for (int index = 0; index < TOKENS.length; index++) {
            if (TOKENS[index].equals(token)) {
                return CODES[index];
            }
        }
        throw new IllegalArgumentException(token);
    }

    /** Returns what a token means. */
    static String meaningOf(String token) {
        return MEANINGS[Arrays.asList(TOKENS).indexOf(token)];
    }

    /**
     * Returns a failure's message: the token, and a text, which is the token's meaning where there is none.
     */
    public static String message(String token, String text) {
        boolean isEmpty = text == null || text.isEmpty();
        return token + ": " + shortened(isEmpty ? meaningOf(token) : text);
    }

    private static String shortened(String text) {
        if (text.length() <= MAX_TEXT_UNITS) {
            return text;
        }
        int end = MAX_TEXT_UNITS / 2;
        if (Character.isHighSurrogate(text.charAt(end - 1))) {
            end--;
        }
        return text.substring(0, end) + "...";
    }

    /**
     * Returns the token of an AppFunctions error code: its own, its category's, or that of any
     * failure.
     */
    public static String ofCode(long code) {
        if (code == 1003) {
            return UNKNOWN_CAPABILITY;
        }
        if (code == 1000 || code == 2002) {
            return DENIED;
        }
        if (code == 1002) {
            return DISABLED;
        }
        if (code == 2001) {
            return CANCELED;
        }
        if (code == 3500) {
            return NEEDS_USER;
        }
        return code >= 1000 && code <= 1999 ? INVALID_ARGUMENT : BACKEND_FAILURE;
    }

    /** Returns the index of the first character that is not blank, from an index on. */
    static int skipBlanks(String text, int from) {
        int at = from;
        while (at < text.length() && isBlank(text.charAt(at))) {
            at++;
        }
        return at;
    }

    /**
     * Returns whether a character is white space in Unicode, as Python's {@code str.strip} has it.
     */
    static boolean isBlank(char character) {
        return Character.isWhitespace(character) || Character.isSpaceChar(character) || character == '\u0085';
    }

    /** Returns a text without the blanks around it. */
    public static String stripped(String text) {
        int begin = skipBlanks(text, 0);
        int end = text.length();
        while (end > begin && isBlank(text.charAt(end - 1))) {
            end--;
        }
        return text.substring(begin, end);
    }
}
