"""From a model's call of a function to the capability that it means."""

from __future__ import annotations

from collections.abc import Mapping
from os import PathLike
from pathlib import Path
from typing import Any, Final

from pydantic import BaseModel, ConfigDict, ValidationError

from droidgate.converting.conversion import Conversion
from droidgate_mappings.formats.format import find_format
from droidgate_mappings.model.errors import InputError, UsageError
from droidgate_mappings.model.json_values import Json
from droidgate_mappings.model.names import NameEntry
from droidgate_mappings.records import dataclass
from droidgate_mappings.text.json_text import parse_json
from droidgate_mappings.text.nearest_names import suggest_name

_HINT: Final = "give `names.json` that `droidgate convert` wrote with the tools"


@dataclass(frozen=True, slots=True)
class FunctionCall:
    """A call of a capability.

    Attributes:
        package: Package of the app, where the source of the tools had one.
        component: Class of the component, likewise.
        capability: Id of the capability.
        arguments: By the names of its parameters; they are not validated yet.
        call_id: By which the model's API knows the call, where it has an id.
    """

    package: str | None
    component: str | None
    capability: str
    arguments: dict[str, Json]
    call_id: str | None = None


class _Loose(BaseModel):
    model_config = ConfigDict(extra="ignore", frozen=True)


class _Target(_Loose):
    format: str
    dialect: str


class _Origin(_Loose):
    package: str | None = None
    component: str | None = None


class _Map(_Loose):
    source: _Origin
    capabilities: tuple[NameEntry, ...]
    names: tuple[NameEntry, ...]


class _Names(_Loose):
    target: _Target
    providers: tuple[_Map, ...]


def read_function_call(
    dialect: str,
    call: Mapping[str, Any] | str,
    names: Conversion | Mapping[str, Any] | str | PathLike[str],
) -> FunctionCall:
    """Return which capability a model calls, with the arguments by their names in the source.

    Args:
        dialect: The dialect of the tools, such as `openai` or `gemini`.
        call: The call as the API answered it, or its JSON text.
        names: The conversion that made the tools, or `names.json` that `droidgate convert` wrote with
            them: its path, or its content.

    Raises:
        UsageError: the names are of tools in another dialect, or a format has no calls of models.
        InputError: the call or the names cannot be read, or the tools have no such function.

    Example:
        >>> tools = droidgate.convert("pdf-tool", to="function-calling+anthropic")
        >>> call = {"type": "tool_use", "id": "1", "name": "page_count", "input": {"path": "/sdcard/a.pdf"}}
        >>> droidgate.read_function_call("anthropic", call, tools).capability
        'page_count'
    """
    name_table = _read_names(names)
    target, table = find_format(f"{name_table.target.format}+{name_table.target.dialect}")
    if target.read_call is None or table.id != dialect:
        message = f"the names are of tools in {target.id}+{table.id}, not of {dialect!r} tools"
        raise UsageError(message, hint=_HINT)
    read = target.read_call(table, parse_json(call, path="call") if isinstance(call, str) else call)
    places = [
        (provider, entry)
        for provider in name_table.providers
        for entry in provider.capabilities
        if entry.written == read.name
    ]
    if len(places) != 1:
        raise _unknown_error(read.name, name_table) if not places else _ambiguous_error(read.name)
    ((provider, entry),) = places
    prefix = f"{entry.pointer.removesuffix('/id')}/input/properties/"
    originals = {
        item.written: item.original
        for item in provider.names
        if item.pointer.startswith(prefix) and "/" not in item.pointer.removeprefix(prefix)
    }
    return FunctionCall(
        package=provider.source.package,
        component=provider.source.component,
        capability=entry.original,
        arguments=_with_original_names(read.arguments, originals),
        call_id=read.call_id,
    )


def _read_names(names: Conversion | Mapping[str, Any] | str | PathLike[str]) -> _Names:
    if isinstance(names, Conversion):
        return _names_of(names)
    value: Any = names
    place = None
    if not isinstance(names, Mapping):
        place = str(names)
        try:
            value = parse_json(Path(names).read_bytes(), path=place)
        except (OSError, ValueError) as error:
            raise InputError(
                f"cannot be read: {getattr(error, 'strerror', error)}", place=place, hint=_HINT
            ) from error
    try:
        return _Names.model_validate(value)
    except ValidationError as error:
        raise InputError("it is not a name map", place=place, hint=_HINT) from error


def _names_of(conversion: Conversion) -> _Names:
    return _Names(
        target=_Target(format=conversion.target.id, dialect=conversion.dialect.id),
        providers=tuple(
            _Map(
                source=_Origin(package=translation.source.package, component=translation.source.component),
                capabilities=translation.capability_names,
                names=translation.writing.names,
            )
            for translation in conversion.translations
        ),
    )


def _unknown_error(name: str, known: _Names) -> InputError:
    written = [entry.written for provider in known.providers for entry in provider.capabilities]
    label = name[:100]
    return InputError(f"unknown function {label!r}", place="/name", hint=suggest_name(label, written))


def _ambiguous_error(name: str) -> InputError:
    message = f"several apps have the function {name!r}"
    return InputError(message, place="/name", hint="convert each app with a run of its own")


def _with_original_names(arguments: Mapping[str, Json], originals: Mapping[str, str]) -> dict[str, Json]:
    renamed_arguments = {originals.get(name, name): value for name, value in arguments.items()}
    if len(renamed_arguments) == len(arguments):
        return renamed_arguments
    twice = next(name for name in arguments if name in originals and originals[name] in arguments)
    message = f"the arguments {twice!r} and {originals[twice]!r} are the same parameter"
    raise InputError(message, place="/arguments")
