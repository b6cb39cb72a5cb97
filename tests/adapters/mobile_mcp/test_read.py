"""Reading descriptors and finding the services of an app: sections 1.1 and 1.2, and what apps do instead."""

from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given, strategies as st

from adapters.mobile_mcp.tools import (
    CAPABILITIES,
    DESCRIPTION,
    FULL,
    NAME,
    OLDER_ACTION,
    SWITCH,
    capability_of,
    descriptor,
    provider_of,
    read_app,
    read_text,
    rows_of,
    service,
    whole_service,
)
from droidgate_mappings.formats.format import SourceFile
from droidgate_mappings.model.capability import ComponentAccess, Place
from droidgate_mappings.model.errors import InputError
from droidgate_mappings.model.findings import Level
from droidgate_mappings.model.types import ArrayType, ObjectType
from droidgate_mobile_mcp.format import FORMAT
from model_types import boolean, float64, int64, optional, properties_of, record, required, string
from strategies import damaged
from titled_rows import titled


def test_a_descriptor_of_section_1_2_is_read_strictly_and_whole() -> None:
    provider = provider_of(FULL, strict=True)
    dim, off = provider.capabilities
    assert (provider.protocol, provider.dialect) == ("mobile-mcp", "1.0")
    assert (dim.id, dim.description, dim.version) == ("dim", "Dims the lamp", "2.1")
    percent, slowly = int64(description="How bright"), boolean(description="Over a minute")
    assert dim.input == record({"percent": required(percent), "slowly": optional(slowly)})
    assert dim.output == record({"before": required(float64(description="How bright it was"))})
    assert (off.id, off.version, off.input, off.output) == ("off", "1", ObjectType(), None)
    assert dim.extensions == off.extensions == provider.extensions == {}
    assert (dim.source, off.source) == (Place(path="caps.xml", line=3), Place(path="caps.xml", line=12))


CAPABILITY = '<capability id="c" description="C" version="1">{}</capability>'
PARAM = '<param name="x" type="string" required="true" description="X"/>'


@pytest.mark.row("M67")
@titled(("element", "pointer"), {
    "a capability in an element": (f"<capabilities>{SWITCH}</capabilities>", "/capabilities/capability"),
    "a parameter in an element":
        (CAPABILITY.format(f"<input><params>{PARAM}</params></input>"), "/capability/input/params/param"),
    "a parameter outside of the input": (CAPABILITY.format(PARAM), "/capability/param"),
    "a capability in a namespace": ('<x:capability xmlns:x="urn:x" id="c"/>', "/x:capability"),
})  # fmt: skip
def test_a_part_in_another_place_or_in_a_namespace_is_reported_and_kept(element: str, pointer: str) -> None:
    reading = read_text(descriptor(element))
    (finding,) = reading.findings
    assert (finding.rule, finding.pointer) == ("M67", f"/mobile-mcp-capabilities{pointer}")
    (provider,) = reading.providers
    assert all(item.input == ObjectType() for item in provider.capabilities)
    document = provider.model_dump_json()
    assert any(f'"tag":"{tag}"' in document for tag in ("param", "capability", "{urn:x}capability"))
    assert bool(provider.capabilities) is element.startswith("<capability ")


def test_a_root_in_a_namespace_is_refused_by_its_full_name() -> None:
    with pytest.raises(InputError, match=r"<\{urn:tools\}mobile-mcp-capabilities>") as refused:
        read_text('<mobile-mcp-capabilities xmlns="urn:tools" version="1.0"/>')
    assert "in no namespace" in str(refused.value.hint)


