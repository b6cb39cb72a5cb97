package dev.droidgate.shim.host;

import dev.droidgate.shim.Caller;
import dev.droidgate.shim.Reply;
import dev.droidgate.shim.core.Frontend;
import dev.droidgate.shim.core.Json;
import dev.droidgate.shim.core.Outgoing;
import dev.droidgate.shim.core.Route;
import dev.droidgate.shim.platform.Names;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/** The answer to the host, which waits for it. */
public final class HostReply extends Reply {
    static final String ID = "[0-9a-f]{32}";

    private final CountDownLatch answered = new CountDownLatch(1);
    private final boolean traced;
    private Map<String, Object> trace;
    private String text;
    private volatile String token;

    HostReply(Caller caller, boolean traced) {
        super(caller, true);
        this.traced = traced;
    }

    /** Joins the calls that are open until it is answered; false where one of this id is open. */
    boolean open(ConcurrentMap<String, HostReply> calls, String id) {
        if (calls.putIfAbsent(id, this) != null) {
            return false;
        }
        whenAnswered(() -> calls.remove(id));
        return true;
    }

    @Override
    public synchronized void sent(Route route, Outgoing outgoing) {
        if (traced) {
            trace = new LinkedHashMap<>();
            trace.put("to", route.destination);
            trace.put("id", outgoing.requestId());
            trace.put("sent", outgoing.written());
            Map<String, Object> origin = new LinkedHashMap<>();
            origin.put(Names.ORIGIN_PACKAGE, sender().packageName());
            origin.put(Names.ORIGIN_CERTIFICATE, sender().signer());
            trace.put("origin", origin);
            trace.put("answers", new ArrayList<>());
        }
    }

    @Override
    public synchronized void came(Map<String, Object> answer) {
        if (trace != null && !isAnswered()) {
            Json.list(trace.get("answers")).add(answer);
        }
    }

    /** Returns what went to the app and came from it; null where nothing went, or nobody asked. */
    synchronized Map<String, Object> trace() {
        return trace;
    }

    @Override
    public void send(Map<String, String> extras, String failed) {
        text = Frontend.textOf(extras);
        token = failed;
        answered.countDown();
    }

    /** Waits for the answer; false where none came in time. */
    boolean await(long milliseconds) {
        try {
            return answered.await(milliseconds, TimeUnit.MILLISECONDS);
        } catch (InterruptedException stopped) {
            return false;
        }
    }

    /** Returns the response's text, null where the request's form was not known. */
    String text() {
        return text;
    }

    String token() {
        return token;
    }
}
