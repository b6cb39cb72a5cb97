package dev.droidgate.shim.backends;

import dev.droidgate.shim.core.BackendAnswer.FunctionAnswer;
import dev.droidgate.shim.core.CallFailure;

/** Takes what becomes of an app function, once. */
public interface FunctionOutcome {
    /** Returns why the function is not called any more, just before it is; null where it is. */
    CallFailure obstacle();

    /** Takes its document, or the code and message of an AppFunctionException. */
    void answered(FunctionAnswer answer);

    /** Takes a failure on this side of Android. */
    void failed(CallFailure failure);
}
