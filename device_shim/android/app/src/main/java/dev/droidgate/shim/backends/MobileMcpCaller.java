package dev.droidgate.shim.backends;

import android.content.Intent;
import android.os.Build;
import dev.droidgate.shim.Reply;
import dev.droidgate.shim.Shim;
import dev.droidgate.shim.core.BackendAnswer;
import dev.droidgate.shim.core.CallFailure;
import dev.droidgate.shim.core.FailureTokens;
import dev.droidgate.shim.core.Permission;
import dev.droidgate.shim.platform.Hex;
import dev.droidgate.shim.platform.Names;
import java.util.HashMap;
import java.util.Map;

/**
 * Calls of other Mobile-MCP tools: bound where they let themselves be bound, else started (docs/shim.md 4).
 *
 * <p>A tool may keep what belongs to one agent with its binding, so each agent has a binding of its own, and each
 * call of somebody who has no name. A tool may distinguish its users by binder and sendingUid: the uid is always
 * the shim's and the binder is what differs: Android asks for one for each intent that differs from the others, by
 * its identifier from Android 10 on. Whoever binds with an equal intent gets the same binder, so nobody may guess an
 * identifier.
 */
public final class MobileMcpCaller {
    private final Shim shim;
    private final StartedTools started;
    private final String secret = Hex.randomId();
    private final Map<String, ToolBinding> bindings = new HashMap<>();

    MobileMcpCaller(Shim shim) {
        this.shim = shim;
        started = new StartedTools(shim);
    }

    /** A call that is open. */
    static final class ToolCall {
        final long number;
        final Reply reply;
        final Permission permission;
        final Intent intent;

        ToolCall(long number, Reply reply, Permission permission, Intent intent) {
            this.number = number;
            this.reply = reply;
            this.permission = permission;
            this.intent = intent;
        }
    }

    void call(long number, Reply reply, Permission permission, Intent intent) {
        String who = reply.sender().key();
        boolean isNamed = !who.isEmpty();
        String key = (isNamed ? who : "call " + number) + " " + permission.route.component;
        ToolCall call = new ToolCall(number, reply, permission, intent);
        ToolBinding binding;
        boolean isNew = false;
        synchronized (bindings) {
            binding = bindings.get(key);
            if (binding == null || !binding.take(call)) {
                binding = new ToolBinding(shim, this, key, isNamed);
                binding.take(call);
                bindings.put(key, binding);
                isNew = true;
            }
        }
        if (isNew) {
            Intent tool = new Intent(Names.SERVICE).setComponent(intent.getComponent());
            if (Build.VERSION.SDK_INT >= Build.VERSION_CODES.Q) {
                tool.setIdentifier(Hex.digest(secret + " " + key));
            }
            binding.bind(tool);
        }
        ToolBinding taker = binding;
        reply.whenAnswered(() -> taker.ended(call));
    }

    /** Forgets a binding that takes no calls any more. */
    void forget(String key, ToolBinding binding) {
        synchronized (bindings) {
            bindings.remove(key, binding);
        }
    }

    /** Calls a tool that cannot be bound. */
    void start(ToolCall call) {
        if (mayLeave(call)) {
            started.start(call);
        }
    }

    /** Returns whether a call that has waited for its tool may still go out; one that may not ends. */
    boolean mayLeave(ToolCall call) {
        CallFailure obstacle = shim.obstacle(call.reply, call.permission);
        if (obstacle != null) {
            shim.answered(call.number, BackendAnswer.ofFailure(obstacle));
        }
        return obstacle == null;
    }

    void fail(ToolCall call, String token, String text) {
        shim.answered(call.number, BackendAnswer.ofFailure(new CallFailure(token, text)));
    }

    void died(ToolCall call) {
        fail(call, FailureTokens.INTERRUPTED, "the tool died during the call");
    }
}
