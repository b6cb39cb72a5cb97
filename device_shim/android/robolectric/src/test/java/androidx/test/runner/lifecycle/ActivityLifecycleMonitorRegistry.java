package androidx.test.runner.lifecycle;

/** Holds the monitor of the running test. */
public final class ActivityLifecycleMonitorRegistry {
    private static volatile ActivityLifecycleMonitor current;

    private ActivityLifecycleMonitorRegistry() {}

    public static void registerInstance(ActivityLifecycleMonitor monitor) {
        current = monitor;
    }

    public static ActivityLifecycleMonitor getInstance() {
        return current;
    }
}
