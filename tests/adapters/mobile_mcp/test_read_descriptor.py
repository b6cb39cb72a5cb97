"""Reading capability descriptors: what section 1.2 says, and what apps write instead."""

from contextlib import suppress

import pytest
from hypothesis import given, strategies as st

from adapters.mobile_mcp.tools import FULL, SWITCH, capability_of, descriptor, provider_of, read_text, rows_of
from droidgate_mappings.formats.format import SourceFile
from droidgate_mappings.model.capability import Place
from droidgate_mappings.model.errors import InputError
from droidgate_mappings.model.findings import Level
from droidgate_mappings.model.types import ArrayType, ObjectType, Property
from droidgate_mobile_mcp.format import FORMAT
from model_types import boolean, float64, int64, optional, properties_of, record, required, string
from strategies import damaged


def test_a_descriptor_of_section_1_2_is_read_strictly_and_whole() -> None:
    provider = provider_of(FULL, strict=True)
    dim, off = provider.capabilities
    assert (provider.protocol, provider.dialect) == ("mobile-mcp", "1.0")
    assert (dim.id, dim.description, dim.version) == ("dim", "Dims the lamp", "2.1")
    assert dim.input == record(
        {
            "percent": required(int64(description="How bright")),
            "slowly": optional(boolean(description="Over a minute")),
        }
    )
    assert dim.output == record({"before": required(float64(description="How bright it was"))})
    assert (off.id, off.version, off.input, off.output) == ("off", "1", ObjectType(), None)
    assert dim.extensions == off.extensions == provider.extensions == {}
    assert (dim.source, off.source) == (Place(path="caps.xml", line=3), Place(path="caps.xml", line=12))


CAPABILITY = '<capability id="c" description="C" version="1">{}</capability>'
PARAM = '<param name="x" type="string" required="true" description="X"/>'


@pytest.mark.row("M67")
@pytest.mark.parametrize(("element", "pointer"), [
    (f"<capabilities>{SWITCH}</capabilities>", "/capabilities/capability"),
    (CAPABILITY.format(f"<input><params>{PARAM}</params></input>"), "/capability/input/params/param"),
    (CAPABILITY.format(PARAM), "/capability/param"),
])  # fmt: skip
def test_a_part_in_another_place_is_reported_and_kept(element: str, pointer: str) -> None:
    reading = read_text(descriptor(element))
    (finding,) = reading.findings
    assert (finding.rule, finding.pointer) == ("M67", f"/mobile-mcp-capabilities{pointer}")
    (provider,) = reading.providers
    assert all(item.input == ObjectType() for item in provider.capabilities)
    kept = provider.model_dump_json()
    assert '"tag":"param"' in kept or '"tag":"capability"' in kept


@pytest.mark.row("M67")
def test_a_part_in_a_namespace_is_none_that_agents_see() -> None:
    reading = read_text(descriptor('<x:capability xmlns:x="urn:x" id="c"/>'))
    assert rows_of(reading) == ["M67"]
    assert reading.providers[0].capabilities == ()


def test_a_root_in_a_namespace_is_refused_by_its_full_name() -> None:
    with pytest.raises(InputError, match=r"<\{urn:tools\}mobile-mcp-capabilities>") as refused:
        read_text('<mobile-mcp-capabilities xmlns="urn:tools" version="1.0"/>')
    assert "in no namespace" in str(refused.value.hint)


@pytest.mark.parametrize(("word", "kind"), [
    ("string", "string"),
    ("boolean", "boolean"),
    ("integer", "int64"),
    ("number", "double"),
    ("bool", "boolean"),
    ("int", "int64"),
    ("long", "int64"),
    ("short", "int64"),
    ("float", "double"),
])  # fmt: skip
def test_a_type_word_and_its_synonyms_are_one_kind_in_any_case(word: str, kind: str) -> None:
    for written_as in (word, word.upper(), word.title()):
        param = f'<param name="x" type="{written_as}" required="true" description="X"/>'
        capability = capability_of(
            f'<capability id="c" description="C" version="1"><input>{param}</input></capability>'
        )
        kept = properties_of(capability.input)["x"].type
        assert kept.kind == kind
        written = {"string": "string", "boolean": "boolean", "int64": "integer", "double": "number"}[kind]
        fact = "word" if word == "short" else "word-as-written"
        assert kept.extensions == ({} if written_as == written else {"mobile-mcp": {fact: written_as}})


def test_arrays_and_objects_have_no_structure() -> None:
    params = "".join(
        f'<param name="{word}" type="{word}" description="X"/>'
        for word in ("array", "list", "object", "map", "json")
    )
    capability = capability_of(
        f'<capability id="c" description="C" version="1"><output>{params}</output></capability>'
    )
    kinds = {name: type(kept.type) for name, kept in properties_of(capability.output).items()}
    assert kinds == {
        "array": ArrayType,
        "list": ArrayType,
        "object": ObjectType,
        "map": ObjectType,
        "json": ObjectType,
    }


