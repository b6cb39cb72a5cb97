"""No regular expression over foreign text takes more than time in proportion to the text."""

import ast
import importlib
import re
import signal
from collections.abc import Iterator
from re import (  # type: ignore[attr-defined]
    _compiler as compiler,
    _constants as constants,
    _parser as parser,
)
from typing import Any, Final, NamedTuple

import pytest

from droidgate.migration.plan import _may_be
from droidgate_mappings.tables.app_functions import load_shell_texts
from requirements_of_tests import CHECKOUT

LENGTH: Final = 100_000
SECONDS: Final = 1.0
"""Processor time that an expression may take for one text, whatever else the machine does."""

METHODS: Final = frozenset(("match", "fullmatch", "search", "sub", "subn", "split", "findall", "finditer"))
BOUNDED: Final = {
    "droidgate.devices.device_list": "(?P<serial>",  # a line has at most 1,024 characters
    "droidgate_android.projects.gradle_text": "[\\\"'`]?(\\w[\\w-]*)[\\\"'`]?",  # headers have 256
    "droidgate_mappings.text.configured_flags": "(?:[a-z]+|[0-9]{1,5})dpi",  # by fullmatch, in a loop
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
        given = [item for kind, item in listed if kind in {constants.LITERAL, constants.RANGE}]
        characters = [chr(item if isinstance(item, int) else item[0]) for item in given[:4]]
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
                    found = getattr(compiled, method)(*arguments)
                    if method == "finditer":
                        list(found)
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
    found = set(expressions())
    assert len(found) > 250
    bounded = {item for item in found if item.pattern.startswith(BOUNDED.get(item.module, "\0"))}
    assert {item.module for item in bounded} == BOUNDED.keys()
    slow = {(item.module, item.pattern): text for item in found - bounded if (text := slow_text(item))}
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
