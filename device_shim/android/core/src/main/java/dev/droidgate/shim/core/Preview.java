package dev.droidgate.shim.core;

import java.util.Map;

/** What the user is asked about a request. */
public final class Preview {
    /** The capability that it asks for. */
    public final Route route;

    /** Its arguments as it has them, which fit the capability. */
    public final Map<String, Object> arguments;

    /** Until when the user may decide, in milliseconds of the engine's clock. */
    public final long until;

    Preview(Route route, Map<String, Object> arguments, long until) {
        this.route = route;
        this.arguments = arguments;
        this.until = until;
    }
}
