"""Java that every protocol's handlers share (Java 8, org.json only): checked arguments, typed calls."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from importlib.resources import files
from string import Template
from typing import Final

from droidgate_android.handlers.handler_shapes import write_shapes
from droidgate_android.handlers.methods import Method, MethodParameter, ValueKind, methods_of
from droidgate_android.handlers.places import MARK, ClassPlace
from droidgate_mappings.formats.format import Artifact
from droidgate_mappings.model.capability import Provider
from droidgate_mappings.model.json_values import one_line_json

JAVA_TYPES: Final[dict[ValueKind, tuple[str, str]]] = {
    "boolean": ("boolean", "Boolean"),
    "int32": ("int", "Integer"),
    "int64": ("long", "Long"),
    "float": ("float", "Float"),
    "double": ("double", "Double"),
    "string": ("String", "String"),
    "bytes": ("byte[]", "byte[]"),
    "array": ("JSONArray", "JSONArray"),
    "object": ("JSONObject", "JSONObject"),
    "any": ("Object", "Object"),
    "void": ("void", "Void"),
}
"""The type of a value, and of one that may be null."""

_READERS: Final[dict[ValueKind, str]] = {
    "boolean": "asBoolean",
    "int32": "asInt",
    "int64": "asLong",
    "float": "asFloat",
    "double": "asDouble",
    "string": "asString",
    "bytes": "asBytes",
    "array": "asArray",
    "object": "asObject",
    "any": "asAny",
    "void": "asAny",
}
_WIDTH: Final = 100
_SIMPLE_ESCAPES: Final = {"\\": "\\\\", '"': '\\"', "\n": "\\n", "\r": "\\r", "\t": "\\t"}
_LITERAL_WIDTH: Final = 84


def java_string(text: str) -> str:
    """Return a Java string literal in ASCII."""
    return '"' + "".join(map(_escaped, _utf16_units(text))) + '"'


def _escaped(unit: int) -> str:
    character = chr(unit)
    if character in _SIMPLE_ESCAPES:
        return _SIMPLE_ESCAPES[character]
    return character if 0x20 <= unit < 0x7F else f"\\u{unit:04x}"  # noqa: PLR2004 - printable ASCII


def java_string_parts(text: str, indent: str) -> str:
    """Return a text as Java string literals of readable length, one a line, with commas between."""
    lines: list[str] = []
    line = ""
    for piece in map(_escaped, _utf16_units(text)):
        if len(line) + len(piece) > _LITERAL_WIDTH:
            lines.append(line)
            line = ""
        line += piece
    lines.append(line)
    return ",\n".join(f'{indent}"{text}"' for text in lines)


def _utf16_units(text: str) -> Iterator[int]:
    data = text.encode("utf-16-be", "surrogatepass")
    return (int.from_bytes(data[at : at + 2], "big") for at in range(0, len(data), 2))


def java_comment(text: str, indent: str, tags: Sequence[tuple[str, str]] = ()) -> list[str]:
    """Return a Javadoc comment, safe against `*/`, markup and Unicode escapes, with `@param` tags."""
    lines = [*_wrap(_comment_text(text), indent)]
    for name, about in tags:
        lines.extend(_wrap(f"@param {name} {_comment_text(about)}", indent))
    if len(lines) == 1 and len(lines[0]) + len(indent) < _WIDTH - 8:
        return [f"{indent}/** {lines[0]} */"]
    return [f"{indent}/**", *(f"{indent} * {line}".rstrip() for line in lines), f"{indent} */"]


def _comment_text(text: str) -> str:
    escapes = {
        "&": "&amp;",
        "<": "&lt;",
        ">": "&gt;",
        "@": "&#64;",
        "\\": "&#92;",
        "*/": "*&#47;",
        "/*": "&#47;*",
    }
    for plain, escaped in escapes.items():
        text = text.replace(plain, escaped)
    return " ".join("".join(character if character.isprintable() else " " for character in text).split())


def line_comment(text: str | None, indent: str) -> Iterator[str]:
    """Yield the lines of a `//` comment for Java and Kotlin, safe against line breaks and Unicode escapes."""
    if text is not None:
        plain = "".join(character if character.isprintable() else " " for character in text)
        yield from (f"{indent}// {line}" for line in _wrap(plain.replace("\\", "&#92;"), indent))


def _wrap(text: str, indent: str) -> Iterator[str]:
    width = _WIDTH - len(indent) - 3
    line = ""
    for word in text.split(" "):
        if line and len(line) + 1 + len(word) > width:
            yield line
            line = word
        else:
            line = f"{line} {word}" if line else word
    yield line


def java_type(parameter: MethodParameter) -> str:
    """Return the Java type of a parameter: boxed where it may be null, a list where its items are scalars."""
    if parameter.kind == "array" and parameter.item_kind != "any":
        return f"List<{JAVA_TYPES[parameter.item_kind][1]}>"
    return JAVA_TYPES[parameter.kind][1 if parameter.optional else 0]


def java_return_type(method: Method) -> str:
    """Return the Java type of a method's result; JSONObject for named outputs."""
    if method.returns == "array" and method.return_item_kind != "any":
        return f"List<{JAVA_TYPES[method.return_item_kind][1]}>"
    return JAVA_TYPES[method.returns][1 if method.returns_null else 0]


