package androidx.test.runner.lifecycle;

/** Stages of an application's start. */
public enum ApplicationStage {
    PRE_ON_CREATE,
    CREATED
}
