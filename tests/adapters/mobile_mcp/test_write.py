"""What is written: files of the specification's shape, and nothing lost when they are read again."""

import pytest
from hypothesis import given, strategies as st
from lxml import etree

from adapters.mobile_mcp.tools import (
    CAPABILITIES,
    DESCRIPTION,
    DIALECTS,
    FULL,
    NAME,
    OLDER_ACTION,
    SWITCH,
    artifact,
    descriptor,
    provider_of,
    read_app,
    read_back,
    round_trip,
    service,
    write,
)
from conftest import Golden
from droidgate_mappings.model.capability import Capability, Provider
from droidgate_mappings.model.findings import Level
from droidgate_mappings.model.json_values import Json
from droidgate_mappings.model.types import Type
from droidgate_mobile_mcp.protocol_names import TABLES
from model_types import array, float64, int32, optional, record, required, string
from properties.matching import assert_findings_match, assert_same_declaration

ANDROID = "{http://schemas.android.com/apk/res/android}"
LAMP = Provider(
    protocol="test",
    package="com.example.lamp",
    name="Lamp",
    description='Switches the lamp, 100% reliably. It\'s "smart".',
    capabilities=(
        Capability(
            id="dim",
            title="Dim",
            description="Dims the lamp",
            version="1.10",
            input=record(
                {
                    "percent": required(int32(description="How bright")),
                    "mode": optional(string(enum=("slow", "fast"))),
                }
            ),
            output=record({"before": optional(float64())}),
        ),
        Capability(id="off", description="007 & <others>\nor nobody"),
        Capability(id="history", output=array(string())),
    ),
)


@pytest.mark.parametrize("dialect", DIALECTS)
def test_a_written_app_is_as_its_golden_files(dialect: str, golden: Golden) -> None:
    for item in write(LAMP, dialect).artifacts:
        golden(f"mobile-mcp/{dialect}/{item.path}", item.text)


def test_the_manifest_is_as_section_1_1_has_it() -> None:
    root = etree.fromstring(artifact(write(LAMP), "AndroidManifest.xml").encode())
    (kept,) = root.findall("application/service")
    assert root.get("package") == "com.example.lamp"
    assert kept.get(f"{ANDROID}exported") == "true"
    assert [item.get(f"{ANDROID}name") for item in kept.findall("intent-filter/action")] == [
        "mobile.mcp.SERVICE"
    ]
    entries = [
        (item.get(f"{ANDROID}name"), item.get(f"{ANDROID}value"), item.get(f"{ANDROID}resource"))
        for item in kept.findall("meta-data")
    ]
    assert entries == [
        ("mobile.mcp.tool.name", "@string/mobile_mcp_tool_name", None),
        ("mobile.mcp.tool.description", "@string/mobile_mcp_tool_description", None),
        ("mobile.mcp.tool.capabilities", None, "@xml/mcp_capabilities"),
    ]


def test_the_descriptor_is_as_section_1_2_has_it() -> None:
    root = etree.fromstring(artifact(write(LAMP), "res/xml/mcp_capabilities.xml").encode())
    assert (root.tag, dict(root.attrib)) == ("mobile-mcp-capabilities", {"version": "1.0"})
    assert {child.tag for child in root} == {"capability"}
    for capability in root:
        assert set(capability.attrib) == {"id", "description", "version"}
        assert [child.tag for child in capability] in ([], ["input"], ["output"], ["input", "output"])
    for param in root.iterfind("capability/input/param"):
        assert set(param.attrib) == {"name", "type", "required", "description"}
        assert param.get("required") in {"true", "false"}
    for param in root.iterfind("capability/output/param"):
        assert set(param.attrib) == {"name", "type", "description"}


