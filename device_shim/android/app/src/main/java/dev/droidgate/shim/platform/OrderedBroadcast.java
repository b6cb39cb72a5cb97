package dev.droidgate.shim.platform;

import android.content.BroadcastReceiver;
import android.content.Context;
import android.content.Intent;
import android.os.Handler;
import java.util.function.Consumer;

/** Hands what became of a broadcast to whom it may concern. */
public final class OrderedBroadcast extends BroadcastReceiver {
    private final Consumer<BroadcastReceiver> taker;

    private OrderedBroadcast(Consumer<BroadcastReceiver> taker) {
        this.taker = taker;
    }

    /**
     * Sends an ordered broadcast, also to an app that was stopped; the taker runs on the handler's thread.
     */
    public static void send(
            Context context, Handler handler, Intent intent, Consumer<BroadcastReceiver> taker) {
        intent.addFlags(Intent.FLAG_INCLUDE_STOPPED_PACKAGES);
        context.sendOrderedBroadcast(intent, null, new OrderedBroadcast(taker), handler, 0, null, null);
    }

    @Override
    public void onReceive(Context context, Intent intent) {
        taker.accept(this);
    }
}
