package dev.droidgate.proof.phone;

import android.os.OutcomeReceiver;
import java.util.concurrent.Executor;
import org.robolectric.annotation.Implementation;
import org.robolectric.annotation.Implements;

/** Which app functions are enabled: Android's manager asks the search index, which is not here. */
@Implements(className = "android.app.appfunctions.AppFunctionManager", minSdk = 36, isInAndroidSdk = false)
public final class FunctionStatesOnPhone {
    /** What is reported; null for a function that does not exist. */
    public static volatile Boolean state = Boolean.TRUE;

    @Implementation
    protected void isAppFunctionEnabled(
            String function,
            String packageName,
            Executor executor,
            OutcomeReceiver<Boolean, Exception> receiver) {
        Boolean answer = state;
        executor.execute(
                () -> {
                    if (answer == null) {
                        receiver.onError(new IllegalArgumentException("no such function"));
                    } else {
                        receiver.onResult(answer);
                    }
                });
    }
}
