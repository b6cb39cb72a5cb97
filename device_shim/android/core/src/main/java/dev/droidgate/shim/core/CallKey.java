package dev.droidgate.shim.core;

/** What distinguishes requests: how they came, who asks, and the id that they gave. */
final class CallKey {
    /** Whether the platform vouches for the caller. */
    final boolean bound;

    /** The uid that sent it, or that made the callback of a started request. */
    final long caller;

    /** The request's id as text; empty where the key is that of the caller alone. */
    final String id;

    CallKey(boolean bound, long caller, String id) {
        this.bound = bound;
        this.caller = caller;
        this.id = id;
    }

    /** Returns whether two requests come from one caller in one way. */
    boolean hasCallerOf(CallKey other) {
        return other.bound == bound && other.caller == caller;
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof CallKey && hasCallerOf((CallKey) other) && ((CallKey) other).id.equals(id);
    }

    @Override
    public int hashCode() {
        return 31 * id.hashCode() + (int) (caller ^ caller >>> 32) + (bound ? 1 : 0);
    }
}
