package dev.droidgate.shim.core;

import java.util.LinkedHashMap;
import java.util.Map;

/** What goes to a backend: string extras, or a function's id with its parameters. */
public final class Outgoing {
    /**
     * UTF-16 units of all texts of a message, intent or result together: 128 KiB, a quarter of what one-way
     * transactions have in a process (reference android-runtime 1.7). One that does not fit fails, and
     * Android crashes a process that a broadcast cannot be delivered to.
     */
    static final int MOST_CARRIED = 65_536;

    /** The extras of an intent or message; null for a function. */
    public final Map<String, String> extras;

    /** The function's id; null where extras go. */
    public final String function;

    /** The function's parameters as a document (shim-engine.md 5). */
    public final Map<String, Object> document;

    /** The id of a Mobile-MCP request, which its response has to repeat; null for other calls. */
    public final String requestId;

    Outgoing(
            Map<String, String> extras, String function, Map<String, Object> document, String requestId) {
        this.requestId = requestId;
        this.extras = extras;
        this.function = function;
        this.document = document;
    }

    /** Returns it as a vector has it (shim-engine.md 9). */
    public Map<String, Object> written() {
        Map<String, Object> written = new LinkedHashMap<>();
        if (extras != null) {
            written.put("extras", extras);
        } else {
            written.put("function", function);
            written.put("document", document);
        }
        return written;
    }

    /** Refuses a call that is too long to be sent. */
    static void check(int units) throws CallFailure {
        if (units > MOST_CARRIED) {
            throw new CallFailure(
                    FailureTokens.INVALID_ARGUMENT,
                    "the call has " + units + " characters; at most " + MOST_CARRIED
                            + " can be sent to an app");
        }
    }

    /** Returns the UTF-16 units of all texts together. */
    static int unitsOf(Map<String, String> extras) {
        int units = 0;
        for (String extra : extras.values()) {
            units += extra.length();
        }
        return units;
    }
}