def one_parameter(attributes: str) -> tuple[Property, list[str | None]]:
    reading = read_text(
        descriptor(
            '<capability id="c" description="C" version="1">'
            f"<input><param {attributes}/></input></capability>"
        )
    )
    taken = reading.providers[0].capabilities[0].input
    (kept,) = properties_of(taken).values()
    return kept, rows_of(reading)


@pytest.mark.row("M05")
def test_an_unknown_type_word_is_a_string_and_is_kept() -> None:
    kept, rows = one_parameter('name="day" type="date" required="true" description="D"')
    assert kept.type == string(description="D", extensions={"mobile-mcp": {"word": "date"}})
    assert rows == ["M05"]


@pytest.mark.row("M07")
@pytest.mark.parametrize(("stated", "required"), [
    ("", False),
    ('required="TRUE"', True),
    ('required="1"', True),
    ('required="yes"', False),
    ('required="0"', False),
])  # fmt: skip
def test_required_in_other_words_is_reported(stated: str, required: bool) -> None:  # noqa: FBT001
    kept, rows = one_parameter(f'name="x" type="string" description="X" {stated}')
    assert kept.required is required
    assert rows == ["M07"]


@pytest.mark.parametrize(("root", "dialect"), [
    ('mobile-mcp-capabilities version="1.0"', "1.0"),
    ("mobile-mcp-capabilities", "prototype"),
    ("mcp", "pre-spec"),
])  # fmt: skip
def test_the_root_says_the_dialect(root: str, dialect: str) -> None:
    assert provider_of(descriptor(SWITCH, root=root), strict=True).dialect == dialect


@pytest.mark.row("M08")
@pytest.mark.parametrize("version", ["1", "1.1", "1.0.2"])
def test_another_1_x_is_read_as_1_0_and_kept(version: str) -> None:
    reading = read_text(descriptor(SWITCH, root=f'mobile-mcp-capabilities version="{version}"'))
    assert rows_of(reading) == ["M08"]
    (provider,) = reading.providers
    assert provider.dialect == "1.0"
    assert provider.extensions == {"mobile-mcp": {"version": version}}


@pytest.mark.parametrize("version", ["2", "2.0", "0.9", "", "one", "1.x", "10.0"])
def test_another_major_version_is_refused(version: str) -> None:
    with pytest.raises(InputError, match=r"caps\.xml:1: the descriptor is of version"):
        read_text(descriptor(SWITCH, root=f'mobile-mcp-capabilities version="{version}"'))


@pytest.mark.row("M10")
def test_a_capability_without_version_has_version_1() -> None:
    reading = read_text(descriptor('<capability id="c" description="C"/>'))
    assert reading.providers[0].capabilities[0].version == "1"
    assert rows_of(reading) == ["M10"]


@pytest.mark.row("M29")
def test_curly_quotes_are_straightened_where_they_enclose_values_only() -> None:
    text = descriptor('<capability id=”say" description=“He said ‘hi’” version=“1.0”/>', SWITCH)
    reading = read_text(text)
    first, second = reading.providers[0].capabilities
    assert (first.id, first.description, first.version) == ("say", "He said ‘hi’", "1.0")
    assert second.id == "switch"
    assert rows_of(reading) == ["M29"]


@pytest.mark.row("M29")
def test_curly_quotes_inside_texts_survive_the_repair() -> None:
    text = descriptor('<capability id=”say" description="the word “hi” twice" version="1"/>')
    assert provider_of(text).capabilities[0].description == "the word “hi” twice"


def test_curly_quotes_in_a_well_formed_file_are_text() -> None:
    capability = capability_of('<capability id="c" description="a “b” c" version="1"/>', strict=True)
    assert capability.description == "a “b” c"


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
    kept = capability.extensions["mobile-mcp"]["input"]["elements"]
    assert kept[0]["attributes"]["description"] == "second"
    assert rows_of(reading) == ["M61", "M61"]
    assert {finding.level for finding in reading.findings} == {Level.DROPPED}


@pytest.mark.row("M61")
def test_a_second_input_continues_the_first() -> None:
    inputs = "".join(
        f'<input><param name="{name}" type="string" required="true" description="X"/></input>'
        for name in "ab"
    )
    capability = capability_of(f'<capability id="c" description="C" version="1">{inputs}</capability>')
    assert list(properties_of(capability.input)) == ["a", "b"]


@pytest.mark.row("M62")
def test_missing_descriptions_and_types_are_reported() -> None:
    param = '<param name="x" required="true"/>'
    reading = read_text(descriptor(f'<capability id="c" version="1"><input>{param}</input></capability>'))
    capability = reading.providers[0].capabilities[0]
    assert capability.description is None
    assert capability.input == record({"x": required(string())})
    assert rows_of(reading) == ["M62", "M62", "M62"]


