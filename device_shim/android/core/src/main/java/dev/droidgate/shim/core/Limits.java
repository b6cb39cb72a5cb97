package dev.droidgate.shim.core;

import java.util.Map;

/** How many requests may be open and come in (docs/shim-engine.md 3, 8). */
final class Limits {
    final long open;
    final long openPerCaller;
    final long burst;
    final long perMinute;

    Limits(Map<String, Object> json) throws MalformedJsonException {
        open = Json.integerAt(json, "open", 32);
        openPerCaller = Json.integerAt(json, "open_per_caller", 8);
        burst = Json.integerAt(json, "burst", 10);
        perMinute = Json.integerAt(json, "per_minute", 30);
    }
}