@pytest.mark.parametrize(("word", "kind"), [
    ("string", "string"), ("boolean", "boolean"), ("integer", "int64"), ("number", "double"),
    ("bool", "boolean"), ("int", "int64"), ("long", "int64"), ("short", "int64"), ("float", "double"),
])  # fmt: skip
def test_a_type_word_and_its_synonyms_are_one_kind_in_any_case(word: str, kind: str) -> None:
    for written_as in (word, word.upper(), word.title()):
        capability = capability_of(CAPABILITY.format(f"<input>{PARAM.replace('string', written_as)}</input>"))
        type_ = properties_of(capability.input)["x"].type
        assert type_.kind == kind
        written = {"string": "string", "boolean": "boolean", "int64": "integer", "double": "number"}[kind]
        fact = "word" if word == "short" else "word-as-written"
        assert type_.extensions == ({} if written_as == written else {"mobile-mcp": {fact: written_as}})


@pytest.mark.parametrize(("word", "kind"), [
    ("array", ArrayType), ("list", ArrayType),
    ("object", ObjectType), ("map", ObjectType), ("json", ObjectType),
])  # fmt: skip
def test_arrays_and_objects_have_no_structure(word: str, kind: type) -> None:
    output = f'<output><param name="x" type="{word}" description="X"/></output>'
    assert type(properties_of(capability_of(CAPABILITY.format(output)).output)["x"].type) is kind


def parameter(stated: str) -> str:
    return CAPABILITY.format(f'<input><param name="x" {stated}/></input>')


def versioned(text: str) -> str:
    return f'<capability id="c" description="C" version="{text}"/>'


def described(text: str) -> str:
    return f'<capability id="c" description="{text}" version="1"/>'


def case(title: str, row: str, element: str, *, root: str = "", times: int = 1, **expected: Any) -> Any:
    """Return the case of a descriptor that only a row lets in, and what its capability is."""
    text = descriptor(element, root=root or 'mobile-mcp-capabilities version="1.0"')
    return pytest.param([row] * times, text, expected, id=title, marks=pytest.mark.row(row))


DATED = required(string(description="D", extensions={"mobile-mcp": {"word": "date"}}))
X, X_REQUIRED = optional(string(description="X")), required(string(description="X"))
TEXT = 'type="string" description="X"'
SAID = '<capability id=”say" description=“He said ‘hi’” version=“1.0”/>'
ROOT = "mobile-mcp-capabilities"


@pytest.mark.parametrize(("rows", "text", "expected"), [
    case("an unknown type is a string", "M05",
        parameter('type="date" required="true" description="D"'), input=record({"x": DATED})),
    case("required is not stated", "M07", parameter(TEXT), input=record({"x": X})),
    case("required in capitals is required", "M07",
        parameter(f'{TEXT} required="TRUE"'), input=record({"x": X_REQUIRED})),
    case("required as 1 is required", "M07",
        parameter(f'{TEXT} required="1"'), input=record({"x": X_REQUIRED})),
    case("required with another word is not", "M07",
        parameter(f'{TEXT} required="yes"'), input=record({"x": X})),
    case("required as 0 is not", "M07", parameter(f'{TEXT} required="0"'), input=record({"x": X})),
    *(case(f"the version {version}", "M08",
        SWITCH, root=f'{ROOT} version="{version}"', dialect="1.0", of_provider={"version": version})
        for version in ("1", "1.1", "1.0.2")),
    case("a capability without a version", "M10", '<capability id="c" description="C"/>', version="1"),
    case("curly quotes that enclose values are straightened", "M29",
        SAID, id="say", description="He said ‘hi’", version="1.0"),
    case("curly quotes inside a value stay", "M29",
        '<capability id=”say" description="the word “hi” twice" version="1"/>',
        description="the word “hi” twice"),
    case("a parameter without type and description", "M62",
        '<capability id="c" version="1"><input><param name="x" required="true"/></input></capability>',
        times=3, description=None, input=record({"x": required(string())})),
    *(case(f"the version {raw} is what a device gives", "M68", versioned(raw), version=text)
        for raw, text in (("1.10", "1.1"), ("1e2", "100.0"), ("007", "7"), ("#fff", "#ffffffff"),
            ("10dp", "10.0dip"))),
    case("an id that does not resolve", "M12",
        '<capability id="@string/none" description="C" version="1"/>', id="@string/none"),
    case("a version that does not resolve", "M12", versioned("@string/none"), version="@string/none"),
    case("a description that does not resolve", "M12", described("@string/none"), description="@string/none",
        extensions={"mobile-mcp": {"references": ["description"]}}),
])  # fmt: skip
def test_what_apps_write_instead_is_read_by_its_row(
    rows: list[str], text: str, expected: dict[str, Any]
) -> None:
    reading = read_text(text)
    (provider,) = reading.providers
    (first,) = provider.capabilities
    seen = {**dict(first), "dialect": provider.dialect, "of_provider": provider.extensions.get("mobile-mcp")}
    assert {word: seen[word] for word in expected} == expected
    assert rows_of(reading) == rows


