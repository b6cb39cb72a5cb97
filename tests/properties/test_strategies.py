"""The generated models are valid, and nothing is rare among them; the assertions of `matching` see faults."""

import dataclasses
import json
from collections import Counter
from random import Random
from typing import Any

import pytest

from droidgate_mappings.formats.format import Artifact, Writing
from droidgate_mappings.model.capability import Capability, Provider, reachable_definitions
from droidgate_mappings.model.findings import Finding, Level
from droidgate_mappings.model.leaves import leaves_of_provider
from droidgate_mappings.model.types import TYPE_KINDS, ArrayType
from droidgate_mcp.format import FORMAT
from mappings.fit.capacities import write_for
from model_types import optional, record, string
from properties.matching import assert_findings_match, assert_reads_back
from strategies import INVENTED_FORMAT, KEYWORDS, random_provider

EXAMPLES = 1_000
LEAST_SHARE = 0.05
FACTS = ("nullable", "description", "enum", "pattern", "format", "implicit", "exclusive", "qualified_name")
FIELDS = ("package", "component", "name", "instructions", "title", "version", "read_only", "class_name")
SPELLINGS = ("type", "enum", "required", "properties")


def _features(provider: Provider) -> set[str]:
    features = {f"capabilities {len(provider.capabilities)}"}
    for pointer, value in leaves_of_provider(provider):
        tokens = pointer.split("/")
        if tokens[-1] == "kind":
            features.add(f"kind {value}")
        elif tokens[-2] == "keywords":
            features.add(f"keyword {tokens[-1]}")
        elif INVENTED_FORMAT in tokens:
            features.add("extensions")
        else:
            features.add(tokens[-1])
    if any(
        name in reachable_definitions(item, provider.definitions)
        for name, item in provider.definitions.items()
    ):
        features.add("recursion")
    return features


def test_every_kind_keyword_and_fact_is_in_one_of_twenty_examples() -> None:
    providers = (random_provider(Random(seed)) for seed in range(EXAMPLES))
    seen = Counter(feature for provider in providers for feature in _features(provider))
    expected = {
        *(f"kind {kind}" for kind in TYPE_KINDS),
        *(f"keyword {word}" for word in (*KEYWORDS, *SPELLINGS)),
        *(f"capabilities {count}" for count in (1, 2, 3)),
        *(*FACTS, *FIELDS, "extensions", "recursion"),
    }
    rare = {feature: seen[feature] for feature in expected if seen[feature] < EXAMPLES * LEAST_SHARE}
    assert not rare


DIALECT = FORMAT.dialects[0]
PROVIDER = Provider(
    protocol="test",
    name="Name",
    capabilities=(Capability(id="with space", input=record({"a": optional(string())}), output=ArrayType()),),
)


WRITING = write_for(PROVIDER, "mcp")


def _changed(**changes: Any) -> Writing:
    return dataclasses.replace(WRITING, **changes)


def _finding(pointer: str) -> Finding:
    return Finding(code="x", level=Level.DROPPED, pointer=pointer, message="Gone")


def test_a_true_account_is_accepted() -> None:
    assert WRITING.findings
    assert_findings_match(PROVIDER, WRITING)
    assert_reads_back(WRITING, FORMAT, DIALECT)


@pytest.mark.parametrize("left_out", range(3), ids="finding {}".format)
def test_a_missing_finding_is_seen(left_out: int) -> None:
    reported = tuple(item for index, item in enumerate(WRITING.findings) if index != left_out)
    with pytest.raises(AssertionError, match="differs without a finding"):
        assert_findings_match(PROVIDER, _changed(findings=reported))


@pytest.mark.parametrize("pointer", ["/name", "/capabilities/0/input", "/capabilities/0/id"])
def test_a_finding_too_many_is_seen(pointer: str) -> None:
    reported = (*WRITING.findings, _finding(pointer))
    with pytest.raises(AssertionError, match="a finding without a difference"):
        assert_findings_match(PROVIDER, _changed(findings=reported))


def test_a_change_that_nothing_says_is_seen() -> None:
    changed = WRITING.provider.model_copy(update={"name": "Another"})
    with pytest.raises(AssertionError, match="/name: 'Name' -> 'Another'"):
        assert_findings_match(PROVIDER, _changed(provider=changed))


@pytest.mark.parametrize(
    ("key", "value"),
    [("description", "More"), ("inputSchema", {"type": "object"}), ("annotations", {"readOnlyHint": True})],
    ids=str,
)
def test_a_file_that_says_something_else_is_seen(key: str, value: object) -> None:
    document = json.loads(WRITING.artifacts[0].text)
    document["tools"][0][key] = value
    artifact = Artifact("tools.json", json.dumps(document), "document")
    with pytest.raises(AssertionError, match="reads back differently"):
        assert_reads_back(_changed(artifacts=(artifact,)), FORMAT, DIALECT)
