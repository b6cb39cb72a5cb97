"""The controls of a screen, from the output of `uiautomator dump`, and how one is found in a later dump."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Final

from droidgate_mappings.model.errors import InputError
from droidgate_mappings.records import dataclass
from droidgate_mappings.text.xml_text import Element, parse_xml

HIERARCHY_END: Final = "</hierarchy>"
_START: Final = "<?xml"
_BOUNDS: Final = re.compile(r"\[(\d{1,9}),(\d{1,9})\]\[(\d{1,9}),(\d{1,9})\]")
_SURROGATE: Final = re.compile(r"&#(5[5-7]\d{3});")
_ACTED_ON: Final = ("clickable", "long-clickable", "checkable", "scrollable")
_ACTED_ON_CLASSES: Final = ("Edit", "Button")
_EDITED_CLASS: Final = "Edit"

Rect = tuple[int, int, int, int]
"""Left, top, right and bottom, in pixels; right and bottom are the first ones outside."""


@dataclass(frozen=True, slots=True)
class ControlSign:
    """What stays the same of a control while it stays on the screen.

    Attributes:
        package: The app whose window it is in.
        class_name: Its full class.
        resource_id: Its resource id; empty for a control without one.
        description: Its content description.
        text: Its text; None for a field, whose text changes as somebody types.
    """

    package: str
    class_name: str
    resource_id: str
    description: str
    text: str | None


@dataclass(frozen=True, slots=True)
class Control:
    """A control of one dump.

    Attributes:
        id: Its number: in the dump, from 1, or the one that it had on the screen before.
        name: Its text, else its content description, else its short class.
        type: Its short class, such as `Button`.
        rect: Where it is.
        text: Its text, which for an empty field may be the hint.
        sign: What it is found again by.
    """

    id: str
    name: str
    type: str
    rect: Rect
    text: str
    sign: ControlSign

    @property
    def center(self) -> tuple[int, int]:
        """The pixel in its middle."""
        left, top, right, bottom = self.rect
        return (left + right) // 2, (top + bottom) // 2


def read_hierarchy(text: str) -> str:
    """Return the XML in the output of `uiautomator dump`, as it was written.

    Raises:
        InputError: the output has no complete hierarchy.
    """
    start, end = text.find(_START), text.rfind(HIERARCHY_END)
    if start < 0 or end < start:
        first_line = next((line.strip() for line in text.splitlines() if line.strip()), "no output")
        raise InputError(f"uiautomator returned no hierarchy: {first_line[:200]}")
    return text[start : end + len(HIERARCHY_END)]


def read_controls(hierarchy: str) -> tuple[Control, ...]:
    """Return the controls of a hierarchy, in its order, numbered from 1.

    A node is a control if something can be done with it or it has a name, and its bounds are on the screen
    (reference mobile-agent 2).

    Raises:
        InputError: it is not XML, or is more than its budget allows.
    """
    root = parse_xml(_with_joined_surrogates(hierarchy), path="hierarchy")
    controls: list[Control] = []
    for node in root.iter("node"):
        control = _read_control(node, str(len(controls) + 1))
        if control is not None:
            controls.append(control)
    return tuple(controls)


def find_again(control: Control, before: Sequence[Control], now: Sequence[Control]) -> Control | None:
    """Return a control of an earlier dump in a later one; None where it is gone, or several could be it.

    Of several with one sign, the controls before and after it decide.

    Args:
        control: A control of `before`.
        before: All controls of the earlier dump.
        now: All controls of the later dump.
    """
    position = next(place for place, listed in enumerate(before) if listed.id == control.id)
    position_now = find_all_again(now, before).get(position)
    return None if position_now is None else now[position_now]


def find_all_again(before: Sequence[Control], now: Sequence[Control]) -> dict[int, int]:
    """Return the positions in an earlier dump of controls of a later one, by their positions there.

    A control that is gone, or that could be one of several, is left out.
    """
    positions: dict[int, int] = {}
    for reach in (0, 1):
        were_alike, alike = _places_by_signs(before, reach), _places_by_signs(now, reach)
        for signs, places in alike.items():
            # Where another has the same sign, one that is gone must not be taken for the one that is left.
            if len(places) == len(were_alike.get(signs, ())) == 1:
                positions.setdefault(places[0], were_alike[signs][0])
    return positions


def _places_by_signs(
    controls: Sequence[Control], reach: int
) -> Mapping[tuple[ControlSign | None, ...], list[int]]:
    """Return the positions of controls by their signs and those of so many controls before and after them."""
    signs = [None] * reach + [control.sign for control in controls] + [None] * reach
    places: dict[tuple[ControlSign | None, ...], list[int]] = defaultdict(list)
    for place in range(len(controls)):
        places[tuple(signs[place : place + 2 * reach + 1])].append(place)
    return places


def _read_control(node: Element, number: str) -> Control | None:
    rect = _read_rect(str(node.get("bounds", "")))
    if rect is None:
        return None
    text, description = str(node.get("text", "")), str(node.get("content-desc", ""))
    class_name = str(node.get("class", ""))
    short_class = class_name.rpartition(".")[2]
    label = text or description
    is_acted_on = any(node.get(name) == "true" for name in _ACTED_ON)
    if not (is_acted_on or label or any(word in short_class for word in _ACTED_ON_CLASSES)):
        return None
    sign = ControlSign(
        package=str(node.get("package", "")),
        class_name=class_name,
        resource_id=str(node.get("resource-id", "")),
        description=description,
        text=None if _EDITED_CLASS in short_class else text,
    )
    return Control(number, label or short_class, short_class, rect, text, sign)


def _read_rect(bounds: str) -> Rect | None:
    match = _BOUNDS.fullmatch(bounds)
    if match is None:
        return None
    left, top, right, bottom = (int(number) for number in match.groups())
    is_valid = right >= left and bottom >= top and right > 0 and bottom > 0
    return (left, top, right, bottom) if is_valid else None


def _with_joined_surrogates(hierarchy: str) -> str:
    """Return a hierarchy that XML parsers take: older Android writes an emoji as two references."""
    written = _SURROGATE.sub(lambda match: chr(int(match[1])), hierarchy)
    return written.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
