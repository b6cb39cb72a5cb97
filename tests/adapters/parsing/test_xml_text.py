import pytest
from hypothesis import given, strategies as st

from counted_work import check_linear
from droidgate_mappings.model.errors import BudgetError, InputError
from droidgate_mappings.text.xml_text import (
    MAX_BYTES,
    MAX_DEPTH,
    MAX_ELEMENTS,
    child_elements,
    decode_xml,
    parse_xml,
)
from strategies import damaged

PIECES = [
    "<", ">", "/", "a", "<a>", "</a>", "<b x='1'/>", '"', "'", "=", "<!--", "-->", "<![CDATA[", "]]>", "<?x",
    "?>",
]  # fmt: skip
PIECES += [
    "&amp;",
    "&e;",
    "&#0;",
    "&#x1F600;",
    "<!DOCTYPE a>",
    "<!ENTITY",
    "\n",
    "\0",
    "é",
    "\ufeff",
    "xmlns:p='u' p:q='2'",
]


WHOLE = (
    "<?xml version='1.0'?>\n<a><!-- c --><b x='1'>t &amp; <![CDATA[<no>]]></b><p:c xmlns:p='u' p:q='2'/>é</a>"
)


@given(
    damaged(st.just(WHOLE), st.sampled_from(PIECES)),
    st.sampled_from(["utf-8", "utf-16", "latin-1", "utf-16-le"]),
)
def test_anything_is_a_tree_or_a_typed_error(text: str, encoding: str) -> None:
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
def test_any_bytes_are_a_tree_or_a_typed_error(data: bytes, encoding: bytes) -> None:
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
    root = parse_xml(text)
    assert [(item.tag, item.sourceline) for item in root.iter() if isinstance(item.tag, str)] == [
        ("a", 4),
        ("b", 5),
        ("c", 10),
        ("d", 10),
    ]


@pytest.mark.parametrize("text", [
    '<!DOCTYPE a [<!ENTITY e "x">]><a>&e;</a>', "<?xml version='1.0'?>\n<!-- c -->\n<!DOCTYPE a><a/>",
    "<!-- <!DOCTYPE a> --><!DOCTYPE a><a/>",
    "<!-- [ <!ENTITY -->  <!-- --> <!DOCTYPE a SYSTEM 'file:///etc/passwd'><a/>",
])  # fmt: skip
@pytest.mark.parametrize("encoding", ["utf-8", "utf-16"])
def test_a_doctype_is_refused_wherever_it_hides(text: str, encoding: str) -> None:
    with pytest.raises(InputError, match="DOCTYPE is not allowed"):
        parse_xml(text.encode(encoding))


def test_words_about_doctypes_are_no_doctype() -> None:
    root = parse_xml("<!-- <!DOCTYPE x> --><a><!-- <!ENTITY --><![CDATA[<!DOCTYPE]]> &lt;!DOCTYPE</a>")
    assert "".join(root.itertext("*")) == "<!DOCTYPE <!DOCTYPE"


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "iso-8859-1", "windows-1252"])
def test_the_declared_encoding_is_used(encoding: str) -> None:
    declared = "utf-8" if encoding == "utf-8-sig" else encoding
    text = f'<?xml version="1.0" encoding="{declared}"?><a v="ä"/>'
    assert parse_xml(text.encode(encoding)).get("v") == "ä"
    assert parse_xml(decode_xml(text.encode(encoding), path="x")).get("v") == "ä"
    assert parse_xml(text).get("v") == "ä"


@pytest.mark.parametrize("encoding", ["punycode", "unicode_escape", "rot13", "hex", "no-such", "undefined"])
def test_encodings_that_no_xml_file_has_are_refused(encoding: str) -> None:
    with pytest.raises(InputError, match="encoding it declares"):
        parse_xml(f'<?xml version="1.0" encoding="{encoding}"?><a/>'.encode())


def test_bytes_that_are_not_in_the_declared_encoding_are_refused() -> None:
    with pytest.raises(InputError):
        parse_xml(b'<a v="\xff"/>')
    with pytest.raises(InputError, match="byte 6 is not UTF-8"):
        decode_xml(b'<a v="\xff"/>', path="x")


def test_compiled_xml_is_distinguished() -> None:
    with pytest.raises(InputError, match="zero bytes"):
        parse_xml(b"\x03\x00\x08\x00\x10\x00\x00\x00")


@pytest.mark.parametrize("data", [
    b"<a>" + b" " * MAX_BYTES + b"</a>",
    b"<a>" + b"<b/>" * MAX_ELEMENTS + b"</a>",
    b"<a>" * (MAX_DEPTH + 1) + b"</a>" * (MAX_DEPTH + 1),
    b"<a>" * 1_000_000,
], ids=["bytes", "elements", "levels", "endless levels"])  # fmt: skip
def test_what_is_beyond_the_budget_is_refused(data: bytes) -> None:
    with pytest.raises(BudgetError):
        parse_xml(data, path="x")


@pytest.mark.parametrize(("data", "problem"), [
    (b"<!-- -->" * 900_000, "Start tag expected"),
    (b"<?a?>" * 1_500_000 + b"<", "invalid element name"),
    (b"<!--" * 1_900_000, "<text>:1: "),
    (b"<a " + b"x='" * 2_000_000, "attributes construct error"),
], ids=["comments", "instructions", "open comments", "open quotes"])  # fmt: skip
def test_megabytes_that_are_no_document_are_refused(data: bytes, problem: str) -> None:
    with pytest.raises(InputError, match=problem):
        parse_xml(data)


def test_work_grows_with_the_number_of_elements_alone() -> None:
    def read(count: int) -> None:
        assert len(parse_xml(b"<a>" + b"<b x='\n'/>" * count + b"</a>")) == count

    check_linear(read, 20_000)


def test_a_quote_that_is_not_straight_has_a_hint() -> None:
    with pytest.raises(InputError) as caught:
        parse_xml("<a>\n<b name=”x”/></a>", path="x.xml")
    assert caught.value.hint == "attribute values are in straight quotes"
    assert (caught.value.place or "").startswith("x.xml:2:")


def test_children_are_elements_only() -> None:
    assert [child.tag for child in child_elements(parse_xml("<a>t<!-- c --><b/><?p?><c/></a>"))] == ["b", "c"]