@pytest.mark.parametrize(("text", "message"), [
    *((versioned(raw), repr(raw)) for raw in ("1.10", "1e2", "007", "#fff", "10dp")),
    *((element.replace("?", "@string/none"), f"@string/none in {attribute} does not resolve")
        for element, attribute in ((described("?"), "description"), (versioned("?"), "version"))),
])  # fmt: skip
def test_a_text_that_a_device_changes_or_does_not_find_is_in_the_message(text: str, message: str) -> None:
    assert message in read_text(descriptor(text)).findings[0].message


def test_further_capabilities_are_read_where_quotes_are_curly() -> None:
    assert [item.id for item in provider_of(descriptor(SAID, SWITCH)).capabilities] == ["say", "switch"]


@pytest.mark.parametrize("raw", ["1.0", "2", "2.1", "true", "1.2.3", "\\u0031.10", "a\\nb"])
def test_a_text_that_a_device_gives_back_is_not_reported(raw: str) -> None:
    assert rows_of(read_text(descriptor(versioned(raw)))) == []


INPUTS = "".join(f'<input><param name="{name}" {TEXT} required="true"/></input>' for name in "ab")
TOOLS = 'xmlns:tools="http://schemas.android.com/tools" tools:ignore="All"'


@titled(("element", "expected"), {
    "curly quotes stay": (described("a “b” c"), {"description": "a “b” c"}),
    # What a device gives.
    "escapes are resolved": (described(r"It\'s on\noff"), {"description": "It's on\noff"}),
    "an escaped backslash is one": (described(r"C:\\new"), {"description": "C:\\new"}),
    "an escaped at sign is one": (described(r"\@home"), {"description": "@home"}),
    "an at sign alone is one": (described("@home"), {"description": "@home"}),
    "a number loses zeros at its begin": (described("007"), {"description": "7"}),
    "a number loses zeros at its end": (described("1.10"), {"description": "1.1"}),
    "a boolean is small": (described("TRUE"), {"description": "true"}),
    "a size has a fraction": (described("10dp"), {"description": "10.0dip"}),
    "escaped digits are a text": (described(r"\u0030\u00307"), {"description": "007"}),
    "a number as it is": (described("1.0"), {"description": "1.0"}),
    "an escaped at sign": (described(r"\@string/about"), {"description": "@string/about", "extensions": {}}),
    "an empty input is remembered":
        (CAPABILITY.format("<input/><output/>"), {"input": ObjectType(), "output": ObjectType(),
        "extensions": {"mobile-mcp": {"empty-input": True}}}),
    "no input is usual": (SWITCH, {"extensions": {}}),
    "tools' attributes": (f'<capability {TOOLS} id="c" description="C" version="1"/>', {"extensions": {}}),
})  # fmt: skip
def test_a_capability_is_what_a_device_sees_of_it(element: str, expected: dict[str, Any]) -> None:
    capability = dict(capability_of(element))
    assert {word: capability[word] for word in expected} == expected


@pytest.mark.row("M61")
def test_the_parameters_of_a_second_input_element_follow_those_of_the_first() -> None:
    assert list(properties_of(capability_of(CAPABILITY.format(INPUTS)).input)) == ["a", "b"]


