"""Random lives of calls against a plain model of shim-engine.md 3 (steps 1, 3 and 8) and 7: each request
is answered once, nothing comes after it has ended, and nothing is kept then.
"""

from __future__ import annotations

import gc
import weakref
from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from random import Random

import pytest

from device_shim.shim_engine.engine_samples import engine, s1
from droidgate_mappings.values.failures import Failure
from droidgate_shim.engine.authority import CallLimits, Carrier
from droidgate_shim.engine.backends import ActivityAnswer, BroadcastAnswer
from droidgate_shim.engine.engine import ASKING_MS, Answer, Ask, Effect, Engine, Send
from droidgate_shim.engine.rates import Rates

Caller = tuple[Carrier, int]
CALLERS: tuple[Caller, ...] = (("bind", 1), ("start", 1), ("bind", 2))
IDS = ("a", "b", "c", "d")
CAPABILITIES = {"fill": ("a.pdf", 5_000), "weather": ("a.weather", 30_000)}
LIMITS = {"open": 6, "open_per_caller": 3, "burst": 4, "per_minute": 7}
POLICY = {"grants": [{"caller": "any-app", "capability": "fill"}], "limits": LIMITS}
"""About `weather` the user is asked."""


class Reply:
    """Where an answer goes; it is known by itself, and by whether it is still kept."""


@dataclass
class Expected:
    """One open call of the model."""

    caller: Caller
    request_id: str
    package: str
    deadline: int
    number: int
    reply: Reply
    is_asking: bool = False


@dataclass
class Driver:
    """Feeds an engine and a model with the same events."""

    engine: Engine = field(default_factory=lambda: engine(POLICY))
    now: int = 0
    open: list[Expected] = field(default_factory=list)
    handles: dict[int, int] = field(default_factory=dict)
    closed: list[int] = field(default_factory=list)
    buckets: dict[Caller, tuple[Fraction, int]] = field(default_factory=dict)
    replies: weakref.WeakSet[Reply] = field(default_factory=weakref.WeakSet)
    answers: int = 0
    accepted: int = 0
    refused: int = 0
    too_fast: int = 0

    def pass_time(self, milliseconds: int) -> list[tuple[Reply, str | None]]:
        """Return the answers that the model expects because time has passed."""
        self.now += milliseconds
        late = sorted((item.deadline, item.number) for item in self.open if item.deadline <= self.now)
        by_number = {item.number: item for item in self.open}
        ended = (by_number[number] for _, number in late)
        return [self.close(item, "needs_user" if item.is_asking else "timeout") for item in ended]

    def close(self, expected: Expected, token: str | None) -> tuple[Reply, str | None]:
        self.open.remove(expected)
        handle = self.handles.pop(expected.number)
        self.closed = [*self.closed[-20:], handle]
        return expected.reply, token

    def check(self, effects: list[Effect], expected: list[tuple[Reply, str | None]]) -> None:
        answers = [(effect.reply_to, effect.token) for effect in effects if isinstance(effect, Answer)]
        assert answers == expected
        self.answers += len(answers)

    def take(self, caller: Caller) -> bool:
        amount, at = self.buckets.get(caller, (Fraction(LIMITS["burst"]), self.now))
        amount = min(
            Fraction(LIMITS["burst"]), amount + Fraction((self.now - at) * LIMITS["per_minute"], 60_000)
        )
        self.buckets[caller] = (amount - 1 if amount >= 1 else amount, self.now)
        self.too_fast += amount < 1
        return amount >= 1

    def request(self, wait: int, caller: Caller, request_id: str, capability: str) -> None:
        expected = self.pass_time(wait)
        reply = Reply()
        self.replies.add(reply)
        mine = [item for item in self.open if item.caller == caller]
        fits = all(item.request_id != request_id for item in mine) and len(mine) < LIMITS["open_per_caller"]
        goes = self.take(caller) and fits and len(self.open) < LIMITS["open"]
        given = s1(request_id, capability, {"path": "/a"} if capability == "fill" else {})
        effects = self.engine.submit(self.now, *caller, given, reply, asks=True)
        if goes:
            effect = effects.pop()
            is_asking = capability == "weather"
            assert isinstance(effect, Ask if is_asking else Send)
            package, deadline_ms = CAPABILITIES[capability]
            number = self.accepted
            self.accepted += 1
            deadline = self.now + (ASKING_MS if is_asking else deadline_ms)
            self.open.append(Expected(caller, request_id, package, deadline, number, reply, is_asking))
            self.handles[number] = effect.call
        else:
            self.refused += 1
            expected.append((reply, "busy"))
        self.check(effects, expected)

    def decide(self, wait: int, which: int) -> None:
        """Take a yes or, where `which` is divisible by three, a no about some open call."""
        expected = self.pass_time(wait)
        if not self.open:
            self.check(self.engine.expire(self.now), expected)
            return
        expected_call = self.open[which % len(self.open)]
        refusal = None if which % 3 else Failure("denied")
        effects = self.engine.decided(self.now, self.handles[expected_call.number], refusal)
        if expected_call.is_asking and refusal is None:
            sent = effects.pop()
            assert isinstance(sent, Send)
            assert sent.reply_to is expected_call.reply
            expected_call.is_asking, expected_call.deadline = False, self.now + CAPABILITIES["weather"][1]
        elif expected_call.is_asking:
            expected.append(self.close(expected_call, "denied"))
        self.check(effects, expected)

    def result(self, wait: int, which: int) -> None:
        answer = BroadcastAnswer(-1, "Sun")
        self._end(wait, which, lambda call: self.engine.answered(self.now, call, answer))

    def fail(self, wait: int, which: int) -> None:
        failure = Failure("needs_user")
        self._end(wait, which, lambda call: self.engine.fail(self.now, call, failure), "needs_user")

    def _end(
        self, wait: int, which: int, end: Callable[[int], list[Effect]], token: str | None = None
    ) -> None:
        expected = self.pass_time(wait)
        if not self.open:
            self.check(self.engine.expire(self.now), expected)
            return
        expected_call = self.open[which % len(self.open)]
        call = self.handles[expected_call.number]
        if token is None and expected_call.is_asking:
            self.check(end(call), expected)
            return
        if token is None and expected_call.package == "a.pdf":
            token = "malformed_response"
        self.check(end(call), [*expected, self.close(expected_call, token)])
        assert end(call) == []

    def late(self, wait: int, which: int) -> None:
        expected = self.pass_time(wait)
        answer = ActivityAnswer(-1, {"result": '{"ok":true}'})
        effects: list[Effect] = self.engine.expire(self.now)
        for call in self.closed[which % 20 :][:1]:
            effects += self.engine.answered(self.now, call, answer)
            effects += self.engine.fail(self.now, call, Failure("needs_user"))
            effects += self.engine.decided(self.now, call, None)
        self.check(effects, expected)

    def cancel(self, wait: int, caller: Caller, request_id: str) -> None:
        expected = self.pass_time(wait)
        found = [item for item in self.open if (item.caller, item.request_id) == (caller, request_id)]
        expected += [self.close(item, "canceled") for item in found]
        reply = found[0].reply if found else Reply()
        self.check(self.engine.cancel(self.now, reply), expected)

    def check_handles(self) -> None:
        assert self.engine.open_count() == len(self.open) == len(self.engine.journal())
        assert self.engine.next_deadline() == min((item.deadline for item in self.open), default=None)
        assert self.answers == self.accepted + self.refused - len(self.open)

    def check_nothing_kept(self) -> None:
        self.check(self.engine.expire(self.now + ASKING_MS), self.pass_time(ASKING_MS))
        self.check_handles()
        if self.replies:
            # A circle would keep them until then.
            gc.collect()
        assert (self.engine.open_count(), len(self.engine.rates)) == (0, 0)
        assert len(self.replies) == 0


