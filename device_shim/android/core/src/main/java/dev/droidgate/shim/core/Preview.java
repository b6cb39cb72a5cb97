package dev.droidgate.shim.core;

/** What the user is asked about a request. */
public final class Preview {
    /** The capability that it asks for. */
    public final Route route;

    /** Its arguments as it has them, which fit the capability: the JSON text of an object. */
    public final String arguments;

    /** Until when the user may decide, in milliseconds of the engine's clock. */
    public final long until;

    Preview(Route route, String arguments, long until) {
        this.route = route;
        this.arguments = arguments;
        this.until = until;
    }
}
