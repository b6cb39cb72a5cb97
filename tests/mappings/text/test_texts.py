"""JSON, XML and TOML as text: what is read, what is refused with its place; hints for unknown names."""

import json
from decimal import Decimal

import pytest
from hypothesis import given, strategies as st

from counted_work import check_linear
from droidgate_mappings.model.errors import BudgetError, InputError
from droidgate_mappings.text.json_text import (
    MAX_DEPTH as MAX_JSON_DEPTH,
    MAX_NUMBER_CHARACTERS,
    decode_utf8,
    parse_json,
    rows_of_pointers,
)
from droidgate_mappings.text.nearest_names import closest_name, suggest_name
from droidgate_mappings.text.toml_text import line_of
from droidgate_mappings.text.xml_text import (
    MAX_ATTRIBUTES,
    MAX_BYTES,
    MAX_DEPTH,
    MAX_ELEMENTS,
    child_elements,
    decode_xml,
    parse_xml,
)
from strategies import FINITE, damaged, json_values
from titled_rows import titled

JSON = json_values(FINITE)


@given(JSON)
def test_what_the_standard_library_writes_is_read_back(value: object) -> None:
    assert parse_json(json.dumps(value)) == value
    assert parse_json(json.dumps(value, ensure_ascii=False).encode()) == value


@given(JSON, st.sampled_from([None, 1]))
def test_a_pointer_leads_to_the_row_of_its_value(value: object, indent: int | None) -> None:
    marker = "the value that is looked for"
    document = {"before": value, "a/~": [value, {"before": value, "b": marker}], "after": value}
    text = json.dumps(document, indent=indent)
    (row,) = [number for number, line in enumerate(text.split("\n"), 1) if marker in line]
    pointers = ["/a~1~0/1/b", "/a~1~0/1/b/below", "/nowhere", ""]
    assert rows_of_pointers(text + "</string>", pointers) == dict.fromkeys(pointers[:2], row)


def test_an_error_in_a_long_row_shows_what_is_before_it() -> None:
    with pytest.raises(InputError, match=r"""delimiter, after '\.\.\.x{39}"'\n"""):
        parse_json(json.dumps({"text": "x" * 100})[:-1])
    with pytest.raises(InputError, match=r"delimiter\n"):
        parse_json('{"text": "x"')


@pytest.mark.parametrize(("text", "hint"), [
    ("[1,]", "remove the comma after the last item"),
    ('{"a": [1,\n]}', "remove the comma after the last item"),
    *((text, "the end is missing: save or copy the whole text again")
      for text in ('{"a', '{"a": 1,', '{"a": [1\n', '[{"a": {"b": ', "[1,")),
    ('{"a": b}', None),
])  # fmt: skip
def test_the_way_to_mend_broken_json_is_named(text: str, hint: str | None) -> None:
    with pytest.raises(InputError) as caught:
        parse_json(text)
    assert caught.value.hint == hint


JSON_PIECES = [*'{}[]",:\\0-. \n\t\0é', "\\ud8c0", "1e9", "1E+999", "null", "true", '"a":', "\ufeff"]


@given(damaged(JSON.map(json.dumps), st.sampled_from(JSON_PIECES)))
def test_any_text_gives_a_value_or_a_typed_error(text: str) -> None:
    try:
        value = parse_json(text)
    except InputError:
        return
    assert value == json.loads(text.removeprefix("\ufeff"), parse_float=parse_json)


@given(damaged(JSON.map(lambda value: json.dumps(value, ensure_ascii=False).encode()), st.binary(max_size=4)))
def test_any_bytes_give_a_value_or_a_typed_error(data: bytes) -> None:
    try:
        parse_json(data)
    except InputError:
        return
    json.loads(data.decode("utf-8-sig"))


@pytest.mark.parametrize(("text", "place"), [
    ('{"a": 1,\n "a": 2}', "f.json:2"),
    ('{"a": {"b": 1, "b": 2}}', "f.json:1"),
    ("[1,\n 2,\n", "f.json:3:1"),
    ("{'a': 1}", "f.json:1:2"),
    ('{"a": 1,}', "f.json:1:9"),
    ("[NaN]", "f.json:1:2"),
    ("[-Infinity]", "f.json:1:2"),
    ('"a\tb"', "f.json:1:3"),
    ('\n"\\ud800"', "f.json:2"),
    ('"\\udc00\\ud800"', "f.json:1"),
    ('"\\ud83d x \\ude00"', "f.json:1"),
    ('"\ud800"', "f.json:1"),
    ("", "f.json:1:1"),
])  # fmt: skip
def test_what_is_not_strict_json_is_refused_with_its_place(text: str, place: str) -> None:
    with pytest.raises(InputError) as caught:
        parse_json(text, path="f.json")
    assert caught.value.place == place


