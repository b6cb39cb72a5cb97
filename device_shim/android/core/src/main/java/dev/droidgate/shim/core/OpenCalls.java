package dev.droidgate.shim.core;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * The requests that wait for their answer (shim-engine.md 3 and 7): one answer each, and not too many. A call
 * that is closed here is given to its closer, who has to answer it, and to nobody else. For one thread; times
 * are milliseconds of one clock that does not go back.
 *
 * @param <S> what is kept for a call
 */
final class OpenCalls<S> {
    private static final String AT_MOST = "at most ";

    private final CallLimits limits;

    /** By number, in the order of the requests. */
    private final Map<Long, OpenCall<S>> calls = new LinkedHashMap<>();

    private final Map<CallKey, OpenCall<S>> byKey = new HashMap<>();
    private long lastNumber;

    /** A call that is open, or was until now. */
    static final class OpenCall<S> {
        /** Unlike that of every other call, also of a later one with the same key. */
        final long number;

        final CallKey key;
        final S state;
        long deadline;

        OpenCall(long number, CallKey key, S state, long deadline) {
            this.number = number;
            this.key = key;
            this.state = state;
            this.deadline = deadline;
        }
    }

    OpenCalls(CallLimits limits) {
        this.limits = limits;
    }

    /**
     * Takes a request and returns its number.
     *
     * @throws CallFailure {@code busy}; nothing is kept then
     */
    long open(CallKey key, S state, long now, long deadline) throws CallFailure {
        OpenCall<S> same = byKey.get(key);
        if (same != null) {
            throw Rates.busy(
                    "a request with this id is open; use another id, or wait for its answer",
                    AT_MOST,
                    same.deadline - now);
        }
        int ofCaller = 0;
        long nextOfCaller = -1;
        for (OpenCall<S> call : calls.values()) {
            if (call.key.hasCallerOf(key)) {
                ofCaller++;
                nextOfCaller = nextOfCaller < 0 ? call.deadline : Math.min(nextOfCaller, call.deadline);
            }
        }
        if (ofCaller >= limits.openPerCaller) {
            throw Rates.busy("this app has " + ofCaller + " requests open", AT_MOST, nextOfCaller - now);
        }
        if (calls.size() >= limits.open) {
            throw Rates.busy(calls.size() + " requests of all apps are open", AT_MOST, nextDeadline() - now);
        }
        OpenCall<S> opened = new OpenCall<>(++lastNumber, key, state, deadline);
        calls.put(opened.number, opened);
        byKey.put(key, opened);
        return opened.number;
    }

    /** Returns the state of the call of a number, null where it is not open (any more). */
    S find(long number) {
        OpenCall<S> call = calls.get(number);
        return call == null ? null : call.state;
    }

    /** Gives an open call another deadline. */
    void extend(long number, long deadline) {
        calls.get(number).deadline = deadline;
    }

    /** Returns the state of a call and forgets it; null where it is not open (any more). */
    S close(long number) {
        OpenCall<S> call = calls.remove(number);
        if (call == null) {
            return null;
        }
        byKey.remove(call.key);
        return call.state;
    }

    /** Returns and forgets what has waited too long, by deadline and in the order of their requests. */
    List<OpenCall<S>> expire(long now) {
        List<OpenCall<S>> expired = new ArrayList<>();
        for (Iterator<OpenCall<S>> all = calls.values().iterator(); all.hasNext(); ) {
            OpenCall<S> call = all.next();
            if (call.deadline <= now) {
                all.remove();
                byKey.remove(call.key);
                int place = expired.size();
                while (place > 0 && expired.get(place - 1).deadline > call.deadline) {
                    place--;
                }
                expired.add(place, call);
            }
        }
        return expired;
    }

    /** Returns everything that is open, in the order of the requests, and leaves it open. */
    List<OpenCall<S>> all() {
        return new ArrayList<>(calls.values());
    }

    /** Returns the next deadline, -1 where nothing is open. */
    long nextDeadline() {
        long next = -1;
        for (OpenCall<S> call : calls.values()) {
            next = next < 0 ? call.deadline : Math.min(next, call.deadline);
        }
        return next;
    }
}
