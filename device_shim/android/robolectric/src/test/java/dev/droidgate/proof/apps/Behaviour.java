package dev.droidgate.proof.apps;

/** What a tool app of the tests does with its next calls. */
public enum Behaviour {
    ANSWER,
    /** Says that the user did not want it. */
    CANCEL,
    /** Fails in its own words. */
    REFUSE,
    /** Dies while it is called. */
    CRASH,
    /** Never answers. */
    SILENT,
    /** Answers, and then again with something else. */
    TWICE,
    /** Answers when the test says so. */
    LATE,
    /** Answers with what nobody can read. */
    GARBAGE,
    /** Answers as another app. */
    FORGED
}
