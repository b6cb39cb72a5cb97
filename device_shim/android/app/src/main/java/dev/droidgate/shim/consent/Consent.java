package dev.droidgate.shim.consent;

import android.app.Activity;
import android.os.Build;
import dev.droidgate.shim.AppProcess;
import dev.droidgate.shim.CallControl;
import dev.droidgate.shim.Caller;
import dev.droidgate.shim.Reply;
import dev.droidgate.shim.core.CallFailure;
import dev.droidgate.shim.core.Engine;
import dev.droidgate.shim.core.FailureTokens;
import dev.droidgate.shim.core.JsonWriter;
import dev.droidgate.shim.core.Policy;
import dev.droidgate.shim.core.Questions;
import dev.droidgate.shim.core.Route;
import dev.droidgate.shim.storage.Grants;
import dev.droidgate.shim.windows.Texts;
import dev.droidgate.shim.windows.WindowOpener;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.Map;
import java.util.UUID;

/** Questions to the user about calls that nobody has granted, one after the other (shim.md 3). */
public final class Consent implements Questions {
    private static final int MOST_QUESTIONS = 4;
    private static final long REFUSED_MS = 60_000;
    private static final int MOST_REFUSED = 64;
    private static final long SECOND = 1_000;

    private static final CallFailure REFUSED = denied("the user refused this call");
    private static final CallFailure CLOSED =
            denied("the user closed the question about this call without an answer");
    private static final CallFailure NOT_SHOWN =
            needsUser(WindowOpener.NOT_OPENED);

    /** The manifest names it, and Android makes it. */
    private static final String WINDOW = "dev.droidgate.shim.consent.ConsentActivity";

    /** Longer arguments are refused: nobody would read them. */
    private static final int LONGEST_ARGUMENTS = 4_000;

    private final AppProcess process;
    private final CallControl control;
    private final Grants grants;
    private final WindowOpener windows;
    private final Deque<Question> waiting = new ArrayDeque<>();

    /**
     * Callers to which the user said no, and when: for a minute they may not ask, so that none wears the user
     * down.
     */
    private final Map<String, Long> refused = new HashMap<>();

    public Consent(AppProcess process, CallControl control, Grants grants, WindowOpener windows) {
        this.process = process;
        this.control = control;
        this.grants = grants;
        this.windows = windows;
    }

    /** What the user decides about. */
    static final class Question {
        final String key = UUID.randomUUID().toString();
        final long call;
        final Reply reply;
        final Route route;
        final Map<String, Object> arguments;
        private final long deadline;
        private Activity window;

        Question(long call, Reply reply, Route route, Map<String, Object> arguments, long deadline) {
            this.call = call;
            this.reply = reply;
            this.route = route;
            this.arguments = arguments;
            this.deadline = deadline;
        }

        /**
         * Returns whether the user may allow all further calls: of a sender that Android names, or where the
         * answer can only reach the app that gets the grant and nothing else happens. Before Android 14 an
         * accessibility service may press the button, so there only the host grants.
         */
        boolean mayAlways() {
            return Build.VERSION.SDK_INT >= 34 && !reply.caller.packages.isEmpty()
                    && (reply.bound || route.readOnly);
        }

        private String asker() {
            return (reply.bound ? "" : "start ") + reply.caller.uid;
        }
    }

    @Override
    public boolean isAsking() {
        return grants.isAsking();
    }

    @Override
    public CallFailure ask(
            long call, Object replyTo, Route route, Map<String, Object> arguments, long deadline) {
        Question question = new Question(call, (Reply) replyTo, route, arguments, deadline);
        boolean first;
        synchronized (this) {
            CallFailure obstacle = obstacle(question);
            if (obstacle != null) {
                return obstacle;
            }
            first = waiting.isEmpty();
            waiting.add(question);
        }
        // Its deadline, its caller's death, whatever ends the call.
        question.reply.whenAnswered(() -> remove(question));
        if (first) {
            open(question, process.isSeen());
        }
        return null;
    }

