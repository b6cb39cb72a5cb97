import re
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import HealthCheck, Phase, example, given, settings, strategies as st

from droidgate_mappings.model.errors import WriteError
from droidgate_mappings.text.aapt_text import (
    MAX_STRING_RESOURCE_BYTES,
    escape_attribute_value,
    escape_string_resource,
    escape_xml_attribute,
    read_attribute_value,
    read_string_resource,
    read_xml_attribute,
    reference_in,
)
from droidgate_mappings.text.xml_text import parse_xml
from mappings.text.compiled_with_aapt2 import Aapt2Error, coerced, compile_application, compile_texts
from titled_rows import titled

LOOK_ALIKES = [
    "7", "007", "-5", "+5", "-0", "0x1F", "0x", "0X10", "-0x10", "0x1ffffffff", "2147483648", "-2147483649",
    "1.10", "1.0", "2.5", ".5", "1.", "1e5", "1e400", "1e-50", "-inf", "+nan", "+nan(12)", "inf", "nan",
    "0x1p3",
    "true", "True", "TRUE", "tRue", "false", "#fff", "#FFFF", "#ff00ff", "#00112233", "#fffff", "#12",
    "10dp", "10.25dp", "1e5dp", "0x1dp", "7 dp", "-3px", "50%", "100%p", "9.99sp", "1ein", "1.5f", "12abc",
    "1,5",
    " 7 ", " true", "\t#fff\n", " 7", "7 ", "", " ", "-", "+", ".", "#", "1e9dp", "16777217", "3.4e39",
    "4294967295", "123456789012345678901234567890", "8388607.5px", "0.001px", "300.3%", "1e30px", "-1e30%",
    "@", "@foo", "@foo/bar", "@string/x", " @string/x", "@null", "@empty", "@+id/a", "?", "?x", "  ?attr/x",
    "a\\nb", "a\nb", "a\tb", "\\", "end\\", "\\u0041", "\\ud83d\\ude00", "C:\\new\\table", '\\"q\\"', "\r",
    "\r\n",
    "\x01", "\x1f", "\x7f", "\x85", "\ufffe\uffff", "\ufeff", "\u2028", " pad ", "a  b", "it's", 'say "hi"',
    "😀", "日本",
    "${applicationId}", "$", "$${x}", "100%", "%s %s", "%1$s", "<b>&amp;</b>", "]]>", "x" * 200, "9" * 126,
    "9" * 127,
]  # fmt: skip
texts = st.one_of(
    st.text(alphabet=st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=40),
    st.text(alphabet="\\\"'@?#nt u0123fxdpe%.-+ \n\t", max_size=12),
    st.from_regex(r"\s?[-+]?[0-9]{0,3}\.?[0-9]{1,3}(e[0-9])?(px|dp|sp|in|mm|pt|%|%p)?\s?", fullmatch=True),
    st.sampled_from(LOOK_ALIKES),
)
batches = st.lists(texts, min_size=50, max_size=200)
quick = settings(
    max_examples=5,
    phases=[Phase.explicit, Phase.generate],
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.large_base_example],
)


def is_defined_in_aapt2(raw: str) -> bool:
    """Return whether aapt2 defines what a text is: a dimension of 2**40 or more overflows its cast."""
    match = re.fullmatch(r"\s*([-+]?[0-9.]+(?:[eE][-+]?[0-9]+)?)(?:px|dip|dp|sp|pt|in|mm|%p?)\s*", raw)
    try:
        return match is None or abs(float(match[1])) < 2**40
    except ValueError:
        return True


raw_texts = st.one_of(
    texts.map(
        lambda text: "".join(
            item for item in text if item in "\t\n\r" or " " <= item < "\ufffe" or item > "\uffff"
        )
    ),
    st.lists(
        st.sampled_from(["\\", "u", "n", "t", "\\u", "00e4", "d83d", '"', " ", "  ", "a", "\\'", "ü", "\n"])
    ).map("".join),
).filter(
    lambda raw: (
        not raw.strip().startswith(("@", "?")) and "\\u0000" not in raw + "0000" and is_defined_in_aapt2(raw)
    )
)
raw_batches = st.lists(raw_texts, min_size=50, max_size=200)


def differences(
    written: Sequence[str], compiled: Sequence[object], read: Sequence[object] | None = None
) -> list[tuple[str, object, object]]:
    """Return (written, compiled, read) where compiled and read differ; types count, NaN equals itself."""
    triples = zip(written, compiled, written if read is None else read, strict=True)
    return [triple for triple in triples if repr(triple[1]) != repr(triple[2])]


