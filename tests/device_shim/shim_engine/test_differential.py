"""Both engines answer alike whatever they are asked (docs/shim-engine.md)."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import islice

import pytest

from device_shim.shim_engine.comparison import difference
from device_shim.shim_engine.conformance.evaluation import evaluate
from device_shim.shim_engine.generated_cases import BrokenRequests, CallMaker, CaseMaker
from device_shim.shim_engine.jvm_core import CoreJvm
from droidgate_mappings.model.json_values import Json
from droidgate_mappings.tables.failure_tokens import load_failure_tokens

pytestmark = pytest.mark.requires("javac", "java")

BATCH = 500
SHOWN = 5


@dataclass
class Seen:
    """What a run came to.

    Attributes:
        cases: How many were compared.
        reached: How many reached a backend.
        asked: How many had the user asked.
        tokens: Token -> how many ended with it; None for success.
        differences: The first of those that were answered differently.
    """

    cases: int = 0
    reached: int = 0
    asked: int = 0
    tokens: Counter[str | None] = field(default_factory=Counter)
    differences: list[str] = field(default_factory=list)

    def add(self, case: Json, python: Mapping[str, Json], java: Json) -> None:
        self.cases += 1
        self.reached += python.get("outgoing") is not None
        self.asked += "asked" in python
        self.tokens[python.get("token", python.get("error"))] += 1
        found = difference(python, java)
        if found is not None and len(self.differences) < SHOWN:
            self.differences.append(f"{found}\nasked {case}\nPython {python}\nJava {java}")


def batches(cases: Iterable[Json]) -> Iterator[list[Json]]:
    given = iter(cases)
    while batch := list(islice(given, BATCH)):
        yield batch


def compared(cases: Iterable[Json], core: CoreJvm) -> Seen:
    seen = Seen()
    for batch in batches(cases):
        for case, java in zip(batch, core.outcomes(batch), strict=True):
            seen.add(case, evaluate(case), java)
    return seen


def check_questions(seen: Seen) -> None:
    assert seen.differences == []
    assert {None, "denied", "needs_user", "invalid_argument", "unavailable", "busy"} <= set(seen.tokens)
    assert seen.cases * 0.3 < seen.asked < seen.cases * 0.7


def check_calls(seen: Seen) -> None:
    assert seen.differences == []
    assert set(seen.tokens) == {None, *load_failure_tokens()}
    assert seen.reached * 2 >= seen.cases
    rare = {token: count for token, count in seen.tokens.items() if count * 100 < seen.cases}
    assert rare == {}


@pytest.mark.slow
def test_thousands_of_calls_are_answered_alike(core: CoreJvm) -> None:
    check_calls(compared(CallMaker(1).calls(3_000), core))


@pytest.mark.slow
def test_thousands_of_broken_requests_are_answered_alike(core: CoreJvm) -> None:
    seen = compared(BrokenRequests(1).calls(4_000), core)
    assert seen.differences == []
    assert {"invalid_argument", "unsupported_version", "timeout"} <= set(seen.tokens)
    assert seen.tokens["invalid_argument"] * 2 > seen.cases


@pytest.mark.slow
def test_a_thousand_questions_to_the_user_are_asked_alike(core: CoreJvm) -> None:
    check_questions(compared(CallMaker(1).questions(1_000), core))


def test_thousands_of_other_cases_are_answered_alike(core: CoreJvm) -> None:
    seen = compared(CaseMaker(1).cases(3_000), core)
    assert seen.differences == []
    assert "internal" not in seen.tokens


@pytest.mark.long
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("seed", range(2, 7))
def test_a_hundred_thousand_calls_are_answered_alike(seed: int, core: CoreJvm) -> None:
    check_calls(compared(CallMaker(seed).calls(25_000), core))
    check_questions(compared(CallMaker(seed).questions(5_000), core))


@pytest.mark.long
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("seed", range(2, 6))
def test_a_hundred_thousand_other_cases_are_answered_alike(seed: int, core: CoreJvm) -> None:
    seen = compared(CaseMaker(seed).cases(25_000), core)
    assert seen.differences == []
    assert "internal" not in seen.tokens


def test_the_generators_make_the_same_again() -> None:
    assert list(CallMaker(3).calls(50)) == list(CallMaker(3).calls(50))
    assert list(CaseMaker(3).cases(50)) == list(CaseMaker(3).cases(50))
    assert list(CallMaker(3).calls(50)) != list(CallMaker(4).calls(50))


def test_a_difference_would_be_reported() -> None:
    seen = Seen()
    seen.add(
        {}, {"outgoing": {}, "extras": None, "token": None}, {"outgoing": None, "extras": None, "token": None}
    )
    assert len(seen.differences) == 1
    with pytest.raises(AssertionError):
        check_calls(seen)
