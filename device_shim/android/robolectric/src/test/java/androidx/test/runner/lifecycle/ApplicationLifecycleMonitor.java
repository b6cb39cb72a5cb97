package androidx.test.runner.lifecycle;

/** Named by Robolectric only. */
public interface ApplicationLifecycleMonitor {}
