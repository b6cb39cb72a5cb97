package dev.droidgate.shim.core;

import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;

/** What a backend answered, before it is read. */
public abstract class BackendAnswer {
    /**
     * Returns whether it answers a call: a Mobile-MCP tool also sends timings, and may answer another
     * request.
     *
     * @param sent the id of the Mobile-MCP request that went out
     */
    boolean isAnswerTo(String sent) {
        return true;
    }

    /** Returns it as a vector has it (shim-engine.md 9). */
    public abstract Map<String, Object> written();

    private static Map<String, Object> pair(String name, Object value, String other, Object otherValue) {
        Map<String, Object> written = new LinkedHashMap<>();
        written.put(name, value);
        written.put(other, otherValue);
        return written;
    }

    /** An activity's result code and extras. */
    public static final class ActivityAnswer extends BackendAnswer {
        final long code;
        final Map<String, Object> extras;

        public ActivityAnswer(long code, Map<String, Object> extras) {
            this.code = code;
            this.extras = extras;
        }

        @Override
        public Map<String, Object> written() {
            return pair("code", code, "extras", extras);
        }
    }

    /** A broadcast's result code and data; null for no data. */
    public static final class BroadcastAnswer extends BackendAnswer {
        final long code;
        final String data;

        public BroadcastAnswer(long code, String data) {
            this.code = code;
            this.data = data;
        }

        @Override
        public Map<String, Object> written() {
            return pair("code", code, "data", data);
        }
    }

    /** An app function's document, or its error code and message where it has no document. */
    public static final class FunctionAnswer extends BackendAnswer {
        /** Null where there is an error code. */
        public final Map<String, Object> document;

        public final long code;
        public final String message;

        public FunctionAnswer(Map<String, Object> document) {
            this(document, 0, null);
        }

        public FunctionAnswer(long code, String message) {
            this(null, code, message);
        }

        private FunctionAnswer(Map<String, Object> document, long code, String message) {
            this.document = document;
            this.code = code;
            this.message = message;
        }

        @Override
        public Map<String, Object> written() {
            return document == null
                    ? Collections.<String, Object>singletonMap(
                            "error", pair("code", code, "message", message))
                    : Collections.<String, Object>singletonMap("document", document);
        }
    }

    /** The extras or the Bundle of a Mobile-MCP response. */
    public static final class ResponseAnswer extends BackendAnswer {
        private final Map<String, Object> extras;
        private MobileMcpResponse response;

        public ResponseAnswer(Map<String, Object> extras) {
            this.extras = extras;
        }

        @Override
        boolean isAnswerTo(String sent) {
            return !MobileMcpWire.isTrace(extras) && !response().isToOther(sent);
        }

        /** Returns the response, which is read once. */
        synchronized MobileMcpResponse response() {
            if (response == null) {
                response = MobileMcpResponse.read(extras);
            }
            return response;
        }

        @Override
        public Map<String, Object> written() {
            return Collections.<String, Object>singletonMap("extras", extras);
        }
    }
}
