package dev.droidgate.shim.backends;

import dev.droidgate.shim.core.CallFailure;
import java.util.Map;

/** Takes what becomes of an app function, once. */
public interface FunctionOutcome {
    /** Returns why the function is not called any more, just before it is; null where it is. */
    CallFailure obstacle();

    /** Takes its response document, as the engine has documents. */
    void answered(Map<String, Object> document);

    /** Takes the code and message of an AppFunctionException. */
    void refused(long code, String message);

    /** Takes a failure on this side of Android. */
    void failed(CallFailure failure);
}
