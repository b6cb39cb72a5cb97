package dev.droidgate.runtime.shadows;

import android.os.OutcomeReceiver;
import dev.droidgate.runtime.ProcessLink;
import java.util.concurrent.Executor;
import org.robolectric.annotation.Implementation;
import org.robolectric.annotation.Implements;
import org.robolectric.annotation.RealObject;

/** Which app functions are enabled: Android's manager asks its search index, which is the phone's here. */
@Implements(className = "android.app.appfunctions.AppFunctionManager", isInAndroidSdk = false)
public final class FunctionStatesOnPhone {
    @RealObject private Object manager;

    @Implementation
    protected void isAppFunctionEnabled(
            String function,
            String packageName,
            Executor executor,
            OutcomeReceiver<Boolean, Exception> receiver) {
        ProcessLink process = ProcessLink.ownerOf(manager);
        Object value = process.ask("is_function_enabled", "package", packageName, "function", function);
        executor.execute(
                () -> {
                    if (value == null) {
                        receiver.onError(new IllegalArgumentException("no such function"));
                    } else {
                        receiver.onResult((Boolean) value);
                    }
                });
    }
}
