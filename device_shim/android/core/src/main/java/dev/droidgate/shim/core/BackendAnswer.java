package dev.droidgate.shim.core;

import java.util.Collections;
import java.util.Map;

/** What a backend answered, before it is read. */
public final class BackendAnswer {
    final long code;
    final Map<String, Object> extras;
    final String data;
    final Map<String, Object> document;
    final CallFailure failure;

    /** It only carries timings and is no answer. */
    final boolean isTrace;

    private BackendAnswer(
            long code,
            Map<String, Object> extras,
            String data,
            Map<String, Object> document,
            CallFailure failure,
            boolean isTrace) {
        this.code = code;
        this.extras = extras == null ? Collections.<String, Object>emptyMap() : extras;
        this.data = data;
        this.document = document;
        this.failure = failure;
        this.isTrace = isTrace;
    }

    /** An activity's result code and extras; null for no extras. */
    public static BackendAnswer ofActivity(long code, Map<String, Object> extras) {
        return new BackendAnswer(code, extras, null, null, null, false);
    }

    /** A broadcast's result code and data; null for no data. */
    public static BackendAnswer ofBroadcast(long code, String data) {
        return new BackendAnswer(code, null, data, null, null, false);
    }

    /** A function's response as a document. */
    public static BackendAnswer ofDocument(Map<String, Object> document) {
        return new BackendAnswer(0, null, null, document, null, false);
    }

    /** A function's error code and message; the number stays in the message. */
    public static BackendAnswer ofError(long code, String message) {
        String text = message == null || message.isEmpty() ? "" + code : code + " " + message;
        return ofFailure(new CallFailure(FailureTokens.ofCode(code), text));
    }

    /** The extras of another tool's response. */
    public static BackendAnswer ofTool(Map<String, Object> extras) {
        return new BackendAnswer(0, extras, null, null, null, ToolWire.isTrace(extras));
    }

    /** A failure to call the backend at all. */
    public static BackendAnswer ofFailure(CallFailure failure) {
        return new BackendAnswer(0, null, null, null, failure, false);
    }
}
