package dev.droidgate.runtime.shadows;

import android.os.PowerManager;
import dev.droidgate.runtime.ProcessLink;
import org.robolectric.annotation.Implementation;
import org.robolectric.annotation.Implements;
import org.robolectric.annotation.RealObject;
import org.robolectric.shadows.ShadowPowerManager;

/** Whether the phone's screen is on, and which apps the phone leaves out of its battery optimisation. */
@Implements(PowerManager.class)
public final class PowerOnPhone extends ShadowPowerManager {
    @RealObject private PowerManager manager;

    @Override
    @Implementation
    protected boolean isInteractive() {
        ProcessLink process = ProcessLink.ownerOf(manager);
        return process != null && Boolean.TRUE.equals(process.ask("is_interactive"));
    }

    @Override
    @Implementation
    protected boolean isIgnoringBatteryOptimizations(String packageName) {
        ProcessLink process = ProcessLink.ownerOf(manager);
        return process != null && Boolean.TRUE.equals(process.ask("is_battery_exempt"));
    }
}
