"""Names of functions files: as Jetpack's entry points state them, else after the service's class."""

from __future__ import annotations

import re
from typing import Final

from droidgate_appfunctions.format import APP_LEVEL, NAMES, V1, V2, facts_of
from droidgate_mappings.model.capability import Provider
from droidgate_mappings.model.json_values import Json
from droidgate_mappings.model.names import class_name_in_snake_case

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
