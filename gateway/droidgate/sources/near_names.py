"""Names of a manifest that are nearly those of a protocol, which its agents therefore pass over."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from difflib import get_close_matches
from typing import Final

from droidgate_mappings.formats.application import Application, Component
from droidgate_mappings.formats.format import Format
from droidgate_mappings.model.capability import Place
from droidgate_mappings.model.findings import Finding, Level, finding_code

NEAR_NAME: Final = finding_code(
    "near-name", "A name in the manifest is nearly one that a protocol's agents look for", __name__
)

_LONGEST: Final = 200
_LONG_ENOUGH: Final = 12
"""Letters and digits that a name has to have so that others may end in it, or resemble it."""
_ALIKE: Final = 0.9
_NO_LETTER: Final = re.compile("[^a-z0-9]")


class NearNames:
    """The names of protocols that a manifest's names may resemble.

    Args:
        formats: The protocols'.
    """

    def __init__(self, formats: Iterable[Format]) -> None:
        self._exact: set[str] = set()
        # Letters and digits of a name -> the name, and the protocol's title.
        self._sought: dict[str, tuple[str, str]] = {}
        for format_ in formats:
            tables = format_.tables
            self._exact.update(tables.names.values(), (query.action or "" for query in format_.looks_for))
            for key in tables.manifest_names:
                self._sought[_plain(tables.names[key])] = tables.names[key], tables.title
        self._long_enough = [name for name in self._sought if len(name) >= _LONG_ENOUGH]

    def report(self, application: Application) -> Iterator[Finding]:
        """Yield a warning for each action, meta-data and property that resembles a name of a protocol.

        Names differ in letter case or punctuation, end in the protocol's name, or differ in a few letters.
        """
        seen: set[str] = set()
        for component in application.components:
            for kind, name, place in _names_of(component):
                if name in seen or name in self._exact or len(name) > _LONGEST:
                    continue
                seen.add(name)
                found = self._nearest(_plain(name))
                if found is not None:
                    protocol_name, title = found
                    message = f"no protocol has the {kind} {name}; agents of {title} look for {protocol_name}"
                    yield Finding(
                        code=NEAR_NAME,
                        level=Level.WARNING,
                        pointer="",
                        message=message,
                        hint=f"write {protocol_name}, if that is meant",
                        source=place or application.place,
                    )

    def _nearest(self, plain: str) -> tuple[str, str] | None:
        if not plain or plain in self._sought:
            return self._sought.get(plain)
        ending = max(filter(plain.endswith, self._long_enough), key=len, default=None)
        if ending is None:
            # Comparing letters costs much more than comparing lengths.
            as_long = [item for item in self._long_enough if abs(len(item) - len(plain)) <= len(item) // 5]
            ending = next(iter(get_close_matches(plain, as_long, n=1, cutoff=_ALIKE)), None)
        return None if ending is None else self._sought[ending]


def _names_of(component: Component) -> Iterator[tuple[str, str, Place | None]]:
    for filter_ in component.filters:
        yield from (("action", action, component.place) for action in filter_.actions)
    yield from (("meta-data", item.name, item.place) for item in component.meta_data)
    yield from (("property", item.name, item.place) for item in component.properties)


def _plain(name: str) -> str:
    return _NO_LETTER.sub("", name.lower())