@pytest.mark.row("M63")
def test_a_lone_capability_is_a_descriptor() -> None:
    provider = provider_of(SWITCH)
    assert (provider.dialect, [item.id for item in provider.capabilities]) == ("1.0", ["switch"])


@pytest.mark.parametrize(("root", "dialect"), [
    ('mobile-mcp-capabilities version="1.0"', "1.0"),
    ("mobile-mcp-capabilities", "prototype"),
    ("mcp", "pre-spec"),
])  # fmt: skip
def test_the_root_element_decides_the_dialect(root: str, dialect: str) -> None:
    assert provider_of(descriptor(SWITCH, root=root), strict=True).dialect == dialect


@pytest.mark.parametrize("version", ["2", "2.0", "0.9", "", "one", "1.x", "10.0"])
def test_another_major_version_is_refused(version: str) -> None:
    with pytest.raises(InputError, match=r"caps\.xml:1: the descriptor is of version"):
        read_text(descriptor(SWITCH, root=f'mobile-mcp-capabilities version="{version}"'))


@pytest.mark.row("M61")
def test_the_first_of_two_equal_ids_and_names_counts_and_the_other_is_kept() -> None:
    params = (
        '<param name="x" type="string" required="true" description="first"/>'
        '<param name="x" type="integer" required="false" description="second"/>'
    )
    first = f'<capability id="c" description="C" version="1"><input>{params}</input></capability>'
    reading = read_text(descriptor(first, '<capability id="c" description="again" version="2"/>'))
    (provider,) = reading.providers
    (capability,) = provider.capabilities
    assert capability.description == "C"
    assert properties_of(capability.input)["x"].type.description == "first"
    again = {"id": "c", "description": "again", "version": "2"}
    assert provider.extensions["mobile-mcp"]["elements"] == [{"tag": "capability", "attributes": again}]
    elements = capability.extensions["mobile-mcp"]["input"]["elements"]
    assert elements[0]["attributes"]["description"] == "second"
    assert rows_of(reading) == ["M61", "M61"]
    assert {finding.level for finding in reading.findings} == {Level.DROPPED}


@pytest.mark.parametrize("element", [
    '<capability description="C" version="1"/>', '<capability id="" description="C" version="1"/>',
    '<capability xmlns:a="urn:a" a:id="c" description="C" version="1"/>',
    '<capability id="c" description="C" version="1"><output><param type="string"/></output></capability>',
])  # fmt: skip
def test_what_has_no_name_is_refused_with_its_place(element: str) -> None:
    with pytest.raises(InputError) as refused:
        read_text("\n" + descriptor(element))
    assert refused.value.place == "caps.xml:2"
    assert refused.value.hint is not None


def test_unknown_attributes_elements_and_texts_are_kept_in_source_form() -> None:
    capability = capability_of(
        '<capability id="c" description="C" version="1" since="007" xmlns:a="urn:a" a:icon="@a/b">'
        'words <limit max="5">five<b/>six</limit>'
        '<output note="n"><param name="x" type="string" required="true" description="X"/></output>'
        "</capability>",
        strict=True,
    )
    assert capability.extensions["mobile-mcp"] == {
        "attributes": {"since": "007", "{urn:a}icon": "@a/b"},
        "elements": [{"tag": "limit", "attributes": {"max": "5"}, "content": ["five", {"tag": "b"}, "six"]}],
        "text": "words",
        "output": {"attributes": {"note": "n"}},
    }
    facts = {"mobile-mcp": {"attributes": {"required": "true"}}}
    assert properties_of(capability.output)["x"].extensions == facts


@pytest.mark.parametrize("text", [
    "", "words", "{}", "<a/>", "<manifest/>", '<mobile-mcp-capabilities version="1.0">', "<mcp", "<mcp a=”b",
    "<!DOCTYPE mcp><mcp/>", '<x:mobile-mcp-capabilities xmlns:x="urn:x" version="1.0"/>', "\x03\x00\x08\x00",
])  # fmt: skip
def test_what_is_not_a_descriptor_is_refused_in_one_sentence(text: str) -> None:
    with pytest.raises(InputError) as refused:
        read_text(text)
    assert (refused.value.place or "").startswith("caps.xml")
    assert not refused.value.message.endswith(".")


