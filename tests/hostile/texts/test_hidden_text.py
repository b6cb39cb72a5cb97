"""Hidden characters of apps are seen in every output, and ordinary texts of any language do not change."""

import ast
import importlib
import io
import json
import re
import signal
from collections.abc import Callable, Iterator
from re import (  # type: ignore[attr-defined]
    _compiler as compiler,
    _constants as constants,
    _parser as parser,
)
from typing import Any, Final, NamedTuple

import pytest

from droidgate.cli.descriptors import run_migrate
from droidgate.cli.output.json_output import json_text
from droidgate.cli.output.pages import Line, Table, show
from droidgate.cli.output.sarif import sarif_log
from droidgate.migration.migration_plan import _may_be
from droidgate.sources.catalogs.csv_answers import csv_cell
from droidgate_mappings.model.findings import Finding, Level
from droidgate_mappings.tables.app_functions import load_shell_texts
from droidgate_mappings.text_safety import (
    hidden_characters,
    visible,
    visible_json,
    without_hidden,
)
from requirements_of_tests import CHECKOUT
from titled_rows import titled

HIDDEN = {
    "variation selector": "a\ufe00b", "emoji selector after a letter": "a\ufe0fb",
    "second emoji selector": "\u2764\ufe0f\ufe0f", "supplementary selectors": "a\U000e0100\U000e01efb",
    "high selector after an ideograph": "\u845b\U000e01ef", "grapheme joiner": "a\u034fb",
    "Hangul filler": "a\u3164b", "Mongolian selector": "a\u180bb", "blank Braille pattern": "a\u2800b",
    "shorthand control": "a\U0001bca0b", "hieroglyph control": "a\U00013430b", "C1 control": "a\x9b31mb",
    "escape": "a\x1b[31mb", "carriage return": "a\rb", "direction override": "a\u202eb",
    "isolate": "a\u2066b", "override in Hebrew": "\u05e9\u202e\u05dc",
    "mark in Latin text": "hello\u200f world", "tags": "a\U000e0041\U000e0042b",
    "tags behind a flag": "\U0001f3f4\U000e0061\U000e0062\U000e0063\U000e0064\U000e007f",
    "joiner in Latin": "a\u200db\u200cc", "two joiners in Persian": "\u0645\u06cc\u200c\u200c\u062e",
    "zero width space": "a\u200bb", "soft hyphen": "a\u00adb", "private use": "a\ue000b",
    "noncharacter": "a\ufdd0b",
}  # fmt: skip
NORMAL = {
    "family": "\U0001f468\u200d\U0001f469\u200d\U0001f467",
    "skin tone": "\U0001f469\U0001f3fd\u200d\U0001f4bb", "heart on fire": "\u2764\ufe0f\u200d\U0001f525",
    "rainbow flag": "\U0001f3f3\ufe0f\u200d\U0001f308",
    "England": "\U0001f3f4\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f",
    "Germany": "\U0001f1e9\U0001f1ea", "keycap": "press 1\ufe0f\u20e3 or #\ufe0f\u20e3",
    "text style": "\u00a9\ufe0e \u2122\ufe0f", "Persian": "\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645",
    "Persian plural of a Latin word": "PDF\u200c\u0647\u0627",
    "Persian id": "\u06cc\u0627\u062f\u062f\u0627\u0634\u062a_\u0645\u06cc\u200c\u0633\u0627\u0632\u062f",
    "Persian abbreviation": "\u0647\u200d.\u0634",
    "Hindi": "\u0915\u094d\u200d\u0937 \u0930\u093e\u0937\u094d\u200c\u091f\u094d\u0930",
    "Bengali": "\u09b0\u200d\u09cd\u09af\u09be\u09ac", "Sinhala": "\u0dc1\u0dca\u200d\u0dbb\u0dd3",
    "Malayalam": "\u0d28\u0d4d\u200d", "mark in Hebrew": "\u05e9\u05dc\u05d5\u05dd!\u200f",
    "mark in Arabic": "\u0633\u0639\u0631 \u200e100", "Kanji variant": "\u845b\U000e0100\u98fe\u533a",
    "Mongolian": "\u1820\u180b\u1821\u180e\u1820", "mathematics": "\u2229\ufe00", "CRLF": "one\r\ntwo",
    "accents": "Gr\u00fc\u00dfe, a\u0301, Ti\u1ebfng Vi\u1ec7t",
    "Thai": "\u0e2a\u0e27\u0e31\u0e2a\u0e14\u0e35", "blanks": "1\u00a0000\u202fkm\u3000\u2009x",
}  # fmt: skip


