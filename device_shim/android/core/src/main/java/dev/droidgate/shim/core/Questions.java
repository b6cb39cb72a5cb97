package dev.droidgate.shim.core;

import java.util.Map;

/** The edge that asks the user about calls that nobody has granted. */
public interface Questions {
    /** Returns whether the user may be asked at all. */
    boolean isAsking();

    /**
     * Asks the user about a call; the decision goes to {@link Engine#decided}.
     *
     * @param call the call's number
     * @param replyTo what came with the request
     * @param route the capability that it asks for
     * @param arguments its arguments as it has them, which fit the capability
     * @param deadline until when the user may decide, in milliseconds of the engine's clock
     * @return the failure of a call about which the user is not asked, else null
     */
    CallFailure ask(
            long call, Object replyTo, Route route, Map<String, Object> arguments, long deadline);
}
