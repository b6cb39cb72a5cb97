package dev.droidgate.shim.backends;

import android.content.BroadcastReceiver;
import android.content.Context;
import android.content.Intent;
import dev.droidgate.shim.Reply;
import dev.droidgate.shim.Shim;
import dev.droidgate.shim.core.BackendAnswer;
import dev.droidgate.shim.core.CallFailure;
import dev.droidgate.shim.core.FailureTokens;
import dev.droidgate.shim.core.Permission;
import dev.droidgate.shim.core.Target;
import dev.droidgate.shim.platform.Failures;
import dev.droidgate.shim.platform.Hex;
import dev.droidgate.shim.targets.Discoveries;
import dev.droidgate.shim.targets.TargetDigests;
import java.util.function.Consumer;

/** Calls of mMCP's broadcast dialect: explicit ordered broadcasts (docs/shim.md 4). */
public final class Broadcasts {
    private static final long CALL_TIME = 10_000;

    private final Shim shim;

    public Broadcasts(Shim shim) {
        this.shim = shim;
    }

    /** Hands what became of a broadcast to whom it may concern. */
    private static final class Result extends BroadcastReceiver {
        private final Consumer<BroadcastReceiver> taker;

        Result(Consumer<BroadcastReceiver> taker) {
            this.taker = taker;
        }

        @Override
        public void onReceive(Context context, Intent intent) {
            taker.accept(this);
        }
    }

    /** Calls a tool, when its receiver has reported that it still offers what was approved where only it knows. */
    void call(long call, Reply reply, Permission permission, Intent intent) {
        Target target = permission.route.target;
        if (!Discoveries.RECIPE.equals(TargetDigests.recipeOf(target.digest))) {
            leave(call, reply, permission, intent, target.digest);
            return;
        }
        String edition = shim.installed.edition(target.packageName);
        shim.discoveries.ask(
                permission.route.component,
                tools -> {
                    String text = Discoveries.text(tools);
                    if (!reply.isAnswered() && !edition.equals(shim.installed.edition(target.packageName))) {
                        // What answered is perhaps not what is installed now.
                        call(call, reply, permission, intent);
                    } else {
                        String digest = text == null ? "" : Discoveries.RECIPE + ':' + Hex.digest(text);
                        leave(call, reply, permission, intent, digest);
                    }
                });
    }

    private void leave(long call, Reply reply, Permission permission, Intent intent, String digest) {
        CallFailure obstacle = shim.obstacle(reply, permission);
        if (obstacle != null) {
            shim.answered(call, BackendAnswer.ofFailure(obstacle));
        } else if (!permission.route.target.digest.equals(digest)) {
            fail(call, FailureTokens.NEEDS_APPROVAL, "the receiver has changed what it offers");
        } else {
            send(call, reply, intent);
        }
    }

    private void send(long call, Reply reply, Intent intent) {
        Runnable late = () -> fail(call, FailureTokens.TIMEOUT, "the receiver gave no answer");
        shim.main.postDelayed(late, CALL_TIME);
        reply.whenAnswered(() -> shim.main.removeCallbacks(late));
        try {
            send(
                    intent,
                    result ->
                            shim.answered(
                                    call,
                                    BackendAnswer.ofBroadcast(
                                            result.getResultCode(), result.getResultData())));
        } catch (RuntimeException refused) {
            fail(call, FailureTokens.UNAVAILABLE, Failures.textOf(refused));
        }
    }

    private void fail(long call, String token, String text) {
        shim.answered(call, BackendAnswer.ofFailure(new CallFailure(token, text)));
    }

    /** Sends an ordered broadcast, also to an app that was stopped; the taker runs on the main thread. */
    public void send(Intent intent, Consumer<BroadcastReceiver> taker) {
        intent.addFlags(Intent.FLAG_INCLUDE_STOPPED_PACKAGES);
        shim.context.sendOrderedBroadcast(intent, null, new Result(taker), shim.main, 0, null, null);
    }
}
