package dev.droidgate.proof.agents;

import static org.robolectric.Shadows.shadowOf;

import android.content.BroadcastReceiver;
import android.content.ComponentName;
import android.content.Context;
import android.content.Intent;
import dev.droidgate.proof.phone.Phone;
import dev.droidgate.shim.frontends.MmcpActivity;
import dev.droidgate.shim.frontends.MmcpReceiver;

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
                        .setClassName(phone.shim, MmcpActivity.class.getName())
                        .putExtra("tool_name", tool)
                        .putExtra("parameters", parameters);
        MmcpActivity opened = phone.open(MmcpActivity.class, call);
        phone.until("a result", opened::isFinishing);
        String text = shadowOf(opened).getResultIntent().getStringExtra("result");
        return shadowOf(opened).getResultCode() + " " + text;
    }

    /** Calls by a broadcast, whose sender waits 10 seconds; returns the result's code and data. */
    public String broadcast(String tool, String parameters) {
        String[] answer = new String[1];
        BroadcastReceiver taker =
                new BroadcastReceiver() {
                    @Override
                    public void onReceive(Context context, Intent intent) {
                        answer[0] = getResultCode() + " " + getResultData();
                    }
                };
        Intent intent =
                new Intent("com.example.ACTION_MMCP_INVOKE")
                        .setComponent(new ComponentName(phone.shim, MmcpReceiver.class))
                        .putExtra("tool", tool)
                        .putExtra("params", parameters);
        phone.shim.sendOrderedBroadcast(intent, null, taker, null, 0, null, null);
        phone.quiet();
        if (answer[0] == null) {
            phone.pass(9_500);
        }
        phone.until("a result", () -> answer[0] != null);
        return answer[0];
    }
}
