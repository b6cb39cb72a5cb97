"""The format's tables, the names that functions files consist of, and the names of the files themselves: as
Jetpack's entry points state them, else after the service's class.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from droidgate_mappings.model.capability import Provider
from droidgate_mappings.model.json_values import Json
from droidgate_mappings.model.names import class_name_in_snake_case
from droidgate_mappings.model.types import Extensions
from droidgate_mappings.tables.loading import load_format_tables

_FACT: Final = "functionsFile"
_NAME: Final = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,99}", re.ASCII)
_ENDING: Final = ".xml"


def is_file_name(name: str) -> bool:
    """Return whether a functions file of this name, without its ending, can be written."""
    return _NAME.fullmatch(name) is not None


def file_name_facts(name: str, component: str | None, dialect: str) -> dict[str, Json]:
    """Return what is kept of a functions file's name: nothing where it is the usual one.

    Args:
        name: The name without its ending.
        component: Class name of the service.
        dialect: The dialect of the file.
    """
    return {} if name == _usual_name(component, dialect) else {_FACT: name}


def asset_name(provider: Provider, dialect: str) -> str:
    """Return the name of a provider's functions file: the stated one, else the usual one."""
    stated = facts_of(provider.extensions).get(_FACT)
    if not isinstance(stated, str) or not is_file_name(stated):
        stated = _usual_name(provider.component, dialect)
    return f"{stated}-v1{_ENDING}" if dialect == V1 else f"{stated}{_ENDING}"


def assets_of_code(provider: Provider) -> frozenset[str]:
    """Return the names of the assets that Jetpack's compiler writes for a provider of the source code.

    Functions outside of entry points are not among them: the compiler of another module collects them.
    """
    is_named = provider.component is not None or provider.dialect == APP_LEVEL
    return frozenset({asset_name(provider, provider.dialect or V2)} if is_named else ())


def _usual_name(component: str | None, dialect: str) -> str:
    """Return the service's class in snake case, as Jetpack's own examples name files."""
    if dialect == APP_LEVEL:
        return NAMES["app_level_asset"].removesuffix(_ENDING)
    return class_name_in_snake_case(component or "") or NAMES["root"]


TABLES: Final = load_format_tables("appfunctions")
FORMAT_ID: Final = TABLES.id
NAMES: Final = TABLES.names
UNUSED: Final = NAMES["unused_id"]
"""The id that compilers give to every document that is not looked up."""

KIND_OF_NUMBER: Final[Mapping[int, str]] = {int(code): kind for code, kind in TABLES.numbers.items()}
NUMBER_OF_KIND: Final[Mapping[str, int]] = {kind: number for number, kind in KIND_OF_NUMBER.items()}

V2: Final = "v2"
V2_LEGACY: Final = "v2-legacy"
V1: Final = "v1"
PLATFORM: Final = "platform"
APP_LEVEL: Final = "app-level"

NOT_LISTED: Final = (
    b"No shell command implementation.",
    b"Can't find service: app_function",
    b"cmd: Can't find service: app_function",
    b"Unknown command: list-app-functions",
)
"""What Android prints where it cannot list functions (reference 6.1)."""

NOTHING: Final[Mapping[str, Json]] = {}


def facts_of(extensions: Extensions) -> Mapping[str, Json]:
    """Return what a part of the model keeps for this format."""
    return extensions.get(FORMAT_ID, NOTHING)


def as_extensions(facts: dict[str, Json]) -> Extensions:
    """Return the extensions that hold the given facts of this format."""
    return {FORMAT_ID: facts} if facts else {}
