package dev.droidgate.robolectric;

import android.app.Instrumentation;
import android.os.Bundle;
import javax.inject.Named;
import org.junit.runners.model.InitializationError;
import org.robolectric.RobolectricTestRunner;
import org.robolectric.android.internal.AndroidTestEnvironment;
import org.robolectric.internal.AndroidSandbox.TestEnvironmentSpec;
import org.robolectric.internal.ShadowProvider;
import org.robolectric.pluginapi.Sdk;
import org.robolectric.pluginapi.TestEnvironmentLifecyclePlugin;

/**
 * Runs tests with Android's own instrumentation. Robolectric's needs a library of Google's that Maven Central
 * does not have.
 */
public final class AndroidRunner extends RobolectricTestRunner {
    public AndroidRunner(Class<?> test) throws InitializationError {
        super(
                test,
                defaultInjector()
                        .bind(TestEnvironmentSpec.class, new TestEnvironmentSpec(Environment.class))
                        .build());
    }

    /** Made by Robolectric. */
    public static final class Environment extends AndroidTestEnvironment {
        public Environment(
                @Named("runtimeSdk") Sdk runtime,
                @Named("compileSdk") Sdk compile,
                ShadowProvider[] shadows,
                TestEnvironmentLifecyclePlugin[] plugins) {
            super(runtime, compile, shadows, plugins);
        }

        @Override
        protected Instrumentation pickInstrumentation() {
            return new Instrumentation() {
                @Override
                public void runOnMainSync(Runnable work) {
                    // The test's thread is the main thread already.
                    work.run();
                }

                @Override
                public void finish(int code, Bundle results) {
                    // Nobody waits for the end of a process.
                }
            };
        }
    }
}
