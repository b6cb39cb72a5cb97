"""How a shim calls app functions (shim.md)."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

from droidgate_android.apk.apk_budgets import MAX_XML_BYTES
from droidgate_appfunctions.format import NAMES, V1
from droidgate_mappings.formats.application import Component, MetaData
from droidgate_mappings.formats.shim_backend import ShimBackend
from droidgate_mappings.model.capability import Capability, Provider
from droidgate_mappings.model.errors import InputError
from droidgate_mappings.model.json_values import Json

if TYPE_CHECKING:
    from droidgate_android.apk.reader import Apk

_PROPERTIES: Final = tuple(NAMES[name] for name in ("property_v2", "property_v1", "property_schema"))


class AppFunctionBackend(ShimBackend["Apk"]):
    """Calls by Android's service for app functions."""

    def hides_parameters(self, provider: Provider) -> bool:
        """Return whether the file is of the first form, which does not declare parameters."""
        return provider.dialect == V1

    def digest(self, apk: Apk, component: Component) -> str:
        """Return the digest of the assets that a component's properties name as functions and their schema.

        Raises:
            InputError: they name none, or one cannot be read.
        """
        properties = [item for item in map(component.find_property, _PROPERTIES) if item is not None]
        names = [name for item in properties for name in _asset_names(item)]
        if not names:
            message = "no asset holds the functions, so a phone cannot compare them"
            raise InputError(message, place=str(component.place or apk.name))
        content = hashlib.sha256()
        for name in names:
            part = apk.part_with(f"assets/{name}")
            if part is not None:
                content.update(part.archive.read_entry(f"assets/{name}", MAX_XML_BYTES))
        return f"assets({','.join(names)}):{content.hexdigest()}"

    def target(self, provider: Provider, capability: Capability) -> Mapping[str, Json]:
        """Return the package and the function."""
        return {"kind": "app-function", "package": provider.package, "function": capability.id}


def _asset_names(stated: MetaData) -> list[str]:
    if not isinstance(stated.value, str):
        return []
    return [name for part in stated.value.split(",") if (name := part.strip())]
