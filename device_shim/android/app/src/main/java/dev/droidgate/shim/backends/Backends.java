package dev.droidgate.shim.backends;

import android.content.ComponentName;
import android.content.Intent;
import dev.droidgate.shim.CallControl;
import dev.droidgate.shim.Reply;
import dev.droidgate.shim.core.AppCaller;
import dev.droidgate.shim.core.Backend;
import dev.droidgate.shim.core.Backend.AppActionBackend;
import dev.droidgate.shim.core.Backend.CapabilityBackend;
import dev.droidgate.shim.core.Backend.ToolBackend;
import dev.droidgate.shim.core.CallFailure;
import dev.droidgate.shim.core.CallPermission;
import dev.droidgate.shim.core.Engine;
import dev.droidgate.shim.core.FailureTokens;
import dev.droidgate.shim.core.Outgoing;
import dev.droidgate.shim.core.Outgoing.AppFunctionCall;
import dev.droidgate.shim.core.Outgoing.ExtrasCall;
import dev.droidgate.shim.core.Route;
import dev.droidgate.shim.core.Target;
import dev.droidgate.shim.platform.Names;
import dev.droidgate.shim.targets.Installed;
import java.net.URISyntaxException;
import java.util.Map;
import java.util.UUID;

/** The edge that reaches other apps, by the kind of a route's backend (shim.md 4). */
public final class Backends implements AppCaller {
    private final CallControl control;
    private final Installed installed;
    private final ScreenCalls screen;
    private final Broadcasts broadcasts;
    private final AppFunctions functions;
    private final MobileMcpCaller tools;

    public Backends(
            CallControl control,
            Installed installed,
            ScreenCalls screen,
            Broadcasts broadcasts,
            AppFunctions functions,
            MobileMcpCaller tools) {
        this.control = control;
        this.installed = installed;
        this.screen = screen;
        this.broadcasts = broadcasts;
        this.functions = functions;
        this.tools = tools;
    }

    @Override
    public Target installed(Route route) {
        return installed.now(route);
    }

    @Override
    public String newRequestId() {
        return UUID.randomUUID().toString();
    }

    @Override
    public void call(long call, Object replyTo, CallPermission permission, Outgoing outgoing)
            throws CallFailure {
        Reply reply = (Reply) replyTo;
        Route route = permission.route;
        if (reply.isAnswered()) {
            throw Engine.CANCELED;
        }
        control.sent(call, reply, route, outgoing);
        if (outgoing instanceof AppFunctionCall) {
            functions.call(call, reply, permission, (AppFunctionCall) outgoing);
            return;
        }
        Backend backend = route.backend;
        Map<String, String> extras = ((ExtrasCall) outgoing).extras;
        if (backend instanceof AppActionBackend) {
            screen.call(call, reply, permission, start(extras.get("intent")));
        } else if (backend instanceof CapabilityBackend) {
            tools.call(call, reply, permission, intent(Names.SERVICE, route, reply, extras));
        } else if (((ToolBackend) backend).isBroadcast) {
            broadcasts.call(call, reply, permission, intent(Names.MMCP_INVOKE, route, reply, extras));
        } else {
            screen.call(call, reply, permission, intent(Names.MMCP_CALL, route, reply, extras));
        }
    }

    /** Reads the intent that opens a screen; an empty action means that it has no action. */
    private static Intent start(String text) throws CallFailure {
        try {
            Intent intent = Intent.parseUri(text, 0);
            return intent.getAction().isEmpty() ? intent.setAction(null) : intent;
        } catch (URISyntaxException broken) {
            throw new CallFailure(FailureTokens.UNAVAILABLE, broken.getMessage());
        }
    }

    /** Makes an intent of constants: nothing of it comes from a request but the tool's two texts. */
    private static Intent intent(
            String action, Route route, Reply reply, Map<String, String> extras) {
        Intent intent = new Intent(action);
        intent.setComponent(ComponentName.unflattenFromString(route.destination));
        for (Map.Entry<String, String> entry : extras.entrySet()) {
            intent.putExtra(entry.getKey(), entry.getValue());
        }
        intent.putExtra(Names.ORIGIN_PACKAGE, reply.sender().packageName());
        intent.putExtra(Names.ORIGIN_CERTIFICATE, reply.sender().signer());
        return intent;
    }
}
