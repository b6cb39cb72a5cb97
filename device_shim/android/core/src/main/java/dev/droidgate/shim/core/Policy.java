package dev.droidgate.shim.core;

import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;

/** Who may call what: deny unless granted (shim-engine.md 3, 8). */
public final class Policy {
    private static final String ANY_APP = "any-app";
    private static final String EVERYTHING = "*";

    public static final CallFailure NO_GRANT =
            new CallFailure(
                    FailureTokens.DENIED, "the user has not allowed this app to call this capability");

    final CallLimits limits;

    /** Caller's uid, or the text for any app -> capabilities. */
    private final Map<Object, Set<String>> grants = new HashMap<>();

    private final Set<Object> switchedOff;

    private Policy(Map<String, Object> json) throws MalformedJsonException {
        Json.checkKeys(json, "grants", "switched_off", "app", "limits");
        for (Object item : Json.listAt(json, "grants")) {
            Map<String, Object> grant = Json.objectOf(item, "a grant");
            Json.checkKeys(grant, "caller", "capability");
            // Any text may be written here, but only that for any app has rights.
            Object caller = grant.get("caller");
            Json.check(caller instanceof String || caller instanceof Long, "caller");
            Set<String> granted = grants.get(caller);
            if (granted == null) {
                granted = new HashSet<>();
                grants.put(caller, granted);
            }
            granted.add(Json.textAt(grant, "capability"));
        }
        switchedOff = new HashSet<>(Json.listAt(json, "switched_off"));
        for (Object capability : switchedOff) {
            Json.check(capability instanceof String, "switched_off");
        }
        limits = new CallLimits(Json.objectAt(json, "limits"));
    }

    /**
     * Reads a policy from parsed JSON.
     *
     * @throws MalformedJsonException the JSON is not a policy
     */
    public static Policy of(Object json) throws MalformedJsonException {
        return new Policy(Json.objectOf(json, "the policy"));
    }

    /**
     * Returns whether a request is granted. For a capability that does not exist, whether its caller has a
     * grant of any kind: only then may the caller learn that it does not exist.
     *
     * <p>A start proves nothing about its sender, but its answer only reaches the creator of the callback. So
     * the creator's grant counts where nothing else comes of the call.
     *
     * @param route null where the capability does not exist
     */
    boolean isGranted(Route route, CallKey key) {
        boolean isOwn = key.bound || route == null || route.readOnly;
        return isOwn && holds(key.caller, route) || holds(ANY_APP, route);
    }

    private boolean holds(Object caller, Route route) {
        Set<String> granted = grants.get(caller);
        return granted != null
                && (route == null || granted.contains(route.id) || granted.contains(EVERYTHING));
    }

    boolean isSwitchedOff(Route route) {
        return switchedOff.contains(route.id);
    }

    void checkSwitch(Route route) throws CallFailure {
        if (isSwitchedOff(route)) {
            throw new CallFailure(FailureTokens.DISABLED, "the user has switched the capability off");
        }
    }
}
