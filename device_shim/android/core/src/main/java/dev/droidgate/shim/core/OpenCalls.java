package dev.droidgate.shim.core;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * The requests that wait for their answer (docs/shim-engine.md 3 and 7): one answer each, not too many, not too
 * often. Whoever gets a call from here has to answer it; nobody else gets it again. Safe to use from several
 * threads; times are milliseconds of one clock that does not go back.
 *
 * @param <H> what is held for a request
 */
final class OpenCalls<H> {
    private static final long MINUTE = 60_000;
    private static final long SECOND = 1_000;
    private static final String AT_MOST = "at most ";
    private static final int MANY_BUCKETS = 256;

    private final Limits limits;
    private final Map<CallKey, Call<H>> calls = new LinkedHashMap<>();
    private final Map<Long, Bucket> buckets = new HashMap<>();
    private long numbers;

    /** A call that is open, or was until now. */
    static final class Call<H> {
        /** Unlike that of every other call, also of a later one with the same key. */
        final long number;

        final CallKey key;
        final H held;
        final long deadline;

        Call(long number, CallKey key, H held, long deadline) {
            this.number = number;
            this.key = key;
            this.held = held;
            this.deadline = deadline;
        }
    }

    /** What is left of a caller's rate: a request costs {@link #MINUTE}. */
    private static final class Bucket {
        long level;
        long at;
    }

    OpenCalls(Limits limits) {
        this.limits = limits;
    }

    /**
     * Takes a request and returns its number.
     *
     * @throws CallFailure {@code busy}; nothing is held then
     */
    synchronized long open(CallKey key, H held, long now, long deadline) throws CallFailure {
        Call<H> same = calls.get(key);
        if (same != null) {
            throw busy(
                    "a request with this id is open; use another id, or wait for its answer",
                    AT_MOST,
                    same.deadline - now);
        }
        int mine = 0;
        long myNext = -1;
        for (Call<H> one : calls.values()) {
            if (one.key.caller == key.caller) {
                mine++;
                myNext = myNext < 0 ? one.deadline : Math.min(myNext, one.deadline);
            }
        }
        if (mine >= limits.openPerCaller) {
            throw busy("this app has " + mine + " requests open", AT_MOST, myNext - now);
        }
        if (calls.size() >= limits.open) {
            throw busy(calls.size() + " requests of all apps are open", AT_MOST, nextDeadline() - now);
        }
        Bucket bucket = bucketOf(key.caller, now);
        if (bucket.level < MINUTE) {
            throw busy("this app sent too many requests", "", waitOf(bucket));
        }
        bucket.level -= MINUTE;
        calls.put(key, new Call<>(++numbers, key, held, deadline));
        return numbers;
    }

    /** Returns the failure, with the time after which to retry where that is known: where it is positive. */
    private static CallFailure busy(String why, String bound, long wait) {
        String retry = wait <= 0 ? "" : "; retry in " + bound + (wait + SECOND - 1) / SECOND + " s";
        return new CallFailure(FailureTokens.BUSY, why + retry);
    }

    /** Returns in how many milliseconds a bucket has enough for a request; -1 for never. */
    private long waitOf(Bucket bucket) {
        if (limits.perMinute == 0 || limits.burst == 0) {
            return -1;
        }
        return (MINUTE - bucket.level + limits.perMinute - 1) / limits.perMinute;
    }

    private Bucket bucketOf(long caller, long now) {
        Bucket bucket = buckets.get(caller);
        if (bucket == null) {
            forgetFull(now);
            bucket = new Bucket();
            bucket.level = limits.burst * MINUTE;
            buckets.put(caller, bucket);
        } else {
            fill(bucket, now);
        }
        bucket.at = now;
        return bucket;
    }

    private void fill(Bucket bucket, long now) {
        long missing = limits.burst * MINUTE - bucket.level;
        long elapsed = Math.min(Math.max(0, now - bucket.at), missing);
        bucket.level += Math.min(missing, elapsed * limits.perMinute);
        bucket.at = now;
    }

    /**
     * Forgets buckets that are as good as new, so that they do not grow with the number of
     * callers.
     */
    private void forgetFull(long now) {
        if (buckets.size() < MANY_BUCKETS) {
            return;
        }
        for (Iterator<Bucket> all = buckets.values().iterator(); all.hasNext(); ) {
            Bucket one = all.next();
            fill(one, now);
            if (one.level == limits.burst * MINUTE) {
                all.remove();
            }
        }
    }

    /** Returns what is held for the request of a number, null where it is not open (any more). */
    synchronized H find(long number) {
        for (Call<H> one : calls.values()) {
            if (one.number == number) {
                return one.held;
            }
        }
        return null;
    }

    /** Returns what was held for a request and forgets it; null where it is not open (any more). */
    synchronized H close(CallKey key) {
        Call<H> call = calls.remove(key);
        return call == null ? null : call.held;
    }

    /** The same for the request of a number. */
    synchronized H close(long number) {
        for (Call<H> one : calls.values()) {
            if (one.number == number) {
                return close(one.key);
            }
        }
        return null;
    }

    /**
     * Returns and forgets what has waited too long, by deadline and in the order of their
     * requests.
     */
    synchronized List<Call<H>> expire(long now) {
        List<Call<H>> expired = new ArrayList<>();
        for (Iterator<Call<H>> all = calls.values().iterator(); all.hasNext(); ) {
            Call<H> one = all.next();
            if (one.deadline <= now) {
                all.remove();
                int place = expired.size();
                while (place > 0 && expired.get(place - 1).deadline > one.deadline) {
                    place--;
                }
                expired.add(place, one);
            }
        }
        return expired;
    }

    /** Returns everything that is open, in the order of the requests, and leaves it open. */
    synchronized List<Call<H>> open() {
        return new ArrayList<>(calls.values());
    }

    /** Returns the next deadline, -1 where nothing is open. */
    synchronized long nextDeadline() {
        long next = -1;
        for (Call<H> one : calls.values()) {
            next = next < 0 ? one.deadline : Math.min(next, one.deadline);
        }
        return next;
    }
}
