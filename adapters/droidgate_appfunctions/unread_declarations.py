"""Declarations that are meant for AppFunctions and that Android does not read (reference 1.1)."""

from __future__ import annotations

from typing import Final

from droidgate_appfunctions.format import NAMES
from droidgate_mappings.formats.application import Component, MetaData

_OFTEN_SEEN: Final = (NAMES["property_v1"], NAMES["property_v2"], NAMES["mistaken_metadata"])
_OTHERS: Final = (NAMES["property_schema"], NAMES["property_metadata"])
_LAST_OF_ACTION: Final = f".{NAMES['action'].rpartition('.')[2]}"


def is_meant_for_functions(service: Component) -> bool:
    """Return whether a service is guarded, or listens, as one of AppFunctions does, under whatever action."""
    actions = (action for filter_ in service.filters for action in filter_.actions)
    return service.permission == NAMES["permission"] or any(
        action.endswith(_LAST_OF_ACTION) for action in actions
    )


def usually_names_functions(meta_data: MetaData) -> bool:
    """Return whether a `<meta-data>` has a name under which apps state their functions file."""
    return meta_data.name in _OFTEN_SEEN


def may_name_functions(meta_data: MetaData) -> bool:
    """Return whether a `<meta-data>` of an invented name may state the functions file: a resource."""
    name = meta_data.name.replace("_", "").lower()
    return meta_data.resource is not None and NAMES["function"] in name and meta_data.name not in _OTHERS
