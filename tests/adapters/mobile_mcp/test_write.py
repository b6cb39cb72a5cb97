"""What is written: files of the specification's shape, and nothing lost when they are read again.

Facts of how a descriptor is written are at most renamed in another format; other facts are reported.
"""

from pathlib import Path

import pytest
from hypothesis import example, given, strategies as st
from lxml import etree

from adapters.mobile_mcp.tools import (
    CAPABILITIES,
    DESCRIPTION,
    DIALECTS,
    FULL,
    NAME,
    OLDER_ACTION,
    SWITCH,
    RoundTrip,
    artifact,
    descriptor,
    dialect_when_read,
    provider_of,
    read_app,
    read_back,
    round_trip,
    service,
    whole_service,
    write,
)
from conftest import Golden
from droidgate_android.projects.android_project import application_from_tree
from droidgate_mappings.formats.leniency import ReadingContext
from droidgate_mappings.model.capability import Capability, Provider
from droidgate_mappings.model.findings import CONVERSION_LEVELS, Finding, Level
from droidgate_mappings.model.json_values import Json
from droidgate_mobile_mcp.format import FORMAT, TABLES
from mappings.fit.capacities import facts_of, write_for
from mappings.text.compiled_with_aapt2 import coerced, compile_application, elements_of_xml, strings_of_table
from model_types import array, float64, int32, optional, properties_of, record, required, string
from properties.matching import assert_findings_match, assert_same_declaration
from requirements_of_tests import CHECKOUT
from strategies import NAMES, TEXTS
from titled_rows import titled

ANDROID = "{http://schemas.android.com/apk/res/android}"
LAMP = Provider(
    protocol="test",
    package="com.example.lamp",
    name="Lamp",
    description='Switches the lamp, 100% reliably. It\'s "smart".',
    capabilities=(
        Capability(id="dim", title="Dim", description="Dims the lamp", version="1.10",
            input=record({"percent": required(int32(description="How bright")),
                "mode": optional(string(enum=("slow", "fast")))}),
            output=record({"before": optional(float64())})),
        Capability(id="off", description="007 & <others>\nor nobody"),
        Capability(id="history", output=array(string())),
    ),
)  # fmt: skip


@pytest.mark.parametrize("dialect", DIALECTS)
def test_a_written_app_is_as_its_golden_files(dialect: str, golden: Golden) -> None:
    for item in write(LAMP, dialect).artifacts:
        golden(f"mobile-mcp/{dialect}/{item.path}", item.text)


