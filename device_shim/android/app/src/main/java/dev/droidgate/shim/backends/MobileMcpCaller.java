package dev.droidgate.shim.backends;

import android.content.Intent;
import android.os.Build;
import dev.droidgate.shim.AppProcess;
import dev.droidgate.shim.CallControl;
import dev.droidgate.shim.Reply;
import dev.droidgate.shim.core.CallPermission;
import dev.droidgate.shim.platform.Digests;
import dev.droidgate.shim.platform.Names;
import java.util.HashMap;
import java.util.Map;
import java.util.UUID;

/**
 * Calls of other Mobile-MCP tools: bound where they let themselves be bound, else started (shim.md 4).
 *
 * <p>A tool may keep what belongs to one agent with its binding, so each agent has a binding of its own, and
 * each call of somebody who has no name. A tool may distinguish its users by binder and sendingUid: the uid
 * is always the shim's and the binder is what differs: Android asks for one for each intent that differs from
 * the others, by its identifier from Android 10 on. Whoever binds with an equal intent gets the same binder,
 * so nobody may guess an identifier.
 */
public final class MobileMcpCaller {
    private final AppProcess process;
    private final CallControl control;
    private final StartedTools started;
    private final String secret = UUID.randomUUID().toString();
    private final Map<String, ToolBinding> bindings = new HashMap<>();

    public MobileMcpCaller(AppProcess process, CallControl control) {
        this.process = process;
        this.control = control;
        started = new StartedTools(process, control);
    }

    void call(long number, Reply reply, CallPermission permission, Intent intent) {
        String who = reply.sender().key();
        boolean isNamed = !who.isEmpty();
        String key = (isNamed ? who : "call " + number) + " " + permission.route.destination;
        ToolCall call = new ToolCall(control, number, reply, permission, intent);
        ToolBinding binding;
        boolean isNew = false;
        synchronized (bindings) {
            binding = bindings.get(key);
            if (binding == null || !binding.take(call)) {
                binding = new ToolBinding(process, started, bindings, key, isNamed);
                binding.take(call);
                bindings.put(key, binding);
                isNew = true;
            }
        }
        if (isNew) {
            Intent tool = new Intent(Names.SERVICE).setComponent(intent.getComponent());
            if (Build.VERSION.SDK_INT >= Build.VERSION_CODES.Q) {
                tool.setIdentifier(Digests.of(secret + " " + key));
            }
            binding.bind(tool);
        }
        ToolBinding taker = binding;
        reply.whenAnswered(() -> taker.ended(call));
    }
}
