package dev.droidgate.shim.core;

/** What the user would be asked about a request. */
public final class Preview {
    /** The id of what it asks for. */
    public final String capability;

    /** What it says that the arguments are, whether they fit or not: the JSON text of an object. */
    public final String arguments;

    Preview(String capability, String arguments) {
        this.capability = capability;
        this.arguments = arguments;
    }
}
