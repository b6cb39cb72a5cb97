package dev.droidgate.shim.core;

/**
 * What lets a call go out: the user's grant, which may end while the call waits, or a yes to this one call.
 * Never changed, so any thread may have it checked: the last time just before the call leaves this app.
 */
public final class CallPermission {
    /** How the call is carried out. */
    public final Route route;

    private final CallKey key;
    private final boolean approved;

    /** Makes one; {@code approved} is whether it needs no grant. */
    CallPermission(Route route, CallKey key, boolean approved) {
        this.route = route;
        this.key = key;
        this.approved = approved;
    }

    /** Returns what a user's yes to this one call makes of it. */
    CallPermission allowedOnce() {
        return new CallPermission(route, key, true);
    }

    /**
     * Compares what holds now with what the call was allowed for.
     *
     * @param installed what is installed of the route's package, null where nothing is
     * @throws CallFailure {@code denied}, {@code disabled}, {@code unavailable} or {@code needs_approval}
     */
    public void check(Policy policy, Target installed) throws CallFailure {
        if (!approved && !policy.isGranted(route, key)) {
            throw Policy.NO_GRANT;
        }
        policy.checkSwitch(route);
        route.target.check(installed);
    }
}
