package dev.droidgate.shim.core;

/** What tells requests apart: who asks, and the id that they gave. */
public final class CallKey {
    /** The uid that sent it, or that made the callback of a started request. */
    public final long caller;

    /** The request's id as text. */
    public final String id;

    /** Makes a key. */
    public CallKey(long caller, String id) {
        this.caller = caller;
        this.id = id;
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof CallKey
                && ((CallKey) other).caller == caller
                && ((CallKey) other).id.equals(id);
    }

    @Override
    public int hashCode() {
        return 31 * id.hashCode() + (int) (caller ^ caller >>> 32);
    }
}
