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
    FORGED,
    /** Keeps the first call, and answers it to whoever calls next. */
    CROSSED,
    /** Answers with more than the shim sends on. */
    HUGE,
    /** Answers that it worked, and with nothing else. */
    EMPTY,
    /** Answers that it worked, with something that is not a text. */
    UNREADABLE,
    /** Fails with an error in its program. */
    ODD
}