@titled("text", {
    "one level too deep": "[" * (MAX_JSON_DEPTH + 1) + "]" * (MAX_JSON_DEPTH + 1),
    "a million open arrays": "[" * 1_000_000,
    "a hundred thousand open objects": '{"a":' * 100_000,
    "an integer with a digit too many": "1" * (MAX_NUMBER_CHARACTERS + 1),
    "a fraction with a digit too many": "0." + "1" * MAX_NUMBER_CHARACTERS,
    "an exponent too large": "1e99999999999999999999",
    "a negative exponent too large": "-0.1E-99999999999999999999",
})  # fmt: skip
def test_json_beyond_the_budget_is_refused(text: str) -> None:
    with pytest.raises(BudgetError):
        parse_json(text)


def test_a_document_at_the_limits_is_read() -> None:
    assert parse_json("[" * MAX_JSON_DEPTH + "]" * MAX_JSON_DEPTH) is not None
    assert parse_json("9" * MAX_NUMBER_CHARACTERS) == int("9" * MAX_NUMBER_CHARACTERS)


@titled(("text", "value"), {
    "a trailing zero": ("1.50", 1.5), "a fraction": ("0.1", 0.1), "an exponent": ("1e2", 100.0),
    "an integer beyond a double's 53 bits": ("9007199254740993", 9007199254740993),
    "a fraction with more digits than a double": ("0.1000000000000000055", Decimal("0.1000000000000000055")),
    "a number beyond a double": ("1e400", Decimal("1e400")),
    "a byte order mark in bytes": (b"\xef\xbb\xbf[1]", [1]),
    "a byte order mark in a text": ("\ufeff[1]", [1]),
    "a surrogate pair of escapes is one character": ('"\\ud83d\\ude00 \\\\ud83d"', "😀 \\ud83d"),
})  # fmt: skip
def test_numbers_keep_their_digits_and_texts_their_characters(text: str | bytes, value: object) -> None:
    assert parse_json(text) == value


def test_control_characters_in_strings_are_read_where_asked_for() -> None:
    assert parse_json('"a\n\tb"', lenient_controls=True) == "a\n\tb"


def test_a_place_inside_another_file_counts_from_its_line() -> None:
    with pytest.raises(InputError, match=r"^m\.xml:11:1: "):
        parse_json("[\n!", path="m.xml", line=10)


XML_PIECES = [
    "<", ">", "/", "a", "<a>", "</a>", "<b x='1'/>", '"', "'", "=", "<!--", "-->", "<![CDATA[", "]]>", "<?x",
    "?>", "&amp;", "&e;", "&#0;", "&#x1F600;", "<!DOCTYPE a>", "<!ENTITY", "\n", "\0", "é", "\ufeff",
    "xmlns:p='u' p:q='2'",
]  # fmt: skip


WHOLE = (
    "<?xml version='1.0'?>\n<a><!-- c --><b x='1'>t &amp; <![CDATA[<no>]]></b><p:c xmlns:p='u' p:q='2'/>é</a>"
)


@given(
    damaged(st.just(WHOLE), st.sampled_from(XML_PIECES)),
    st.sampled_from(["utf-8", "utf-16", "latin-1", "utf-16-le"]),
)
def test_any_text_gives_a_tree_or_a_typed_error(text: str, encoding: str) -> None:
    for source in (text, text.encode(encoding, "replace"), f"<a>{text.partition('?>')[2]}</a>"):
        place = "x.xml"
        try:
            parse_xml(source, path="x.xml")
        except InputError as error:
            place = error.place or ""
        assert place.startswith("x.xml")


@given(
    damaged(st.just(WHOLE.encode()), st.binary(max_size=4)),
    st.sampled_from([b"utf-8", b"latin-1", b"US-ASCII", b"windows-1252"]) | st.binary(max_size=12),
)
def test_any_bytes_give_a_tree_or_a_typed_error(data: bytes, encoding: bytes) -> None:
    for source in (data, b"<?xml version='1.0' encoding='" + encoding + b"'?><a/>"):
        try:
            root = parse_xml(source)
        except InputError:
            continue
        assert root.tag is not None


def test_lines_are_those_on_which_start_tags_begin() -> None:
    text = (
        '<?xml version="1.0"?>\n<!-- <no> \n -->\n<a>\n  <b\n    x="1 > 0"\n    y=\'"\'>\n  </b>text &amp;\n'
        "  <![CDATA[<no>\n]]><c/><!-- x --><d\n/>\n</a>"
    )
    lines = [(item.tag, item.sourceline) for item in parse_xml(text).iter() if isinstance(item.tag, str)]
    assert lines == [("a", 4), ("b", 5), ("c", 10), ("d", 10)]


