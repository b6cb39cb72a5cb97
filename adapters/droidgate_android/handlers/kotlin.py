"""Kotlin that every protocol's handlers share: types, strings and comments."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from droidgate_android.handlers.java import java_string
from droidgate_android.handlers.methods import Method, MethodParameter, ValueKind

KOTLIN_TYPES: Final[dict[ValueKind, str]] = {
    "boolean": "Boolean",
    "int32": "Int",
    "int64": "Long",
    "float": "Float",
    "double": "Double",
    "string": "String",
    "bytes": "ByteArray",
    "array": "JSONArray",
    "object": "JSONObject",
    "any": "Any",
    "void": "Unit",
}
_WIDTH: Final = 100


def kotlin_string(text: str) -> str:
    """Return a Kotlin string literal in ASCII."""
    return java_string(text).replace("$", "\\$")


def kotlin_comment(text: str, indent: str, tags: Sequence[tuple[str, str]] = ()) -> list[str]:
    """Return a KDoc comment of a text, word for word, and its tags (`@param name`, `@return`).

    Only what would end the comment, begin another or look like a tag is set apart by a blank.
    """
    lines = list(_comment_lines(text, indent)) if text else []
    for tag, about in tags:
        lines.extend(_comment_lines(f"@{tag} ", indent, about))
    if len(lines) == 1:
        return [f"{indent}/** {lines[0]} */"]
    return [f"{indent}/**", *(f"{indent} * {line}".rstrip() for line in lines), f"{indent} */"]


def _comment_lines(text: str, indent: str, about: str | None = None) -> Iterator[str]:
    head, body = ("", text) if about is None else (text, about)
    width = _WIDTH - len(indent) - 3
    for paragraph in body.splitlines() or [""]:
        line = head
        head = ""
        for word in _safe_words(paragraph):
            if line.strip() and len(line.rstrip()) + 1 + len(word) > width:
                yield line.rstrip()
                line = ""
            line += f"{word} " if line or not word.startswith("@") else f"\u00a0{word} "
        yield line.rstrip()


def _safe_words(text: str) -> list[str]:
    printable = "".join(character if character.isprintable() else " " for character in text)
    while "*/" in printable or "/*" in printable:
        printable = printable.replace("*/", "* /").replace("/*", "/ *")
    return printable.split()


def kotlin_type(parameter: MethodParameter) -> str:
    """Return the Kotlin type of a parameter."""
    if parameter.kind == "array" and parameter.item_kind != "any":
        written = f"List<{KOTLIN_TYPES[parameter.item_kind]}>"
    else:
        written = KOTLIN_TYPES[parameter.kind]
    return f"{written}?" if parameter.optional else written


def kotlin_return_type(method: Method) -> str:
    """Return the Kotlin type of a method's result."""
    if method.returns == "array" and method.return_item_kind != "any":
        written = f"List<{KOTLIN_TYPES[method.return_item_kind]}>"
    else:
        written = KOTLIN_TYPES[method.returns]
    return f"{written}?" if method.returns_null else written
