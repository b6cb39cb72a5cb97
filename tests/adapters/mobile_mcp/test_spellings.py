"""Facts of how a descriptor is written are at most renamed in another format; other facts are reported."""

import pytest

from adapters.mobile_mcp.tools import (
    CAPABILITIES,
    DESCRIPTION,
    NAME,
    descriptor,
    read_app,
    round_trip,
    service,
)
from droidgate_mappings.formats.format import load_formats
from droidgate_mappings.model.findings import CONVERSION_LEVELS, Finding, Level

TARGETS = ("mmcp", "appfunctions")


def capability(inner: str, attributes: str = "") -> str:
    return f'<capability id="c" description="C" version="1" {attributes}>{inner}</capability>'


def param(word: str) -> str:
    return f'<input><param name="x" type="{word}" required="true" description="X"/></input>'


def facts_lost(text: str, target: str, *components: str, attributes: str = "") -> list[Finding]:
    """Return the findings about facts of Mobile-MCP when an app is converted."""
    services = components or (service(NAME, DESCRIPTION, CAPABILITIES),)
    files = {"res/xml/mcp_capabilities.xml": text, "res/xml/other.xml": text}
    (provider,) = read_app(*services, attributes=attributes, files=files).providers
    item = load_formats()[target]
    assert item.write is not None
    findings = item.write(provider, item.dialects[0]).findings
    return [finding for finding in findings if "/extensions/mobile-mcp/" in finding.pointer]


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("text", [
    descriptor(capability("<input/>")),
    descriptor(capability("<input></input>")),
    *(descriptor(capability(param(word))) for word in ("String", "STRING", "bool", "int", "Long", "float",
        "list", "map", " string ")),
    descriptor(capability(""), root='mobile-mcp-capabilities version="1.1"'),
])  # fmt: skip
def test_another_spelling_is_at_most_renamed(text: str, target: str) -> None:
    lost = facts_lost(text, target)
    assert lost
    assert all(CONVERSION_LEVELS.index(item.level) <= CONVERSION_LEVELS.index(Level.RENAMED) for item in lost)


@pytest.mark.parametrize("target", TARGETS)
def test_how_the_manifest_names_things_is_at_most_renamed(target: str) -> None:
    named = service(
        NAME,
        DESCRIPTION,
        CAPABILITIES.replace("mcp_capabilities", "other"),
        attributes='android:exported="true"',
    ).replace("</intent-filter>", '<category android:name="a.CATEGORY"/></intent-filter>')
    lost = facts_lost(descriptor(capability("")), target, named, attributes='android:permission="a.P"')
    assert {item.pointer.rpartition("/")[2] for item in lost} == {"application-access", "filters", "resource"}
    assert {item.level for item in lost} == {Level.RENAMED}


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("word", ["date", "short", "enum"])
def test_a_word_that_says_more_is_reported(word: str, target: str) -> None:
    found = facts_lost(descriptor(capability(param(word))), target)
    (lost,) = [item for item in found if item.pointer.endswith("/word")]
    assert CONVERSION_LEVELS.index(lost.level) > CONVERSION_LEVELS.index(Level.RENAMED)


@pytest.mark.parametrize("inner", ["<input/>", param("String"), param("short")])
def test_a_spelling_comes_back(inner: str) -> None:
    files = {"res/xml/mcp_capabilities.xml": descriptor(capability(inner))}
    (provider,) = read_app(service(NAME, DESCRIPTION, CAPABILITIES), files=files).providers
    trip = round_trip(provider)
    assert trip.after.capabilities[0].extensions == provider.capabilities[0].extensions
    assert trip.after.capabilities[0].input == provider.capabilities[0].input
    assert trip.writing.findings == ()


def test_a_rule_of_the_application_is_written_at_the_service() -> None:
    (provider,) = read_app(
        service(NAME, DESCRIPTION, CAPABILITIES), attributes='android:permission="a.WHOLE"'
    ).providers
    trip = round_trip(provider)
    assert trip.after.access == provider.access
    assert [(finding.pointer, finding.level) for finding in trip.writing.findings] == [
        ("/extensions/mobile-mcp/application-access", Level.RENAMED)
    ]
