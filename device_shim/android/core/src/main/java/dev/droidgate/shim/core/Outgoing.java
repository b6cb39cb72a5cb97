package dev.droidgate.shim.core;

import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;

/** What goes to a backend. */
public abstract class Outgoing {
    /**
     * UTF-16 units of all texts of a message, intent or result together: 128 KiB, a quarter of what one-way
     * transactions have in a process (reference android-runtime 1.7). One that does not fit fails, and
     * Android crashes a process that a broadcast cannot be delivered to.
     */
    static final int MAX_CARRIED_UNITS = 65_536;

    Outgoing(int units) throws CallFailure {
        if (units > MAX_CARRIED_UNITS) {
            throw new CallFailure(
                    FailureTokens.INVALID_ARGUMENT,
                    "the call has " + units + " characters; at most " + MAX_CARRIED_UNITS
                            + " can be sent to an app");
        }
    }

    /** Returns the id of a Mobile-MCP request, which its response has to repeat; null for other calls. */
    public String requestId() {
        return null;
    }

    /** Returns it as a vector has it (shim-engine.md 9). */
    public abstract Map<String, Object> written();

    /** Returns the UTF-16 units of all texts together. */
    public static int carriedUnits(Map<String, String> extras) {
        int units = 0;
        for (String extra : extras.values()) {
            units += extra.length();
        }
        return units;
    }

    /** A call that travels as texts: an mMCP intent or broadcast, a Mobile-MCP request, or a whole intent. */
    public static final class ExtrasCall extends Outgoing {
        public final Map<String, String> extras;
        private final String requestId;

        ExtrasCall(Map<String, String> extras, String requestId) throws CallFailure {
            super(carriedUnits(extras));
            this.extras = extras;
            this.requestId = requestId;
        }

        @Override
        public String requestId() {
            return requestId;
        }

        @Override
        public Map<String, Object> written() {
            return Collections.<String, Object>singletonMap("extras", extras);
        }
    }

    /** A call of an app function. */
    public static final class AppFunctionCall extends Outgoing {
        public final String function;

        /** Its parameters (shim-engine.md 5). */
        public final Map<String, Object> document;

        AppFunctionCall(String function, Map<String, Object> document) throws CallFailure {
            super(JsonWriter.write(document).length());
            this.function = function;
            this.document = document;
        }

        @Override
        public Map<String, Object> written() {
            Map<String, Object> written = new LinkedHashMap<>();
            written.put("function", function);
            written.put("document", document);
            return written;
        }
    }
}
