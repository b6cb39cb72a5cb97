package dev.droidgate.shim.host;

import java.util.HashMap;
import java.util.Map;

/** The calls of the computer that are open, by the ids that it gave them. */
final class HostCalls {
    static final String ID = "[0-9a-f]{32}";

    private final Map<String, HostReply> calls = new HashMap<>();

    /** Opens a call; false where one of this id is open. */
    synchronized boolean open(String id, HostReply reply) {
        if (calls.containsKey(id)) {
            return false;
        }
        calls.put(id, reply);
        reply.whenAnswered(() -> forget(id));
        return true;
    }

    /** Returns an open call, null where there is none of this id. */
    synchronized HostReply find(String id) {
        return calls.get(id);
    }

    private synchronized void forget(String id) {
        calls.remove(id);
    }
}