def test_prototype_and_pre_spec_differ_where_the_prototype_s_files_do() -> None:
    prototype = etree.fromstring(artifact(write(LAMP, "prototype"), "res/xml/mcp_capabilities.xml").encode())
    older = etree.fromstring(artifact(write(LAMP, "pre-spec"), "res/xml/mcp_capabilities.xml").encode())
    assert (prototype.tag, dict(prototype.attrib)) == ("mobile-mcp-capabilities", {})
    assert (older.tag, dict(older.attrib)) == ("mcp", {})
    manifest = artifact(write(LAMP, "pre-spec"), "AndroidManifest.xml")
    for name in ("mcp.application.name", "mcp.application.description", "mcp.capabilities", OLDER_ACTION):
        assert f'"{name}"' in manifest
    assert "mobile.mcp" not in manifest


def test_1_0_input_has_the_files_of_1_0() -> None:
    assert write(LAMP, "1.0-input").artifacts == write(LAMP, "1.0").artifacts


PARAM = '<param name="x" type="string" required="true" description="X"/>'
OUT = '<param name="x" type="string" description="X"/>'
STRANGE_DESCRIPTORS = {
    "full": FULL,
    "no capability": descriptor(),
    "other version": descriptor(SWITCH, root='mobile-mcp-capabilities version="1.1"'),
    "prototype": descriptor(SWITCH, root="mobile-mcp-capabilities"),
    "empty elements": descriptor(
        '<capability id="c" description="" version=""><input/><output/></capability>'
    ),
    "type words": descriptor(
        '<capability id="c" description="C" version="1"><output>'
        '<param name="a" type="Date" description="A"/><param name="b" type="INT" description="B"/>'
        '<param name="c" type="list" description="C"/><param name="d" type=" json " description="D"/>'
        "</output></capability>"
    ),
    "duplicates": descriptor(
        '<capability id="c" description="C" version="1">'
        f"<input>{PARAM}{PARAM}</input><output>{OUT}{OUT}</output></capability>",
        '<capability id="c" description="again" version="1"/>',
    ),
    "unknown parts": descriptor(
        '<capability xmlns:a="urn:a" id="c" description="C" version="1" since="7" a:b="c">'
        f'text<a:more x="&quot;&#10;">one<b/>two</a:more><input lang="en">{PARAM}<group/>words</input>'
        '<output>words<param name="y" type="string" description="Y" unit="%"><hint/></param></output>'
        "</capability>",
        root='mobile-mcp-capabilities version="1.0" generator="g"',
    )
    + "",
    "hard texts": descriptor(
        r'<capability id="007" version="1.10" description="\@string/x C:\\new &quot;q&quot; \u00e9 &amp;"/>'
        r'<capability id=" a " description="\?attr" version="TRUE"/>'
    ),
    "references": descriptor(
        '<capability id="c" description="@string/gone" version="1">'
        f"<input>{PARAM.replace('X', '@string/gone')}</input></capability>"
    ),
}


@pytest.mark.parametrize("name", STRANGE_DESCRIPTORS)
def test_a_descriptor_written_again_in_its_dialect_says_the_same(name: str) -> None:
    reading = read_app(
        service(NAME, DESCRIPTION, CAPABILITIES),
        files={"res/xml/mcp_capabilities.xml": STRANGE_DESCRIPTORS[name]},
    )
    (provider,) = reading.providers
    reported = round_trip(provider)
    assert reported.writing.findings == ()
    assert reported.writing.names == ()
    assert_same_declaration(provider, reported.after)


def facts_of_document(text: str) -> set[tuple[str, str, str]]:
    """Every attribute and text of a document with the path to it, in any order."""
    found: set[tuple[str, str, str]] = set()

    def walk(element: etree._Element, path: str) -> None:
        key = element.get("id") or element.get("name") or ""
        here = f"{path}/{element.tag!s}[{key}]"
        found.add((here, "", ""))
        found.update((here, str(name), str(value)) for name, value in element.attrib.items())
        texts = [element.text or "", *(child.tail or "" for child in element)]
        found.update((here, "text", text.strip()) for text in texts if text.strip())
        for child in element:
            walk(child, here)

    walk(etree.fromstring(text.encode()), "")
    return found


