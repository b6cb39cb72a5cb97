package dev.droidgate.shim.backends;

import android.content.Intent;
import dev.droidgate.shim.AppProcess;
import dev.droidgate.shim.CallControl;
import dev.droidgate.shim.Reply;
import dev.droidgate.shim.core.BackendAnswer.BroadcastAnswer;
import dev.droidgate.shim.core.CallFailure;
import dev.droidgate.shim.core.CallPermission;
import dev.droidgate.shim.core.FailureTokens;
import dev.droidgate.shim.core.Target;
import dev.droidgate.shim.platform.Digests;
import dev.droidgate.shim.platform.Failures;
import dev.droidgate.shim.platform.OrderedBroadcast;
import dev.droidgate.shim.platform.Packages;
import dev.droidgate.shim.targets.Discoveries;
import dev.droidgate.shim.targets.TargetDigests;

/** Calls of mMCP's broadcast dialect: explicit ordered broadcasts (shim.md 4). */
public final class Broadcasts {
    private static final long BROADCAST_MS = 10_000;

    private final AppProcess process;
    private final CallControl control;
    private final Discoveries discoveries;

    public Broadcasts(AppProcess process, CallControl control, Discoveries discoveries) {
        this.process = process;
        this.control = control;
        this.discoveries = discoveries;
    }

    /**
     * Calls a tool. Where only its receiver knows what it offers, the receiver is asked again before the
     * call.
     */
    void call(long call, Reply reply, CallPermission permission, Intent intent) {
        Target target = permission.route.target;
        if (!Discoveries.RECIPE.equals(TargetDigests.recipeOf(target.digest))) {
            sendIfUnchanged(call, reply, permission, intent, target.digest);
            return;
        }
        String edition = Packages.edition(process.context, target.packageName);
        discoveries.ask(
                permission.route.destination,
                tools -> {
                    String text = Discoveries.text(tools);
                    if (!reply.isAnswered()
                            && !edition.equals(Packages.edition(process.context, target.packageName))) {
                        // What answered is perhaps not what is installed now.
                        call(call, reply, permission, intent);
                    } else {
                        String digest = text == null ? "" : Discoveries.RECIPE + ':' + Digests.of(text);
                        sendIfUnchanged(call, reply, permission, intent, digest);
                    }
                });
    }

    private void sendIfUnchanged(
            long call, Reply reply, CallPermission permission, Intent intent, String digest) {
        CallFailure obstacle = control.obstacle(reply, permission);
        if (obstacle != null) {
            control.fail(call, obstacle);
        } else if (!permission.route.target.digest.equals(digest)) {
            fail(call, FailureTokens.NEEDS_APPROVAL, "the receiver has changed what it offers");
        } else {
            send(call, reply, intent);
        }
    }

    private void send(long call, Reply reply, Intent intent) {
        String text = "the receiver gave no answer in time; the call may have run";
        Runnable late = () -> fail(call, FailureTokens.TIMEOUT, text);
        process.main.postDelayed(late, BROADCAST_MS);
        reply.whenAnswered(() -> process.main.removeCallbacks(late));
        try {
            OrderedBroadcast.send(
                    process.context,
                    process.main,
                    intent,
                    result ->
                            control.answered(
                                    call,
                                    new BroadcastAnswer(result.getResultCode(), result.getResultData()),
                                    null));
        } catch (RuntimeException refused) {
            fail(call, FailureTokens.UNAVAILABLE, Failures.textOf(refused));
        }
    }

    private void fail(long call, String token, String text) {
        control.fail(call, new CallFailure(token, text));
    }
}
