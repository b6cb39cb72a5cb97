package dev.droidgate.shim;

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
        private final Consumer<Boolean> answer;
        private final Runnable late;
        private ConsentActivity window;

        Question(Consent consent, Reply reply, Preview preview, Consumer<Boolean> answer) {
            caller = reply.caller;
            bound = reply.bound;
            this.preview = preview;
            this.answer = answer;
            until = consent.shim.now() + TIME;
            late = () -> consent.end(this, false);
        }
    }

    /**
     * Asks the user, who is given a minute.
     *
     * @param answer takes yes or no, once
     * @return whether the user is asked
     */
    boolean ask(Reply reply, Preview preview, Consumer<Boolean> answer) {
        if (preview.arguments.length() > LONGEST_ARGUMENTS) {
            return false;
        }
        Question question = new Question(this, reply, preview, answer);
        boolean first;
        synchronized (this) {
            Long no = refused.get(reply.caller.uid);
            boolean tooSoon = no != null && shim.now() - no < TIME;
            if (tooSoon || waiting.size() >= MOST_WAITING || isAsking(reply.caller)) {
                return false;
            }
            first = waiting.isEmpty();
            waiting.add(question);
        }
        shim.main.postDelayed(question.late, TIME);
        reply.whenAnswered(() -> end(question, false));
        if (first) {
            open(question);
        }
        return true;
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
            end(question, false);
            return;
        }
        shim.windows.open(
                ConsentActivity.class,
                question.key,
                Texts.TAP_TO_DECIDE,
                question.until,
                () -> end(question, false));
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
        end(question, inTime);
    }

    /** Takes the user's no; a window that is closed is one, too. */
    void deny(Question question) {
        synchronized (this) {
            if (waiting.contains(question)) {
                if (refused.size() >= MOST_REFUSED) {
                    refused.clear();
                }
                refused.put(question.caller.uid, shim.now());
            }
        }
        end(question, false);
    }

    private void end(Question question, boolean yes) {
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
        question.answer.accept(yes);
        if (next != null) {
            open(next);
        }
    }
}
