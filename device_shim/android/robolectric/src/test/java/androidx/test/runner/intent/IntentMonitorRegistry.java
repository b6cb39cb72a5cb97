package androidx.test.runner.intent;

/** Nobody here watches intents by it. */
public final class IntentMonitorRegistry {
    private IntentMonitorRegistry() {}

    public static void registerInstance(IntentMonitor monitor) {}
}
