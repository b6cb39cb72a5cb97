"""Files of the corpus are read and written again; which of them are refused is in `tests/corpus`."""

import json
from pathlib import Path
from typing import Any

import pytest

from droidgate_android.projects.android_project import application_from_tree
from droidgate_mappings.formats.format import SourceFile
from droidgate_mappings.formats.leniency import ReadingContext
from droidgate_mappings.model.capability import Place, Provider
from droidgate_mmcp.discovery import read_discovery
from droidgate_mmcp.format import FORMAT
from droidgate_mmcp.wire import MmcpToolFailure, read_activity_result, read_broadcast_result
from mappings.fit.capacities import write_for
from requirements_of_tests import require

pytestmark = pytest.mark.requires("corpus")

GOOSE = "block__goose-mobile__app__src__main__AndroidManifest"
SPEC = "block__goose-mobile__mMCP-spec__SPECIFICATION__sample"
BREEZY = "michaelneale__breezy-weather__app__src__main__AndroidManifest"

READ: dict[str, tuple[str, list[str]]] = {
    f"{GOOSE}@6c8cae8.xml": ("1.0", ["hello_world"]),
    f"{GOOSE}@6c8cae8__mMCP_manifest.json": ("1.0", ["hello_world"]),
    f"{GOOSE}@a2f4ec7.xml": ("1.0", ["hello_world"]),
    f"{SPEC}-1@324870a.json": ("draft", ["hello_world"]),
    f"{SPEC}-1@4e610d6.xml": ("1.0", ["pdf_tool"]),
    f"{SPEC}-1@4e610d6__mMCP_manifest.json": ("1.0", ["pdf_tool"]),
    f"{SPEC}-2@324870a.xml": ("draft", ["hello_world"]),
    f"{SPEC}-2@324870a__mMCP_manifest.json": ("draft", ["hello_world"]),
    f"{BREEZY}@2938ec6.xml": ("1.0", ["say_hi"]),
    f"{BREEZY}@2938ec6__mMCP_manifest.json": ("1.0", ["say_hi"]),
    f"{BREEZY}@9b06870.xml": ("1.0", ["say_hi"]),
}
ROWS = {
    # The samples have neither the CALL action nor android:exported.
    f"{SPEC}-1@4e610d6.xml": ["M39", "M39"],
    f"{SPEC}-2@324870a.xml": ["M39", "M39"],
    # The manifest stands alone, so the string of its label is missing.
    f"{BREEZY}@2938ec6.xml": ["S82"],
    f"{BREEZY}@9b06870.xml": ["S82"],
}


def corpus() -> Path:
    return require("corpus") / "mmcp"


def corpus_json(name: str) -> Any:
    return json.loads((corpus() / name).read_text(encoding="utf-8"))


def read(name: str, context: ReadingContext) -> tuple[Provider, ...]:
    data = (corpus() / name).read_bytes()
    if not name.endswith(".xml"):
        return FORMAT.read_file(SourceFile(name, data), context).providers
    return FORMAT.read_application(application_from_tree({"AndroidManifest.xml": data}), context).providers


@pytest.mark.parametrize("name", READ)
def test_a_file_is_read(name: str) -> None:
    context = ReadingContext()
    (provider,) = read(name, context)
    assert (provider.dialect, [item.id for item in provider.capabilities]) == READ[name]
    assert [item.rule for item in context.findings] == ROWS.get(name, [])


@pytest.mark.parametrize("name", READ)
def test_a_file_is_written_again_as_it_was(name: str) -> None:
    (provider,) = read(name, ReadingContext())
    writing = write_for(provider, f"mmcp+{provider.dialect}")
    assert not writing.findings
    (document,) = [item.text for item in writing.artifacts if item.role == "document"]
    (again,) = FORMAT.read_file(SourceFile("a", document.encode()), ReadingContext(strict=True)).providers
    assert [item.input for item in again.capabilities] == [item.input for item in provider.capabilities]
    if name.endswith(".json"):
        assert json.loads(document) == {"protocolVersion": "1.0", **corpus_json(name)}


def test_known_answers_to_calls_are_read() -> None:
    answers = corpus_json("derived__activity-call-results.json")
    goose = corpus_json("derived__activity-goose-example.json")
    ok, unknown = goose["ok"], goose["unknown_tool"]

    def outcome(answer: Any) -> object:
        result = read_activity_result(answer["resultCode"], answer["extras"], ReadingContext())
        return result.failure.token if result.failure is not None else result.values

    assert outcome(answers["ok"]) == {"text": answers["ok"]["extras"]["result"]}
    failed = [outcome(answers[name]) for name in ("unknown_tool", "missing_extra", "bad_json")]
    assert failed == ["unknown_capability", "invalid_argument", "invalid_argument"]
    assert outcome(ok) == json.loads(ok["extras"]["result"])
    failure = read_activity_result(unknown["resultCode"], None, ReadingContext()).failure
    assert failure == MmcpToolFailure("canceled", "cancelled or unknown tool")


def test_known_answers_to_broadcasts_are_read() -> None:
    answers = corpus_json("derived__broadcast-discovery-and-invoke.json")
    extras = {key: extra["value"] for key, extra in answers["discovery"]["result_extras"].items()}
    package, _, component = answers["discovery"]["component"].partition("/")
    context, place = ReadingContext(strict=True), Place(path="a")
    provider = read_discovery(extras, context, place=place, package=package, component=component)
    assert [item.id for item in provider.capabilities] == ["getWeather"]
    data = answers["invoke"]["result_data"]
    assert read_broadcast_result(-1, data, ReadingContext()).values == {"text": data}
