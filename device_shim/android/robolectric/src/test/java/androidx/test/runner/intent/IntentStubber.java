package androidx.test.runner.intent;

import android.app.Instrumentation.ActivityResult;
import android.content.Intent;

/** Would answer a started activity at once. */
public interface IntentStubber {
    ActivityResult getActivityResultForIntent(Intent intent);
}
