"""Both engines give the outcomes that the specifications require (shim-engine.md 9)."""

from __future__ import annotations

import json
from itertools import groupby
from pathlib import Path

import jsonschema
import pytest

from device_shim.shim_engine.comparison import difference, omissions
from device_shim.shim_engine.conformance.evaluation import evaluate
from device_shim.shim_engine.conformance.vector_files import (
    OPERATIONS,
    VECTORS_DIRECTORY,
    Vector,
    load_vectors,
    read_vector_file,
)
from device_shim.shim_engine.jvm_core import CoreJvm
from droidgate_mappings.model.json_values import Json
from droidgate_mappings.tables.failure_tokens import load_failure_tokens

VECTORS = load_vectors()


FILES = {name: list(found) for name, found in groupby(VECTORS, lambda vector: vector.id.partition("/")[0])}


def failures(vectors: list[Vector], outcomes: list[Json]) -> list[str]:
    pairs = zip(vectors, outcomes, strict=True)
    return [
        f"{vector.id} ({vector.source}): {found}"
        for vector, outcome in pairs
        if (found := difference(outcome, vector.expect) or _omission(outcome, vector))
    ]


def _omission(outcome: Json, vector: Vector) -> str | None:
    missing = omissions(outcome, vector.says)
    return f"the message does not contain {missing}: {outcome}" if missing else None


@pytest.mark.parametrize("name", FILES)
def test_the_python_engine_gives_what_is_expected(name: str) -> None:
    vectors = FILES[name]
    assert failures(vectors, [evaluate(vector.case) for vector in vectors]) == []


@pytest.mark.requires("javac", "java")
@pytest.mark.parametrize("name", FILES)
def test_the_java_engine_gives_what_is_expected(name: str, core: CoreJvm) -> None:
    vectors = FILES[name]
    assert failures(vectors, list(core.outcomes(dict(vector.case) for vector in vectors))) == []


@pytest.mark.parametrize("name", FILES)
def test_a_file_fits_its_schema_and_its_vectors_leave_out_what_is_usual_in_their_group(name: str) -> None:
    path = VECTORS_DIRECTORY / f"{name.replace('-', '_')}.json"
    schema = json.loads((Path(__file__).parent / "vector.schema.json").read_text(encoding="utf-8"))
    jsonschema.Draft202012Validator(schema).validate(read_vector_file(path))

    for group in json.loads(path.read_text(encoding="utf-8")):
        usual = group["usual"]
        assert [v["id"] for v in group["vectors"] for key in v if key in usual and v[key] == usual[key]] == []


def test_every_operation_and_every_token_has_vectors() -> None:
    assert {item.operation for item in VECTORS} == set(OPERATIONS)
    tokens = {item.expect.get("token") for item in VECTORS if item.operation == "call"} - {None}
    assert tokens == set(load_failure_tokens())
