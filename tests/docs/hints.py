"""Where the sources write hints, and how these texts begin."""

import ast
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

CALLED = re.compile("(?i)(hints?|way_out|fix)$")
"""Names of the variables that hold hints; keywords and parameters of functions are named `hint`."""

CAPITAL = re.compile("[A-Z][a-z]*[,:]?(?= |$)")
"""A first word that only a sentence writes so; `JSON`, `minSdk` and `CAST(x)` are not such words."""

_ANY = re.compile("(?i)hint|fix|way_out|LintRules|reports|_error")
"""A word of each module that writes hints."""

_RETURNING = re.compile("(^|_)hint")
"""Names of the functions that return hints."""

NAMES = frozenset({"Android", "Android's", "Jetpack's"})


def hints_of(module: Path) -> Iterator[tuple[int, str]]:
    """Yield the line and the beginning of each text that a module writes as a hint.

    A text is found as the argument of a parameter `hint`, by its keyword or its position, as the hint of a
    rule of a linter, as what a function returns that is named after hints or called for one, and in what such
    an argument names.
    """
    source = module.read_text()
    if not _ANY.search(source):
        return
    nodes = list(ast.walk(ast.parse(source)))
    positions = _POSITIONS | dict(_positions(nodes))
    returning = {name for node in nodes for name in _functions_called_for_hints(node)}
    for node in nodes:
        if isinstance(node, ast.Call):
            yield from _texts_of_call(node, positions)
        elif isinstance(node, ast.FunctionDef) and (node.name in returning or _RETURNING.search(node.name)):
            for inner in ast.walk(node):
                if isinstance(inner, ast.Return) and inner.value is not None:
                    yield from _texts(inner.value)
        elif isinstance(node, ast.Assign | ast.AnnAssign) and node.value is not None:
            for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
                yield from _texts_assigned(target, node.value)


def begins_like_a_sentence(text: str) -> bool:
    """Return whether the first word of a hint has a capital letter that is not part of a name."""
    word = CAPITAL.match(text)
    return word is not None and word[0].rstrip(",:") not in NAMES


_POSITIONS = {
    "_error": 3,
    "_warning": 3,
    "_note": 3,
    "refused": 3,
    "not_understood": 4,
    "allow": 4,
    "refuse": 3,
}
"""Position of the hint in calls of functions from other modules; `error` has several meanings there."""


def _positions(nodes: Iterable[ast.AST]) -> Iterator[tuple[str, int]]:
    for node in nodes:
        if isinstance(node, ast.FunctionDef):
            names = [argument.arg for argument in node.args.posonlyargs + node.args.args]
            if "hint" in names:
                yield node.name, names.index("hint") - (names[0] in {"self", "cls"})


def _functions_called_for_hints(node: ast.AST) -> Iterator[str]:
    values = [node.value] if isinstance(node, ast.keyword) and node.arg == "hint" else []
    for call in (inner for value in values for inner in ast.walk(value) if isinstance(inner, ast.Call)):
        yield _name_of(call)


def _name_of(call: ast.Call) -> str:
    return call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")


def _texts_of_call(call: ast.Call, positions: dict[str, int]) -> Iterator[tuple[int, str]]:
    for keyword in call.keywords:
        if keyword.arg == "hint":
            yield from _texts(keyword.value)
    name = _name_of(call)
    if len(call.args) > positions.get(name, len(call.args)):
        yield from _texts(call.args[positions[name]])


def _texts_assigned(target: ast.expr, value: ast.expr) -> Iterator[tuple[int, str]]:
    if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple):
        for inner, inner_value in zip(target.elts, value.elts, strict=False):
            yield from _texts_assigned(inner, inner_value)
    elif isinstance(target, ast.Name) and CALLED.search(target.id):
        yield from _texts(value)


def _texts(node: ast.expr) -> Iterator[tuple[int, str]]:
    """Yield the beginnings of the texts that an expression can be."""
    match node:
        case ast.Constant(value=str(text)):
            yield node.lineno, text
        case ast.JoinedStr(values=[ast.Constant(value=str(text)), *_]):
            yield node.lineno, text
        case ast.JoinedStr(values=[ast.FormattedValue(), ast.Constant(value=str(text)), *_]):
            # A question may come first, and may be empty.
            yield node.lineno, text
        case ast.IfExp(body=first, orelse=other):
            yield from (*_texts(first), *_texts(other))
        case ast.BoolOp(values=values) | ast.Dict(values=values):
            for value in values:
                yield from _texts(value)
        case ast.BinOp(left=left):
            yield from _texts(left)