@titled(("text", "sure"), {
    "the root of the specification": (FULL, 100),
    "another encoding": (FULL.encode("utf-16"), 100),
    "a mark of the byte order": ("\ufeff" + FULL, 100),
    "an older root": (descriptor(SWITCH, root="mcp"), 70),
    "a capability behind comments": ("<!-- a --><?x y?><!-- b --> " + SWITCH, 50),
    "an element of another protocol": ("<mcp><tool/></mcp>", 0),
    "a manifest": ("<manifest/>", 0),
    "JSON": ("{}", 0),
    "an empty file": ("", 0),
    "instructions without end": ("<?" + "a?><?" * 5000, 0),
    "a longer name": ("<mobile-mcp-capabilities-2/>", 0),
})  # fmt: skip
def test_a_file_is_recognised_by_its_root(text: str | bytes, sure: int) -> None:
    data = text.encode() if isinstance(text, str) else text
    assert FORMAT.detect(SourceFile("x.xml", data)) == sure


_PIECES = st.sampled_from([
    "<", ">", "/>", "</", '"', "=", " ", "“", "”", "&", "&#10;", "\\", "@string/x", "mobile-mcp-capabilities",
    "mcp", "capability", "input", "output", "param", "id", "name", "type", "version", "required", "true",
    "1.0", "xmlns:a", "<capability ", "<param ", '<mobile-mcp-capabilities version="1.0">', "<!--", "-->",
    "<![CDATA[", "]]>",
])  # fmt: skip


@given(damaged(st.just(FULL.encode()), st.binary(max_size=4) | _PIECES.map(str.encode)))
def test_a_changed_descriptor_is_read_or_refused(data: bytes) -> None:
    FORMAT.detect(SourceFile("wild.xml", data))
    with suppress(InputError):
        for provider in read_text(data).providers:
            assert provider.protocol == "mobile-mcp"


# Services of an app

OLDER_TEXTS = (
    '<meta-data android:name="mcp.application.name" android:value="Old lamp"/>'
    '<meta-data android:name="mcp.application.description" android:value="Switches it"/>'
)
OLDER_CAPABILITIES = '<meta-data android:name="mcp.capabilities" android:resource="@xml/mcp_capabilities"/>'
OLDER_KEYS = {
    "name": "mcp.application.name",
    "description": "mcp.application.description",
    "capabilities": "mcp.capabilities",
}
OLDER_FILE = {"res/xml/mcp_capabilities.xml": descriptor(SWITCH, root="mcp")}
EXPORTED = 'android:exported="true" android:foregroundServiceType="dataSync"'
WHOLE = whole_service()


def test_a_service_of_section_1_1_is_read_strictly_and_whole() -> None:
    (provider,) = read_app(whole_service(attributes='android:exported="true"'), strict=True).providers
    assert (provider.package, provider.component) == ("com.example.lamp", ".LampService")
    assert (provider.name, provider.description, provider.dialect) == ("Lamp", "Switches the lamp", "1.0")
    assert [item.id for item in provider.capabilities] == ["dim", "off"]
    assert provider.extensions == {}
    assert provider.source is not None
    assert provider.source.path == "res/xml/mcp_capabilities.xml"


def test_a_service_of_the_time_before_the_specification_is_read_strictly() -> None:
    exported = 'android:exported="true"'
    older = service(OLDER_TEXTS, OLDER_CAPABILITIES, action=OLDER_ACTION, attributes=exported)
    (provider,) = read_app(older, files=OLDER_FILE, strict=True).providers
    assert (provider.dialect, provider.name, provider.description) == ("pre-spec", "Old lamp", "Switches it")
    assert provider.extensions == {}


