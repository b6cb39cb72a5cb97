package dev.droidgate.proof.agents;

import static org.robolectric.Shadows.shadowOf;

import android.content.BroadcastReceiver;
import android.content.ComponentName;
import android.content.Context;
import android.content.Intent;
import android.os.Bundle;
import dev.droidgate.proof.phone.Phone;
import dev.droidgate.shim.frontends.MmcpActivity;
import dev.droidgate.shim.frontends.MmcpReceiver;
import java.util.Arrays;
import org.robolectric.shadows.ShadowActivity;

/** Agents of mMCP, of both dialects. */
public final class Frontends {
    private final Phone phone;

    public Frontends(Phone phone) {
        this.phone = phone;
        phone.listen(new MmcpReceiver());
    }

    /** Calls by an activity; returns the result's code and text. */
    public String activity(String tool, String parameters) {
        Intent call =
                new Intent("com.example.mMCP.ACTION_TOOL_CALL")
                        .setClassName(phone.context(), MmcpActivity.class.getName())
                        .putExtra("tool_name", tool)
                        .putExtra("parameters", parameters);
        return result(call);
    }

    /** Opens the activity as one that only looks for tools may. */
    public String advertisingActivity() {
        return result(
                new Intent("com.example.mMCP.ACTION_TOOL_ADVERTISE")
                        .setClassName(phone.context(), MmcpActivity.class.getName()));
    }

    private String result(Intent call) {
        MmcpActivity opened = phone.open(MmcpActivity.class, call);
        ShadowActivity shadow = shadowOf(opened);
        phone.until("a result", opened::isFinishing);
        Intent intent = shadow.getResultIntent();
        return shadow.getResultCode() + " " + (intent == null ? null : intent.getStringExtra("result"));
    }

    private final class Taker extends BroadcastReceiver {
        private String answer;
        private Bundle extras;

        @Override
        public void onReceive(Context context, Intent intent) {
            answer = getResultCode() + " " + getResultData();
            extras = getResultExtras(false);
        }
    }

    private Taker send(String action, String tool, String parameters) {
        Taker taker = new Taker();
        Intent intent =
                new Intent(action)
                        .setComponent(new ComponentName(phone.context(), MmcpReceiver.class))
                        .putExtra("tool", tool)
                        .putExtra("params", parameters);
        phone.context().sendOrderedBroadcast(intent, null, taker, null, 0, null, null);
        phone.quiet();
        if (taker.answer == null) {
            phone.pass(9_500);
        }
        phone.until("a result", () -> taker.answer != null);
        return taker;
    }

    /** Calls by a broadcast; returns the result's code and data. */
    public String broadcast(String tool, String parameters) {
        return send("com.example.ACTION_MMCP_INVOKE", tool, parameters).answer;
    }

    /** Returns the names of the tools that a discovery tells. */
    public String discovered() {
        Bundle extras = send("com.example.ACTION_MMCP_DISCOVERY", null, null).extras;
        for (String tool : extras.getStringArray("tools")) {
            if (extras.getString(tool + ".description").isEmpty()
                    || extras.getString(tool + ".parameters").isEmpty()) {
                throw new AssertionError(tool);
            }
        }
        return Arrays.toString(extras.getStringArray("tools"));
    }
}
