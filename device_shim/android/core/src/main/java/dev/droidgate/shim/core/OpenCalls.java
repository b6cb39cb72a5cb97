package dev.droidgate.shim.core;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * The requests that wait for their answer (docs/shim-engine.md 3 and 7): one answer each, and not too many. A call
 * that is closed here is given to its closer, who has to answer it, and to nobody else. For one thread; times are
 * milliseconds of one clock that does not go back.
 *
 * @param <H> what is held for a request
 */
final class OpenCalls<H> {
    private static final String AT_MOST = "at most ";

    private final Limits limits;

    /** By number, in the order of the requests. */
    private final Map<Long, Call<H>> calls = new LinkedHashMap<>();

    private final Map<CallKey, Call<H>> byKey = new HashMap<>();
    private long lastNumber;

    /** A call that is open, or was until now. */
    static final class Call<H> {
        /** Unlike that of every other call, also of a later one with the same key. */
        final long number;

        final CallKey key;
        final H held;
        private long deadline;

        Call(long number, CallKey key, H held, long deadline) {
            this.number = number;
            this.key = key;
            this.held = held;
            this.deadline = deadline;
        }

        long deadline() {
            return deadline;
        }
    }

    OpenCalls(Limits limits) {
        this.limits = limits;
    }

    /**
     * Takes a request and returns its number.
     *
     * @throws CallFailure {@code busy}; nothing is held then
     */
    long open(CallKey key, H held, long now, long deadline) throws CallFailure {
        Call<H> same = byKey.get(key);
        if (same != null) {
            throw Rates.busy(
                    "a request with this id is open; use another id, or wait for its answer",
                    AT_MOST,
                    same.deadline - now);
        }
        int ofCaller = 0;
        long nextOfCaller = -1;
        for (Call<H> call : calls.values()) {
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
        Call<H> opened = new Call<>(++lastNumber, key, held, deadline);
        calls.put(opened.number, opened);
        byKey.put(key, opened);
        return opened.number;
    }

    /** Returns what is held for the request of a number, null where it is not open (any more). */
    H find(long number) {
        Call<H> call = calls.get(number);
        return call == null ? null : call.held;
    }

    /** Gives an open call another deadline. */
    void extend(long number, long deadline) {
        calls.get(number).deadline = deadline;
    }

    /** Returns what was held for a request and forgets it; null where it is not open (any more). */
    H close(long number) {
        Call<H> call = calls.remove(number);
        if (call == null) {
            return null;
        }
        byKey.remove(call.key);
        return call.held;
    }

    /** Returns and forgets what has waited too long, by deadline and in the order of their requests. */
    List<Call<H>> expire(long now) {
        List<Call<H>> expired = new ArrayList<>();
        for (Iterator<Call<H>> all = calls.values().iterator(); all.hasNext(); ) {
            Call<H> call = all.next();
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
    List<Call<H>> open() {
        return new ArrayList<>(calls.values());
    }

    /** Returns the next deadline, -1 where nothing is open. */
    long nextDeadline() {
        long next = -1;
        for (Call<H> call : calls.values()) {
            next = next < 0 ? call.deadline : Math.min(next, call.deadline);
        }
        return next;
    }
}