def test_texts_by_reference_are_resolved_in_the_default_locale() -> None:
    files = {
        "res/xml/mcp_capabilities.xml": FULL,
        "res/values/strings.xml": '<resources><string name="n">It\\\'s a lamp</string></resources>',
        "res/values-de/strings.xml": '<resources><string name="n">Lampe</string></resources>',
    }
    name = NAME.replace("Lamp", "@string/n")
    (provider,) = read_app(service(name, DESCRIPTION, CAPABILITIES), files=files, strict=True).providers
    assert provider.name == "It's a lamp"


def named(value: str, attribute: str = "value") -> str:
    """Return a service whose name is another value."""
    name = NAME.replace('android:value="Lamp"', f'android:{attribute}="{value}"')
    return service(name, DESCRIPTION, CAPABILITIES)


def attributed(attributes: str) -> str:
    return whole_service(attributes=attributes)


def app_case(
    title: str, component: str, row: str = "", *, application: str = "", resources: str = "", noted: str = "",
    capabilities: str = FULL, files: dict[str, str] | None = None, message: str = "", **expected: Any,
) -> Any:  # fmt: skip
    """Return the case of an app with one service: what is read of it, and the rows that let it in."""
    tree = {"res/xml/mcp_capabilities.xml": capabilities, **(files or {})}
    if resources:
        tree["res/values/s.xml"] = f"<resources>{resources}</resources>"
    rows = [item for item in (noted, row) if item]
    marks = [pytest.mark.row(row)] if row else []
    return pytest.param(component, application, tree, rows, message, expected, id=title, marks=marks)


def typed(value: str, text: str) -> Any:
    """Return the case of a name that a device types; the digits of the source stay in the report."""
    message = "" if value == text else f"({value} in the manifest)"
    return app_case(f"a name that a device types: {value}", named(value), "M12", message=message, name=text)


def labelled(title: str, service_label: str, application: str, name: str) -> Any:
    component = service(DESCRIPTION, CAPABILITIES, attributes=f'android:exported="true" {service_label}')
    return app_case(title, component, "M12", application=application, name=name)


NO_LABEL = 'android:label="@string/none"'
CLOSED = 'android:exported="false" android:enabled="false" android:permission="a.b.CALL" '
B_FALSE, B_TRUE = (f'<resources><bool name="b">{word}</bool></resources>' for word in ("false", "true"))
RAW = descriptor(r'<capability id="c" description="It\&apos;s 007" version="1.10"/>')


