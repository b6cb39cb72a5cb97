package dev.droidgate.shim.core;

import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;

/** Who may call what: deny unless granted (docs/shim-engine.md 3, 8). */
public final class Policy {
    private static final String ANY_APP = "any-app";
    private static final String EVERYTHING = "*";

    final Limits limits;

    /** Caller's uid, or the text for any app -> capabilities. */
    private final Map<Object, Set<String>> grants = new HashMap<>();

    private final Set<Object> switchedOff;

    private Policy(Map<String, Object> json) throws MalformedJsonException {
        Json.checkKeys(json, " grants switched_off limits ");
        for (Object one : Json.listAt(json, "grants")) {
            Map<String, Object> grant = Json.objectOf(one, "a grant");
            Json.checkKeys(grant, " caller capability ");
            // Of the texts only one means somebody; a uid is never equal to another.
            Object caller = grant.get("caller");
            if (!(caller instanceof String) && !(caller instanceof Long)) {
                throw new MalformedJsonException("a grant's caller is neither a uid nor a text");
            }
            Set<String> granted = grants.get(caller);
            if (granted == null) {
                granted = new HashSet<>();
                grants.put(caller, granted);
            }
            granted.add(Json.textAt(grant, "capability"));
        }
        switchedOff = new HashSet<>(Json.listAt(json, "switched_off"));
        for (Object one : switchedOff) {
            if (!(one instanceof String)) {
                throw new MalformedJsonException("what is switched off is no text");
            }
        }
        limits = new Limits(Json.objectAt(json, "limits"));
    }

    /**
     * Reads a policy from parsed JSON.
     *
     * @throws MalformedJsonException it is none
     */
    public static Policy of(Object json) throws MalformedJsonException {
        return new Policy(Json.objectOf(json, "the policy"));
    }

    /**
     * Returns the route that a caller may use now.
     *
     * @param bound whether the platform vouches for the caller; a started request counts as from nobody
     * @throws CallFailure {@code denied}, {@code unknown_capability} or {@code disabled}
     */
    Route authorised(RouteTable routes, String capability, long caller, boolean bound)
            throws CallFailure {
        Route route = routes.find(capability);
        Object uid = bound ? (Object) caller : ANY_APP;
        boolean granted =
                route == null
                        ? grants.containsKey(uid) || grants.containsKey(ANY_APP)
                        : allows(uid, capability) || allows(ANY_APP, capability);
        if (!granted) {
            throw new CallFailure(FailureTokens.DENIED, "the user has not allowed this call");
        }
        if (route == null) {
            throw new CallFailure(
                    FailureTokens.UNKNOWN_CAPABILITY, "there is no capability of this id");
        }
        if (switchedOff.contains(capability)) {
            throw new CallFailure(FailureTokens.DISABLED, "the capability is switched off");
        }
        return route;
    }

    private boolean allows(Object caller, String capability) {
        Set<String> granted = grants.get(caller);
        return granted != null && (granted.contains(capability) || granted.contains(EVERYTHING));
    }
}
