package dev.droidgate.shim.core;

import java.util.HashMap;
import java.util.Iterator;
import java.util.Map;

/**
 * How many requests each caller may still send (shim-engine.md 3, step 1): a bucket for each, which fills
 * evenly with time. Safe to use from several threads; times are milliseconds of one clock that does not go
 * back.
 */
final class Rates {
    private static final long MINUTE_MS = 60_000;
    private static final long SECOND_MS = 1_000;
    private static final int MANY_BUCKETS = 256;

    private final CallLimits limits;
    private final Map<CallKey, Bucket> buckets = new HashMap<>();

    /** What is left of a caller's rate: a request costs {@link #MINUTE_MS}. */
    private static final class Bucket {
        long level;
        long at;
    }

    Rates(CallLimits limits) {
        this.limits = limits;
    }

    /**
     * Takes a request from a caller's bucket.
     *
     * @param caller a key without an id
     * @return the failure {@code busy} where the bucket is empty, else null
     */
    synchronized CallFailure take(CallKey caller, long now) {
        Bucket bucket = bucketOf(caller, now);
        if (bucket.level < MINUTE_MS) {
            return busy("this app sent too many requests", "", waitOf(bucket));
        }
        bucket.level -= MINUTE_MS;
        return null;
    }

    /** Returns a failure, with the time after which to retry where that is known: where it is positive. */
    static CallFailure busy(String why, String bound, long wait) {
        String retry = wait <= 0 ? "" : "; retry in " + bound + (wait + SECOND_MS - 1) / SECOND_MS + " s";
        return new CallFailure(FailureTokens.BUSY, why + retry);
    }

    /** Returns in how many milliseconds a bucket has enough for a request; -1 for never. */
    private long waitOf(Bucket bucket) {
        if (limits.perMinute == 0 || limits.burst == 0) {
            return -1;
        }
        return (MINUTE_MS - bucket.level + limits.perMinute - 1) / limits.perMinute;
    }

    private Bucket bucketOf(CallKey caller, long now) {
        Bucket bucket = buckets.get(caller);
        if (bucket == null) {
            forgetFull(now);
            bucket = new Bucket();
            bucket.level = limits.burst * MINUTE_MS;
            buckets.put(caller, bucket);
        } else {
            fill(bucket, now);
        }
        bucket.at = now;
        return bucket;
    }

    private void fill(Bucket bucket, long now) {
        long missing = limits.burst * MINUTE_MS - bucket.level;
        long elapsed = Math.min(Math.max(0, now - bucket.at), missing);
        bucket.level += Math.min(missing, elapsed * limits.perMinute);
        bucket.at = now;
    }

    /** Forgets buckets that are as good as new, so that they do not grow with the number of callers. */
    private void forgetFull(long now) {
        if (buckets.size() < MANY_BUCKETS) {
            return;
        }
        for (Iterator<Bucket> all = buckets.values().iterator(); all.hasNext(); ) {
            Bucket bucket = all.next();
            fill(bucket, now);
            if (bucket.level == limits.burst * MINUTE_MS) {
                all.remove();
            }
        }
    }
}
