package dev.droidgate.shim.core;

import java.util.LinkedHashMap;
import java.util.Map;

/** What outlives the shim's process: enough of each open request to answer it afterwards. */
public final class Journal {
    private Journal() {}

    /** Returns the entry of a request, JSON text. */
    static String writeEntry(MobileMcpRequest request) {
        Map<String, Object> entry = new LinkedHashMap<>();
        entry.put("dialect", request.dialect.id);
        entry.put("request_id", request.id);
        entry.put("id", request.writtenId);
        entry.put("capability", request.capability);
        entry.put("wrapped", request.wrapped);
        entry.put("extra", request.extra);
        return JsonWriter.write(entry);
    }

    /**
     * Returns the extras that answer a request of before the shim's death: {@code interrupted}.
     *
     * @throws MalformedJsonException this is not an entry
     */
    public static Map<String, String> answerEntry(String text) throws MalformedJsonException {
        return answerEntry(
                text,
                new CallFailure(FailureTokens.INTERRUPTED, "the shim was stopped during the call"));
    }

    /**
     * Returns the extras that answer an entry's request with a failure.
     *
     * @throws MalformedJsonException this is not an entry
     */
    public static Map<String, String> answerEntry(String text, CallFailure failure)
            throws MalformedJsonException {
        Map<String, Object> entry = Json.objectOf(JsonReader.parseOwn(text), "an entry");
        WireDialect dialect = WireDialect.of(Json.textAt(entry, "dialect"));
        Json.check(dialect != null, "dialect");
        boolean wrapped = Json.flagAt(entry, "wrapped");
        MobileMcpRequest request = new MobileMcpRequest(dialect, wrapped, Json.textAt(entry, "extra"));
        request.id = Json.textAt(entry, "request_id");
        request.writtenId = entry.get("id");
        request.capability = Json.textAt(entry, "capability");
        return ResponseWriter.writeFailure(request, failure);
    }
}
