"""Every regular expression of the product, and how many steps a backtracking matcher takes with it.

Python's `re` backtracks and reports no steps. The matcher here takes the same decisions in the same order
over the same parsed expression and counts each step, so the result is the same on each machine.
"""

import ast
import contextlib
import importlib
import re
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from re import _constants as constants  # type: ignore[attr-defined]
from re import _parser as parser  # type: ignore[attr-defined]
from typing import Any, Final

ROOT: Final = Path(__file__).resolve().parents[3]
SOURCE_ROOTS: Final = ("gateway", "adapters", "mappings", "device_shim")
_METHODS: Final = frozenset(("match", "fullmatch", "search", "sub", "subn", "split", "findall", "finditer"))
_REPEATS: Final = (constants.MAX_REPEAT, constants.MIN_REPEAT, constants.POSSESSIVE_REPEAT)
_CATEGORIES: Final = {
    constants.CATEGORY_DIGIT: r"\d",
    constants.CATEGORY_NOT_DIGIT: r"\D",
    constants.CATEGORY_SPACE: r"\s",
    constants.CATEGORY_NOT_SPACE: r"\S",
    constants.CATEGORY_WORD: r"\w",
    constants.CATEGORY_NOT_WORD: r"\W",
}
_SAMPLES: Final = "a0 \n<A_-.:/>\"'(){}[]\\=;,$@#?!*+~\0\u00e9"


class TooMuchWorkError(Exception):
    """A match took more steps than are counted."""


@dataclass(frozen=True)
class Expression:
    """A regular expression where it is used.

    Attributes:
        place: The file and line.
        pattern: Its text.
        flags: Its flags.
        methods: The methods of `re` that are called with it.
    """

    place: str
    pattern: str
    flags: int
    methods: frozenset[str]


@dataclass(frozen=True)
class Survey:
    """What the sources have: expressions whose text is known, and places where it is made when it runs."""

    expressions: tuple[Expression, ...]
    computed: tuple[str, ...]


def survey() -> Survey:
    """Return all regular expressions of the product."""
    found: list[Expression] = []
    computed: list[str] = []
    for root in SOURCE_ROOTS:
        for path in sorted((ROOT / root).rglob("*.py")):
            text = path.read_text("utf-8")
            if "re." in text:
                _add_of_file(path, ROOT / root, ast.parse(text), found, computed)
    return Survey(tuple(found), tuple(computed))


def _add_of_file(
    path: Path, root: Path, tree: ast.Module, found: list[Expression], computed: list[str]
) -> None:
    module: Any = None
    name = ".".join(path.relative_to(root).with_suffix("").parts).removesuffix(".__init__")
    constants_of_file = _assigned_expressions(tree)
    for node in ast.walk(tree):
        function = node.func if isinstance(node, ast.Call) else None
        if not isinstance(node, ast.Call) or not isinstance(function, ast.Attribute):
            continue
        if not (isinstance(function.value, ast.Name) and function.value.id == "re"):
            continue
        if function.attr not in _METHODS | {"compile"}:
            continue
        place = f"{path.relative_to(ROOT)}:{node.lineno}"
        target = constants_of_file.get(node)
        if target is not None:
            module = module or importlib.import_module(name)
            compiled = getattr(module, target)
            found.append(
                Expression(place, _text(compiled.pattern), compiled.flags, _methods_of(tree, target))
            )
            continue
        literal = node.args[0]
        if not isinstance(literal, ast.Constant) or not isinstance(literal.value, str | bytes):
            computed.append(f"{path.relative_to(ROOT)}: {ast.unparse(literal)}")
            continue
        flags = _flags_of(node)
        compiled = re.compile(literal.value, flags)
        method = function.attr if function.attr != "compile" else "search"
        found.append(Expression(place, _text(literal.value), compiled.flags, frozenset({method})))


def _text(pattern: str | bytes) -> str:
    return pattern if isinstance(pattern, str) else pattern.decode("latin-1")


def _assigned_expressions(tree: ast.Module) -> dict[ast.AST, str]:
    """Return the calls of `re.compile` that are values of a module's names."""
    assigned: dict[ast.AST, str] = {}
    for node in tree.body:
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            assigned[node.value] = node.targets[0].id
        elif isinstance(node, ast.AnnAssign) and node.value is not None and isinstance(node.target, ast.Name):
            assigned[node.value] = node.target.id
    return {call: name for call, name in assigned.items() if isinstance(call, ast.Call)}