@pytest.mark.parametrize("name", sorted(STRANGE_DESCRIPTORS.keys() - {"hard texts", "prototype"}))
def test_the_written_file_holds_every_fact_of_the_file_it_was_read_from(name: str) -> None:
    provider = provider_of(STRANGE_DESCRIPTORS[name])
    written = artifact(write(provider, provider.dialect or ""), "res/xml/mcp_capabilities.xml")
    assert facts_of_document(STRANGE_DESCRIPTORS[name]) <= facts_of_document(written)


@pytest.mark.parametrize("components", [
    service(NAME, DESCRIPTION, CAPABILITIES, attributes='android:exported="false" android:enabled="false"'),
    service(NAME, DESCRIPTION, CAPABILITIES,
        attributes='android:permission="a.CALL" android:foregroundServiceType="dataSync"'),
    service(NAME.replace("Lamp", "2048"), CAPABILITIES),
    service(NAME, DESCRIPTION, CAPABILITIES.replace("mobile.mcp.tool.capabilities", "mcp.capabilities"),
        action=OLDER_ACTION),
    service(NAME, DESCRIPTION, CAPABILITIES,
        '<intent-filter><action android:name="a.B"/><category android:name="a.C"/></intent-filter>'),
    CAPABILITIES.replace("mobile.mcp.tool.capabilities", "mcp.capabilities") + service(NAME, DESCRIPTION),
])  # fmt: skip
def test_a_service_written_again_says_the_same(components: str) -> None:
    (provider,) = read_app(components).providers
    if provider.description is None:
        provider = provider.model_copy(update={"description": "Something"})
    reported = round_trip(provider)
    assert reported.writing.findings == ()
    assert_same_declaration(provider, reported.after)


def test_a_raw_descriptor_is_written_raw_again() -> None:
    text = descriptor('<capability id="c" description="007 \\n" version="1"/>')
    reading = read_app(
        service(NAME, DESCRIPTION, CAPABILITIES.replace("@xml", "@raw")),
        files={"res/raw/mcp_capabilities.xml": text},
    )
    reported = round_trip(reading.providers[0])
    assert '"007 \\n"' in artifact(reported.writing, "res/raw/mcp_capabilities.xml")
    assert_same_declaration(reading.providers[0], reported.after)


def test_a_lone_descriptor_gets_a_manifest_and_what_was_made_up_is_reported() -> None:
    writing = write(provider_of(FULL))
    assert {(finding.code, finding.pointer) for finding in writing.findings} == {
        ("field-defaulted", "/component"),
        ("field-defaulted", "/name"),
        ("field-defaulted", "/description"),
    }
    assert provider_of(artifact(writing, "res/xml/mcp_capabilities.xml")).capabilities == tuple(
        finding.model_copy(update={"source": again.source})
        for finding, again in zip(
            provider_of(FULL).capabilities,
            provider_of(artifact(writing, "res/xml/mcp_capabilities.xml")).capabilities,
            strict=True,
        )
    )


def with_facts(**facts: Json) -> Provider:
    return LAMP.model_copy(
        update={"protocol": "mobile-mcp", "component": ".S", "extensions": {"mobile-mcp": facts}}
    )


