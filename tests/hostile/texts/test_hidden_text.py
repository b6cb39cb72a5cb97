"""Hidden characters of apps are seen in every output, and ordinary texts of any language do not change."""

import io
import json
from collections.abc import Callable

import pytest

from droidgate.cli.coverage.coverage_outputs import _cell
from droidgate.cli.descriptors import migration_report
from droidgate.cli.output.json_output import json_text
from droidgate.cli.output.pages import Line, Table, show
from droidgate.cli.output.sarif import sarif_log
from droidgate.coverage.export import _harmless_text
from droidgate_mappings.model.findings import Finding, Level
from droidgate_mappings.text_safety import (
    hidden_characters,
    look_alikes,
    visible as shown,
    visible_json as shown_json,
    without_hidden,
)

duckdb = pytest.importorskip("duckdb")

HIDDEN = {
    "variation selector": "a\ufe00b",
    "emoji selector after a letter": "a\ufe0fb",
    "second emoji selector": "\u2764\ufe0f\ufe0f",
    "supplementary selectors": "a\U000e0100\U000e01efb",
    "high selector after an ideograph": "\u845b\U000e01ef",
    "grapheme joiner": "a\u034fb",
    "Hangul filler": "a\u3164b",
    "Mongolian selector": "a\u180bb",
    "blank Braille pattern": "a\u2800b",
    "shorthand control": "a\U0001bca0b",
    "hieroglyph control": "a\U00013430b",
    "C1 control": "a\x9b31mb",
    "escape": "a\x1b[31mb",
    "carriage return": "a\rb",
    "direction override": "a\u202eb",
    "isolate": "a\u2066b",
    "override in Hebrew": "\u05e9\u202e\u05dc",
    "mark in Latin text": "hello\u200f world",
    "tags": "a\U000e0041\U000e0042b",
    "tags behind a flag": "\U0001f3f4\U000e0061\U000e0062\U000e0063\U000e0064\U000e007f",
    "joiner in Latin": "a\u200db\u200cc",
    "two joiners in Persian": "\u0645\u06cc\u200c\u200c\u062e",
    "zero width space": "a\u200bb",
    "soft hyphen": "a\u00adb",
    "private use": "a\ue000b",
    "noncharacter": "a\ufdd0b",
}
NORMAL = {
    "family": "\U0001f468\u200d\U0001f469\u200d\U0001f467",
    "skin tone": "\U0001f469\U0001f3fd\u200d\U0001f4bb",
    "heart on fire": "\u2764\ufe0f\u200d\U0001f525",
    "rainbow flag": "\U0001f3f3\ufe0f\u200d\U0001f308",
    "England": "\U0001f3f4\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f",
    "Germany": "\U0001f1e9\U0001f1ea",
    "keycap": "press 1\ufe0f\u20e3 or #\ufe0f\u20e3",
    "text style": "\u00a9\ufe0e \u2122\ufe0f",
    "Persian": "\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645",
    "Persian plural of a Latin word": "PDF\u200c\u0647\u0627",
    "Persian id": "\u06cc\u0627\u062f\u062f\u0627\u0634\u062a_\u0645\u06cc\u200c\u0633\u0627\u0632\u062f",
    "Persian abbreviation": "\u0647\u200d.\u0634",
    "Hindi": "\u0915\u094d\u200d\u0937 \u0930\u093e\u0937\u094d\u200c\u091f\u094d\u0930",
    "Bengali": "\u09b0\u200d\u09cd\u09af\u09be\u09ac",
    "Sinhala": "\u0dc1\u0dca\u200d\u0dbb\u0dd3",
    "Malayalam": "\u0d28\u0d4d\u200d",
    "mark in Hebrew": "\u05e9\u05dc\u05d5\u05dd!\u200f",
    "mark in Arabic": "\u0633\u0639\u0631 \u200e100",
    "Kanji variant": "\u845b\U000e0100\u98fe\u533a",
    "Mongolian": "\u1820\u180b\u1821\u180e\u1820",
    "mathematics": "\u2229\ufe00",
    "CRLF": "one\r\ntwo",
    "accents": "Gr\u00fc\u00dfe, a\u0301, Ti\u1ebfng Vi\u1ec7t",
    "Thai": "\u0e2a\u0e27\u0e31\u0e2a\u0e14\u0e35",
    "blanks": "1\u00a0000\u202fkm\u3000\u2009x",
}


def _piped(text: str) -> str:
    stream = io.StringIO()
    show([Line(text), Table(("A", "B"), [(text, text)])], stream)
    return stream.getvalue()


