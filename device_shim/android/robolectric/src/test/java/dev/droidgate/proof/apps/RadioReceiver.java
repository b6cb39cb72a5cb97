package dev.droidgate.proof.apps;

import android.content.BroadcastReceiver;
import android.content.Context;
import android.content.Intent;
import android.os.Bundle;

/** A tool of mMCP's broadcast dialect: says the weather. */
public final class RadioReceiver extends BroadcastReceiver {
    /** What it offers; tests change it. */
    public static volatile String description;

    @Override
    public void onReceive(Context context, Intent intent) {
        if ("com.example.ACTION_MMCP_DISCOVERY".equals(intent.getAction())) {
            Bundle bundle = new Bundle();
            bundle.putStringArray("tools", new String[] {"forecast"});
            bundle.putString("forecast.description", description);
            bundle.putString("forecast.parameters", "{\"place\":\"string\"}");
            setResultExtras(bundle);
            setResultCode(-1);
            return;
        }
        Apps.CALLS.add(intent.getStringExtra("params"));
        if (Apps.silent) {
            goAsync();
            return;
        }
        setResultCode(-1);
        setResultData("sunny");
    }
}