    /** Returns why the user is not asked, null where nothing is in the way. */
    private CallFailure obstacle(Question question) {
        if (JsonWriter.write(question.arguments).length() > LONGEST_ARGUMENTS) {
            return denied("the arguments are too long to be shown to the user for approval");
        }
        Long no = refused.get(question.asker());
        long left = no == null ? 0 : REFUSED_MS - (process.now() - no);
        if (left > 0) {
            long seconds = (left + SECOND - 1) / SECOND;
            return denied("the user refused a call of this app a moment ago; retry in " + seconds + " s");
        }
        for (Question other : waiting) {
            if (other.asker().equals(question.asker())) {
                return denied(
                        "the user is being asked about another call of this app; retry after its answer");
            }
        }
        boolean isFull = waiting.size() >= MOST_QUESTIONS;
        return isFull ? denied("the user is being asked about too many calls; retry in 60 s") : null;
    }

    private static CallFailure denied(String text) {
        return new CallFailure(FailureTokens.DENIED, text);
    }

    private static CallFailure needsUser(String text) {
        return new CallFailure(FailureTokens.NEEDS_USER, text);
    }

    /** Shows a question, in a window or, where none would be seen, by a notification. */
    void open(Question question, boolean isSeen) {
        windows.open(
                WINDOW,
                question.key,
                Texts.TAP_TO_DECIDE,
                question.deadline,
                isSeen,
                notified -> decide(question, notified ? Engine.UNANSWERED : NOT_SHOWN));
        // It may have ended meanwhile.
        if (question.reply.isAnswered()) {
            windows.cancel(question.key);
        }
    }

    /** Returns the question that a new window is for, null where it is answered already. */
    synchronized Question opened(String key, Activity window) {
        Question first = waiting.peek();
        if (key == null || first == null || !first.key.equals(key)) {
            return null;
        }
        windows.opened(key);
        first.window = window;
        return first;
    }

    /** Takes the user's yes, unless it comes too late: while the device sleeps, nobody ends a question. */
    void allow(Question question, boolean always) {
        boolean inTime = isWaiting(question) && process.now() < question.deadline;
        CallFailure refusal = inTime ? null : Engine.UNANSWERED;
        if (inTime && always && question.mayAlways()) {
            refusal = Policy.NO_GRANT;
            Caller caller = question.reply.caller;
            for (int index = 0; index < caller.packages.size(); index++) {
                // To the app that the user was shown, and to no other that has taken its name since.
                grants.add(
                        caller.packages.get(index), question.route.id, caller.signers.get(index));
            }
        }
        decide(question, refusal);
    }

    private synchronized boolean isWaiting(Question question) {
        return waiting.contains(question);
    }

    /** Takes the user's no. */
    void deny(Question question) {
        refuse(question, REFUSED);
    }

    /** Takes the closing of the window, which is a no. */
    void close(Question question) {
        refuse(question, CLOSED);
    }

    private void refuse(Question question, CallFailure how) {
        synchronized (this) {
            if (waiting.contains(question)) {
                if (refused.size() >= MOST_REFUSED) {
                    refused.clear();
                }
                refused.put(question.asker(), process.now());
            }
        }
        decide(question, how);
    }

    /** Ends a question with the user's decision, as {@link Engine#decided} takes it. */
    private void decide(Question question, CallFailure refusal) {
        if (remove(question)) {
            control.decided(question.call, question.reply, refusal);
        }
    }

    /** Ends a question and shows the next; returns whether it was waiting. */
    private boolean remove(Question question) {
        Question next = null;
        synchronized (this) {
            boolean first = waiting.peek() == question;
            if (!waiting.remove(question)) {
                return false;
            }
            if (first) {
                next = waiting.peek();
            }
        }
        windows.cancel(question.key);
        Activity window = question.window;
        if (window != null) {
            process.main.post(window::finish);
        }
        if (next != null) {
            open(next, process.isSeen());
        }
        return true;
    }
}
