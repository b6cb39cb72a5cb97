"""Types and providers in a few words."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from droidgate.cli.output.pages import Block, Heading, Line, Table
from droidgate.cli.output.safe_text import one_line
from droidgate_mappings.formats.format import found_by
from droidgate_mappings.formats.reachability import enabled_words
from droidgate_mappings.model.capability import Capability, Provider
from droidgate_mappings.model.json_values import one_line_json
from droidgate_mappings.model.types import (
    AllOfType,
    AnyType,
    ArrayType,
    ObjectType,
    OneOfType,
    OpaqueType,
    RefType,
    Type,
)
from droidgate_mappings.tables.loading import find_binding
from droidgate_mappings.text.counted_nouns import amount
from droidgate_mappings.translate import dialect_name, provider_name

_LONGEST: Final = {"INPUT": 70, "OUTPUT": 70, "DESCRIPTION": 100}
_DEPTH: Final = 2
_SCOPES: Final = {"activity": "available only while an activity of the app is open"}
_OPEN_LEVELS: Final = frozenset({None, "androidTrusted"})
_LEVELS: Final[Mapping[str | None, str]] = {
    "self": "only the app itself may call (access level self)",
    "system": "only the app itself and Android may call (access level system)",
}

_PACKAGE: Final = re.compile(r"\b(?:[\w$]++\.)++")
"""Packages and outer classes in a name, also inside of type arguments."""


def left_out_line(count: int) -> str:
    """Return a line about droidgate's own apps that a report leaves out."""
    apps = amount(count, "app")
    return f"left out: {apps} of droidgate itself (shims, its agent); --include-shims includes them"


def type_summary(type_: Type, depth: int = _DEPTH) -> str:
    """Return a type in a few words: `string?` may be null, `{name?: string}` may lack a name."""
    nullable = "?" if type_.nullable else ""
    if type_.enum is not None:
        return f"{type_.kind} of {len(type_.enum)} values{nullable}"
    return _shape_summary(type_, depth) + nullable


def _shape_summary(type_: Type, depth: int) -> str:
    if isinstance(type_, ArrayType):
        return f"[{type_summary(type_.items, depth) if type_.items is not None else 'any'}]"
    if isinstance(type_, ObjectType):
        if depth == 0 or not type_.properties:
            return "{...}" if type_.properties else "{}"
        return f"{{{properties_summary(type_, depth)}}}"
    if isinstance(type_, RefType):
        return _PACKAGE.sub("", type_.name) or type_.name
    if isinstance(type_, AllOfType):
        return _join_parts(type_.members, " & ", depth)
    if isinstance(type_, OneOfType):
        return _join_parts(type_.alternatives, " | ", depth)
    if isinstance(type_, OpaqueType):
        return type_.class_name or "opaque"
    if isinstance(type_, AnyType):
        return "nothing" if type_.boolean is False else "any"
    return type_.kind


def _join_parts(parts: Sequence[Type], word: str, depth: int) -> str:
    if depth == 0:
        return "..."
    return f"({word.join(type_summary(part, depth - 1) for part in parts)})"


def properties_summary(object_type: ObjectType, depth: int = _DEPTH) -> str:
    """Return the properties of an object: `date: string, note?: string`."""
    return ", ".join(
        f"{name}{'' if property_.required else '?'}: {type_summary(property_.type, depth - 1)}"
        for name, property_ in object_type.properties.items()
    )


def input_summary(capability: Capability) -> str:
    """Return what a call takes."""
    input_type = capability.input
    if isinstance(input_type, ObjectType):
        return one_line(properties_summary(input_type)) or "-"
    return one_line(type_summary(input_type))


def output_summary(capability: Capability) -> str:
    """Return what a call returns; `-` where nothing is declared, `void` where nothing is returned."""
    output_type = capability.output
    if output_type is None:
        return "-"
    if output_type.kind == "null":
        return "void"
    return one_line(type_summary(output_type))


def capability_name(capability: Capability) -> str:
    """Return a capability's id, and that it is disabled where a phone says so."""
    is_disabled = capability.state is not None and capability.state.enabled is False
    return one_line(capability.id) + (" (disabled)" if is_disabled else "")


def provider_page(provider: Provider) -> list[Block]:
    """Return what `inspect` shows of a provider."""
    blocks: list[Block] = [Heading(f"{provider_name(provider)}  {dialect_name(provider)}")]
    if provider.source is not None:
        blocks.append(Line(f"at {provider.source}", 1))
    if access := component_access_words(provider):
        blocks.append(Line(f"access: {'; '.join(access)}", 1))
    for word, text in (
        ("name", provider.name),
        ("description", provider.description),
        ("instructions", provider.instructions),
    ):
        if text is not None:
            blocks.append(Line(f"{word}: {one_line(text)}", 1, longest=_LONGEST["DESCRIPTION"]))
    if not provider.capabilities:
        finder = found_by(provider)
        words = "no capabilities" if finder is None else f"its capabilities are not known. {finder}"
        return [*blocks, Line(words, 1)]
    rows = [
        (
            capability_name(capability),
            input_summary(capability),
            output_summary(capability),
            one_line(capability.description or ""),
        )
        for capability in provider.capabilities
    ]
    table = Table(("CAPABILITY", "INPUT", "OUTPUT", "DESCRIPTION"), rows, _LONGEST)
    return [*blocks, table, *_capability_access(provider)]


