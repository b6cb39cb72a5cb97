package dev.droidgate.runtime.shadows;

import android.app.Instrumentation;
import android.app.UiAutomation;
import dev.droidgate.runtime.ProcessLink;
import org.robolectric.annotation.Implementation;
import org.robolectric.annotation.Implements;
import org.robolectric.annotation.RealObject;
import org.robolectric.shadow.api.Shadow;
import org.robolectric.shadows.ShadowInstrumentation;

/** An instrumentation that adb runs on the phone. */
@Implements(value = Instrumentation.class)
public final class InstrumentationOnPhone extends ShadowInstrumentation {
    @RealObject private Instrumentation instrumentation;

    @Override
    @Implementation
    protected UiAutomation getUiAutomation(int flags) {
        ProcessLink process = ProcessLink.ownerOf(instrumentation);
        if (process == null) {
            return super.getUiAutomation(flags);
        }
        process.ask("connect_ui_automation", "flags", flags);
        UiAutomation automation = Shadow.newInstanceOf(UiAutomation.class);
        ProcessLink.own(automation, process);
        return automation;
    }
}
