"""The class that the app's author fills in: it calls the functions that the app has, and refuses the rest.

The classes around it are Java: they are made anew by droidgate, and Kotlin implements them as they are.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Final, Literal

from droidgate_android.handlers.existing_calls import CallWriter, NotCallableError
from droidgate_android.handlers.java import fill_template, java_signature, java_string, line_comment
from droidgate_android.handlers.kotlin import kotlin_comment, kotlin_return_type, kotlin_string, kotlin_type
from droidgate_android.handlers.methods import Method, methods_of
from droidgate_android.handlers.places import ClassPlace
from droidgate_mappings.formats.format import Artifact, ExistingFunction
from droidgate_mappings.model.capability import Provider
from droidgate_mappings.records import dataclass
from droidgate_mappings.text.counted_nouns import amount

_INDENT: Final = " " * 8
"""In front of the statements of a method."""
_CLASS_COMMENT: Final = (
    "/** What the app does when a capability is called. A later migration leaves this file as it is. */"
)


@dataclass(frozen=True, slots=True)
class AuthorClass:
    """What the app's author owns, and what it needs.

    Attributes:
        artifacts: The class, and the conversions that it uses.
        notes: What is left to do in it.
    """

    artifacts: tuple[Artifact, ...]
    notes: tuple[str, ...] = ()


def write_author_class(
    provider: Provider,
    place: ClassPlace,
    language: str,
    functions: Mapping[str, ExistingFunction],
) -> AuthorClass:
    """Return the class that answers each capability.

    Args:
        provider: The provider as written.
        place: Where its classes are.
        language: `java` or `kotlin`.
        functions: The app's functions, by the ids of the capabilities that they do.
    """
    writer = CallWriter("kotlin" if language == "kotlin" else "java", place.package, place.prefix)
    methods = methods_of(provider)
    statements: list[list[str]] = []
    called = 0
    refused: list[str] = []
    for method, capability in zip(methods, provider.capabilities, strict=True):
        function = functions.get(capability.id)
        reason = None
        if function is not None:
            try:
                statements.append(writer.body(method, function, capability.output, provider.definitions))
            except NotCallableError as error:
                reason = not_called(function, str(error))
                refused.append(reason)
            else:
                called += 1
                continue
        statements.append([*_refusal(method, place, reason, writer.language)])
    write = _write_kotlin if writer.language == "kotlin" else _write_java
    artifacts = [write(place, writer, list(zip(methods, statements, strict=True)))]
    if called:
        code = fill_template("droidgate_android.handlers", "Values.java", place)
        artifacts.append(place.java("Values", code))
    return AuthorClass(tuple(artifacts), tuple(_notes(place, writer, called, refused)))


def not_called(function: ExistingFunction, reasons: str) -> str:
    """Return the comment in a method that does not call the app's function."""
    return f"{function.owner.rpartition('.')[2]}.{function.name} is not called: {reasons}."


def call_note(count: int) -> str:
    """Return what the author has to check of a class that calls functions for so many capabilities."""
    capabilities = amount(count, "capability", "capabilities")
    return f"calls the app's own functions for {capabilities}: check what another app may do with each"


def refusal_note(comments: Collection[str]) -> str:
    """Return what is left to do in a class that does not call the functions behind capabilities.

    Args:
        comments: What `not_called` returned for each.
    """
    capabilities = amount(len(comments), "capability", "capabilities")
    reasons = set(comments)
    reason = f"; {reasons.pop().removesuffix('.')}" if len(reasons) == 1 else "; its comments say why"
    return f"does not call the app's own functions for {capabilities}{reason}"


def _notes(place: ClassPlace, writer: CallWriter, called: int, refused: list[str]) -> Iterator[str]:
    name = f"{place.prefix}Capabilities"
    if called:
        yield f"{name} {call_note(called)}"
    if refused:
        yield f"{name} {refusal_note(refused)}"
    if any(item.startswith("kotlinx.") for item in writer.imports):
        library = "org.jetbrains.kotlinx:kotlinx-coroutines-android"
        yield f"{name} uses runBlocking of {library}; add that where the app does not have it"