def fill_template(package: str, name: str, place: ClassPlace, **words: str) -> str:
    """Return the Java code of a template in a package's `templates` folder, for the classes of a place."""
    template = files(package).joinpath("templates", f"{name}.template").read_text(encoding="utf-8")
    names = {"package": place.package, "prefix": place.prefix, "component": place.component, "mark": MARK}
    return Template(template).substitute(names, **words)


def write_shared_classes(provider: Provider, place: ClassPlace) -> tuple[Artifact, ...]:
    """Return the sources that all components share: JSON reading, type checks, and the typed calls.

    `Calls.call(id, arguments)` returns a JSON value (null for void) and throws `CallException` with a failure
    token (`unknown_capability`, `invalid_argument`, `malformed_response`, or what the app's own code threw).
    """
    methods = methods_of(provider)
    shapes = one_line_json(write_shapes(provider))
    filled = {
        "shapes": java_string_parts(shapes, " " * 12),
        "interface": "\n".join(_capabilities_interface(methods)),
        "cases": "\n".join(_cases(methods)),
        "callers": "\n".join(["", *(line for method in methods for line in [*_caller(method), ""])]),
    }
    return tuple(
        place.java(name, fill_template("droidgate_android.handlers", f"{name}.java", place, **filled))
        for name in ("Json", "Shapes", "Calls")
    )


def java_signature(method: Method, exception: str, indent: str, word: str = "") -> str:
    """Return the head of a method, without its body; `word` is in front of it."""
    parameters = [f"{java_type(parameter)} {parameter.identifier}" for parameter in method.parameters]
    if method.takes_object:
        parameters = ["JSONObject arguments"]
    head = f"{indent}{word}{java_return_type(method)} {method.identifier}("
    tail = f") throws {exception}, JSONException"
    line = f"{head}{', '.join(parameters)}{tail}"
    if len(line) <= _WIDTH or not parameters:
        return line
    inner = f"\n{indent}        "
    return f"{head}{inner}{f',{inner}'.join(parameters)}{tail}"


def _method_comment(method: Method) -> list[str]:
    tags = [
        (parameter.identifier, parameter.description)
        for parameter in method.parameters
        if parameter.description
    ]
    return java_comment(
        method.description or f"The capability {method.capability_id}",
        "        ",
        () if method.takes_object else tags,
    )


def _capabilities_interface(methods: Sequence[Method]) -> Iterator[str]:
    yield "    /** What the app does: one method for each capability. */"
    yield "    public interface Capabilities {"
    for position, method in enumerate(methods):
        if position:
            yield ""
        yield from _method_comment(method)
        yield f"{java_signature(method, 'CallException', '        ')};"
    yield "    }"


def _cases(methods: Sequence[Method]) -> Iterator[str]:
    for method in methods:
        yield f"            case {java_string(method.capability_id)}:"
        yield f"                return {method.identifier}(given);"


def _caller(method: Method) -> Iterator[str]:
    yield f"    private Object {method.identifier}(Arguments given) throws CallException, JSONException {{"
    void = method.returns == "void"
    head = f"        {'' if void else 'return '}capabilities.{method.identifier}("
    arguments = (
        ["given.all"] if method.takes_object else [_argument(parameter) for parameter in method.parameters]
    )
    if arguments:
        yield head
        yield ",\n".join(f"                {argument}" for argument in arguments) + ");"
    else:
        yield f"{head});"
    if void:
        yield "        return null;"
    yield "    }"


def _argument(parameter: MethodParameter) -> str:
    name = java_string(parameter.name)
    if parameter.kind == "array" and parameter.item_kind != "any":
        return f"given.asList({name}, {JAVA_TYPES[parameter.item_kind][1]}.class)"
    return f"given.{_READERS[parameter.kind]}({name})"