def test_the_word_doctype_in_a_comment_or_text_is_not_refused() -> None:
    root = parse_xml("<!-- <!DOCTYPE x> --><a><!-- <!ENTITY --><![CDATA[<!DOCTYPE]]> &lt;!DOCTYPE</a>")
    assert "".join(root.itertext("*")) == "<!DOCTYPE <!DOCTYPE"


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "iso-8859-1", "windows-1252"])
def test_the_declared_encoding_is_used(encoding: str) -> None:
    declared = "utf-8" if encoding == "utf-8-sig" else encoding
    text = f'<?xml version="1.0" encoding="{declared}"?><a v="ä"/>'
    assert parse_xml(text.encode(encoding)).get("v") == "ä"
    assert parse_xml(decode_xml(text.encode(encoding), path="x")).get("v") == "ä"
    assert parse_xml(text).get("v") == "ä"


@pytest.mark.parametrize("data", [
    b"<a>" + b" " * MAX_BYTES + b"</a>",
    b"<a>" + b"<b/>" * MAX_ELEMENTS + b"</a>",
    b"<a>" * (MAX_DEPTH + 1) + b"</a>" * (MAX_DEPTH + 1),
    b"<a " + b" ".join(b"b%d='c'" % number for number in range(MAX_ATTRIBUTES + 1)) + b"/>",
    b"<a>" * 1_000_000,
], ids=["bytes", "elements", "levels", "attributes", "endless levels"])  # fmt: skip
def test_xml_beyond_the_budget_is_refused(data: bytes) -> None:
    with pytest.raises(BudgetError):
        parse_xml(data, path="x")


DOCTYPES = (
    '<!DOCTYPE a [<!ENTITY e "x">]><a>&e;</a>',
    "<?xml version='1.0'?>\n<!-- c -->\n<!DOCTYPE a><a/>",
    "<!-- <!DOCTYPE a> --><!DOCTYPE a><a/>",
    "<!-- [ <!ENTITY -->  <!-- --> <!DOCTYPE a SYSTEM 'file:///etc/passwd'><a/>",
)


@titled(("data", "problem"), {
    **{f"{encoding}: {text}": (text.encode(encoding), "DOCTYPE is not allowed")
        for text in DOCTYPES for encoding in ("utf-8", "utf-16")},
    **{f"an encoding that no XML file has: {name}":
        (f'<?xml version="1.0" encoding="{name}"?><a/>'.encode(), "encoding it declares")
        for name in ("punycode", "unicode_escape", "rot13", "hex", "no-such", "undefined")},
    "bytes that are not in the encoding": (b'<a v="\xff"/>', "<text>:1:"),
    "compiled XML": (b"\x03\x00\x08\x00\x10\x00\x00\x00", "zero bytes"),
    # Megabytes that are not a document.
    "comments": (b"<!-- -->" * 900_000, "there is no element"),
    "instructions": (b"<?a?>" * 1_500_000 + b"<", "no element's name follows"),
    "open comments": (b"<!--" * 1_900_000, "<text>:1: "),
    "open quotes": (b"<a " + b"x='" * 2_000_000, "ends too early"),
})  # fmt: skip
def test_what_is_not_an_xml_document_is_refused(data: bytes, problem: str) -> None:
    with pytest.raises(InputError, match=problem):
        parse_xml(data)


def test_bytes_that_are_not_utf8_are_refused_with_their_offset() -> None:
    with pytest.raises(InputError, match="byte 6 is not UTF-8"):
        decode_xml(b'<a v="\xff"/>', path="x")
    with pytest.raises(InputError, match="byte 1 is not UTF-8"):
        decode_utf8(b"a\xff", path="x")


def test_work_grows_with_the_number_of_elements_alone() -> None:
    def read(count: int) -> None:
        assert len(parse_xml(b"<a>" + b"<b x='\n'/>" * count + b"</a>")) == count

    check_linear(read, 20_000)


@titled(("text", "message", "hint"), {
    "curly quotes": ("<b n=”x”/>", "a value is not in quotes", "attribute values are in straight quotes"),
    "an apostrophe in single quotes": ("<b n='it's'/>", "a value ends too early", "write &apos; for an ap"),
    "a mark in double quotes": ('<b n="a "b""/>', "a value ends too early", "write &apos; for an ap"),
    "no blank between attributes": ('<b n="1"m="2"/>', "no blank follows it", "write &apos; for an ap"),
    "an ampersand": ("a & b", "a bare &", "write &amp;"),
    "an entity without its end": ("&copy b", "a bare &", "write &amp;"),
    "an entity of HTML": ("&nbsp;", "XML does not have &nbsp;", "as in &#160;"),
    "less than in a value": ('<b n="a<b"/>', "a bare < in a value", "write &lt;"),
    "less than in a text": ("1 < 2", "no element's name follows <", "write &lt;"),
    "an attribute twice": ('<b n="1" n="2"/>', "the attribute n is there twice", "remove one"),
    "hyphens in a comment": ("<!-- a -- b -->", "a comment holds --", "write one hyphen"),
    "a control character": ("\x01", "the control character 1", "remove it"),
})  # fmt: skip
def test_a_common_fault_of_xml_has_its_place_and_the_fix(text: str, message: str, hint: str) -> None:
    with pytest.raises(InputError, match=r"^x\.xml:2:") as caught:
        parse_xml(f"<a>\n{text}</a>", path="x.xml")
    assert message in caught.value.message
    assert hint in (caught.value.hint or "")


