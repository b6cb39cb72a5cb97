package androidx.test.internal.runner.lifecycle;

import android.app.Activity;
import androidx.test.runner.lifecycle.ActivityLifecycleCallback;
import androidx.test.runner.lifecycle.ActivityLifecycleMonitor;
import androidx.test.runner.lifecycle.Stage;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Remembers the stage that Robolectric last reported of each activity. */
public final class ActivityLifecycleMonitorImpl implements ActivityLifecycleMonitor {
    private final Map<Activity, Stage> stages = new LinkedHashMap<>();
    private final List<ActivityLifecycleCallback> callbacks = new ArrayList<>();

    public synchronized void signalLifecycleChange(Stage stage, Activity activity) {
        stages.put(activity, stage);
        for (ActivityLifecycleCallback callback : new ArrayList<>(callbacks)) {
            callback.onActivityLifecycleChanged(activity, stage);
        }
    }

    @Override
    public synchronized void addLifecycleCallback(ActivityLifecycleCallback callback) {
        callbacks.add(callback);
    }

    @Override
    public synchronized void removeLifecycleCallback(ActivityLifecycleCallback callback) {
        callbacks.remove(callback);
    }

    @Override
    public synchronized Stage getLifecycleStageOf(Activity activity) {
        return stages.get(activity);
    }

    @Override
    public synchronized Collection<Activity> getActivitiesInStage(Stage stage) {
        List<Activity> found = new ArrayList<>(stages.keySet());
        found.removeIf(item -> stages.get(item) != stage);
        return found;
    }
}