def _refusal(
    method: Method, place: ClassPlace, reason: str | None, language: Literal["java", "kotlin"]
) -> Iterator[str]:
    for text in (reason, method.return_comment):
        yield from (line.strip() for line in line_comment(text, _INDENT))
    refusal = f"{method.capability_id} is not implemented yet"
    exception = f"{place.prefix}Calls.CallException"
    if language == "kotlin":
        yield f'throw {exception}("unavailable", {kotlin_string(refusal)})'
    else:
        yield f'throw new {exception}("unavailable", {java_string(refusal)});'


def _imports(writer: CallWriter, text: str, always: tuple[str, ...]) -> list[str]:
    used = {f"org.json.{name}" for name in ("JSONArray", "JSONException", "JSONObject") if name in text}
    names = {*always, *used, *(["java.util.List"] if writer.language == "java" and "List<" in text else [])}
    names |= {name for name in writer.imports if name.rpartition(".")[0] != writer.package}
    return sorted(names)


def _members(writer: CallWriter) -> Iterator[str]:
    for lines in writer.members.values():
        yield ""
        yield from (f"    {line}" for line in lines)


def _write_java(
    place: ClassPlace, writer: CallWriter, bodies: Sequence[tuple[Method, list[str]]]
) -> Artifact:
    calls = f"{place.prefix}Calls"
    methods: list[str] = []
    for method, statements in bodies:
        signature = java_signature(method, f"{calls}.CallException", "    ", "public ")
        methods += ["", "    @Override", f"{signature} {{"]
        methods += [*(f"{_INDENT}{line}" for line in statements), "    }"]
    methods += _members(writer)
    names = _imports(writer, "\n".join(methods), ("android.content.Context", "org.json.JSONException"))
    groups = [
        [name for name in names if not name.startswith(("java.", "org.json."))],
        [name for name in names if name.startswith("java.")],
        [name for name in names if name.startswith("org.json.")],
    ]
    lines = [
        f"package {place.package};",
        *(line for group in groups if group for line in ["", *(f"import {name};" for name in group)]),
        "",
        _CLASS_COMMENT,
        f"final class {place.prefix}Capabilities implements {calls}.Capabilities {{",
        "    private final Context context;",
        "",
        f"    {place.prefix}Capabilities(Context context) {{",
        "        this.context = context;",
        "    }",
        *methods,
        "}",
        "",
    ]
    return place.java("Capabilities", "\n".join(lines), role="skeleton")


def _write_kotlin(
    place: ClassPlace, writer: CallWriter, bodies: Sequence[tuple[Method, list[str]]]
) -> Artifact:
    calls = f"{place.prefix}Calls"
    functions: list[str] = []
    for method, statements in bodies:
        functions += [*_kotlin_head(method), *(f"{_INDENT}{line}" for line in statements), "    }"]
    functions += _members(writer)
    names = _imports(writer, "\n".join(functions), ("android.content.Context",))
    lines = [
        f"package {place.package}",
        "",
        *(f"import {name}" for name in names),
        "",
        _CLASS_COMMENT,
        f"class {place.prefix}Capabilities(private val context: Context) : {calls}.Capabilities {{",
        *functions,
        "}",
        "",
    ]
    return place.file(f"{place.prefix}Capabilities.kt", "\n".join(lines), role="skeleton")


def _kotlin_head(method: Method) -> Iterator[str]:
    yield ""
    if method.description:
        yield from kotlin_comment(method.description, "    ")
    parameters = [f"{parameter.identifier}: {kotlin_type(parameter)}" for parameter in method.parameters]
    if method.takes_object:
        parameters = ["arguments: JSONObject"]
    returns = "" if method.returns == "void" else f": {kotlin_return_type(method)}"
    if len(parameters) > 1:
        yield f"    override fun {method.identifier}("
        yield from (f"        {parameter}," for parameter in parameters)
        yield f"    ){returns} {{"
    else:
        yield f"    override fun {method.identifier}({''.join(parameters)}){returns} {{"
