"""The formats of components: access rules come back or are security findings; what is written is clean.

What a format's own linter warns of is a fact of the source: a text that is empty, a JSON Schema that is not
valid, or an access rule that keeps callers out.
"""

from random import Random

import pytest
from hypothesis import given, strategies as st
from lxml import etree

from droidgate_android.projects.android_project import application_from_tree
from droidgate_mappings.fit.provider_fit import is_restriction
from droidgate_mappings.formats.format import Writing, load_formats
from droidgate_mappings.model.capability import ComponentAccess, Provider
from droidgate_mappings.model.findings import Level
from droidgate_mappings.model.json_values import Json
from droidgate_mappings.values.schema_checks import RULES as SCHEMA_RULES
from mappings.fit.capacities import write_for
from properties.matching import assert_findings_match, assert_reads_back
from strategies import providers, random_provider

ANDROID = "{http://schemas.android.com/apk/res/android}"
TARGETS = (
    *(("mobile-mcp", dialect) for dialect in ("1.0", "prototype", "pre-spec")),
    *(("mmcp", dialect) for dialect in ("1.0", "draft", "broadcast")),
)
RULES = st.builds(
    ComponentAccess,
    exported=st.sampled_from([True, False, None]),
    enabled=st.one_of(
        st.booleans(),
        st.sampled_from([{"": False, "v36": True}, {"": True, "night": False, "v30": False, "v36": True}]),
    ),
    permission=st.sampled_from([None, "a.CALL", "@string/none", 'odd "name" <&>', "\u65e5\u672c"]),
)


def component_of(writing: Writing) -> etree._Element:
    (text,) = [artifact.text for artifact in writing.artifacts if artifact.role == "manifest"]
    return next(etree.fromstring(text.encode()).iter("service", "activity", "receiver"))


def resources_of(writing: Writing) -> dict[str, bool]:
    """Return each boolean that was written, by the qualifier of its folder."""
    return {
        artifact.path.split("/")[1].removeprefix("values").removeprefix("-"): element.text == "true"
        for artifact in writing.artifacts
        if artifact.role == "resource"
        for element in etree.fromstring(artifact.text.encode()).iter("bool")
    }


@pytest.mark.parametrize(("format_id", "dialect"), TARGETS)
@given(provider=providers(size=3), access=RULES)
def test_rules_are_written_and_read_back(
    format_id: str, dialect: str, provider: Provider, access: ComponentAccess
) -> None:
    before = provider.model_copy(update={"access": access})
    writing = write_for(before, f"{format_id}+{dialect}")
    assert_findings_match(before, writing)
    table = load_formats()[format_id].dialect(dialect)
    if table.readable:
        assert_reads_back(writing, load_formats()[format_id], table)
    written = component_of(writing)
    assert written.get(f"{ANDROID}exported") == ("false" if access.exported is False else "true")
    assert (written.get(f"{ANDROID}permission") is None) == (access.permission is None)
    if isinstance(access.enabled, dict):
        assert resources_of(writing) == access.enabled
        assert (written.get(f"{ANDROID}enabled") or "").startswith("@bool/")
    else:
        assert written.get(f"{ANDROID}enabled") == (None if access.enabled else "false")


CLOSED = {"exported": False, "enabled": {"": False, "v36": True}, "permission": "a.CALL"}


@pytest.mark.parametrize(("field", "value"), CLOSED.items(), ids=str)
@pytest.mark.parametrize("format_id", ["mobile-mcp", "mmcp"])
def test_a_rule_that_a_tool_list_cannot_enforce_is_a_security_finding(
    format_id: str, field: str, value: Json
) -> None:
    open_one = Provider(protocol="test", package="a.b", name="N", description="D", instructions="I")
    source = write_for(open_one, format_id).provider
    closed = source.model_copy(update={"access": ComponentAccess(**{field: value})})
    findings = write_for(closed, "mcp").findings
    security = [finding.pointer for finding in findings if finding.level is Level.SECURITY]
    assert security == [f"/access/{field}"]


SEEDS = 300
OF_THE_SOURCE = {
    "mobile-mcp": {"mobile-mcp-capability-description", "mobile-mcp-capability-version",
        "mobile-mcp-param-description", "mobile-mcp-tool-description", "mobile-mcp-tool-name"},
    "mmcp": {"mmcp-instructions", "mmcp-tool-description", *SCHEMA_RULES},
}  # fmt: skip
ACCESS = {
    f"{format_id}-{rule}": rule
    for format_id in ("mobile-mcp", "mmcp")
    for rule in ("exported", "enabled", "permission")
}
"""Rule -> the access rule of the source that it warns of."""


@pytest.mark.slow
@pytest.mark.parametrize("format_id", OF_THE_SOURCE)
def test_a_linter_warns_only_of_what_the_source_has(format_id: str) -> None:
    lint = load_formats()[format_id].lint_application
    assert lint is not None
    for seed in range(SEEDS):
        provider = random_provider(Random(seed), size=15)
        parts = [part for part in write_for(provider, format_id).artifacts if part.role != "document"]
        for finding in lint(application_from_tree({part.path: part.text.encode() for part in parts})):
            if finding.level is Level.NOTE:
                continue
            if finding.code in ACCESS:
                rule = ACCESS[finding.code]
                assert is_restriction(rule, getattr(provider.access, rule)), f"seed {seed}: {finding.message}"
                continue
            assert finding.code in OF_THE_SOURCE[format_id], f"seed {seed}: {finding.message}"
            assert finding.code in SCHEMA_RULES or "empty" in finding.message
