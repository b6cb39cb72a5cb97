package dev.droidgate.shim.core;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;

/**
 * Random events through one engine: requests, decisions of the user and answers that come in time, late or
 * twice, cancels, deaths and the time that passes. Reports how requests were answered; each has to be, once.
 */
final class SequenceVector implements Clock, AppCaller, Questions, Answers {
    private static final int CALLERS = 5;
    private static final int IDS = 6;
    private static final int CALLS_BACK = 24;
    private static final int LONGEST_STEP = 2_000;

    private final Engine engine;
    private final Target target;
    private final long[] recent = new long[CALLS_BACK];
    private final List<Asked> open = new ArrayList<>();
    private final Map<String, Object> tokens = new TreeMap<>();
    private final Random random;
    private final String request;
    private final long events;
    private long now;
    private long lastRecent;
    private long requests;
    private long twice;
    private long late;
    private boolean isAsking;

    /** A request, and how often it was answered. */
    private static final class Asked {
        int answers;
    }

    SequenceVector(Map<String, Object> vector) throws MalformedJsonException {
        RouteTable routes = RouteTable.of(vector.get("routes"));
        engine = new Engine(routes, Policy.of(vector.get("policy")), this, this, this, this);
        target = routes.find(Json.textAt(vector, "capability")).target;
        events = Json.integerAt(vector, "count", 1_000);
        random = new Random(Json.integerAt(vector, "seed", 0));
        request = Json.textAt(vector, "request");
    }

    Map<String, Object> outcome() throws MalformedJsonException {
        long heap = usedHeap();
        for (long event = 0; event < events; event++) {
            happen();
        }
        now += 10 * Route.DEFAULT_DEADLINE_MS;
        engine.expire();
        Map<String, Object> outcome = VectorRunner.single("requests", requests);
        outcome.put("twice", twice);
        outcome.put("late", late);
        outcome.put("unanswered", (long) open.size());
        outcome.put("tokens", tokens);
        outcome.put("open", engine.expire() >= 0);
        outcome.put("grown", usedHeap() - heap);
        return outcome;
    }

    private static long usedHeap() {
        System.gc();
        return Runtime.getRuntime().totalMemory() - Runtime.getRuntime().freeMemory();
    }

    private void happen() {
        int kind = random.nextInt(100);
        isAsking = random.nextInt(4) > 0;
        if (kind < 40) {
            ask();
        } else if (kind < 65) {
            engine.answered(recent[random.nextInt(CALLS_BACK)], answer());
        } else if (kind < 75) {
            boolean yes = random.nextInt(3) > 0;
            CallFailure no = new CallFailure(FailureTokens.DENIED, "no");
            engine.decided(recent[random.nextInt(CALLS_BACK)], yes ? null : no);
        } else if (kind < 82) {
            Object replyTo = open.isEmpty() ? this : open.get(random.nextInt(open.size()));
            if (random.nextBoolean()) {
                engine.cancel(replyTo);
            } else {
                engine.giveUp(replyTo);
            }
        } else if (kind < 83) {
            CallFailure died = new CallFailure(FailureTokens.INTERRUPTED, "the app stopped");
            engine.fail(recent[random.nextInt(CALLS_BACK)], died);
        } else {
            now += random.nextInt(LONGEST_STEP);
            engine.expire();
        }
    }

    private void ask() {
        Map<String, Object> extras = new LinkedHashMap<>();
        String id = random.nextInt(40) == 0 ? "" : "r" + random.nextInt(IDS);
        extras.put(WireDialect.PROTOTYPE_REQUEST_EXTRA, request.replace("ID", id));
        requests++;
        boolean bound = random.nextInt(20) > 0;
        long caller = random.nextInt(CALLERS);
        Asked asked = new Asked();
        open.add(asked);
        CallFailure busy = engine.admit(bound, caller);
        Incoming incoming =
                busy == null ? Incoming.read(bound, extras) : Incoming.refused(bound, extras, busy);
        engine.receive(incoming, false, caller, asked);
    }

    private BackendAnswer answer() {
        Map<String, Object> extras = new LinkedHashMap<>();
        extras.put(random.nextBoolean() ? "result" : "error", "told");
        return new BackendAnswer.ActivityAnswer(-random.nextInt(2), extras);
    }

    @Override
    public long now() {
        return now;
    }

    @Override
    public Target installed(Route route) {
        // To look an app up takes a while, in which the call may end.
        now += random.nextInt(8) == 0 ? random.nextInt(LONGEST_STEP) : 0;
        return target;
    }

    @Override
    public String newRequestId() {
        return "*";
    }

    @Override
    public boolean isAsking() {
        return isAsking;
    }

    @Override
    public CallFailure ask(
            long call, Object replyTo, Route route, Map<String, Object> arguments, long deadline) {
        keep(call, replyTo);
        return random.nextInt(6) == 0 ? new CallFailure(FailureTokens.NEEDS_USER, "locked") : null;
    }

    @Override
    public void call(long call, Object replyTo, CallPermission permission, Outgoing outgoing) {
        keep(call, replyTo);
    }

    private void keep(long call, Object replyTo) {
        late += ((Asked) replyTo).answers;
        recent[(int) (lastRecent++ % CALLS_BACK)] = call;
    }

    @Override
    public void answer(Object replyTo, Map<String, String> extras, String token) {
        Asked asked = (Asked) replyTo;
        twice += asked.answers++ > 0 ? 1 : 0;
        open.remove(asked);
        String outcome = token == null ? "success" : token;
        Object before = tokens.get(outcome);
        tokens.put(outcome, before == null ? 1L : (Long) before + 1);
    }
}
