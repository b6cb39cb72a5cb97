"""Every file of the corpus is read, or refused for a reason that was looked at."""

import json
from pathlib import Path

import pytest

from droidgate.sources.android_project import application_from_tree
from droidgate_mappings.formats.format import SourceFile
from droidgate_mappings.formats.leniency import ReadingContext
from droidgate_mappings.model.capability import Place, Provider
from droidgate_mappings.model.errors import InputError
from droidgate_mmcp.discovery import read_discovery
from droidgate_mmcp.format import FORMAT
from droidgate_mmcp.wire import MmcpToolFailure, read_activity_result, read_broadcast_result
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
NOT_READ = {
    f"{GOOSE}@7c4f3d1.xml": "the client of the broadcast dialect: it declares no tools",
    f"{BREEZY}@6351a48.xml": "a receiver of broadcasts: its tools are in its code",
    "derived__activity-call-results.json": "answers to calls",
    "derived__activity-goose-example.json": "answers to calls",
    "derived__broadcast-discovery-and-invoke.json": "answers to broadcasts",
    "index.tsv": "the list of the corpus",
}


def corpus() -> Path:
    return require("corpus") / "mmcp"


def read(name: str, context: ReadingContext) -> tuple[Provider, ...]:
    data = (corpus() / name).read_bytes()
    if name.endswith(".xml"):
        return FORMAT.read_application(
            application_from_tree({"AndroidManifest.xml": data}), context
        ).providers
    return FORMAT.read_file(SourceFile(name, data), context).providers


def test_every_file_is_accounted_for() -> None:
    assert {path.name for path in corpus().iterdir()} == READ.keys() | NOT_READ.keys()


@pytest.mark.parametrize("name", READ)
def test_a_file_is_read(name: str) -> None:
    context = ReadingContext()
    (provider,) = read(name, context)
    dialect, tools = READ[name]
    assert provider.dialect == dialect
    assert [item.id for item in provider.capabilities] == tools
    assert [item.rule for item in context.findings] == ROWS.get(name, [])


@pytest.mark.parametrize("name", NOT_READ)
def test_another_file_has_no_provider(name: str) -> None:
    data = (corpus() / name).read_bytes()
    assert FORMAT.detect(SourceFile(name, data)) == 0
    if name.endswith(".xml"):
        assert read(name, ReadingContext()) == ()
    else:
        with pytest.raises(InputError):
            read(name, ReadingContext())


@pytest.mark.parametrize("name", READ)
def test_a_file_is_written_again_as_it_was(name: str) -> None:
    assert FORMAT.write is not None
    (provider,) = read(name, ReadingContext())
    writing = FORMAT.write(provider, FORMAT.dialect(provider.dialect))
    assert not writing.findings
    (document,) = [item.text for item in writing.artifacts if item.role == "document"]
    (again,) = FORMAT.read_file(SourceFile("a", document.encode()), ReadingContext(strict=True)).providers
    assert [item.input for item in again.capabilities] == [item.input for item in provider.capabilities]
    if name.endswith(".json"):
        expected = json.loads((corpus() / name).read_text(encoding="utf-8"))
        assert json.loads(document) == {"protocolVersion": "1.0", **expected}


def test_the_receiver_of_broadcasts_is_named() -> None:
    data = (corpus() / f"{BREEZY}@6351a48.xml").read_bytes()
    reading = FORMAT.read_application(application_from_tree({"AndroidManifest.xml": data}), ReadingContext())
    assert [finding.code for finding in reading.findings] == ["tools-not-in-files"]


def test_known_answers_to_calls_are_read() -> None:
    answers = json.loads((corpus() / "derived__activity-call-results.json").read_text(encoding="utf-8"))

    def outcome(name: str) -> object:
        answer = answers[name]
        result = read_activity_result(answer["resultCode"], answer["extras"], ReadingContext())
        return result.failure.token if result.failure is not None else result.values

    assert outcome("ok") == {"text": answers["ok"]["extras"]["result"]}
    assert outcome("unknown_tool") == "unknown_capability"
    assert outcome("missing_extra") == "invalid_argument"
    assert outcome("bad_json") == "invalid_argument"
    goose = json.loads((corpus() / "derived__activity-goose-example.json").read_text(encoding="utf-8"))
    ok = read_activity_result(goose["ok"]["resultCode"], goose["ok"]["extras"], ReadingContext())
    assert ok.values == json.loads(goose["ok"]["extras"]["result"])
    unknown = read_activity_result(goose["unknown_tool"]["resultCode"], None, ReadingContext())
    assert unknown.failure == MmcpToolFailure("canceled", "cancelled or unknown tool")


def test_known_answers_to_broadcasts_are_read() -> None:
    name = "derived__broadcast-discovery-and-invoke.json"
    known = json.loads((corpus() / name).read_text(encoding="utf-8"))
    extras = {key: kept["value"] for key, kept in known["discovery"]["result_extras"].items()}
    package, _, component = known["discovery"]["component"].partition("/")
    provider = read_discovery(
        extras, ReadingContext(strict=True), place=Place(path=name), package=package, component=component
    )
    assert [item.id for item in provider.capabilities] == ["getWeather"]
    data = known["invoke"]["result_data"]
    assert read_broadcast_result(-1, data, ReadingContext()).values == {"text": data}
