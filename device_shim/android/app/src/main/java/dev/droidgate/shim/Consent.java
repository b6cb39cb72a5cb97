package dev.droidgate.shim;

import dev.droidgate.shim.core.CallFailure;
import dev.droidgate.shim.core.FailureTokens;
import dev.droidgate.shim.core.Preview;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.Map;
import java.util.function.Consumer;

/** Questions to the user about calls that nobody has granted, one after the other (docs/shim.md 3). */
final class Consent {
    private static final int MOST_WAITING = 4;
    private static final long TIME = 60_000;
    private static final int MOST_REFUSED = 64;
    private static final long SECOND = 1_000;

    private static final CallFailure REFUSED = denied("the user refused this call");
    private static final CallFailure CLOSED =
            denied("the user closed the question about this call without an answer");
    private static final CallFailure UNANSWERED =
            needsUser("nobody answered the question about this call on the phone; retry when somebody is there");
    private static final CallFailure LOCKED =
            needsUser("the phone is locked, so nobody could be asked about this call; unlock it and retry");

    /** What is longer nobody reads, and so nobody can say yes to. */
    private static final int LONGEST_ARGUMENTS = 4_000;

    private final Shim shim;
    private final Deque<Question> waiting = new ArrayDeque<>();

    /** Uids to which the user said no, and when: nobody may ask until a yes comes out of weariness. */
    private final Map<Long, Long> refused = new HashMap<>();

    Consent(Shim shim) {
        this.shim = shim;
    }

    /** What the user decides about. */
    static final class Question {
        final String key = Hex.randomId();
        final Caller caller;
        final boolean bound;
        final Preview preview;
        final long until;
        private final Consumer<CallFailure> answer;
        private final Runnable late;
        private ConsentActivity window;

        Question(Consent consent, Reply reply, Preview preview, Consumer<CallFailure> answer) {
            caller = reply.caller;
            bound = reply.bound;
            this.preview = preview;
            this.answer = answer;
            until = consent.shim.now() + TIME;
            late = () -> consent.end(this, UNANSWERED);
        }
    }

    /**
     * Asks the user, who is given a minute.
     *
     * @param answer takes the failure of a call that is not allowed, or null for a yes; once
     * @return why the user is not asked, null where the user is
     */
    CallFailure ask(Reply reply, Preview preview, Consumer<CallFailure> answer) {
        Question question = new Question(this, reply, preview, answer);
        CallFailure notAsked;
        boolean first;
        synchronized (this) {
            notAsked = obstacle(reply.caller, preview);
            first = waiting.isEmpty();
            if (notAsked == null) {
                waiting.add(question);
            }
        }
        if (notAsked != null) {
            return notAsked;
        }
        shim.main.postDelayed(question.late, TIME);
        reply.whenAnswered(() -> end(question, UNANSWERED));
        if (first) {
            open(question);
        }
        return null;
    }

    /** Returns why the user is not asked, null where nothing is in the way. */
    private CallFailure obstacle(Caller caller, Preview preview) {
        if (preview.arguments.length() > LONGEST_ARGUMENTS) {
            return denied("the arguments are too long to be shown to the user for approval");
        }
        Long no = refused.get(caller.uid);
        long left = no == null ? 0 : TIME - (shim.now() - no);
        if (left > 0) {
            long seconds = (left + SECOND - 1) / SECOND;
            return denied("the user refused a call of this app a moment ago; retry in " + seconds + " s");
        }
        if (isAsking(caller)) {
            return denied("the user is being asked about another call of this app; retry after its answer");
        }
        boolean isFull = waiting.size() >= MOST_WAITING;
        return isFull ? denied("the user is being asked about too many calls; retry in 60 s") : null;
    }

    private static CallFailure denied(String text) {
        return new CallFailure(FailureTokens.DENIED, text);
    }

    private static CallFailure needsUser(String text) {
        return new CallFailure(FailureTokens.NEEDS_USER, text);
    }

    private boolean isAsking(Caller caller) {
        for (Question one : waiting) {
            if (one.caller.uid == caller.uid) {
                return true;
            }
        }
        return false;
    }

    private void open(Question question) {
        if (shim.isLocked()) {
            end(question, LOCKED);
            return;
        }
        shim.windows.open(
                ConsentActivity.class,
                question.key,
                Texts.TAP_TO_DECIDE,
                question.until,
                () -> end(question, UNANSWERED));
    }

    /** Returns the question that a new window is for, null where it is answered already. */
    synchronized Question opened(String key, ConsentActivity window) {
        Question first = waiting.peek();
        if (key == null || first == null || !first.key.equals(key)) {
            return null;
        }
        shim.windows.opened(key);
        first.window = window;
        return first;
    }

    /** Takes the user's yes, unless it comes too late: while the device sleeps, nobody ends a question. */
    void allow(Question question, boolean always) {
        boolean inTime = shim.now() < question.until;
        if (inTime && always && question.bound) {
            Caller caller = question.caller;
            for (int index = 0; index < caller.packages.size(); index++) {
                // To the app that the user was shown, and to no other that has taken its name since.
                shim.grants.add(
                        caller.packages.get(index), question.preview.capability, caller.signers.get(index));
            }
        }
        end(question, inTime ? null : UNANSWERED);
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
                refused.put(question.caller.uid, shim.now());
            }
        }
        end(question, how);
    }

    /** Ends a question, with null for a yes. */
    private void end(Question question, CallFailure refusal) {
        Question next = null;
        synchronized (this) {
            boolean first = waiting.peek() == question;
            if (!waiting.remove(question)) {
                return;
            }
            if (first) {
                next = waiting.peek();
            }
        }
        shim.main.removeCallbacks(question.late);
        shim.windows.cancel(question.key);
        ConsentActivity window = question.window;
        if (window != null) {
            shim.main.post(window::finish);
        }
        question.answer.accept(refusal);
        if (next != null) {
            open(next);
        }
    }
}