def test_an_xml_declaration_comes_first() -> None:
    with pytest.raises(InputError, match="something is in front of <") as caught:
        parse_xml("\n<?xml version='1.0'?><a/>")
    assert caught.value.hint == "remove it, blanks too"


def test_children_are_elements_only() -> None:
    assert [child.tag for child in child_elements(parse_xml("<a>t<!-- c --><b/><?p?><c/></a>"))] == ["b", "c"]


DOCUMENT = '''# a remark
a = 1
[t]
b = """
[x]
c = 2
"""
"d.e" = [
 1,
 2]
[[r]]
k = 1
[r.s]
z = {q = {w = 1}}
[[r]]
k.l = 2
[[r.u]]
v = 1
[[r.u]]
v = 2
'''


@pytest.mark.parametrize("ending", ["\n", "\r\n"])
@titled(("keys", "line"), {
    "a key of the root": (("a",), 2),
    "a table": (("t",), 3),
    "a key of a table": (("t", "b"), 4),
    "a quoted key": (("t", "d.e"), 8),
    "an item of an array over lines": (("t", "d.e", 1), 8),
    "an array of tables": (("r",), 11),
    "a key of the first table": (("r", 0, "k"), 12),
    "a dotted key of an inner table": (("r", 0, "s", "z", "q", "w"), 14),
    "the second table": (("r", 1), 15),
    "a key of an inline table": (("r", 1, "k", "l"), 16),
    "an item of a nested array": (("r", 1, "u", 1, "v"), 20),
    "a key that is not there": (("t", "c"), None),
    "a table that is not there": (("r", 2), None),
    "an item of a value without items": (("r", 1, "k", 0), None),
})  # fmt: skip
def test_a_value_is_found_on_the_line_where_it_starts(
    keys: tuple[str | int, ...], line: int | None, ending: str
) -> None:
    assert line_of(DOCUMENT.replace("\n", ending), keys) == line


def test_the_search_for_a_line_ends_early_at_a_value_of_very_many_lines() -> None:
    text = "x = [\n" + "1,\n" * 5_000 + "]\ny = 1\n"
    assert line_of(text, ("y",)) is None
    assert line_of("y = 1\n" + text, ("y",)) == 1


@titled("text", {
    "an empty text": "", "a table without an end": "[", "a value without a key": "= 1",
    "too many levels": "x = " + "[" * 5_000, "a zero byte": "\0", "an endless number": f"x = {'9' * 5_000}",
})  # fmt: skip
def test_a_text_that_is_not_toml_has_no_lines(text: str) -> None:
    assert line_of(text, ("x",)) is None


IDS = ("com.example.Notes#createNote", "com.example.Notes#deleteNote", "clock_in_today", "merge")


@titled(("written", "meant"), {
    "the last part in small letters": ("createnote", "com.example.Notes#createNote"),
    "the last two parts with a letter missing": ("Notes#deleteNot", "com.example.Notes#deleteNote"),
    "two letters exchanged": ("clock_in_toady", "clock_in_today"),
    "capitals": ("MERGE", "merge"),
    "a name that is like none": ("weather", None),
    "an endless name": ("m" * 100_000, None),
})  # fmt: skip
def test_the_closest_name_is_found_by_its_last_part_too(written: str, meant: str | None) -> None:
    assert closest_name(written, IDS) == meant


def test_long_known_names_are_not_compared_but_listed() -> None:
    name = "a" * 100_000
    assert closest_name("a" * 150, [name]) is None
    assert suggest_name("b", [name]) == f"known: {name}"


def test_a_hint_lists_as_many_names_as_are_asked_for() -> None:
    assert suggest_name("merg", IDS, most=2) == (
        "did you mean 'merge'? known: com.example.Notes#createNote, com.example.Notes#deleteNote and 2 more"
    )
    assert suggest_name("x", IDS[:2], most=2) == (
        "known: com.example.Notes#createNote, com.example.Notes#deleteNote"
    )
    assert suggest_name("x", []) == "none is known"