@pytest.mark.row("M63")
def test_a_lone_capability_is_a_descriptor() -> None:
    provider = provider_of(SWITCH)
    assert (provider.dialect, [item.id for item in provider.capabilities]) == ("1.0", ["switch"])


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


def test_an_empty_input_element_is_remembered_and_a_missing_one_is_usual() -> None:
    empty = capability_of('<capability id="c" description="C" version="1"><input/><output/></capability>')
    assert (empty.input, empty.output) == (ObjectType(), ObjectType())
    assert empty.extensions == {"mobile-mcp": {"empty-input": True}}
    assert capability_of(SWITCH).extensions == {}


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
    assert properties_of(capability.output)["x"].extensions == {
        "mobile-mcp": {"attributes": {"required": "true"}}
    }


def test_attributes_of_build_tools_are_no_part_of_a_descriptor() -> None:
    tools = 'xmlns:tools="http://schemas.android.com/tools" tools:ignore="All"'
    assert capability_of(f'<capability {tools} id="c" description="C" version="1"/>').extensions == {}


@pytest.mark.parametrize(("written", "text"), [
    (r"It\'s on\noff", "It's on\noff"),
    (r"C:\\new", "C:\\new"),
    (r"\@home", "@home"),
    ("@home", "@home"),
    ("007", "7"),
    ("1.10", "1.1"),
    ("TRUE", "true"),
    ("10dp", "10.0dip"),
    (r"\u0030\u00307", "007"),
    ("1.0", "1.0"),
])  # fmt: skip
def test_texts_are_what_a_device_gives(written: str, text: str) -> None:
    assert capability_of(f'<capability id="c" description="{written}" version="1"/>').description == text


def test_a_reference_that_leads_nowhere_is_kept_as_one() -> None:
    capability = capability_of('<capability id="c" description="@string/about" version="1"/>')
    assert capability.description == "@string/about"
    assert capability.extensions == {"mobile-mcp": {"references": ["description"]}}
    literal = capability_of(r'<capability id="c" description="\@string/about" version="1"/>')
    assert (literal.description, literal.extensions) == ("@string/about", {})


@pytest.mark.parametrize("text", [
    "", "words", "{}", "<a/>", "<manifest/>", '<mobile-mcp-capabilities version="1.0">', "<mcp",
    "<!DOCTYPE mcp><mcp/>", '<x:mobile-mcp-capabilities xmlns:x="urn:x" version="1.0"/>', "\x03\x00\x08\x00",
])  # fmt: skip
def test_what_is_not_a_descriptor_is_refused_in_one_sentence(text: str) -> None:
    with pytest.raises(InputError) as refused:
        read_text(text)
    assert (refused.value.place or "").startswith("caps.xml")
    assert not refused.value.message.endswith(".")


@pytest.mark.parametrize(("text", "sure"), [
    (FULL, 100),
    (FULL.encode("utf-16"), 100),
    ("\ufeff" + FULL, 100),
    (descriptor(SWITCH, root="mcp"), 70),
    ("<!-- a --><?x y?><!-- b --> " + SWITCH, 50),
    ("<mcp><tool/></mcp>", 0),
    ("<manifest/>", 0),
    ("{}", 0),
    ("", 0),
    ("<?" + "a?><?" * 5000, 0),
    ("<mobile-mcp-capabilities-2/>", 0),
])  # fmt: skip
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


@pytest.mark.row("M68")
@pytest.mark.parametrize(
    ("raw", "text"),
    [("1.10", "1.1"), ("1e2", "100.0"), ("007", "7"), ("#fff", "#ffffffff"), ("10dp", "10.0dip")],
)
def test_a_text_that_a_device_changes_is_read_as_on_a_device(raw: str, text: str) -> None:
    reading = read_text(descriptor(f'<capability id="c" description="C" version="{raw}"/>'))
    assert reading.providers[0].capabilities[0].version == text
    assert rows_of(reading) == ["M68"]
    assert repr(raw) in reading.findings[0].message


@pytest.mark.parametrize("raw", ["1.0", "2", "2.1", "true", "1.2.3", "\\u0031.10", "a\\nb"])
def test_a_text_that_a_device_gives_back_is_not_reported(raw: str) -> None:
    assert rows_of(read_text(descriptor(f'<capability id="c" description="C" version="{raw}"/>'))) == []


@pytest.mark.row("M12")
@pytest.mark.parametrize("attribute", ["id", "description", "version"])
def test_a_reference_that_leads_nowhere_is_reported(attribute: str) -> None:
    texts = {"id": "c", "description": "C", "version": "1", attribute: "@string/none"}
    written = " ".join(f'{name}="{text}"' for name, text in texts.items())
    reading = read_text(descriptor(f"<capability {written}/>"))
    assert rows_of(reading) == ["M12"]
    assert f"@string/none in {attribute} does not resolve" in reading.findings[0].message
