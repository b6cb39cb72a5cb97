package androidx.test.runner.intent;

/** Named by Robolectric only. */
public interface IntentMonitor {}
