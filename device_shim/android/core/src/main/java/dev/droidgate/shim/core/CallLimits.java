package dev.droidgate.shim.core;

import java.util.Map;

/** How many requests may be open and come in (shim-engine.md 3, 8). */
final class CallLimits {
    /** More than any phone will see, and few enough for products. */
    private static final long MOST = 1_000_000;

    final long open;
    final long openPerCaller;
    final long burst;
    final long perMinute;

    CallLimits(Map<String, Object> json) throws MalformedJsonException {
        Json.checkKeys(json, "open", "open_per_caller", "burst", "per_minute");
        open = count(json, "open", 32);
        openPerCaller = count(json, "open_per_caller", 8);
        burst = count(json, "burst", 30);
        perMinute = count(json, "per_minute", 120);
    }

    private static long count(Map<String, Object> json, String key, long otherwise)
            throws MalformedJsonException {
        long count = Json.integerAt(json, key, otherwise);
        Json.check(count >= 0, key);
        return Math.min(count, MOST);
    }
}
