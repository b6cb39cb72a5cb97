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

    /** Returns the failure that a message names: the token at its head, else another. */
    static CallFailure read(String message, String otherwise) {
        int begin = FailureTokens.skipBlanks(message, 0);
        int end = begin;
        while (end < message.length() && isTokenLetter(message.charAt(end), end > begin)) {
            end++;
        }
        int behind = FailureTokens.skipBlanks(message, end);
        boolean ends = behind == message.length();
        if (end > begin && (ends || message.charAt(behind) == ':')) {
            String word = message.substring(begin, end);
            for (String token : FailureTokens.all()) {
                if (token.equals(word)) {
                    int text = ends ? behind : FailureTokens.skipBlanks(message, behind + 1);
                    return new CallFailure(token, message.substring(text));
                }
            }
        }
        return new CallFailure(otherwise, message);
    }

    private static boolean isTokenLetter(char character, boolean later) {
        return character >= 'a' && character <= 'z' || later && character == '_';
    }
}