def capability_page(provider: Provider, capability: Capability) -> list[Block]:
    """Return what `inspect --capability` shows: a row for each parameter and each part of the result."""
    lines = [f"of {provider_name(provider)}"]
    if place := capability.source or provider.source:
        lines.append(f"at {place}")
    lines += filter(None, (capability.title, capability.description))
    shown_types: set[str] = set()
    rows = list(_part_rows("", capability.input, provider.definitions, shown_types))
    if not isinstance(capability.input, ObjectType):
        rows.insert(0, ("(arguments)", *_part_words(capability.input)))
    blocks: list[Block] = [
        Heading(one_line(f"{capability.id}  {dialect_name(provider)}")),
        *(Line(one_line(line), 1) for line in lines),
        *_capability_access(provider.changed({"capabilities": (capability,)})),
        Table(("PARAMETER", "TYPE", "DESCRIPTION"), rows) if rows else Line("no parameters", 1),
    ]
    if capability.output is not None:
        parts = _part_rows("", capability.output, provider.definitions, shown_types)
        rows = [("(result)", *_part_words(capability.output)), *parts]
        blocks += [Line(), Table(("RESULT", "TYPE", "DESCRIPTION"), rows)]
    return blocks


def _part_rows(
    path: str, type_: Type, definitions: Mapping[str, Type], shown: set[str]
) -> Iterator[tuple[str, str, str]]:
    """Yield name, type and description of what is in a type; what a class has is shown once."""
    if isinstance(type_, RefType):
        if type_.name in definitions and type_.name not in shown:
            shown.add(type_.name)
            yield from _part_rows(path, definitions[type_.name], definitions, shown)
    elif isinstance(type_, ArrayType) and type_.items is not None:
        yield from _part_rows(f"{path}[]", type_.items, definitions, shown)
    elif isinstance(type_, ObjectType):
        for name, property_ in type_.properties.items():
            inner = f"{path}.{one_line(name)}" if path else one_line(name)
            yield inner + ("" if property_.required else "?"), *_part_words(property_.type)
            yield from _part_rows(inner, property_.type, definitions, shown)
    elif isinstance(type_, AllOfType | OneOfType):
        for part in type_.members if isinstance(type_, AllOfType) else type_.alternatives:
            yield from _part_rows(path, part, definitions, shown)


def _part_words(type_: Type) -> tuple[str, str]:
    limits = [f"{name} {one_line(one_line_json(value))}" for name, value in type_.keywords.items()]
    if type_.enum is not None:
        limits.insert(0, f"one of {', '.join(one_line_json(value) for value in type_.enum)}")
    for name in ("pattern", "format"):
        value = getattr(type_, name)
        limits += [f"{name} {value}"] if value is not None else []
    kind = type_.kind if type_.enum is not None else type_summary(type_, 1)
    return one_line("; ".join((kind, *limits))), one_line(type_.description or "")


def component_access_words(provider: Provider) -> list[str]:
    """Return each rule that keeps callers from a provider's component, in words; nothing where it is open.

    The permission that only Android holds is not a rule: every component of such a format requires it.
    """
    access = provider.access
    rules = []
    if access.exported is False:
        rules.append("not exported")
    enabled = enabled_words(access.enabled)
    if enabled is not None:
        rules.append(enabled)
    binding = find_binding(provider.protocol)
    if access.permission and (binding is None or access.permission != binding.component):
        rules.append(f"callers need {access.permission}")
    return [one_line(rule) for rule in rules]


def _capability_access(provider: Provider) -> list[Block]:
    """Return a line for each rule that keeps callers from capabilities, with the ids of these."""
    restricted: dict[str, list[str]] = {}
    for capability in provider.capabilities:
        for rule in _capability_access_words(capability):
            restricted.setdefault(rule, []).append(capability.id)
    return [Line(one_line(f"{rule}: {', '.join(ids)}"), 1) for rule, ids in restricted.items()]


def _capability_access_words(capability: Capability) -> Iterator[str]:
    access = capability.access
    if not access.enabled_by_default:
        yield "disabled until the app enables it"
    if access.restrict_callers:
        yield "restricts callers (restrictCallersWithExecuteAppFunctions)"
    if access.scope is not None:
        yield _SCOPES.get(access.scope, f"scope {access.scope}")
    if access.access_level not in _OPEN_LEVELS:
        yield _LEVELS.get(access.access_level, f"access level {access.access_level}")
