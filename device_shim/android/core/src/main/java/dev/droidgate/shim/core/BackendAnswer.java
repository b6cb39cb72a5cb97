package dev.droidgate.shim.core;

import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;

/** What a backend answered, before it is read. */
public final class BackendAnswer {
    /** The kinds of backends; each answers in its own form. */
    public static final String ACTIVITY = "mmcp-activity";

    public static final String BROADCAST = "mmcp-broadcast";
    public static final String APP_FUNCTION = "app-function";
    public static final String MOBILE_MCP = "mobile-mcp";

    /** A screen that opens and reports nothing: its answer is an activity's. */
    public static final String APP_ACTION = "app-action";

    /** The kind of backend that answers so, null where any may. */
    private final String form;

    final long code;
    final Map<String, Object> extras;
    final String data;
    final Map<String, Object> document;
    final CallFailure failure;
    private MobileMcpResponse response;

    private BackendAnswer(
            String form,
            long code,
            Map<String, Object> extras,
            String data,
            Map<String, Object> document,
            CallFailure failure) {
        this.form = form;
        this.code = code;
        this.extras = extras == null ? Collections.<String, Object>emptyMap() : extras;
        this.data = data;
        this.document = document;
        this.failure = failure;
    }

    /** Returns whether a kind of backend answers so. */
    boolean isFrom(String backend) {
        return form == null || form.equals(backend);
    }

    /**
     * Returns whether it answers a call: a Mobile-MCP tool also sends timings, and may answer another
     * request.
     *
     * @param sent the id of the Mobile-MCP request that went out
     */
    boolean isAnswerTo(String sent) {
        return !MOBILE_MCP.equals(form) || !MobileMcpWire.isTrace(extras) && !response().isToOther(sent);
    }

    /** Returns the response of a Mobile-MCP tool, which is read once. */
    synchronized MobileMcpResponse response() {
        if (response == null) {
            response = MobileMcpResponse.read(extras);
        }
        return response;
    }

    /** An activity's result code and extras; null for no extras. */
    public static BackendAnswer ofActivity(long code, Map<String, Object> extras) {
        return new BackendAnswer(ACTIVITY, code, extras, null, null, null);
    }

    /** A broadcast's result code and data; null for no data. */
    public static BackendAnswer ofBroadcast(long code, String data) {
        return new BackendAnswer(BROADCAST, code, null, data, null, null);
    }

    /** A function's response as a document. */
    public static BackendAnswer ofDocument(Map<String, Object> document) {
        return new BackendAnswer(APP_FUNCTION, 0, null, null, document, null);
    }

    /** A function's error code and message; the number stays in the message. */
    public static BackendAnswer ofError(long code, String message) {
        boolean isEmpty = message == null || message.isEmpty();
        String text = code + " " + (isEmpty ? "gave no message" : message);
        CallFailure failure = new CallFailure(FailureTokens.ofCode(code), text);
        return new BackendAnswer(APP_FUNCTION, code, null, message, null, failure);
    }

    /** The extras of another tool's response. */
    public static BackendAnswer ofMobileMcp(Map<String, Object> extras) {
        return new BackendAnswer(MOBILE_MCP, 0, extras, null, null, null);
    }

    /** A failure to call the backend at all. */
    public static BackendAnswer ofFailure(CallFailure failure) {
        return new BackendAnswer(null, 0, null, null, null, failure);
    }

    /** Returns it as a vector has it (shim-engine.md 9); a failure to call as its token and text. */
    public Map<String, Object> written() {
        Map<String, Object> written = new LinkedHashMap<>();
        if (failure != null) {
            Map<String, Object> error = new LinkedHashMap<>();
            error.put(form == null ? "token" : "code", form == null ? failure.token : (Object) code);
            error.put("message", form == null ? failure.getMessage() : data);
            written.put(form == null ? "failure" : "error", error);
        } else if (document != null) {
            written.put("document", document);
        } else if (BROADCAST.equals(form)) {
            written.put("code", code);
            written.put("data", data);
        } else {
            if (ACTIVITY.equals(form)) {
                written.put("code", code);
            }
            written.put("extras", extras);
        }
        return written;
    }
}
