"""View trees: what an activity shows."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Literal

ViewKind = Literal["column", "row", "text", "button", "input", "switch", "list", "icon"]


@dataclass(frozen=True, slots=True)
class View:
    """One view; its place on the screen is laid out from the tree.

    Attributes:
        kind: What it is.
        id: Resource entry name (`date_field`); empty for a view that nothing refers to.
        text: Its text.
        description: `contentDescription`.
        hint: What an empty input shows.
        enabled: Whether it takes input.
        checked: State of a switch.
        long_clickable: Whether it takes long presses; inputs and icons look as if they did.
        children: Views inside it.
    """

    kind: ViewKind
    id: str = ""
    text: str = ""
    description: str = ""
    hint: str = ""
    enabled: bool = True
    checked: bool = False
    long_clickable: bool = False
    children: tuple[View, ...] = field(default=())

    def walk(self) -> Iterator[View]:
        """Yield the view and everything in it, in drawing order."""
        yield self
        for child in self.children:
            yield from child.walk()