def _methods_of(tree: ast.Module, name: str) -> frozenset[str]:
    """Return the methods that a file calls on an expression; `search`, the hardest, where it is passed on."""
    methods: set[str] = set()
    called = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == name:
            methods.add(node.attr)
            called.add(node.value)
    passed = any(
        isinstance(node, ast.Name)
        and node.id == name
        and isinstance(node.ctx, ast.Load)
        and node not in called
        for node in ast.walk(tree)
    )
    return frozenset((methods & _METHODS) | ({"search"} if passed or not methods & _METHODS else set()))


def _flags_of(call: ast.Call) -> int:
    for keyword in call.keywords:
        if keyword.arg == "flags":
            return int(eval(ast.unparse(keyword.value), {"re": re}))
    for argument in call.args[1:]:
        if all(
            isinstance(item, ast.Name | ast.Attribute | ast.BinOp | ast.BitOr | ast.Load)
            and (not isinstance(item, ast.Attribute) or item.attr.isupper())
            for item in ast.walk(argument)
        ) and "re." in ast.unparse(argument):
            return int(eval(ast.unparse(argument), {"re": re}))
    return 0


class Matcher:
    """Matches as `re` does, and counts its steps."""

    def __init__(self, pattern: str, flags: int, most: int) -> None:
        self._tree = parser.parse(pattern, flags & ~re.DEBUG)
        self._flags = self._tree.state.flags | flags
        self._most = most
        self._sets: dict[int, Callable[[str], bool]] = {}
        self.steps = 0
        self._text = ""
        self._groups: dict[int, str] = {}

    def run(self, text: str, method: str) -> int:
        """Return the steps that a method takes with a text.

        Raises:
            TooMuchWorkError: they are more than what is counted.
        """
        self.steps, self._text = 0, text
        if method in {"match", "fullmatch"}:
            self._at(0, whole=method == "fullmatch")
            return self.steps
        at = 0
        while at <= len(text):
            end = self._at(at)
            if end is None:
                at += 1
            elif method == "search":
                break
            else:
                at = end if end > at else at + 1
        return self.steps

    def _at(self, at: int, *, whole: bool = False) -> int | None:
        ends: list[int] = []

        def accept(position: int) -> bool:
            if whole and position != len(self._text):
                return False
            ends.append(position)
            return True

        return ends[0] if self._sequence(self._tree, 0, at, self._flags, accept) else None

    def _step(self) -> None:
        self.steps += 1
        if self.steps > self._most:
            raise TooMuchWorkError

    def _sequence(self, items: Any, index: int, at: int, flags: int, then: Callable[[int], bool]) -> bool:
        while index < len(items):
            operation, argument = items[index]
            test = self._test_of(operation, argument, flags)
            if test is None:
                return self._part(items, index, at, flags, then)
            self._step()
            if at >= len(self._text) or not test(self._text[at]):
                return False
            at += 1
            index += 1
        return then(at)

    def _part(self, items: Any, index: int, at: int, flags: int, then: Callable[[int], bool]) -> bool:
        self._step()
        operation, argument = items[index]

        def rest(position: int) -> bool:
            return self._sequence(items, index + 1, position, flags, then)

        if operation is constants.AT:
            return self._is_place(argument, at, flags) and rest(at)
        if operation is constants.BRANCH:
            return any(self._sequence(item, 0, at, flags, rest) for item in argument[1])
        if operation is constants.SUBPATTERN:
            group, add, remove, body = argument

            def close(position: int) -> bool:
                if group is not None:
                    self._groups[group] = self._text[at:position]
                return rest(position)

            return self._sequence(body, 0, at, (flags | add) & ~remove, close)
        if operation is constants.GROUPREF:
            kept = self._groups.get(argument, "")
            return self._text.startswith(kept, at) and rest(at + len(kept))
        if operation in {constants.ASSERT, constants.ASSERT_NOT}:
            return self._looks(argument, at, flags) is (operation is constants.ASSERT) and rest(at)
        if operation is constants.ATOMIC_GROUP:
            end = self._first_end(argument, at, flags)
            return end is not None and rest(end)
        assert operation in _REPEATS, operation
        return self._repeat(operation, argument, at, flags, rest)

    def _first_end(self, body: Any, at: int, flags: int) -> int | None:
        ends: list[int] = []

        def accept(position: int) -> bool:
            ends.append(position)
            return True

        return ends[0] if self._sequence(body, 0, at, flags, accept) else None

    def _looks(self, argument: Any, at: int, flags: int) -> bool:
        direction, body = argument
        if direction >= 0:
            return self._first_end(body, at, flags) is not None
        width = body.getwidth()[0]
        return at >= width and self._first_end(body, at - width, flags) is not None

    def _repeat(
        self, operation: Any, argument: Any, at: int, flags: int, then: Callable[[int], bool]
    ) -> bool:
        least, most, body = argument
        test = self._test_of(body[0][0], body[0][1], flags) if len(body) == 1 else None
        if test is not None:
            return self._repeat_character(operation, (least, most, test), at, then)
        if operation is constants.POSSESSIVE_REPEAT:
            count = 0
            while count < most:
                end = self._first_end(body, at, flags)
                if end is None or end == at:
                    break
                at, count = end, count + 1
            return count >= least and then(at)

        def again(count: int, position: int) -> bool:
            self._step()

            def more() -> bool:
                return count < most and self._sequence(
                    body,
                    0,
                    position,
                    flags,
                    lambda end: (end != position or count < least) and again(count + 1, end),
                )

            if operation is constants.MAX_REPEAT:
                return more() or (count >= least and then(position))
            return (count >= least and then(position)) or more()

        return again(0, at)

    def _repeat_character(
        self,
        operation: Any,
        argument: tuple[int, int, Callable[[str], bool]],
        at: int,
        then: Callable[[int], bool],
    ) -> bool:
        least, most, test = argument
        end = at
        if operation is constants.MIN_REPEAT:
            while True:
                self._step()
                if end - at >= least and then(end):
                    return True
                if end - at >= most or end >= len(self._text) or not test(self._text[end]):
                    return False
                end += 1
        while end < len(self._text) and end - at < most and test(self._text[end]):
            self._step()
            end += 1
        if operation is constants.POSSESSIVE_REPEAT:
            return end - at >= least and then(end)
        for position in range(end, at + least - 1, -1):
            self._step()
            if then(position):
                return True
        return False

    def _is_place(self, place: Any, at: int, flags: int) -> bool:
        text = self._text
        before, after = text[at - 1 : at] if at else "", text[at : at + 1]
        if place is constants.AT_BEGINNING:
            return at == 0 or (bool(flags & re.MULTILINE) and before == "\n")
        if place is constants.AT_BEGINNING_STRING:
            return at == 0
        if place is constants.AT_END_STRING:
            return at == len(text)
        if place is constants.AT_END:
            return at == len(text) or text[at:] == "\n" or (bool(flags & re.MULTILINE) and after == "\n")
        words = [bool(item) and (item.isalnum() or item == "_") for item in (before, after)]
        return (words[0] != words[1]) is (place is constants.AT_BOUNDARY)

    def _test_of(self, operation: Any, argument: Any, flags: int) -> Callable[[str], bool] | None:
        if operation is constants.ANY:
            return (lambda _: True) if flags & re.DOTALL else (lambda item: item != "\n")
        if operation not in {constants.LITERAL, constants.NOT_LITERAL, constants.IN}:
            return None
        key = hash((id(argument), argument if isinstance(argument, int) else 0, operation, flags))
        if key not in self._sets:
            self._sets[key] = _set_test(operation, argument, flags)
        return self._sets[key]


