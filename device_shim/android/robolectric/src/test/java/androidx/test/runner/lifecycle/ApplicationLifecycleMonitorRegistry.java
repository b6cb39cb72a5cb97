package androidx.test.runner.lifecycle;

/** Nobody here asks for the application's stage. */
public final class ApplicationLifecycleMonitorRegistry {
    private ApplicationLifecycleMonitorRegistry() {}

    public static void registerInstance(ApplicationLifecycleMonitor monitor) {}
}
