"""The controls of a screen, from the output of `uiautomator dump`, and how one is found in a later dump."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from droidgate.model.errors import InputError
from droidgate.parsing.xml_text import Element, parse_xml

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
        id: Its number in the dump, from 1.
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
        said = next((line.strip() for line in text.splitlines() if line.strip()), "no output")
        raise InputError(f"uiautomator returned no hierarchy: {said[:200]}")
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
    position = int(control.id) - 1
    for reach in (0, 1):
        signs = _signs_around(before, position, reach)
        alike = [place for place in range(len(now)) if _signs_around(now, place, reach) == signs]
        were_alike = [place for place in range(len(before)) if _signs_around(before, place, reach) == signs]
        # With another of the same sign, a control that is gone must not be taken for the one that is left.
        if len(alike) == len(were_alike) == 1:
            return now[alike[0]]
    return None


def _signs_around(controls: Sequence[Control], position: int, reach: int) -> list[ControlSign | None]:
    """Return the signs of a control and of so many controls before and after it."""
    places = range(position - reach, position + reach + 1)
    return [controls[place].sign if 0 <= place < len(controls) else None for place in places]


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
    found = _BOUNDS.fullmatch(bounds)
    if found is None:
        return None
    left, top, right, bottom = (int(number) for number in found.groups())
    is_valid = right >= left and bottom >= top and right > 0 and bottom > 0
    return (left, top, right, bottom) if is_valid else None


def _with_joined_surrogates(hierarchy: str) -> str:
    """Return a hierarchy that XML parsers take: older Android writes an emoji as two references."""
    written = _SURROGATE.sub(lambda found: chr(int(found[1])), hierarchy)
    return written.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
