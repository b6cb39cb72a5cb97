"""The answer to goose-mobile's discovery broadcast: the result extras that list its tools (rows M37, M50)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

from droidgate_mappings.formats.leniency import ReadingContext
from droidgate_mappings.model.capability import Capability, Place, Provider
from droidgate_mappings.model.errors import InputError
from droidgate_mappings.model.json_values import Json
from droidgate_mappings.model.types import ObjectType, Type
from droidgate_mappings.text.json_text import parse_json
from droidgate_mmcp.format import BROADCAST, FORMAT_ID, NAMES
from droidgate_mmcp.tool_manifest import MmcpManifestReader, form_of, write_json
from droidgate_mmcp.type_words import write_word_map

_DESCRIPTION = NAMES["description_suffix"]
_PARAMETERS = NAMES["parameters_suffix"]
_UNREADABLE: Final = object()


def write_discovery(provider: Provider) -> dict[str, Json]:
    """Return the result extras of a fitted provider: `tools` is a String[], every other value a String."""
    extras: dict[str, Json] = {
        NAMES["broadcast_tools_extra"]: [capability.id for capability in provider.capabilities]
    }
    for capability in provider.capabilities:
        if capability.description is not None:
            extras[capability.id + _DESCRIPTION] = capability.description
        flat = write_word_map(capability.input) if isinstance(capability.input, ObjectType) else {}
        extras[capability.id + _PARAMETERS] = write_json(flat)
    return extras


def read_discovery(
    extras: Mapping[str, Json],
    context: ReadingContext,
    *,
    place: Place,
    package: str | None = None,
    component: str | None = None,
) -> Provider:
    """Read the result extras of a discovery broadcast.

    Args:
        extras: The Bundle's values; an answer without any has no tools.
        context: Takes the deviations that were accepted.
        place: How messages name the receiver.
        package: The receiver's package.
        component: Its class.

    Raises:
        InputError: `tools` is not a list of texts, names a tool twice, or a tool's texts are not strings.
    """
    reader = MmcpManifestReader(place, context, BROADCAST)
    capabilities = tuple(_read_tool(name, extras, reader) for name in _tool_names(extras, reader))
    instructions = reader.read_text(extras, NAMES["broadcast_instructions_extra"], "/instructions")
    return Provider(
        protocol=FORMAT_ID,
        dialect=BROADCAST,
        package=package,
        component=component,
        instructions=instructions,
        source=place,
        definitions=reader.definitions,
        capabilities=capabilities,
    )


def read_discovered_tools(
    tools: Iterable[tuple[str, str | None, str | None]],
    context: ReadingContext,
    *,
    place: Place,
    package: str | None = None,
    component: str | None = None,
) -> Provider:
    """Read the tools of a discovery's answer, each already taken out of its extras.

    Args:
        tools: Name, description and the JSON text of the parameters, in the order described.
        context: Takes the deviations that were accepted.
        place: How messages name the receiver.
        package: The receiver's package.
        component: Its class.

    Raises:
        InputError: a tool is named twice.
    """
    described = list(tools)
    extras: dict[str, Json] = {NAMES["broadcast_tools_extra"]: [name for name, _, _ in described]}
    for name, description, parameters in described:
        if description is not None:
            extras[name + _DESCRIPTION] = description
        if parameters is not None:
            extras[name + _PARAMETERS] = parameters
    return read_discovery(extras, context, place=place, package=package, component=component)


def _tool_names(extras: Mapping[str, Json], reader: MmcpManifestReader) -> list[str]:
    pointer = f"/{NAMES['broadcast_tools_extra']}"
    names = extras.get(NAMES["broadcast_tools_extra"])
    if names is None:
        derived = [
            key.removesuffix(suffix)
            for key in extras
            for suffix in (_DESCRIPTION, _PARAMETERS)
            if key.endswith(suffix) and key != suffix
        ]
        if derived:
            reader.allow("M50", "the answer has no `tools`; the names are those of the other extras", pointer)
        return list(dict.fromkeys(derived))
    if not isinstance(names, list | tuple) or not all(isinstance(name, str) and name for name in names):
        reader.refuse(pointer, "`tools` is not a list of names", "it is a String[]")
    if len(set(names)) != len(names):
        reader.refuse(
            pointer, "`tools` names a tool twice", "a call names only the tool; give each its own name"
        )
    return list(names)


def _read_tool(name: str, extras: Mapping[str, Json], reader: MmcpManifestReader) -> Capability:
    pointer = f"/{name}{_PARAMETERS}"
    return Capability(
        id=name,
        description=reader.read_text(extras, name + _DESCRIPTION, f"/{name}{_DESCRIPTION}"),
        input=_read_input(name, extras.get(name + _PARAMETERS), pointer, reader),
        source=Place(path=reader.place.path, line=reader.place.line, inner=pointer),
    )


def _read_input(name: str, text: Json, pointer: str, reader: MmcpManifestReader) -> Type:
    if text is None or text == "":
        return ObjectType()
    try:
        value = parse_json(text, path=reader.place.path) if isinstance(text, str) else text
    except InputError as error:
        value, reason = _UNREADABLE, error.message
    else:
        reason = "no JSON object"
    if value is _UNREADABLE or form_of(value) is None:
        message = (
            f"the parameters of {name!r} are unreadable ({reason}); it is read as a tool that takes none"
        )
        reader.allow("M50", message, pointer, lost=True)
        return ObjectType()
    return reader.read_parameters({"parameters": value}, name, pointer, {})
