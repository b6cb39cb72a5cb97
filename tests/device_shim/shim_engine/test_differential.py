"""Both engines answer alike whatever they are asked (shim-engine.md)."""

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import islice
from random import Random

import pytest

from device_shim.server_classes.random_intents import random_screen, shell_start
from device_shim.shim_engine.comparison import difference
from device_shim.shim_engine.conformance.evaluation import evaluate
from device_shim.shim_engine.jvm_core import CoreJvm
from device_shim.shim_engine.mutated_vectors import VectorMutator
from droidgate_app_actions.fulfilment_targets import listed_values
from droidgate_app_actions.read import read_file
from droidgate_app_actions.shim_backend import AppActionBackend as ShimBackend
from droidgate_mappings.formats.format import SourceFile
from droidgate_mappings.formats.leniency import ReadingContext
from droidgate_mappings.formats.shell_calls import ScreenStart
from droidgate_mappings.model.capability import Capability, Provider
from droidgate_mappings.model.errors import InputError
from droidgate_mappings.model.json_values import Json
from droidgate_mappings.model.types import ObjectType
from droidgate_mappings.tables.failure_tokens import load_failure_tokens
from droidgate_phone.java.intents import Intent
from requirements_of_tests import require

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


def compared(cases: Iterable[Json], core: CoreJvm) -> Seen:
    seen, remaining = Seen(), iter(cases)
    while batch := list(islice(remaining, BATCH)):
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


WRITTEN = (
    "Ulm", "..", "%2e%2e", "a/../b", "x;component=a/.B;end#Intent;S.z=1", "é \U0001f600", "+*~&=?", "@x:y\n"
)  # fmt: skip
Screen = tuple[Provider, Capability, Mapping[str, str]]


def declared_screens() -> Iterator[Screen]:
    """Yield calls of the App Actions in the corpus, then of some with any text in them."""
    for file in sorted((require("corpus") / "app_actions").glob("*.xml")):
        with suppress(InputError):
            for read in read_file(SourceFile(file.name, file.read_bytes()), ReadingContext()).providers:
                provider = read.model_copy(update={"package": "org.app"})
                for capability in provider.capabilities:
                    names = capability.input.properties if isinstance(capability.input, ObjectType) else {}
                    listed = (value for items in listed_values(capability).values() for value in items)
                    for written in (*WRITTEN, *listed):
                        yield provider, capability, dict.fromkeys(names, written)
                        yield provider, capability, dict.fromkeys(list(names)[:1], written)
    random = Random(34)
    for _ in range(1_000):
        provider, given = random_screen(random)
        yield provider, provider.capabilities[0], given


def screen_call(provider: Provider, capability: Capability, given: Mapping[str, str]) -> Json:
    """Return the vector of a call of an App Action, whose texts the shim fits to nothing."""
    target = {"package": "org.app", "signer": "5" * 64, "version_code": 1, "digest": "xml:0"}
    backend = ShimBackend().target(provider, capability)
    route = {"id": "x", "input": {"kind": "any"}, "outputs": None, "backend": dict(backend), "target": target}
    request = {"id": "1", "capability": {"id": "x", "input": dict(given)}}
    text = json.dumps({"mobile-mcp-request": {"version": "1.0", "request": request}})
    return {
        "op": "call", "routes": {"format": 1, "definitions": {}, "routes": [route]}, "carrier": "bind",
        "caller": 10_101, "policy": {}, "approved": True, "extras": {"mobile-mcp-request": text},
    }  # fmt: skip


@pytest.mark.slow
@pytest.mark.requires("corpus")
def test_app_actions_start_the_same_by_androids_shell_and_by_both_engines(core: CoreJvm) -> None:
    cases, meant = [], []
    for screen in declared_screens():
        try:
            cases.append(screen_call(*screen))
            meant.append(shell_start(*screen))
        except InputError:
            assert shell_start(*screen) is None
    seen = compared(cases, core)
    assert seen.differences == []
    assert seen.reached > 3_000
    for case, start in zip(cases, meant, strict=True):
        outgoing = evaluate(case)["outgoing"]
        assert (outgoing is None) == (start is None), case
        if start is not None:
            intent = Intent.parse(outgoing["extras"]["intent"])
            component = None if intent.component is None else intent.component.flatten()
            extras = {key: str(extra.value) for key, extra in intent.extras.values.items()}
            package = intent.package or "org.app"
            assert ScreenStart(package, component, intent.action or None, intent.data, extras) == start, case
