"""What a shim reports of a call is a vector: both engines give what the phone gave."""

from __future__ import annotations

import runpy
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from device_shim.shim_engine.comparison import difference
from device_shim.shim_engine.conformance.evaluation import evaluate
from device_shim.shim_engine.jvm_core import CoreJvm
from droidgate.calls.call_requests import CallRequest
from droidgate.calls.call_routes import CallRoutes
from droidgate.calls.caller import CallControls
from droidgate.calls.phones import Phone
from droidgate.calls.traces import open_trace
from droidgate.shims.phone_shims import PhoneShims
from droidgate_mappings.values.failures import CallError
from droidgate_shim.builder.shim_choices import ShimOptions
from gateway.calls.phones_with_shims import ReachedPhone, reached_phone
from requirements_of_tests import CHECKOUT

SCRIPT = runpy.run_path(str(CHECKOUT / "scripts" / "trace_to_vector.py"))
SAMPLE = "dev.droidgate.sample"
CALLS: dict[str, dict[str, object]] = {
    f"{SAMPLE}.clockin/query_clock_in": {"date": "2026-02-03"},
    f"{SAMPLE}.clockin/make_up_clock_in": {"date": "2026-02-03"},
    f"{SAMPLE}.tally/add_points": {"player": "Ann 語", "points": 3},
    f"{SAMPLE}.pdftool/page_count": {"path": "/sdcard/absent.pdf"},
    f"{SAMPLE}.weather/forecast": {"location": "Bonn", "days": "2"},
    f"{SAMPLE}.notes/{SAMPLE}.notes.NotesService#createNote": {"title": "a", "content": "5", "labels": ["x"]},
    f"{SAMPLE}.notes/{SAMPLE}.notes.NotesService#archiveNote": {"noteId": "note-99"},
}
"""Calls of every kind of backend, some of which fail."""


@pytest.fixture(scope="module")
def traced(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, list[dict[str, Any]]]]:
    """Return the vectors of each call, all of which shims carry."""
    folder = tmp_path_factory.mktemp("phone")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("DROIDGATE_HOME", str(folder / "home"))
        patch.setattr(CallRoutes, "_routes_to", lambda self, _target: iter([self.shims()]))
        with reached_phone(folder, shims=False) as reached:
            patch.setenv("ANDROID_ADB_SERVER_PORT", str(reached.phone.server_port))
            PhoneShims(Phone(reached.device)).install("adb:", options=ShimOptions(protocols=("all",)))
            yield {name: _vectors(reached, name, folder / f"{n}.jsonl") for n, name in enumerate(CALLS)}


def _vectors(reached: ReachedPhone, capability: str, path: Path) -> list[dict[str, Any]]:
    with open_trace(path) as trace, suppress(CallError):
        reached.caller().call(CallRequest(capability, CALLS[capability]), CallControls(trace=trace))
    return list(SCRIPT["vectors_of"](path.read_bytes().splitlines(), path.stem))


def test_every_call_has_one_vector_with_its_answer(traced: dict[str, list[dict[str, Any]]]) -> None:
    assert {name: len(vectors) for name, vectors in traced.items()} == dict.fromkeys(CALLS, 1)
    tokens = [vectors[0]["expect"]["token"] for vectors in traced.values()]
    assert tokens.count(None) == len(CALLS) - 2


@pytest.mark.parametrize("capability", CALLS)
def test_the_python_engine_gives_what_the_phone_gave(
    traced: dict[str, list[dict[str, Any]]], capability: str
) -> None:
    (vector,) = traced[capability]
    assert difference(evaluate(vector), vector["expect"]) is None


@pytest.mark.requires("javac", "java")
def test_the_java_engine_gives_what_the_phone_gave(
    traced: dict[str, list[dict[str, Any]]], core: CoreJvm
) -> None:
    vectors = [vector for found in traced.values() for vector in found]
    outcomes = core.outcomes(vectors)
    pairs = zip(vectors, outcomes, strict=True)
    assert [found for vector, outcome in pairs if (found := difference(outcome, vector["expect"]))] == []