def play(seed: int, events: int) -> Driver:
    """Play so many random events."""
    random, driver = Random(seed), Driver()
    for _ in range(events):
        wait = random.choice((0, 0, 1, 50, 700, 2_500, 6_000))
        caller, request_id, which = random.choice(CALLERS), random.choice(IDS), random.randrange(20)
        kinds = ("request", "decide", "result", "fail", "late", "cancel")
        kind = random.choices(kinds, (50, 20, 20, 5, 10, 10), k=1)[0]
        if kind == "request":
            driver.request(wait, caller, request_id, random.choice(list(CAPABILITIES)))
        elif kind == "cancel":
            driver.cancel(wait, caller, request_id)
        else:
            getattr(driver, kind)(wait, which)
        driver.check_handles()
    driver.check_nothing_kept()
    return driver


def test_a_caller_may_send_thirty_at_once_and_then_two_each_second() -> None:
    # shim-engine.md 3, step 1: 120 a minute after a burst of 30.
    rates = Rates(CallLimits(burst=30, per_minute=120))

    def take(count: int, now: int, carrier: Carrier = "bind", caller: int = 1) -> int:
        return sum(rates.take(now, carrier, caller) is None for _ in range(count))

    assert take(31, 0) == 30
    assert take(31, 0, caller=2) == take(31, 0, "start") == 30
    assert take(1, 499) == 0
    assert take(2, 500) == 1
    assert take(1, 999) == 0
    assert take(4, 2_000) == 3
    assert take(31, 17_000) == 30
    assert len(rates) == 1
    rates.forget_full(32_000)
    assert len(rates) == 0


def test_a_refusal_names_when_to_retry() -> None:
    rates = Rates(CallLimits(burst=1, per_minute=30))
    assert rates.take(0, "bind", 1) is None
    refused = rates.take(0, "bind", 1)
    assert refused == Failure("busy", "this app sent too many requests; retry in 2 s")
    assert Rates(CallLimits(burst=0, per_minute=30)).take(0, "bind", 1) == Failure(
        "busy", "this app sent too many requests"
    )


@pytest.mark.parametrize(("seed", "events", "accepted", "too_fast", "refused"), [
    *(pytest.param(seed, 3_000, 300, 100, 50, id=f"3000 events, seed {seed}") for seed in range(4, 7)),
    pytest.param(7, 100_000, 10_000, 3_000, 3_000, id="100000 events, seed 7",
        marks=[pytest.mark.long, pytest.mark.timeout(900)]),
])  # fmt: skip
def test_random_events_end_each_call_once(
    seed: int, events: int, accepted: int, too_fast: int, refused: int
) -> None:
    driver = play(seed, events)
    assert driver.accepted > accepted
    assert driver.too_fast > too_fast
    assert driver.refused - driver.too_fast > refused
