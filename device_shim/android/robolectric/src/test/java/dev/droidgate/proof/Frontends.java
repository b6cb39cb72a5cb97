package dev.droidgate.proof;

import static org.robolectric.Shadows.shadowOf;

import android.app.Activity;
import android.content.BroadcastReceiver;
import android.content.Context;
import android.content.Intent;
import dev.droidgate.shim.frontends.MmcpActivity;
import dev.droidgate.shim.frontends.MmcpReceiver;

/** Agents of mMCP, of both dialects; what they return is the result's code and text. */
final class Frontends {
    private final Phone phone;

    Frontends(Phone phone) {
        this.phone = phone;
        phone.listen(new MmcpReceiver());
    }

    String activity(String tool, String parameters) {
        return result(open(tool, parameters));
    }

    MmcpActivity open(String tool, String parameters) {
        Intent call =
                new Intent("com.example.mMCP.ACTION_TOOL_CALL")
                        .setClassName(phone.shim, MmcpActivity.class.getName())
                        .putExtra("tool_name", tool)
                        .putExtra("parameters", parameters);
        return phone.open(MmcpActivity.class, call);
    }

    String result(Activity opened) {
        phone.until("a result", opened::isFinishing);
        String text = shadowOf(opened).getResultIntent().getStringExtra("result");
        return shadowOf(opened).getResultCode() + " " + text;
    }

    /** Sends a broadcast, whose sender waits 10 seconds. */
    String broadcast(String tool, String parameters) {
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
                        .setClassName(phone.shim, MmcpReceiver.class.getName())
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
