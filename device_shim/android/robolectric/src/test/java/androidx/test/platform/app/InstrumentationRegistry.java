package androidx.test.platform.app;

import android.app.Instrumentation;
import android.os.Bundle;

/** Where Robolectric puts the instrumentation of the running test, and looks for it. */
public final class InstrumentationRegistry {
    private static volatile Instrumentation current;

    private InstrumentationRegistry() {}

    public static void registerInstance(Instrumentation instrumentation, Bundle arguments) {
        current = instrumentation;
    }

    public static Instrumentation getInstrumentation() {
        if (current == null) {
            throw new IllegalStateException("no test is running");
        }
        return current;
    }
}
