package dev.droidgate.shim.core;

/** The edge that reaches other apps. */
public interface AppCaller {
    /** Returns what is installed of a route's package, null where nothing is. */
    Target installed(Route route);

    /** Returns a new id for a request that goes out. */
    String newRequestId();

    /**
     * Sends a call; its answer goes to {@link Engine#answered}.
     *
     * @param call the call's number, unlike that of every other one of this engine
     * @param replyTo what came with the request
     * @param permission its route, and what to check where time passes before it leaves this app
     * @throws CallFailure it cannot be sent, such as {@code needs_user}
     */
    void call(long call, Object replyTo, CallPermission permission, Outgoing outgoing) throws CallFailure;
}
