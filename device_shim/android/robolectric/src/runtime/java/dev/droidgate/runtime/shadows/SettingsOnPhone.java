package dev.droidgate.runtime.shadows;

import android.content.Context;
import android.provider.Settings;
import dev.droidgate.runtime.ProcessLink;
import org.robolectric.annotation.Implementation;
import org.robolectric.annotation.Implements;
import org.robolectric.shadows.ShadowSettings;

/** Whether the user let an app draw over others. */
@Implements(Settings.class)
public final class SettingsOnPhone extends ShadowSettings {
    @Implementation
    protected static boolean canDrawOverlays(Context context) {
        ProcessLink process = ProcessLink.ownerOf(context);
        return process != null && Boolean.TRUE.equals(process.ask("may_draw_overlays"));
    }
}
