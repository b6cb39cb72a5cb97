"""Both engines answer alike whatever they are asked (shim-engine.md)."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import islice

import pytest

from device_shim.shim_engine.comparison import difference
from device_shim.shim_engine.conformance.evaluation import evaluate
from device_shim.shim_engine.jvm_core import CoreJvm
from device_shim.shim_engine.mutated_vectors import VectorMutator
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


OTHERS = ("fit", "write-document", "read-document", "parse", "pattern", "life")


def check_calls(seen: Seen) -> None:
    assert seen.differences == []
    assert {None, "malformed", *load_failure_tokens()} == set(seen.tokens)
    assert seen.reached * 3 >= seen.cases
    assert seen.asked * 100 > seen.cases
    rare = {token: count for token, count in seen.tokens.items() if count * 200 < seen.cases}
    assert rare == {}


def check_others(seen: Seen) -> None:
    assert seen.differences == []
    errors = {"unfit", "malformed", "unsupported", "invalid_argument", "malformed_response"}
    assert set(seen.tokens) == {None, *errors}


@pytest.mark.slow
def test_thousands_of_calls_are_answered_alike(core: CoreJvm) -> None:
    check_calls(compared(VectorMutator(1).cases("call", count=6_000), core))


def test_thousands_of_other_cases_are_answered_alike(core: CoreJvm) -> None:
    check_others(compared(VectorMutator(1).cases(*OTHERS, count=5_000), core))


@pytest.mark.long
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("seed", range(2, 7))
def test_hundreds_of_thousands_of_cases_are_answered_alike(seed: int, core: CoreJvm) -> None:
    check_calls(compared(VectorMutator(seed).cases("call", count=30_000), core))
    check_others(compared(VectorMutator(seed).cases(*OTHERS, count=25_000), core))


def test_a_difference_would_be_reported() -> None:
    seen = Seen()
    outcome: dict[str, Json] = {"extras": None, "token": None}
    seen.add({}, {**outcome, "outgoing": {}}, {**outcome, "outgoing": None})
    assert len(seen.differences) == 1
