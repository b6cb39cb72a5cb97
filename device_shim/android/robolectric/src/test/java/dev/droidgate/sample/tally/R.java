package dev.droidgate.sample.tally;

/** The resource ids that the tally app's classes name; its resources are not here. */
final class R {
    private R() {}

    static final class string {
        static final int service_channel = 1;
        static final int service_notification = 2;
    }

    static final class xml {
        static final int mcp_capabilities = 3;
    }
}
