package dev.droidgate.shim.core;

import java.util.Collections;
import java.util.Map;

/**
 * Many requests of some callers, one after the other in equal steps of time. Reports how many went out, how
 * many of the others had no answer when the engine gave control back, and by how much the heap grew.
 */
final class FloodVector implements Clock, AppCaller, Questions, Answers {
    private static final int WARM_UP = 1_000;

    private final Engine engine;
    private final Target target;
    private final String request;
    private final long callers;
    private final long count;
    private final long step;
    private final boolean answers;
    private long now;
    private long call;
    private long out;
    private long answered;

    FloodVector(Map<String, Object> vector) throws MalformedJsonException {
        RouteTable routes = RouteTable.of(vector.get("routes"));
        engine = new Engine(routes, Policy.of(vector.get("policy")), this, this, this, this);
        target = routes.find(Json.textAt(vector, "capability")).target;
        request = Json.textAt(vector, "request");
        callers = Json.integerAt(vector, "callers", 1);
        count = Json.integerAt(vector, "count", 0);
        step = Json.integerAt(vector, "step_ms", 0);
        answers = Json.flagAt(vector, "answers");
    }

    Map<String, Object> outcome() {
        long unanswered = 0;
        long heap = 0;
        for (long sent = 0; sent < count; sent++) {
            heap = sent == WARM_UP ? usedHeap() : heap;
            long before = answered;
            call = 0;
            Map<String, String> extras =
                    Collections.singletonMap(
                            WireDialect.PROTOTYPE_REQUEST_EXTRA, request.replace("ID", "r" + sent));
            CallFailure busy = engine.admit(true, sent % callers);
            Incoming incoming =
                    busy == null
                            ? Incoming.read(true, extras)
                            : Incoming.refused(true, Incoming.beginning(extras), busy);
            engine.receive(incoming, false, sent % callers, null);
            unanswered += call == 0 ? 1 - (answered - before) : 0;
            if (answers && call != 0) {
                engine.answered(
                        call, new BackendAnswer.ActivityAnswer(-1, Collections.<String, Object>emptyMap()));
            }
            now += step;
        }
        Map<String, Object> outcome = VectorRunner.single("out", out);
        outcome.put("unanswered", unanswered);
        outcome.put("grown", usedHeap() - heap);
        outcome.put("open", engine.expire() >= 0);
        return outcome;
    }

    static long usedHeap() {
        System.gc();
        return Runtime.getRuntime().totalMemory() - Runtime.getRuntime().freeMemory();
    }

    @Override
    public long now() {
        return now;
    }

    @Override
    public boolean isAsking() {
        return false;
    }

    @Override
    public CallFailure ask(
            long asking, Object replyTo, Route route, Map<String, Object> arguments, long deadline) {
        throw new IllegalStateException("nobody is asked");
    }

    @Override
    public Target installed(Route route) {
        return target;
    }

    @Override
    public String newRequestId() {
        return "*";
    }

    @Override
    public void call(long number, Object replyTo, CallPermission permission, Outgoing outgoing) {
        call = number;
        out++;
    }

    @Override
    public void answer(Object replyTo, Map<String, String> extras, String token) {
        answered++;
    }
}
