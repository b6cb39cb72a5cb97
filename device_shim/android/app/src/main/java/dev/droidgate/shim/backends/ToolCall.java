package dev.droidgate.shim.backends;

import android.content.Intent;
import dev.droidgate.shim.CallControl;
import dev.droidgate.shim.Reply;
import dev.droidgate.shim.core.BackendAnswer;
import dev.droidgate.shim.core.CallFailure;
import dev.droidgate.shim.core.CallPermission;
import dev.droidgate.shim.core.FailureTokens;

/** A call of a Mobile-MCP tool that is open. */
final class ToolCall {
    final long number;
    final Reply reply;
    final Intent intent;
    private final CallControl control;
    private final CallPermission permission;

    ToolCall(CallControl control, long number, Reply reply, CallPermission permission, Intent intent) {
        this.control = control;
        this.number = number;
        this.reply = reply;
        this.permission = permission;
        this.intent = intent;
    }

    /** Returns whether a call that has waited for its tool may still go out; one that may not ends. */
    boolean mayLeave() {
        CallFailure obstacle = control.obstacle(reply, permission);
        if (obstacle != null) {
            control.fail(number, obstacle);
        }
        return obstacle == null;
    }

    /** Takes the tool's answer, and runs something, if it is not null, when the engine has it. */
    void answered(BackendAnswer answer, Runnable taken) {
        control.answered(number, answer, taken);
    }

    void fail(String token, String text) {
        control.fail(number, new CallFailure(token, text));
    }

    void died() {
        fail(FailureTokens.INTERRUPTED, "the tool died during the call");
    }
}
