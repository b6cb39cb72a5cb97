package dev.droidgate.shim;

import dev.droidgate.shim.core.BackendAnswer;
import dev.droidgate.shim.core.CallFailure;
import dev.droidgate.shim.core.CallPermission;
import dev.droidgate.shim.core.Outgoing;
import dev.droidgate.shim.core.Route;

/** What those who carry calls to apps, and those who ask the user, report to the engine. */
public interface CallControl {
    /**
     * Checks a call for the last time: to be asked just before it leaves this app, on any thread.
     *
     * @return why it does not leave, null where it does
     */
    CallFailure obstacle(Reply reply, CallPermission permission);

    /** Takes note of what goes to an app, before it goes; on the engine's thread. */
    void sent(long call, Reply reply, Route route, Outgoing outgoing);

    /** Takes a backend's answer, and runs something, if it is not null, when the engine has it. */
    void answered(long call, BackendAnswer answer, Runnable taken);

    /** Ends a call that cannot be brought to its app, or whose app answers no more. */
    void fail(long call, CallFailure failure);

    /** Takes the user's decision about a call, as {@link Engine#decided} does. */
    void decided(long call, Reply reply, CallFailure refusal);
}
