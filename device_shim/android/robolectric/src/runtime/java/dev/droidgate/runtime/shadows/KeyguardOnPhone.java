package dev.droidgate.runtime.shadows;

import android.app.KeyguardManager;
import dev.droidgate.runtime.ProcessLink;
import org.robolectric.annotation.Implementation;
import org.robolectric.annotation.Implements;
import org.robolectric.annotation.RealObject;
import org.robolectric.shadows.ShadowKeyguardManager;

/** Whether the phone's screen is locked. */
@Implements(KeyguardManager.class)
public final class KeyguardOnPhone extends ShadowKeyguardManager {
    @RealObject private KeyguardManager manager;

    @Override
    @Implementation
    protected boolean isKeyguardLocked() {
        return says("is_keyguard_shown");
    }

    @Override
    @Implementation
    protected boolean isDeviceLocked() {
        return says("is_locked");
    }

    private boolean says(String question) {
        ProcessLink process = ProcessLink.ownerOf(manager);
        return process != null && Boolean.TRUE.equals(process.ask(question));
    }
}
