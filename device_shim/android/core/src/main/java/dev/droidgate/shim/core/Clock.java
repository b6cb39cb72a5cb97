package dev.droidgate.shim.core;

/** The time that deadlines and rates go by. */
public interface Clock {
    /** Returns milliseconds that never go back, sleep included. */
    long now();
}
