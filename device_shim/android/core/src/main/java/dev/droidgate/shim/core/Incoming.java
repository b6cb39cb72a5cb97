package dev.droidgate.shim.core;

import java.util.LinkedHashMap;
import java.util.Map;

/** A request as an edge took it: read once, with what an answer needs where it cannot be read to its end. */
public final class Incoming {
    /** UTF-16 units that are read of a request that is refused unread. */
    private static final int REFUSED_UNITS = 4_096;

    /** Whether the platform vouches for the caller: it came in a message, not by a start. */
    final boolean bound;

    /** What was read of it; null where no extra holds a request, so nobody can be answered. */
    final MobileMcpRequest request;

    /** Why it goes no further; null for a request. */
    final CallFailure failure;

    private Incoming(boolean bound, MobileMcpRequest request, CallFailure failure) {
        this.bound = bound;
        this.request = request;
        this.failure = failure;
    }

    /**
     * Reads a request.
     *
     * @param bound whether it came in a bound service's message, else by starting the service
     * @param extras name -> value of the message or intent
     */
    public static Incoming read(boolean bound, Map<String, ?> extras) {
        RequestReader reader = new RequestReader(bound);
        try {
            return new Incoming(bound, reader.read(extras), null);
        } catch (CallFailure unreadable) {
            return new Incoming(bound, reader.seen, unreadable);
        }
    }

    /** Returns a request that fails, read as far as its answer needs. */
    public static Incoming refused(boolean bound, Map<String, ?> extras, CallFailure failure) {
        return new Incoming(bound, read(bound, extras).request, failure);
    }

    /** Returns what is read of a request that is refused: its texts up to 4,096 UTF-16 units. */
    public static Map<String, Object> beginning(Map<String, ?> extras) {
        Map<String, Object> cut = new LinkedHashMap<>();
        for (Map.Entry<String, ?> extra : extras.entrySet()) {
            Object value = extra.getValue();
            boolean isLong = value instanceof String && ((String) value).length() > REFUSED_UNITS;
            cut.put(extra.getKey(), isLong ? ((String) value).substring(0, REFUSED_UNITS) : value);
        }
        return cut;
    }

    /** Returns the id of the capability that it asks for, empty where none was read. */
    public String capability() {
        return request == null ? "" : request.capability;
    }

    /**
     * Returns what is enough to answer it after this process, JSON text; null where nobody can be answered.
     */
    public String entry() {
        return request == null ? null : Journal.writeEntry(request);
    }

    /** Returns the extras that answer it with a failure; null where nobody can be answered. */
    public Map<String, String> failed(CallFailure why) {
        return request == null ? null : ResponseWriter.writeFailure(request, why);
    }

    /** Returns the extras that answer it with its own failure; null where nobody can be answered. */
    public Map<String, String> failed() {
        return failed(failure);
    }
}
