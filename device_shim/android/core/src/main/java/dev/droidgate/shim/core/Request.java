package dev.droidgate.shim.core;

import java.util.Collections;
import java.util.Map;

/** A request of Mobile-MCP, or what was read of one: enough to answer it. */
final class Request {
    /** The dialect in which it is answered. */
    final Dialect dialect;

    /** It stood in the document that names a version. */
    final boolean wrapped;

    /** The extra that held it. */
    final String extra;

    /** Its id as text, empty where none was read. */
    String id = "";

    /** The id as the peer wrote it, which an answer repeats. */
    Object writtenId = "";

    String capability = "";
    Map<String, Object> arguments = Collections.emptyMap();

    Request(Dialect dialect, boolean wrapped, String extra) {
        this.dialect = dialect;
        this.wrapped = wrapped;
        this.extra = extra;
    }
}