def _exported(text: str) -> str:
    query = f"SELECT {_harmless_text('x')} FROM (VALUES (?)) t(x)"
    answer: str = duckdb.connect().execute(query, [text]).fetchall()[0][0]
    return answer


def _logged(text: str) -> str:
    finding = Finding(code="renamed", level=Level.RENAMED, pointer=f"/{text}", message=text)
    (result,) = sarif_log([finding])["runs"][0]["results"]
    return json.dumps([result["message"], result["locations"]], ensure_ascii=False)


OUTPUTS: dict[str, Callable[[str], str]] = {
    "page": _piped,
    "json": lambda text: json_text({text: [text]}),
    "csv of an answer": _cell,
    "csv of a report": _exported,
    "html": shown,
    "json in html": lambda text: shown_json(json.dumps(text, ensure_ascii=False)),
    "sarif": _logged,
}


@pytest.mark.parametrize("text", HIDDEN.values(), ids=HIDDEN)
def test_what_is_hidden_is_found_and_taken_out(text: str) -> None:
    assert hidden_characters(text)
    assert hidden_characters(without_hidden(text)) == ()


@pytest.mark.parametrize("text", NORMAL.values(), ids=NORMAL)
def test_what_is_normal_stays(text: str) -> None:
    assert hidden_characters(text) == ()
    assert without_hidden(text) == text


@pytest.mark.parametrize("output", OUTPUTS.values(), ids=OUTPUTS)
@pytest.mark.parametrize("text", HIDDEN.values(), ids=HIDDEN)
def test_no_output_has_hidden_characters(text: str, output: Callable[[str], str]) -> None:
    assert hidden_characters(output(text)) == ()


@pytest.mark.parametrize("name", ["page", "html", "json in html", "json", "csv of an answer"])
@pytest.mark.parametrize("text", [item for key, item in NORMAL.items() if key != "CRLF"])
def test_outputs_keep_what_is_normal(text: str, name: str) -> None:
    assert text in OUTPUTS[name](text)


@pytest.mark.parametrize(
    "text",
    [
        item
        for key, item in NORMAL.items()
        if "mark" not in key and "flag" not in key and not item.startswith("\U0001f3f4")
    ],
)
def test_reports_for_spreadsheets_keep_what_is_normal(text: str) -> None:
    assert _exported(text) == text


def test_json_keeps_its_meaning() -> None:
    for text in (*HIDDEN.values(), *NORMAL.values()):
        assert json.loads(json_text({text: [text]})) == {text: [text]}


def test_a_piped_diff_shows_what_is_hidden(capsys: pytest.CaptureFixture[str]) -> None:
    migration_report._print_diff("+a\x9b31m\u202eb\n")
    printed = capsys.readouterr()
    assert printed.out == "+a\\x9b31m\\u202eb\n"
    assert "cannot be applied" in printed.err


def test_a_piped_diff_without_hidden_characters_is_as_it_is(capsys: pytest.CaptureFixture[str]) -> None:
    diff = "".join(f"+{item}\r\n" for item in NORMAL.values())
    migration_report._print_diff(diff)
    printed = capsys.readouterr()
    assert (printed.out, printed.err) == (diff, "")


@pytest.mark.slow
def test_a_million_hidden_characters_take_no_time() -> None:
    """Quadratic work would take hours, and pytest's limit would end it."""
    for text in (
        "\u200d" * 1_000_000,
        "\u200f " * 500_000,
        "\U000e0041" * 1_000_000,
        "\u05d0\u200f." * 300_000,
    ):
        # A direction mark between a Hebrew letter and punctuation does not count as hidden.
        assert bool(hidden_characters(text)) is not text.startswith("\u05d0")
        assert not hidden_characters(without_hidden(text))


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("paypal", "\u0440\u0430\u0443\u0440\u0430l"),
        ("list", "Iist"),
        ("list", "1ist"),
        ("modern", "modem"),
        ("note", "n\u03bfte"),
        ("scope", "\u0455\u0441\u043e\u0440\u0435"),
        ("send", "s\u0435nd"),
        ("open", "\U0001d428\U0001d429\U0001d41e\U0001d427"),
        ("create_note", "create-note"),
    ],
)
def test_look_alikes_of_the_table(first: str, second: str) -> None:
    assert list(look_alikes([first, second])) == [(first, second)]


def test_names_that_differ_to_the_eye_are_not_look_alikes() -> None:
    names = [
        "resume", "r\u00e9sum\u00e9", "play", "pay", "\u62a5\u544a", "\u5831\u544a", "read_note",
        "read_notes", "a1", "a2",
    ]  # fmt: skip
    assert list(look_alikes(names)) == []
