"""Gradle's version catalogs (`gradle/libs.versions.toml`): what `libs.plugins` and `libs.versions` mean."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from droidgate_mappings.records import dataclass, field
from droidgate_mappings.text.toml_text import load_toml

MAX_CHARACTERS: Final = 256 * 1024
"""A longer catalog is not read."""

_ACCESSOR = re.compile(
    r"\blibs\.(?P<table>plugins|versions)\.(?P<name>\w+(?:\.(?!get\b|asProvider\b|toInt\b)\w+)*)"
    r"(?P<call>(?:\.(?:get|asProvider|toInt)\(\))*)"
)
_PLAIN: Final = re.compile(r"[\w.:+-]{1,256}")
_SEPARATORS: Final = re.compile(r"[-_.]")


@dataclass(frozen=True, slots=True)
class VersionCatalog:
    """What a catalog defines, by the names that build files use (`android.application`).

    Attributes:
        plugins: Plugin ids.
        versions: Versions that are plain texts.
    """

    plugins: Mapping[str, str] = field(default_factory=dict)
    versions: Mapping[str, str] = field(default_factory=dict)

    def fill(self, statement: str) -> str:
        """Return a statement with the ids and versions that `libs.plugins` and `libs.versions` mean."""
        return _ACCESSOR.sub(self._value, statement) if "libs." in statement else statement

    def _value(self, match: re.Match[str]) -> str:
        names = self.plugins if match["table"] == "plugins" else self.versions
        value = names.get(match["name"])
        if value is None:
            return match[0]
        return value if match["call"].endswith("toInt()") else f'"{value}"'


def read_version_catalog(text: str) -> VersionCatalog:
    """Return what a catalog defines; nothing where it is not TOML, or too large."""
    if len(text) > MAX_CHARACTERS:
        return VersionCatalog()
    try:
        tables = load_toml(text)
    except (ValueError, RecursionError):
        return VersionCatalog()
    return VersionCatalog(_plugins(tables.get("plugins")), _versions(tables.get("versions")))


def _plugins(table: object) -> dict[str, str]:
    plugins = {}
    for alias, value in table.items() if isinstance(table, dict) else ():
        plugin = value.get("id") if isinstance(value, dict) else value
        if isinstance(plugin, str) and _PLAIN.fullmatch(plugin):
            plugins[_SEPARATORS.sub(".", alias)] = plugin.partition(":")[0]
    return plugins


def _versions(table: object) -> dict[str, str]:
    return {
        _SEPARATORS.sub(".", alias): value
        for alias, value in (table.items() if isinstance(table, dict) else ())
        if isinstance(value, str) and _PLAIN.fullmatch(value)
    }