def _piped(text: str) -> str:
    stream = io.StringIO()
    show([Line(text), Table(("A", "B"), [(text, text)])], stream)
    return stream.getvalue()


def _logged(text: str) -> str:
    finding = Finding(code="renamed", level=Level.RENAMED, pointer=f"/{text}", message=text)
    (result,) = sarif_log([finding])["runs"][0]["results"]
    return json.dumps([result["message"], result["locations"]], ensure_ascii=False)


OUTPUTS: dict[str, Callable[[str], str]] = {
    "page": _piped,
    "json": lambda text: json_text({text: [text]}),
    "csv": csv_cell,
    "html": visible,
    "json in html": lambda text: visible_json(json.dumps(text, ensure_ascii=False)),
    "sarif": _logged,
}


@titled("text", HIDDEN)
def test_what_is_hidden_is_found_and_taken_out(text: str) -> None:
    assert hidden_characters(text)
    assert hidden_characters(without_hidden(text)) == ()


@titled("text", NORMAL)
def test_what_is_normal_stays(text: str) -> None:
    assert hidden_characters(text) == ()
    assert without_hidden(text) == text


@titled("output", OUTPUTS)
@titled("text", HIDDEN)
def test_no_output_has_hidden_characters(text: str, output: Callable[[str], str]) -> None:
    assert hidden_characters(output(text)) == ()


@pytest.mark.parametrize("name", ["page", "html", "json in html", "json", "csv"])
@titled("text", {key: item for key, item in NORMAL.items() if key != "CRLF"})
def test_outputs_keep_what_is_normal(text: str, name: str) -> None:
    assert text in OUTPUTS[name](text)


def test_json_keeps_its_meaning() -> None:
    for text in (*HIDDEN.values(), *NORMAL.values()):
        assert json.loads(json_text({text: [text]})) == {text: [text]}


def test_a_piped_diff_shows_what_is_hidden(capsys: pytest.CaptureFixture[str]) -> None:
    run_migrate._print_diff("+a\x9b31m\u202eb\n")
    printed = capsys.readouterr()
    assert printed.out == "+a\\x9b31m\\u202eb\n"
    assert "cannot be applied" in printed.err


def test_a_piped_diff_without_hidden_characters_is_as_it_is(capsys: pytest.CaptureFixture[str]) -> None:
    diff = "".join(f"+{item}\r\n" for item in NORMAL.values())
    run_migrate._print_diff(diff)
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


# No regular expression over foreign text takes more than time in proportion to the text


LENGTH: Final = 100_000
SECONDS: Final = 1.0
"""Processor time that an expression may take for one text, whatever else the machine does."""

METHODS: Final = frozenset(("match", "fullmatch", "search", "sub", "subn", "split", "findall", "finditer"))
BOUNDED: Final = {
    "droidgate.devices.device_list": "(?P<serial>",  # a line has at most 1,024 characters
    "droidgate_mappings.text_safety.look_alikes": "(\\w+)=",  # reads our own table
    "droidgate_android.projects.gradle_text": "[\\\"'`]?(\\w[\\w-]*)[\\\"'`]?",  # headers have 256
}
"""Modules and beginnings of expressions that are not searched in long texts."""

_SAMPLES: Final = "a0 \n<A_-.:/>\"'(){}[]\\=;,$@#?!*+~\0\u00e9"