@pytest.mark.requires("aapt2", "framework-res")
class TestAgainstAapt2:
    @quick
    @given(batches)
    @example(LOOK_ALIKES)
    def test_any_text_is_read_back_unchanged_from_all_three_places(self, expected: list[str]) -> None:
        values, attributes, strings = compile_texts(
            values=[escape_attribute_value(text) for text in expected],
            attributes=[escape_xml_attribute(text) for text in expected],
            strings=[escape_string_resource(text) for text in expected],
        )
        assert differences(expected, [item.in_a_bundle() for item in values]) == []
        assert differences(expected, [coerced(item) for item in attributes]) == []
        assert differences(expected, strings) == []

    @quick
    @given(raw_batches)
    @example([item for item in LOOK_ALIKES if not item.strip().startswith(("@", "?")) and item.isprintable()])
    def test_what_is_read_is_what_aapt2_compiles(self, raw: list[str]) -> None:
        values, attributes, _ = compile_texts(values=raw, attributes=raw)
        in_bundles, as_texts = [item.in_a_bundle() for item in values], [coerced(item) for item in attributes]
        assert differences(raw, in_bundles, [read_attribute_value(item) for item in raw]) == []
        assert differences(raw, as_texts, [read_xml_attribute(item) for item in raw]) == []

    @quick
    @given(raw_batches)
    @example([
        '" a', 'a "b  c" d  e', '" "a" "', "a\\\nb", "\\ ", "\\u0020 x", "a \\n b", '"it\'s"',
        "\u00a0x\u2003", "007", "@x",
    ])  # fmt: skip
    def test_a_string_resource_is_read_as_aapt2_compiles_it(self, raw: list[str]) -> None:
        accepted = [item for item in raw if aapt2_accepts_as_string(item)]
        *_, strings = compile_texts(strings=accepted)
        assert [read_string_resource(item) for item in accepted] == strings

    def test_a_reference_is_one_for_aapt2_too(self) -> None:
        references = [
            "@string/x", "@+id/y", " @string/x ", "@*string/x", "@a.b:string/x", "@android:string/ok",
            "@xml/c",
        ]  # fmt: skip
        texts = [
            "@", "@foo", "@foo/bar", "@xml", "@ string/x", "@+string/x", "@drawable/", "@0x7f040000",
            "\\@string/x",
        ]  # fmt: skip
        both = references + texts
        values, attributes, _ = compile_texts(values=both, attributes=both)
        expected = [True] * len(references) + [False] * len(texts)
        for compiled in (values, attributes):
            assert [item.text is None for item in compiled] == expected
        assert [reference_in(item) is not None for item in both] == expected

    @pytest.mark.parametrize("length", [MAX_STRING_RESOURCE_BYTES, MAX_STRING_RESOURCE_BYTES + 1], ids=str)
    def test_the_length_limit_of_string_resources_is_that_of_aapt2(self, length: int) -> None:
        *_, (stored,) = compile_texts(strings=["a" * length])
        assert stored == ("a" * length if length <= MAX_STRING_RESOURCE_BYTES else "STRING_TOO_LARGE")

    def test_two_substitutions_are_refused_without_formatted_false(self, tmp_path: Path) -> None:
        manifest = '<manifest package="a.b"/>'
        text = f'<resources><string name="x">{escape_string_resource("%s %s")}</string></resources>'
        with pytest.raises(Aapt2Error, match="multiple substitutions"):
            compile_application({"AndroidManifest.xml": manifest, "res/values/s.xml": text}, tmp_path)


def aapt2_accepts_as_string(raw: str) -> bool:
    """Leave out what aapt2 refuses: apostrophes outside quotes, `\\u` without hexadecimal digits."""
    quoted, position = False, 0
    while position < len(raw):
        letter = raw[position]
        if letter == "\\":
            digits = set(raw[position + 2 : position + 6])
            if raw[position + 1 : position + 2] == "u" and not digits <= set("0123456789abcdefABCDEF"):
                return False
            position += 1
        elif letter == '"':
            quoted = not quoted
        elif letter == "'" and not quoted:
            return False
        position += 1
    return True


@given(texts)
def test_reading_undoes_escaping(text: str) -> None:
    assert read_attribute_value(escape_attribute_value(text)) == text
    assert read_xml_attribute(escape_xml_attribute(text)) == text
    assert read_string_resource(escape_string_resource(text)) == text


@given(texts)
def test_what_is_escaped_is_xml(text: str) -> None:
    for escape_text in (escape_attribute_value, escape_xml_attribute, escape_string_resource):
        quoted = escape_text(text).replace("&", "&amp;").replace("<", "&lt;").replace('"', "&quot;")
        assert parse_xml(f'<a v="{quoted}"/>').get("v") == escape_text(text)


@given(st.text(alphabet=st.characters(), max_size=60))
def test_any_text_is_read_without_a_failure(raw: str) -> None:
    read_attribute_value(raw)
    read_xml_attribute(raw)
    read_string_resource(raw)
    reference_in(raw)


@titled("digits", {
    "a decimal number": "9" * 100_000, "a hexadecimal number": "0x" + "f" * 100_000,
    "a fraction": "1." + "0" * 100_000, "a colour": "#" + "f" * 100_000,
})  # fmt: skip
def test_numbers_of_very_many_digits_are_texts(digits: str) -> None:
    assert read_attribute_value(digits) == digits
    assert read_xml_attribute(digits) == digits


@pytest.mark.parametrize(
    "escape_text", [escape_attribute_value, escape_xml_attribute, escape_string_resource]
)
@pytest.mark.parametrize("text", ["a\0b", "\ud800", "x\udc00"])
def test_text_that_no_resource_can_hold_is_refused(escape_text: object, text: str) -> None:
    assert callable(escape_text)
    with pytest.raises(WriteError, match=r"U\+(0000|D800|DC00)"):
        escape_text(text)


def test_a_string_resource_beyond_the_limit_is_refused() -> None:
    assert escape_string_resource("ü" * (MAX_STRING_RESOURCE_BYTES // 2))
    with pytest.raises(WriteError, match="32767 bytes"):
        escape_string_resource("😀" * (MAX_STRING_RESOURCE_BYTES // 6 + 1))


def test_common_texts_need_no_escape_in_res_xml() -> None:
    for text in ("Clock in", "1", "1.0", "true", "a  b ", 'it\'s "quoted"', "3 tools", "-5", "ü 日本 😀"):
        assert escape_xml_attribute(text) == text


def test_a_placeholder_of_the_manifest_merger_is_kept_as_text() -> None:
    assert escape_attribute_value("${applicationId}") == "\\u0024{applicationId}"