def _set_test(operation: Any, argument: Any, flags: int) -> Callable[[str], bool]:
    """Return the test of a set: the set compiled by `re` itself, and each answer kept."""
    if operation is constants.IN:
        items = argument
    else:
        items = [(constants.LITERAL, argument)]
        if operation is constants.NOT_LITERAL:
            items = [(constants.NEGATE, None), *items]
    body = "".join(_set_item(*item) for item in items)
    kept = flags & (re.IGNORECASE | re.ASCII)
    compiled = re.compile(f"[{body}]", kept)
    answers: dict[str, bool] = {}

    def test(item: str) -> bool:
        if item not in answers:
            answers[item] = compiled.match(item) is not None
        return answers[item]

    return test


def _set_item(operation: Any, argument: Any) -> str:
    if operation is constants.NEGATE:
        return "^"
    if operation is constants.LITERAL:
        return f"\\U{argument:08x}"
    if operation is constants.RANGE:
        return f"\\U{argument[0]:08x}-\\U{argument[1]:08x}"
    return str(_CATEGORIES[argument])


def attacks(pattern: str, flags: int) -> Iterator[tuple[str, str, str]]:
    """Yield heads, parts to repeat and tails that could make an expression do much.

    For each repetition: what leads to it, then what it repeats, with and without what leads to it, then
    something that matches nothing.
    """
    tree = parser.parse(pattern, flags & ~re.DEBUG)
    seen: set[tuple[str, str]] = set()
    for lead, body in _repetitions(tree, ""):
        for pumped in _pumps(body):
            for part in dict.fromkeys((pumped, lead + pumped, lead[-1:] + pumped)):
                for head in dict.fromkeys(("", lead)):
                    if part and (head, part) not in seen:
                        seen.add((head, part))
                        yield head, part, "\0"
                        yield head, part, "\n~"


