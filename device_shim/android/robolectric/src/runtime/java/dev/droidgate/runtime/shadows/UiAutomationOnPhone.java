package dev.droidgate.runtime.shadows;

import android.app.UiAutomation;
import dev.droidgate.runtime.ProcessLink;
import org.json.JSONArray;
import org.robolectric.annotation.Implementation;
import org.robolectric.annotation.Implements;
import org.robolectric.annotation.RealObject;
import org.robolectric.shadows.ShadowUiAutomation;

/** The connection of an instrumentation to the shell, whose permissions the phone lends. */
@Implements(UiAutomation.class)
public final class UiAutomationOnPhone extends ShadowUiAutomation {
    @RealObject private UiAutomation automation;

    @Implementation
    protected void adoptShellPermissionIdentity(String... permissions) {
        JSONArray names = new JSONArray();
        for (String permission : permissions) {
            names.put(permission);
        }
        ProcessLink.ownerOf(automation).ask("adopt_shell_permissions", "permissions", names);
    }

    @Implementation
    protected void dropShellPermissionIdentity() {
        ProcessLink.ownerOf(automation).ask("drop_shell_permissions");
    }
}
