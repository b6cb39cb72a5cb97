package dev.droidgate.shim.core;

/** The edge that asks the user about calls that nobody has granted. */
public interface Questions {
    /** Returns whether the user may be asked at all. */
    boolean isAsking();

    /**
     * Asks the user about a call; the decision goes to {@link Engine#decided}.
     *
     * @param call the call's number
     * @param replyTo what came with the request
     * @param preview what the user decides about
     * @return the failure of a call about which the user is not asked, else null
     */
    CallFailure ask(long call, Object replyTo, Preview preview);
}
