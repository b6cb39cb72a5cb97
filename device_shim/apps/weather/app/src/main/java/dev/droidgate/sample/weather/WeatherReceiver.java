package dev.droidgate.sample.weather;

import android.app.Activity;
import android.content.BroadcastReceiver;
import android.content.Context;
import android.content.Intent;
import android.os.Bundle;
import android.util.Log;
import org.json.JSONException;

/** Lists its tools and runs them for senders of ordered broadcasts. */
public final class WeatherReceiver extends BroadcastReceiver {
    static final String ACTION_DISCOVERY = "com.example.ACTION_MMCP_DISCOVERY";
    static final String ACTION_INVOKE = "com.example.ACTION_MMCP_INVOKE";
    static final String EXTRA_TOOL = "tool";
    static final String EXTRA_PARAMS = "params";

    private static final String TAG = "Weather";

    @Override
    public void onReceive(Context context, Intent intent) {
        if (!isOrderedBroadcast()) {
            return;
        }
        if (ACTION_DISCOVERY.equals(intent.getAction())) {
            Bundle tools = getResultExtras(true);
            WeatherTools.describe(tools);
            setResultExtras(tools);
            setResultCode(Activity.RESULT_OK);
        } else if (ACTION_INVOKE.equals(intent.getAction())) {
            invoke(intent);
        }
    }

    private void invoke(Intent intent) {
        try {
            setResultData(
                    WeatherTools.run(intent.getStringExtra(EXTRA_TOOL), intent.getStringExtra(EXTRA_PARAMS)));
            setResultCode(Activity.RESULT_OK);
        } catch (WeatherTools.Refusal refusal) {
            fail(refusal.getMessage());
        } catch (JSONException | RuntimeException e) {
            Log.e(TAG, "The call failed", e);
            fail("the call could not be understood");
        }
    }

    private void fail(String reason) {
        setResultData("Error: " + reason);
        setResultCode(Activity.RESULT_CANCELED);
    }
}
