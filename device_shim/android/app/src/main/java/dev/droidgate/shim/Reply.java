package dev.droidgate.shim;

import android.os.Bundle;
import android.os.SystemClock;
import android.util.Log;
import dev.droidgate.shim.core.CallFailure;
import dev.droidgate.shim.core.FailureTokens;
import dev.droidgate.shim.core.Incoming;
import dev.droidgate.shim.core.Journal;
import dev.droidgate.shim.core.MalformedJsonException;
import dev.droidgate.shim.core.Outgoing;
import dev.droidgate.shim.core.Route;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** Where the one answer of a request goes, and who asked. */
public abstract class Reply {
    /** UTF-16 units of an answer that a shorter one would not help. */
    private static final int SHORT = 8_192;

    /** It has not been brought to its app yet. */
    public static final String STAGE_WAITING = "waiting";

    /** The window that calls its app waits for its turn, for Android or for a tap. */
    public static final String STAGE_WINDOW = "window";

    /** The app has it. */
    public static final String STAGE_APP = "app";

    /** Whether the platform vouches for the caller. */
    public final boolean bound;

    final long since = SystemClock.elapsedRealtime();

    /**
     * Who asked; of a start, who receives the answer. Its packages are looked up when the engine takes the
     * request.
     */
    public volatile Caller caller;

    /** What is enough to answer it after this process; null where nobody could be answered. */
    public volatile String entry;

    /** The request, until it is read. */
    volatile Map<String, Object> unread;

    /** How far it has come: {@link #STAGE_WAITING}, {@link #STAGE_WINDOW} or {@link #STAGE_APP}. */
    public volatile String stage = STAGE_WAITING;

    /** The capability that it asks for, empty where none was read. */
    volatile String capability = "";

    private boolean answered;
    private final List<Runnable> ends = new ArrayList<>();

    public Reply(Caller caller, boolean bound) {
        this.caller = caller;
        this.bound = bound;
    }

    /**
     * Sends the answer.
     *
     * @param extras null where the request's form is not known
     * @param token the failure's token, null on success
     */
    public abstract void send(Map<String, String> extras, String token);

    /** Keeps what is needed to answer after this process has died; nothing where that cannot be. */
    public void save(Bundle out) {}

    /**
     * Has something run when the process that asked dies, where Android reports it; returns whether it lives.
     */
    public boolean watch(Runnable died) {
        return true;
    }

    /** Keeps what goes to the app, for a call that is traced. */
    public void sent(Route route, Outgoing outgoing) {}

    /** Keeps what came from the app, as a vector has it, for a call that is traced. */
    public void came(Map<String, Object> answer) {}

    /** Returns why a request whose answer cannot go there is not carried out, null where it can. */
    public CallFailure obstacle() {
        return null;
    }

    /** Takes what was read of the request. */
    public final void identify(Incoming incoming) {
        entry = incoming.entry();
        capability = incoming.capability();
        unread = null;
    }

    /** Returns what is enough to answer the request, read or not; null where nobody could be answered. */
    public final String anyEntry() {
        Map<String, Object> extras = unread;
        return entry != null || extras == null
                ? entry
                : Incoming.read(bound, Incoming.beginning(extras)).entry();
    }

    /** Returns whom Android names as the sender: nobody for a start. */
    public final Caller sender() {
        return bound ? caller : Caller.NOBODY;
    }

    /** Answers, once; returns whether this was the first answer. */
    public final boolean answer(Map<String, String> extras, String token) {
        synchronized (this) {
            if (answered) {
                return false;
            }
            answered = true;
        }
        try {
            send(extras, token);
        } catch (RuntimeException unexpected) {
            Log.w("droidgate", "an answer was not sent", unexpected);
        }
        // Nothing is added any more: what comes now runs at once.
        for (Runnable end : ends) {
            try {
                end.run();
            } catch (RuntimeException unexpected) {
                Log.w("droidgate", "the end of a call was not taken", unexpected);
            }
        }
        return true;
    }

    /** Answers a request that could not be written in the engine's form. */
    public void refuse(CallFailure failure) {
        answer(null, failure.token);
    }

    /** Returns whether the answer has gone, or is about to. */
    public final synchronized boolean isAnswered() {
        return answered;
    }

    /** Runs something when the answer has gone, at once where it has. */
    public final void whenAnswered(Runnable done) {
        synchronized (this) {
            if (!answered) {
                ends.add(done);
                return;
            }
        }
        done.run();
    }

    /** Hands an answer to the platform. */
    public interface Delivery {
        /** Returns whether it took the answer: the agent lives, and there was room. */
        boolean deliver(Map<String, String> extras);
    }

    /**
     * Delivers an answer; where that fails and the answer was long, a short failure.
     *
     * @param entry what is enough to answer the request
     * @param extras null for no answer
     */
    public static void deliver(String entry, Map<String, String> extras, Delivery delivery) {
        if (extras == null || delivery.deliver(extras)) {
            return;
        }
        int units = Outgoing.carriedUnits(extras);
        if (entry == null || units <= SHORT) {
            return;
        }
        CallFailure failure =
                new CallFailure(
                        FailureTokens.MALFORMED_RESPONSE,
                        "the call ran, but Android could not deliver its answer of "
                                + units
                                + " characters; ask for less, or for one answer at a time");
        try {
            delivery.deliver(Journal.answerEntry(entry, failure));
        } catch (MalformedJsonException unreadable) {
            Log.w("droidgate", "an answer was not sent", unreadable);
        }
    }

    /** Returns the extras that answer what an earlier process left; null where nobody can be answered. */
    public static Map<String, String> interrupted(String entry) {
        try {
            return entry == null ? null : Journal.answerEntry(entry);
        } catch (MalformedJsonException unreadable) {
            return null;
        }
    }
}