class Expression(NamedTuple):
    """A regular expression, the module that has it, and the methods that are called with it."""

    module: str
    pattern: str
    flags: int
    methods: frozenset[str]


def expressions() -> Iterator[Expression]:
    """Yield the expressions that the modules of the product have as values or write in calls of `re`."""
    for root in ("gateway", "adapters", "mappings", "device_shim"):
        for path in sorted((CHECKOUT / root).rglob("*.py")):
            text = path.read_text(encoding="utf-8")
            if "import re\n" in text and path.name != "__main__.py":
                name = ".".join(path.relative_to(CHECKOUT / root).with_suffix("").parts)
                yield from _expressions_of(name.removesuffix(".__init__"), text)
    shell = load_shell_texts()
    for pattern in (*shell.notices, *(failure.pattern for failure in shell.failures)):
        yield Expression("shell texts", pattern, re.MULTILINE, frozenset({"search"}))


def _expressions_of(module: str, text: str) -> Iterator[Expression]:
    for name, value in vars(importlib.import_module(module)).items():
        if re.search(rf"(?m)^{name}\b.*=", text):
            called = [method for method in re.findall(rf"\b{name}\.(\w+)\(", text) if method in METHODS]
            is_passed_on = len(re.findall(rf"\b{name}\b", text)) > len(called) + 1
            methods = frozenset(called) | ({"search"} if is_passed_on else set())
            yield from (_expression(module, pattern, methods) for pattern in _patterns_in(value))
    for node in ast.walk(ast.parse(text)):
        match node:
            case ast.Call(
                func=ast.Attribute(value=ast.Name(id="re"), attr=method),
                args=[ast.Constant(value=pattern), *others],
            ) if method in METHODS:
                flags = [*others[2 if "sub" in method else 1 :], *(item.value for item in node.keywords)]
                names = [
                    re.RegexFlag[flag]
                    for item in flags
                    for flag in re.findall("[A-Z]{5,}", ast.unparse(item))
                ]
                yield _expression(module, re.compile(pattern, sum(names)), frozenset({method}))


def _patterns_in(value: Any) -> Iterator[re.Pattern[Any]]:
    if isinstance(value, re.Pattern):
        yield value
    elif isinstance(value, tuple | list | dict):
        for item in value.values() if isinstance(value, dict) else value:
            yield from _patterns_in(item)


def _expression(module: str, pattern: re.Pattern[Any], methods: frozenset[str]) -> Expression:
    if isinstance(pattern.pattern, bytes):
        return Expression(module, pattern.pattern.decode("latin-1"), pattern.flags | re.ASCII, methods)
    return Expression(module, pattern.pattern, pattern.flags, methods)