def test_the_manifest_is_as_section_1_1_has_it() -> None:
    root = etree.fromstring(artifact(write(LAMP), "AndroidManifest.xml").encode())
    (service,) = root.findall("application/service")
    assert (root.get("package"), service.get(f"{ANDROID}exported")) == ("com.example.lamp", "true")
    actions = [item.get(f"{ANDROID}name") for item in service.findall("intent-filter/action")]
    assert actions == ["mobile.mcp.SERVICE"]
    entries = [
        tuple(item.get(f"{ANDROID}{word}") for word in ("name", "value", "resource"))
        for item in service.findall("meta-data")
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


def test_input_of_1_0_is_written_as_the_files_of_1_0() -> None:
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


def assert_written_again(provider: Provider) -> RoundTrip:
    trip = round_trip(provider)
    assert (trip.writing.findings, trip.writing.names) == ((), ())
    assert_same_declaration(provider, trip.after)
    return trip


@titled("text", STRANGE_DESCRIPTORS)
def test_a_descriptor_written_again_in_its_dialect_means_the_same(text: str) -> None:
    files = {"res/xml/mcp_capabilities.xml": text}
    (provider,) = read_app(whole_service(), files=files).providers
    assert_written_again(provider)


def facts_of_document(text: str) -> set[tuple[str, str, str]]:
    """Every attribute and text of a document with the path to it, in any order."""
    facts: set[tuple[str, str, str]] = set()

    def walk(element: etree._Element, path: str) -> None:
        key = element.get("id") or element.get("name") or ""
        here = f"{path}/{element.tag!s}[{key}]"
        facts.add((here, "", ""))
        facts.update((here, str(name), str(value)) for name, value in element.attrib.items())
        texts = [element.text or "", *(child.tail or "" for child in element)]
        facts.update((here, "text", text.strip()) for text in texts if text.strip())
        for child in element:
            walk(child, here)

    walk(etree.fromstring(text.encode()), "")
    return facts


@pytest.mark.parametrize("name", sorted(STRANGE_DESCRIPTORS.keys() - {"hard texts", "prototype"}))
def test_the_written_file_holds_every_fact_of_the_file_it_was_read_from(name: str) -> None:
    provider = provider_of(STRANGE_DESCRIPTORS[name])
    written = artifact(write(provider, provider.dialect or ""), "res/xml/mcp_capabilities.xml")
    assert facts_of_document(STRANGE_DESCRIPTORS[name]) <= facts_of_document(written)


OLDER_CAPABILITIES = CAPABILITIES.replace("mobile.mcp.tool.capabilities", "mcp.capabilities")
FILTER = '<intent-filter><action android:name="a.B"/><category android:name="a.C"/></intent-filter>'


@titled("components", {
    "a service that is neither exported nor enabled":
        whole_service(attributes='android:exported="false" android:enabled="false"'),
    "a service with a permission and a kind":
        whole_service(attributes='android:permission="a.CALL" android:foregroundServiceType="dataSync"'),
    "a name that looks like a number": service(NAME.replace("Lamp", "2048"), CAPABILITIES),
    "the older action and key": service(NAME, DESCRIPTION, OLDER_CAPABILITIES, action=OLDER_ACTION),
    "a filter of another action": whole_service(FILTER),
    "capabilities of the application": OLDER_CAPABILITIES + service(NAME, DESCRIPTION),
})  # fmt: skip
def test_a_service_written_again_means_the_same(components: str) -> None:
    (provider,) = read_app(components).providers
    assert_written_again(provider.model_copy(update={"description": provider.description or "Something"}))


def test_a_raw_descriptor_is_written_raw_again() -> None:
    text = descriptor('<capability id="c" description="007 \\n" version="1"/>')
    files = {"res/raw/mcp_capabilities.xml": text}
    raw = service(NAME, DESCRIPTION, CAPABILITIES.replace("@xml", "@raw"))
    trip = assert_written_again(read_app(raw, files=files).providers[0])
    assert '"007 \\n"' in artifact(trip.writing, "res/raw/mcp_capabilities.xml")


def test_a_lone_descriptor_gets_a_manifest_and_what_was_made_up_is_reported() -> None:
    before = provider_of(FULL)
    writing = write(before)
    places = {("field-defaulted", f"/{field}") for field in ("component", "name", "description")}
    assert {(finding.code, finding.pointer) for finding in writing.findings} == places
    after = provider_of(artifact(writing, "res/xml/mcp_capabilities.xml"))
    assert_same_capabilities(before, after)


def assert_same_capabilities(before: Provider, after: Provider) -> None:
    """Assert that capabilities are equal, but for their places."""
    assert after.capabilities == tuple(
        item.model_copy(update={"source": again.source})
        for item, again in zip(before.capabilities, after.capabilities, strict=True)
    )


def with_facts(**facts: Json) -> Provider:
    extensions = {"mobile-mcp": facts}
    return LAMP.changed({"protocol": "mobile-mcp", "component": ".S", "extensions": extensions})


@titled(("fact", "value"), {
    "a version that is another one": ("version", "2.0"),
    "a version that is the one of 1.0": ("version", "1.0"),
    "a version that is a number": ("version", 1),
    "a resource outside of its folder": ("resource", "@xml/../x"),
    "a resource that is the usual one": ("resource", "@xml/mcp_capabilities"),
    "no filters": ("filters", []),
    "filters that are a text": ("filters", "x"),
    "a key that is unknown": ("keys", {"name": "other"}),
    "no keys": ("keys", {}),
    "a name at the application": ("at-application", ["name"]),
    "a permission of the application": ("application-access", ["permission"]),
    "a service type that is a number": ("foregroundServiceType", 7),
    "an attribute of the version": ("attributes", {"version": "3"}),
    "an attribute with a space": ("attributes", {"a b": "c"}),
    "an element with a tag that is not a name": ("elements", [{"tag": "a><b"}]),
    "an element with a text that is trimmed": ("elements", [{"tag": "a", "content": [" x "]}]),
    "a text that is trimmed": ("text", " x"),
    "an unknown fact": ("unheard-of", {}),
})  # fmt: skip
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
    findings = write(with_facts(version="1.1"), "prototype").findings
    dropped = [finding.pointer for finding in findings if finding.code == "notation-dropped"]
    assert dropped == ["/extensions/mobile-mcp/version"]
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
@example({"text": "a\rb", "elements": [{"tag": "a", "content": ["a\rb"]}]})
def test_wild_facts_are_written_or_dropped(facts: dict[str, Json]) -> None:
    extensions = {"mobile-mcp": facts} if facts else {}
    property_ = required(string(description="X", extensions=extensions), extensions=extensions)
    capability = Capability(id="c", description="C", version="1", input=record({"x": property_}))
    capabilities = (capability.changed({"extensions": extensions}),)
    provider = with_facts().changed({"extensions": extensions, "capabilities": capabilities})
    writing = write(provider)
    assert_findings_match(provider, writing)
    assert_same_declaration(writing.provider, read_back(writing))


@pytest.mark.parametrize("character", ["a", "é", "\U0001f600"])
def test_a_text_that_android_cannot_store_is_cut_and_reported(character: str) -> None:
    text = character * 40_000
    input_type = record({"x": required(string(description=text))})
    capabilities = (
        Capability(id="c", description=text, version="1", input=input_type),
        Capability(id="d", description="D", version="1", input=input_type, output=input_type),
    )
    changes = {"description": text, "capabilities": capabilities, "component": ".MobileMcpToolService"}
    provider = LAMP.model_copy(update=changes)
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
    description = writing.provider.capabilities[0].description or ""
    assert description.endswith("…")
    units = len(description.encode("utf-16", "surrogatepass")) // 2
    assert 32_000 < units * (1 if character == "a" else 3) < 100_000
    assert_same_declaration(writing.provider, read_back(writing))


TARGETS = ("mmcp", "appfunctions")


def capability_xml(inner: str, attributes: str = "") -> str:
    return f'<capability id="c" description="C" version="1" {attributes}>{inner}</capability>'


def param(word: str) -> str:
    return f'<input><param name="x" type="{word}" required="true" description="X"/></input>'


def facts_lost(text: str, target: str, *components: str, attributes: str = "") -> list[Finding]:
    """Return the findings about facts of Mobile-MCP when an app is converted."""
    services = components or (whole_service(),)
    files = {"res/xml/mcp_capabilities.xml": text, "res/xml/other.xml": text}
    (provider,) = read_app(*services, attributes=attributes, files=files).providers
    findings = write_for(provider, target).findings
    return [finding for finding in findings if "/extensions/mobile-mcp/" in finding.pointer]


@pytest.mark.parametrize("target", TARGETS)
@titled("text", {
    "an input without parameters": descriptor(capability_xml("<input/>")),
    "another version": descriptor(capability_xml(""), root='mobile-mcp-capabilities version="1.1"'),
    **{f"the type {word!r}": descriptor(capability_xml(param(word))) for word in (
        "String", "STRING", "bool", "int", "Long", "float", "list", "map", " string ")},
})  # fmt: skip
def test_another_spelling_is_at_most_renamed(text: str, target: str) -> None:
    lost = facts_lost(text, target)
    assert lost
    assert all(CONVERSION_LEVELS.index(item.level) <= CONVERSION_LEVELS.index(Level.RENAMED) for item in lost)


@pytest.mark.parametrize("target", TARGETS)
def test_how_the_manifest_names_things_is_at_most_renamed(target: str) -> None:
    other = CAPABILITIES.replace("mcp_capabilities", "other")
    manifest = service(NAME, DESCRIPTION, other, attributes='android:exported="true"')
    manifest = manifest.replace("</intent-filter>", '<category android:name="a.CATEGORY"/></intent-filter>')
    lost = facts_lost(descriptor(capability_xml("")), target, manifest, attributes='android:permission="a.P"')
    assert {item.pointer.rpartition("/")[2] for item in lost} == {"application-access", "filters", "resource"}
    assert {item.level for item in lost} == {Level.RENAMED}


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("word", ["date", "short", "enum"])
def test_a_type_word_that_means_more_is_reported(word: str, target: str) -> None:
    findings = facts_lost(descriptor(capability_xml(param(word))), target)
    (lost,) = [item for item in findings if item.pointer.endswith("/word")]
    assert CONVERSION_LEVELS.index(lost.level) > CONVERSION_LEVELS.index(Level.RENAMED)


def test_a_rule_of_the_application_is_written_at_the_service() -> None:
    whole = 'android:permission="a.WHOLE"'
    (provider,) = read_app(whole_service(), attributes=whole).providers
    trip = round_trip(provider)
    assert trip.after.access == provider.access
    place = "/extensions/mobile-mcp/application-access"
    assert facts_of(trip.writing) == {place: ("notation-dropped", Level.RENAMED)}


def test_every_written_word_is_read_as_its_kind() -> None:
    words = FORMAT.tables.words
    assert {words.read[word]: word for word in words.write.values()} == words.write


MAIN = CHECKOUT / "device_shim" / "apps" / "clock-in" / "app" / "src" / "main"
APP = application_from_tree(
    {path.relative_to(MAIN).as_posix(): path.read_bytes() for path in MAIN.rglob("*.xml") if path.is_file()}
)


def test_the_written_sample_app_follows_all_rules() -> None:
    (provider,) = FORMAT.read_application(APP, ReadingContext(strict=True)).providers
    shapes = {
        item.id: (bool(properties_of(item.input)), item.output is not None) for item in provider.capabilities
    }
    assert shapes == {
        "clock_in_today": (False, False),
        "make_up_clock_in": (True, False),
        "query_clock_in": (True, True),
    }
    assert_written_again(provider)
    assert FORMAT.lint_application is not None
    assert FORMAT.lint_application(APP) == ()


@pytest.mark.parametrize("dialect", DIALECTS)
def test_the_sample_app_is_written_in_every_dialect_without_loss(dialect: str) -> None:
    (provider,) = FORMAT.read_application(APP, ReadingContext(strict=True)).providers
    writing = write(provider, dialect)
    assert writing.findings == ()
    after = read_back(writing, strict=True)
    assert after.dialect == dialect_when_read(dialect)
    assert_same_capabilities(provider, after)


# Android's own compiler takes what is written, and a device sees the texts that were meant

COMPILED = pytest.mark.requires("aapt2", "framework-res")
HOSTILE = (
    *TEXTS, "@null", "@empty", "@+id/x", "?x", "007", "7", "1.10", "10dp", "50%", "#fff", "1.0", "TRUE",
    " 7 ", "\\", "é" * 300,
)  # fmt: skip


def wild_provider() -> Provider:
    texts = dict(zip(NAMES, HOSTILE, strict=False))
    properties = {name: required(string(description=text)) for name, text in texts.items()}
    capabilities = [Capability(id=name, description="D", version="1") for name in NAMES]
    capabilities += [
        Capability(id=f"text{number}", description=text, version=text, input=record(properties))
        for number, text in enumerate(HOSTILE)
    ]
    texts = {"name": '100% "it\'s" 007', "description": "@string/x\n"}
    return LAMP.changed({**texts, "capabilities": tuple(capabilities)})


@COMPILED
@pytest.mark.parametrize("dialect", DIALECTS)
def test_a_device_gives_the_texts_that_were_written(dialect: str, tmp_path: Path) -> None:
    writing = write(wild_provider(), dialect)
    archive = compile_application({item.path: item.text for item in writing.artifacts}, tmp_path)
    compiled = [
        (tag, {name: coerced(value) for name, value in kept.items()})
        for tag, kept in elements_of_xml(archive["res/xml/mcp_capabilities.xml"])
    ]
    expected: list[tuple[str, dict[str, str]]] = []
    for item in writing.provider.capabilities:
        attributes = {"id": item.id, "description": item.description or "", "version": item.version or ""}
        expected.append(("capability", attributes))
        if properties_of(item.input):
            expected.append(("input", {}))
        for name, kept in properties_of(item.input).items():
            stated = {"name": name, "type": "string", "required": "true"}
            expected.append(("param", {**stated, "description": kept.type.description or ""}))
    assert compiled[1:] == expected
    assert compiled[0][1].get("version") == {"1.0": "1.0", "1.0-input": "1.0"}.get(dialect)
    strings = strings_of_table(archive["resources.arsc"])
    assert strings["mobile_mcp_tool_name"] == writing.provider.name
    assert strings["mobile_mcp_tool_description"] == writing.provider.description


def description_of(archive: dict[str, bytes]) -> str | None:
    """Return the description of the only capability."""
    elements = elements_of_xml(archive["res/xml/mcp_capabilities.xml"])
    (text,) = [attributes["description"].text for tag, attributes in elements if tag == "capability"]
    return text


@COMPILED
def test_longer_texts_are_lost_by_the_compiler_which_is_why_they_are_cut(tmp_path: Path) -> None:
    capability = Capability(id="c", description="é" * 30_000, version="1")
    provider = LAMP.changed({"name": "n" * 40_000, "description": None, "capabilities": (capability,)})
    writing = write(provider)
    files = {item.path: item.text for item in writing.artifacts}
    compiled = description_of(compile_application(files, tmp_path))
    assert compiled == writing.provider.capabilities[0].description
    files["res/xml/mcp_capabilities.xml"] = files["res/xml/mcp_capabilities.xml"].replace("…", "é" * 100)
    archive = compile_application(files, tmp_path)
    assert description_of(archive) == "STRING_TOO_LARGE"
    elements = elements_of_xml(archive["AndroidManifest.xml"])
    values = [facts["value"].text for tag, facts in elements if tag == "meta-data" and "value" in facts]
    assert "n" * 32_767 + "…" in values
    assert read_back(writing).name == "n" * 32_767 + "…"