def _repetitions(items: Any, lead: str) -> Iterator[tuple[str, Any]]:
    for operation, argument in items:
        if operation in _REPEATS:
            if argument[1] is constants.MAXREPEAT or argument[1] > 64:
                yield lead, argument[2]
            yield from _repetitions(argument[2], lead)
        elif operation is constants.SUBPATTERN:
            yield from _repetitions(argument[3], lead)
        elif operation is constants.ATOMIC_GROUP:
            yield from _repetitions(argument, lead)
        elif operation is constants.BRANCH:
            for item in argument[1]:
                yield from _repetitions(item, lead)
        elif operation in {constants.ASSERT, constants.ASSERT_NOT}:
            yield from _repetitions(argument[1], lead)
        lead += _example(operation, argument)


def _pumps(body: Any) -> list[str]:
    """Return texts that a repetition repeats: one for each kind of character, and one for each way."""
    if len(body) == 1:
        operation, argument = body[0]
        if operation in {constants.IN, constants.NOT_LITERAL, constants.ANY}:
            return _members(operation, argument)
        if operation is constants.SUBPATTERN:
            return _pumps(argument[3])
        if operation is constants.BRANCH:
            return [pump for item in argument[1] for pump in _pumps(item)][:12]
    whole = "".join(_example(*item) for item in body)
    longer = "".join(_example(item[0], item[1], 1) for item in body)
    return list(dict.fromkeys(item for item in (whole, longer) if item))


def _members(operation: Any, argument: Any) -> list[str]:
    if operation is constants.ANY:
        return list(_SAMPLES)
    test = _set_test(operation, argument, 0)
    given = [
        chr(fromkey if isinstance(fromkey, int) else fromkey[0])
        for kind, fromkey in (argument if operation is constants.IN else [])
        if kind in {constants.LITERAL, constants.RANGE}
    ]
    return [fromkey for fromkey in dict.fromkeys([*given[:4], *_SAMPLES]) if test(fromkey)][:8]


def _example(operation: Any, argument: Any, extra: int = 0) -> str:
    if operation is constants.LITERAL:
        return chr(argument)
    if operation in {constants.IN, constants.NOT_LITERAL, constants.ANY}:
        return (_members(operation, argument) or [""])[0]
    if operation in _REPEATS:
        times = min(int(argument[0]) + extra, 40)
        return "".join(_example(*item) for item in argument[2]) * times
    if operation is constants.SUBPATTERN:
        return "".join(_example(item[0], item[1], extra) for item in argument[3])
    if operation is constants.ATOMIC_GROUP:
        return "".join(_example(item[0], item[1], extra) for item in argument)
    if operation is constants.BRANCH:
        return "".join(_example(*item) for item in argument[1][0])
    return ""


def worst_growth(expression: Expression, *, size: int = 16, factor: int = 4) -> tuple[float, str, str]:
    """Return by how much more work `factor` times the input makes at worst, with the method and the input.

    The answer is infinite where the larger input takes more than 300 steps a character.
    """
    worst = (0.0, "", "")
    for head, part, tail in attacks(expression.pattern, expression.flags):
        for method in sorted(expression.methods):
            short, long = (head + part * (size * times) + tail for times in (1, factor))
            matcher = Matcher(expression.pattern, expression.flags, 300 * len(long))
            try:
                few = matcher.run(short, method)
                growth = matcher.run(long, method) / max(few, size)
            except (TooMuchWorkError, RecursionError) as raised:
                growth = float("inf") if isinstance(raised, TooMuchWorkError) else 0.0
            if growth > worst[0]:
                worst = (growth, method, f"{head!r} + {part!r} * n + {tail!r}")
    return worst


@contextlib.contextmanager
def deep_recursion() -> Iterator[None]:
    """Let the matcher call itself as often as a long text takes."""
    former = sys.getrecursionlimit()
    sys.setrecursionlimit(60_000)
    try:
        yield
    finally:
        sys.setrecursionlimit(former)
