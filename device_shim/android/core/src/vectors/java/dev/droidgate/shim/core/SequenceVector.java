package dev.droidgate.shim.core;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicLongArray;

/**
 * Random events through one engine, from one thread or several: requests, answers that come in time, late or
 * twice, cancels, deaths and the time that passes. Tells how requests were answered; each has to be, once.
 */
final class SequenceVector implements Clock, Backend, Answers {
    private static final int CALLERS = 5;
    private static final int IDS = 6;
    private static final int CALLS_BACK = 24;
    private static final int LONGEST_STEP = 2_000;

    private final Engine engine;
    private final Target target;
    private final AtomicLong now = new AtomicLong();
    private final AtomicLongArray sent = new AtomicLongArray(CALLS_BACK);
    private final AtomicLong sentCalls = new AtomicLong();
    private final AtomicLong requests = new AtomicLong();
    private final AtomicLong twice = new AtomicLong();
    private final AtomicLong sentLate = new AtomicLong();
    private final ThreadLocal<Random> randoms = new ThreadLocal<>();
    private final Map<String, Object> tokens = new TreeMap<>();
    private final String request;
    private final long events;
    private final long seed;
    private final long threads;

    SequenceVector(Map<String, Object> vector) throws MalformedJsonException {
        RouteTable routes = RouteTable.of(vector.get("routes"));
        engine = new Engine(routes, Policy.of(vector.get("policy")), this, this, this);
        target = routes.find(Json.textAt(vector, "capability")).target;
        events = Json.integerAt(vector, "count", 1_000);
        seed = Json.integerAt(vector, "seed", 0);
        threads = Json.integerAt(vector, "threads", 1);
        request = Json.textAt(vector, "request");
    }

    Map<String, Object> outcome() throws MalformedJsonException {
        long heap = FloodVector.usedHeap();
        Thread[] all = new Thread[(int) threads];
        for (int index = 0; index < all.length; index++) {
            Random random = new Random(seed + index);
            all[index] = new Thread(() -> run(random));
            all[index].start();
        }
        try {
            for (Thread one : all) {
                one.join();
            }
        } catch (InterruptedException interrupted) {
            throw new IllegalStateException(interrupted);
        }
        now.addAndGet(10 * Route.USUAL_DEADLINE);
        engine.expire();
        Map<String, Object> outcome = VectorRunner.one("requests", requests.get());
        outcome.put("twice", twice.get());
        outcome.put("sent_late", sentLate.get());
        outcome.put("tokens", tokens);
        outcome.put("open", engine.expire() >= 0);
        outcome.put("grown", FloodVector.usedHeap() - heap);
        return outcome;
    }

    private void run(Random random) {
        randoms.set(random);
        for (long event = 0; event < events; event++) {
            int kind = random.nextInt(100);
            if (kind < 45) {
                ask(random);
            } else if (kind < 75) {
                engine.answered(sent.get(random.nextInt(CALLS_BACK)), answer(random));
            } else if (kind < 82) {
                cancel(random);
            } else if (kind < 83) {
                engine.died(target.packageName);
            } else {
                now.addAndGet(random.nextInt(LONGEST_STEP));
                engine.expire();
            }
        }
    }

    private void cancel(Random random) {
        engine.cancel(new CallKey(random.nextInt(CALLERS), "r" + random.nextInt(IDS)));
    }

    private void ask(Random random) {
        Map<String, Object> extras = new LinkedHashMap<>();
        String id = random.nextInt(40) == 0 ? "" : "r" + random.nextInt(IDS);
        extras.put(Dialect.PROTOTYPE_REQUEST_EXTRA, request.replace("ID", id));
        requests.incrementAndGet();
        boolean bound = random.nextInt(20) > 0;
        engine.receive(bound, false, null, extras, random.nextInt(CALLERS), new AtomicInteger());
    }

    private static BackendAnswer answer(Random random) {
        Map<String, Object> extras = new LinkedHashMap<>();
        extras.put(random.nextBoolean() ? "result" : "error", "told");
        return BackendAnswer.ofActivity(-random.nextInt(2), extras);
    }

    @Override
    public long now() {
        return now.get();
    }

    @Override
    public Target installed(Route route) {
        // Whoever looks an app up takes a while, in which the call may end.
        Random random = randoms.get();
        if (random.nextInt(4) == 0) {
            cancel(random);
            Thread.yield();
        }
        return target;
    }

    @Override
    public String newRequestId() {
        return "*";
    }

    @Override
    public void call(long call, Object replyTo, Route route, Outgoing outgoing) {
        sentLate.addAndGet(((AtomicInteger) replyTo).get());
        sent.set((int) (sentCalls.getAndIncrement() % CALLS_BACK), call);
    }

    @Override
    public void answer(Object replyTo, Map<String, String> extras, String token) {
        if (((AtomicInteger) replyTo).incrementAndGet() > 1) {
            twice.incrementAndGet();
        }
        synchronized (tokens) {
            String told = token == null ? "success" : token;
            Object before = tokens.get(told);
            tokens.put(told, before == null ? 1L : (Long) before + 1);
        }
    }
}
