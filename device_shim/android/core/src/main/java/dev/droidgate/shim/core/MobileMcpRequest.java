package dev.droidgate.shim.core;

import java.util.Collections;
import java.util.Map;

/** A request of Mobile-MCP, or what was read of one: enough to answer it. */
final class MobileMcpRequest {
    /** The dialect in which it is answered. */
    final WireDialect dialect;

    /** It was in the document that names a version. */
    final boolean wrapped;

    /** The extra that it came in. */
    final String extra;

    /** Its id as text, empty where none was read. */
    String id = "";

    /** The id as the peer wrote it, which an answer repeats. */
    Object writtenId = "";

    /** UTF-16 units of an id: an answer repeats it, and has a limit of its own. */
    static final int MAX_ID_UNITS = 1_024;

    String capability = "";
    Map<String, Object> arguments = Collections.emptyMap();

    MobileMcpRequest(WireDialect dialect, boolean wrapped, String extra) {
        this.dialect = dialect;
        this.wrapped = wrapped;
        this.extra = extra;
    }

    /** Returns whether a value can be an id: a text that is neither empty nor too long, or an integer. */
    static boolean isId(Object value) {
        if (value instanceof String) {
            int length = ((String) value).length();
            return length > 0 && length <= MAX_ID_UNITS;
        }
        return value instanceof Long;
    }

    /** Takes the id that the peer wrote, if it is one. */
    void identify(Object written) {
        if (isId(written)) {
            id = written.toString();
            writtenId = written;
        }
    }
}