@pytest.mark.parametrize(("component", "application", "files", "rows", "message", "expected"), [
    app_case("what a call needs to know about the service is kept",
        attributed(f'{CLOSED}android:foregroundServiceType="dataSync"'),
        access=ComponentAccess(exported=False, enabled=False, permission="a.b.CALL"),
        facts={"foregroundServiceType": "dataSync"}),
    app_case("the rules of the application hold for its service", WHOLE,
        application='android:permission="a.WHOLE" android:enabled="false"',
        access=ComponentAccess(enabled=False, permission="a.WHOLE"),
        facts={"application-access": ["enabled", "permission"], "foregroundServiceType": "dataSync"}),
    app_case("a descriptor of another name is followed and its name kept",
        service(NAME, DESCRIPTION, CAPABILITIES.replace("mcp_capabilities", "tools")),
        capabilities=descriptor(), files={"res/xml/tools.xml": FULL}, count=2,
        facts={"resource": "@xml/tools", "foregroundServiceType": "dataSync"}),
    app_case("older meta-data next to a specified descriptor", service(OLDER_TEXTS, OLDER_CAPABILITIES),
        "M11", dialect="1.0", name="Old lamp",
        facts={"keys": OLDER_KEYS, "foregroundServiceType": "dataSync"}),
    app_case("an older action next to a specified descriptor",
        whole_service(action=OLDER_ACTION), "M11", dialect="1.0"),
    app_case("older meta-data at the application",
        OLDER_CAPABILITIES + service(OLDER_TEXTS, action=OLDER_ACTION), "M11",
        capabilities=OLDER_FILE["res/xml/mcp_capabilities.xml"],
        facts={"at-application": ["capabilities"], "foregroundServiceType": "dataSync"}),
    app_case("a value that leads nowhere", named("@string/built_later"), "M12", name="com.example.lamp",
        message="@string/built_later, which is not there"),
    app_case("a resource that leads nowhere", named("@string/built_later", "resource"), "M12",
        name="com.example.lamp", message="@string/built_later, which is not there"),
    *(typed(*pair) for pair in (
        ("2048", "2048"), ("true", "true"), ("TRUE", "true"), ("1.5", "1.5"), ("2.1", "2.1"), ("0.1", "0.1"),
        ("1e2", "1e2"), ("1e10", "1e10"), ("16777217.0", "1.6777216E7"), ("0.0001", "1.0E-4"), ("007", "7"),
        ("0x1F", "31"), ("0xffffffff", "-1"), ("#fff", "-1"),
    )),
    app_case("a dimension is a text", named("10dp"), name="10dp"),
    app_case("a percentage is a text", named("50%"), name="50%"),
    app_case("a boolean resource", named("@bool/n"), "M12", resources='<bool name="n">true</bool>',
        name="true"),
    app_case("an integer resource", named("@integer/n"), "M12", resources='<integer name="n">0x1F</integer>',
        name="31"),
    app_case("an item of the kind string", named("@string/n"),
        resources='<item type="string" name="n">2.10</item>', name="2.10"),
    app_case("a name given as a resource", named("@string/n", "resource"), "M12",
        resources='<string name="n">A lamp</string>', name="A lamp"),
    labelled("the label of the service", 'android:label="Own"', 'android:label="App"', "Own"),
    labelled("the label of the application", "", 'android:label="App"', "App"),
    labelled("the package for a label", "", "", "com.example.lamp"),
    app_case("the app's description", service(NAME, CAPABILITIES), "M12",
        application='android:description="@string/about"',
        resources='<string name="about">About lamps</string>', description="About lamps"),
    app_case("a reference inside the descriptor", WHOLE, "M12",
        capabilities=descriptor('<capability id="c" description="@string/about" version="1"/>'),
        resources='<string name="about">Lights</string>', first=("Lights", "1")),
    app_case("a descriptor given as value",
        service(NAME, DESCRIPTION, CAPABILITIES.replace("android:resource", "android:value")), "M65",
        count=2),
    app_case("a raw descriptor is read as it is",
        service(NAME, DESCRIPTION, CAPABILITIES.replace("@xml", "@raw")), "M66",
        files={"res/raw/mcp_capabilities.xml": RAW}, first=(r"It\'s 007", "1.10")),
    app_case("a label of the service whose string is missing",
        service(DESCRIPTION, CAPABILITIES, attributes=f"{NO_LABEL} {EXPORTED}"), "M12", noted="S82",
        message="android:label of .LampService is @string/none"),
    app_case("a label of the application whose string is missing", service(DESCRIPTION, CAPABILITIES),
        "M12", noted="S82", application=NO_LABEL, message="android:label of the application is @string/none"),
    # The service's own label is reported always, that of the application where it would be the name.
    app_case("a label that is not needed", attributed(f"{NO_LABEL} {EXPORTED}"), noted="S82"),
    app_case("a label of the application that is not needed", WHOLE, application=NO_LABEL),
    app_case("an enabled that is not known", attributed('android:enabled="@bool/none"'), noted="S82",
        message="android:enabled of .LampService is @bool/none"),
    app_case("an exported that is not known", attributed('android:exported="${exported}"'), noted="S82",
        message="android:exported of .LampService is ${exported}"),
    app_case("a permission that is not known", attributed('android:permission="@string/none"'), noted="S82",
        message="android:permission of .LampService is @string/none"),
    app_case("exported by configuration", attributed('android:exported="@bool/b"'), noted="S83",
        files={"res/values/b.xml": B_FALSE, "res/values-v36/b.xml": B_TRUE},
        access=ComponentAccess(exported=False), message="false in the default configuration, true in v36"),
])  # fmt: skip
def test_what_apps_do_instead_is_read_by_its_row(
    component: str,
    application: str,
    files: dict[str, str],
    rows: list[str],
    message: str,
    expected: dict[str, Any],
) -> None:
    reading = read_app(component, attributes=application, files=files)
    (provider,) = reading.providers
    first = provider.capabilities[0]
    seen = {
        **dict(provider),
        "facts": provider.extensions.get("mobile-mcp"),
        "count": len(provider.capabilities),
        "first": (first.description, first.version),
    }
    assert {word: seen[word] for word in expected} == expected
    assert rows_of(reading) == rows
    assert not message or message in reading.findings[0].message


