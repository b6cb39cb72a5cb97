package dev.droidgate.sample.pdftool;

/** A call that cannot be served, with a reason the assistant can act on. */
final class ToolException extends Exception {
    ToolException(String reason) {
        super(reason);
    }
}
