package dev.droidgate.shim.core;

import java.util.Map;

/** The edge that answers agents. */
public interface Answers {
    /**
     * Sends the one answer of a request.
     *
     * @param replyTo what came with the request
     * @param extras the answer's string extras; null where the request's form is not known, so nobody can be
     *     answered
     * @param token the failure's token, null on success
     */
    void answer(Object replyTo, Map<String, String> extras, String token);
}
