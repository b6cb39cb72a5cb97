package androidx.test.platform.app;

import android.app.Instrumentation;
import android.os.Bundle;

/** Where Robolectric puts the instrumentation of the running test; nobody here looks for it. */
public final class InstrumentationRegistry {
    private InstrumentationRegistry() {}

    public static void registerInstance(Instrumentation instrumentation, Bundle arguments) {}
}