TWO_FILES = {"res/xml/mcp_capabilities.xml": FULL, "res/xml/other.xml": "<tools/>"}
UNREADABLE = service(NAME, DESCRIPTION, CAPABILITIES.replace("mcp_capabilities", "other"), name=".Other")


def test_a_service_that_cannot_be_read_leaves_the_others_readable() -> None:
    reading = read_app(UNREADABLE, WHOLE, files=TWO_FILES)
    assert [provider.component for provider in reading.providers] == [".LampService"]
    (problem,) = reading.problems
    assert "<tools>" in problem.message
    assert problem.place == "res/xml/other.xml:1"


def test_the_only_service_has_to_be_readable_and_so_has_every_one_in_a_strict_reading() -> None:
    with pytest.raises(InputError, match="<tools>"):
        read_app(UNREADABLE, files=TWO_FILES)
    with pytest.raises(InputError, match="<tools>"):
        read_app(WHOLE, UNREADABLE, files=TWO_FILES, strict=True)


FULL_SERVICE = whole_service(name=".Full")


@pytest.mark.parametrize(("services", "components", "row"), [
    pytest.param([whole_service(name=".One"), FULL_SERVICE], [".One", ".Full"],
        "M13", marks=pytest.mark.row("M13"), id="each of several services is a provider"),
    pytest.param([service(NAME, DESCRIPTION), FULL_SERVICE], [".Full"], "M64",
        marks=pytest.mark.row("M64"), id="a service without a descriptor is left out"),
    pytest.param([service(NAME, DESCRIPTION, CAPABILITIES.replace("mcp_capabilities", "gone")), FULL_SERVICE],
        [".Full"], "M64", marks=pytest.mark.row("M64"), id="a service whose descriptor is gone is left out"),
])  # fmt: skip
def test_of_several_services_each_counts_that_has_a_descriptor(
    services: list[str], components: list[str], row: str
) -> None:
    reading = read_app(*services)
    assert [provider.component for provider in reading.providers] == components
    assert rows_of(reading) == [row]


def test_other_services_and_apps_without_one_give_nothing() -> None:
    assert read_app(whole_service(action="other.ACTION")).providers == ()
    assert read_app().providers == ()


def test_a_descriptor_that_cannot_be_read_is_reported_with_its_place() -> None:
    with pytest.raises(InputError, match=r"^res/xml/mcp_capabilities\.xml:1"):
        read_app(WHOLE, files={"res/xml/mcp_capabilities.xml": "<mcp>"})


@titled(("services", "level"), {
    "a service without capabilities": ((service(NAME, DESCRIPTION), WHOLE), Level.DROPPED),
    "a description that leads nowhere":
        ((service(NAME, DESCRIPTION.replace("Switches the lamp", "@string/gone"), CAPABILITIES),),
        Level.DROPPED),
    "a service without a description is only read": ((service(NAME, CAPABILITIES),), Level.READ),
})  # fmt: skip
def test_a_service_or_a_text_that_is_left_out_is_dropped(services: tuple[str, ...], level: Level) -> None:
    (finding,) = read_app(*services).findings
    assert finding.level is level