@pytest.mark.parametrize(("fact", "value"), [
    ("version", "2.0"),
    ("version", "1.0"),
    ("version", 1),
    ("resource", "@xml/../x"),
    ("resource", "@xml/mcp_capabilities"),
    ("filters", []),
    ("filters", "x"),
    ("keys", {"name": "other"}),
    ("keys", {}),
    ("at-application", ["name"]),
    ("application-access", ["permission"]),
    ("foregroundServiceType", 7),
    ("attributes", {"version": "3"}),
    ("attributes", {"a b": "c"}),
    ("elements", [{"tag": "a><b"}]),
    ("elements", [{"tag": "a", "content": [" x "]}]),
    ("text", " x"),
    ("unheard-of", {}),
])  # fmt: skip
def test_a_fact_that_no_reader_makes_is_dropped_and_reported(fact: str, value: Json) -> None:
    provider = with_facts(**{fact: value})
    writing = write(provider)
    spelling = fact in TABLES.notations
    code, level = ("notation-dropped", Level.RENAMED) if spelling else ("extension-dropped", Level.DROPPED)
    dropped = [item for item in writing.findings if item.code == code]
    assert [(item.pointer, item.level) for item in dropped] == [(f"/extensions/mobile-mcp/{fact}", level)]
    assert_findings_match(provider, writing)
    assert_same_declaration(writing.provider, read_back(writing))


def test_a_version_is_dropped_where_the_dialect_has_none() -> None:
    writing = write(with_facts(version="1.1"), "prototype")
    assert [finding.pointer for finding in writing.findings if finding.code == "notation-dropped"] == [
        "/extensions/mobile-mcp/version"
    ]
    assert 'version="1.1"' in artifact(write(with_facts(version="1.1")), "res/xml/mcp_capabilities.xml")


FACT_NAMES = (
    *("attributes", "elements", "empty-input", "input", "output"),
    *("references", "word-as-written", "text", "word"),
)
WILD_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=4) | st.just("description"),
    lambda inner: st.one_of(
        st.lists(inner, max_size=2),
        st.dictionaries(st.sampled_from(["tag", "a", "content", "attributes"]), inner, max_size=3),
    ),
    max_leaves=6,
)


@given(st.dictionaries(st.sampled_from(FACT_NAMES), WILD_VALUES))
def test_wild_facts_are_written_or_dropped(facts: dict[str, Json]) -> None:
    extensions = {"mobile-mcp": facts} if facts else {}
    kept = required(string(description="X", extensions=extensions), extensions=extensions)
    capability = Capability(
        id="c", description="C", version="1", input=record({"x": kept}), extensions=extensions
    )
    provider = with_facts().model_copy(update={"extensions": extensions, "capabilities": (capability,)})
    writing = write(provider)
    assert_findings_match(provider, writing)
    assert_same_declaration(writing.provider, read_back(writing))


@pytest.mark.parametrize("character", ["a", "é", "\U0001f600"])
def test_a_text_that_android_cannot_store_is_cut_and_reported(character: str) -> None:
    def described(text: str) -> Type:
        return string(description=text)

    text = character * 40_000
    taken = record({"x": required(described(text))})
    capabilities = (
        Capability(id="c", description=text, version="1", input=taken),
        Capability(id="d", description="D", version="1", input=taken, output=taken),
    )
    provider = LAMP.model_copy(
        update={"description": text, "capabilities": capabilities, "component": ".MobileMcpToolService"}
    )
    writing = write(provider)
    cut = [finding.pointer for finding in writing.findings if finding.code == "text-truncated"]
    assert cut == [
        "/capabilities/0/description",
        "/capabilities/0/input/properties/x/type/description",
        "/capabilities/1/input/properties/x/type/description",
        "/capabilities/1/output/properties/x/type/description",
        "/description",
    ]
    assert_findings_match(provider, writing)
    # What a manifest may hold since Android 15 (reference: android.content.res.Element, 32768 characters).
    of_manifest = len((writing.provider.description or "").encode("utf-16-le", "surrogatepass")) // 2
    assert of_manifest in {32_767, 32_768}
    kept = writing.provider.capabilities[0].description or ""
    assert kept.endswith("…")
    assert (
        32_000 < len(kept.encode("utf-16", "surrogatepass")) // 2 * (1 if character == "a" else 3) < 100_000
    )
    assert_same_declaration(writing.provider, read_back(writing))
