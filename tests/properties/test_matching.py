"""The assertions of `matching` see what they are there to see."""

import dataclasses
import json

import pytest

from droidgate_mappings.formats.format import Artifact, Writing
from droidgate_mappings.model.capability import Capability, Provider
from droidgate_mappings.model.findings import Finding, Level
from droidgate_mappings.model.names import NameEntry
from droidgate_mappings.model.types import ArrayType
from droidgate_mcp.format import FORMAT
from model_types import optional, record, string
from properties.matching import assert_findings_match, assert_reads_back, assert_same_declaration

DIALECT = FORMAT.dialects[0]
PROVIDER = Provider(
    protocol="test",
    name="Name",
    capabilities=(Capability(id="with space", input=record({"a": optional(string())}), output=ArrayType()),),
)


def _written() -> Writing:
    assert FORMAT.write is not None
    return FORMAT.write(PROVIDER, DIALECT)


def _finding(pointer: str) -> Finding:
    return Finding(code="x", level=Level.DROPPED, pointer=pointer, message="Gone")


def test_a_true_account_is_accepted() -> None:
    writing = _written()
    assert writing.findings
    assert_findings_match(PROVIDER, writing)
    assert_reads_back(writing, FORMAT, DIALECT)


@pytest.mark.parametrize("left_out", range(3))
def test_a_missing_finding_is_seen(left_out: int) -> None:
    writing = _written()
    reported = tuple(item for index, item in enumerate(writing.findings) if index != left_out)
    with pytest.raises(AssertionError, match="differs without a finding"):
        assert_findings_match(PROVIDER, dataclasses.replace(writing, findings=reported))


@pytest.mark.parametrize("pointer", ["/name", "/capabilities/0/input", "/capabilities/0/id"])
def test_a_finding_too_many_is_seen(pointer: str) -> None:
    writing = _written()
    reported = (*writing.findings, _finding(pointer))
    with pytest.raises(AssertionError, match="a finding without a difference"):
        assert_findings_match(PROVIDER, dataclasses.replace(writing, findings=reported))


def test_a_change_that_nothing_says_is_seen() -> None:
    writing = _written()
    changed = writing.provider.model_copy(update={"name": "Another"})
    with pytest.raises(AssertionError, match="/name: 'Name' -> 'Another'"):
        assert_findings_match(PROVIDER, dataclasses.replace(writing, provider=changed))


def test_a_finding_of_a_reader_is_none_of_a_conversion() -> None:
    finding = Finding(code="x", level=Level.READ, pointer="/name", message="Read")
    with pytest.raises(AssertionError):
        assert_findings_match(PROVIDER, Writing((), PROVIDER, (finding,)))


def test_a_renamed_property_is_compared_under_its_own_name() -> None:
    renamed = record({"b": optional(string())})
    capability = PROVIDER.capabilities[0].model_copy(update={"input": renamed})
    after = PROVIDER.model_copy(update={"capabilities": (capability,)})
    pointer = "/capabilities/0/input/properties/a"
    entry = NameEntry(pointer=pointer, original="a", written="b")
    assert_findings_match(PROVIDER, Writing((), after, (_finding(pointer),), (entry,)))
    with pytest.raises(AssertionError):
        assert_findings_match(PROVIDER, Writing((), after, (_finding(pointer),)))
    with pytest.raises(AssertionError):
        assert_findings_match(PROVIDER, Writing((), after, (), (entry,)))


@pytest.mark.parametrize(
    ("key", "value"),
    [("description", "More"), ("inputSchema", {"type": "object"}), ("annotations", {"readOnlyHint": True})],
)
def test_a_file_that_says_something_else_is_seen(key: str, value: object) -> None:
    writing = _written()
    document = json.loads(writing.artifacts[0].text)
    document["tools"][0][key] = value
    artifact = Artifact("tools.json", json.dumps(document), "document")
    with pytest.raises(AssertionError, match="reads back differently"):
        assert_reads_back(dataclasses.replace(writing, artifacts=(artifact,)), FORMAT, DIALECT)


def test_a_file_that_is_written_differently_the_second_time_is_seen() -> None:
    writing = _written()
    artifact = dataclasses.replace(writing.artifacts[0], text=writing.artifacts[0].text + "\n")
    with pytest.raises(AssertionError):
        assert_reads_back(dataclasses.replace(writing, artifacts=(artifact,)), FORMAT, DIALECT)


def test_one_and_true_are_not_the_same_declaration() -> None:
    item = Provider(protocol="test", extensions={"other": {"fact": 1}})
    true = Provider(protocol="test", extensions={"other": {"fact": True}})
    with pytest.raises(AssertionError):
        assert_same_declaration(item, true)