class Attacks:
    """Texts that repeat what an expression repeats, after what leads to it, before what never matches."""

    def __init__(self, pattern: str, flags: int) -> None:
        tree = parser.parse(pattern, flags)
        self._state = tree.state
        self._repeated: list[tuple[str, str]] = []
        self._example(tree, "")

    def texts(self, length: int) -> Iterator[str]:
        """Yield the texts, of about this length."""
        parts = [
            (head, part)
            for lead, repeated in self._repeated
            for part in (repeated, lead + repeated, lead[-1:] + repeated)
            for head in ("", lead)
            if part
        ]
        for head, part in dict.fromkeys(parts):
            yield from (head + part * (length // len(part)) + tail for tail in ("\0", "\n~"))

    def _example(self, items: Any, lead: str) -> str:
        """Return a text that items match; keep what they repeat, and what leads to it."""
        text = ""
        for operation, argument in items:
            before = lead + text
            match operation:
                case constants.LITERAL:
                    text += chr(argument)
                case constants.IN | constants.NOT_LITERAL | constants.ANY:
                    text += self._members(operation, argument)[:1]
                case constants.MAX_REPEAT | constants.MIN_REPEAT | constants.POSSESSIVE_REPEAT:
                    least, most, body = argument
                    repeated = self._example(body, before)
                    if most > 64:
                        choices = self._members(*body[0]) if len(body) == 1 else ""
                        self._repeated += [(before, item) for item in (repeated, *choices)]
                    text += repeated * min(least, 40)
                case constants.SUBPATTERN:
                    text += self._example(argument[3], before)
                case constants.ATOMIC_GROUP:
                    text += self._example(argument, before)
                case constants.ASSERT | constants.ASSERT_NOT:
                    self._example(argument[1], before)
                case constants.BRANCH:
                    branches = [self._example(item, before) for item in argument[1]]
                    text += branches[0]
        return text

    def _members(self, operation: Any, argument: Any) -> str:
        """Return some characters that one item matches, or nothing where it is not one character."""
        if operation not in {constants.IN, constants.NOT_LITERAL, constants.ANY}:
            return ""
        listed = argument if operation is constants.IN else []
        codes = [item for kind, item in listed if kind in {constants.LITERAL, constants.RANGE}]
        characters = [chr(item if isinstance(item, int) else item[0]) for item in codes[:4]]
        one = compiler.compile(parser.SubPattern(self._state, [(operation, argument)]), self._state.flags)
        return "".join(item for item in dict.fromkeys([*characters, *_SAMPLES]) if one.match(item))[:8]


class LateError(Exception):
    """An expression took too long."""


def _raise_late(*_: object) -> None:
    raise LateError


def slow_text(expression: Expression) -> str | None:
    """Return the method and the beginning of a text that an expression takes too long with."""
    compiled = re.compile(expression.pattern, expression.flags)
    former = signal.signal(signal.SIGVTALRM, _raise_late)
    try:
        for text in Attacks(expression.pattern, expression.flags).texts(LENGTH):
            for method in expression.methods:
                arguments = ("", text) if "sub" in method else (text,)
                signal.setitimer(signal.ITIMER_VIRTUAL, SECONDS)
                try:
                    matches = getattr(compiled, method)(*arguments)
                    if method == "finditer":
                        list(matches)
                except LateError:
                    return f"{method} {text[:60]!r}"
                finally:
                    signal.setitimer(signal.ITIMER_VIRTUAL, 0)
    finally:
        signal.signal(signal.SIGVTALRM, former)
    return None


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_no_expression_is_slow_with_a_long_text() -> None:
    patterns = set(expressions())
    assert len(patterns) > 250
    bounded = {item for item in patterns if item.pattern.startswith(BOUNDED.get(item.module, "\0"))}
    assert {item.module for item in bounded} == BOUNDED.keys()
    slow = {(item.module, item.pattern): text for item in patterns - bounded if (text := slow_text(item))}
    assert slow == {}


@pytest.mark.slow
@pytest.mark.parametrize("pattern", [r"(a+)+$", r"(a|a)*b", r"<\s*/?\s*system>", r"\s+$", r"<!--.*?-->"])
def test_exponential_and_quadratic_expressions_are_slow(pattern: str) -> None:
    assert slow_text(Expression("here", pattern, 0, frozenset({"search"})))
    assert not slow_text(Expression("here", "[a-z]+", 0, frozenset({"search"})))


@pytest.mark.parametrize(("declared", "permission", "expected"), [
    ("a.b", "a.b", True),
    ("a.b", "a.c", False),
    ("${applicationId}.READ", "com.example.READ", True),
    ("${applicationId}.READ", ".READ", False),
    ("a${x}b${y}c", "a1b2c", True),
    ("a${x}b${y}c", "abbc", False),
    ("a${x}b${y}c", "abbbc", True),
    ("${a${b}.c", "${ad.c", True),
])  # fmt: skip
def test_declared_permissions_with_placeholders(declared: str, permission: str, *, expected: bool) -> None:
    assert _may_be(declared, permission) is expected


def test_many_placeholders_take_no_time() -> None:
    assert not _may_be("${a}a" * 10_000 + "b", "a" * 20_000)
