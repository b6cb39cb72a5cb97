package dev.droidgate.shim.backends;

import android.content.BroadcastReceiver;
import android.content.Context;
import android.content.Intent;
import dev.droidgate.shim.Reply;
import dev.droidgate.shim.Shim;
import dev.droidgate.shim.core.BackendAnswer;
import dev.droidgate.shim.core.CallFailure;
import dev.droidgate.shim.core.FailureTokens;
import dev.droidgate.shim.core.Route;
import dev.droidgate.shim.platform.Failures;
import dev.droidgate.shim.platform.Hex;
import dev.droidgate.shim.targets.Discoveries;
import dev.droidgate.shim.targets.TargetDigests;
import java.util.List;
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
    void call(long call, Reply reply, Route route, Intent intent) {
        if (Discoveries.RECIPE.equals(TargetDigests.recipeOf(route.target.digest))) {
            shim.discoveries.ask(route.component, tools -> compare(call, reply, route, intent, tools));
        } else {
            send(call, reply, intent);
        }
    }

    private void compare(long call, Reply reply, Route route, Intent intent, List<Object> tools) {
        String text = Discoveries.text(tools);
        if (reply.isAnswered()) {
            return;
        }
        if (!shim.installed.isAsApproved(route)) {
            fail(call, FailureTokens.UNAVAILABLE, "the app behind the capability has been replaced");
        } else if (text == null || !route.target.digest.equals(Discoveries.RECIPE + ':' + Hex.digest(text))) {
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
