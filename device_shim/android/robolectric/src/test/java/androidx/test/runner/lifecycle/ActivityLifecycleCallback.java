package androidx.test.runner.lifecycle;

import android.app.Activity;

/** Receives each stage that an activity reaches. */
public interface ActivityLifecycleCallback {
    void onActivityLifecycleChanged(Activity activity, Stage stage);
}
