"""The screen as `uiautomator dump` writes it (AOSP's `AccessibilityNodeInfoDumper`)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final

from droidgate_phone.app_api.views import ViewKind
from droidgate_phone.screen.layout import Box, Display, Path, Placed, shown_text

_CLASSES: Final[dict[ViewKind, str]] = {
    "column": "android.widget.LinearLayout",
    "row": "android.widget.LinearLayout",
    "text": "android.widget.TextView",
    "button": "android.widget.Button",
    "input": "android.widget.EditText",
    "switch": "android.widget.Switch",
    "list": "android.widget.ListView",
    "icon": "android.widget.TextView",
}
_CLICKABLE: Final = frozenset({"button", "input", "switch", "icon"})
_LONG_CLICKABLE: Final = frozenset({"input", "icon"})
_CONTAINERS: Final = frozenset({"column", "row"})
_FRAME: Final = "android.widget.FrameLayout"

# What the dumper writes as a dot, and the three more that no XML parser takes.
_NOT_WRITTEN: Final = re.compile("[\0-\x08\x0b\x0c\x0e-\x1f\x7f-\x84\x86-\x9f\ufdd0-\ufddf\ufffe\uffff]")
# Halves of surrogate pairs have no encoding.
_HALF: Final = re.compile("[\ud800-\udfff]")
_ESCAPED: Final = {
    "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "\n": "&#10;", "\t": "&#9;", "\r": "&#13;",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Screen:
    """What is on the display.

    Attributes:
        package: Whose window it is.
        root: The laid-out views; None for a window without content.
        display: The display.
        focused: Path of the view that has the keyboard.
    """

    package: str
    root: Placed | None
    display: Display
    focused: Path | None = None


def write_hierarchy(screen: Screen, *, compressed: bool = False) -> str:
    """Return the XML of a screen.

    Args:
        screen: The screen.
        compressed: Leave out containers that mean nothing to a reader, as `--compressed` does.
    """
    display = screen.display
    whole = Box(0, 0, display.width, display.height)
    placed = () if screen.root is None else (screen.root,)
    content = list(_nodes_of(screen, placed, compressed=compressed))
    if not compressed:
        frame = _Node(_FRAME, whole, resource_id="android:id/content", children=tuple(content))
        content = [frame]
    window = _Node(_FRAME, whole, children=tuple(content))
    body = "".join(_written(window, screen.package))
    head = "<?xml version='1.0' encoding='UTF-8' standalone='yes' ?>"
    return f'{head}<hierarchy rotation="{display.rotation}">{body}</hierarchy>'


@dataclass(frozen=True, slots=True)
class _Node:
    class_name: str
    box: Box
    index: int = 0
    text: str = ""
    resource_id: str = ""
    description: str = ""
    checkable: bool = False
    checked: bool = False
    clickable: bool = False
    enabled: bool = True
    focusable: bool = False
    focused: bool = False
    scrollable: bool = False
    long_clickable: bool = False
    children: tuple[_Node, ...] = ()


def _nodes_of(screen: Screen, placed: Iterable[Placed], *, compressed: bool) -> Iterator[_Node]:
    for item in placed:
        children = _nodes_of(screen, item.children, compressed=compressed)
        if compressed and item.view.kind in _CONTAINERS and not item.view.description:
            yield from children
        else:
            yield _node_of(screen, item, tuple(children))


def _node_of(screen: Screen, placed: Placed, children: tuple[_Node, ...]) -> _Node:
    view = placed.view
    is_clickable = view.kind in _CLICKABLE
    return _Node(
        class_name=_CLASSES[view.kind],
        box=placed.box,
        index=placed.path[-1] if placed.path else 0,
        text=shown_text(view),
        resource_id=f"{screen.package}:id/{view.id}" if view.id else "",
        description=view.description,
        checkable=view.kind == "switch",
        checked=view.checked,
        clickable=is_clickable,
        enabled=view.enabled,
        focusable=is_clickable or view.kind == "list",
        focused=placed.path == screen.focused,
        scrollable=placed.overflow > 0,
        long_clickable=view.long_clickable or view.kind in _LONG_CLICKABLE,
        children=children,
    )


def _written(node: _Node, package: str) -> Iterator[str]:
    box = node.box
    attributes: dict[str, str | bool] = {
        "index": str(node.index),
        "text": node.text,
        "resource-id": node.resource_id,
        "class": node.class_name,
        "package": package,
        "content-desc": node.description,
        "checkable": node.checkable,
        "checked": node.checked,
        "clickable": node.clickable,
        "enabled": node.enabled,
        "focusable": node.focusable,
        "focused": node.focused,
        "scrollable": node.scrollable,
        "long-clickable": node.long_clickable,
        "password": False,
        "selected": False,
        "bounds": f"[{box.left},{box.top}][{box.right},{box.bottom}]",
    }
    is_bare = node.clickable and node.enabled and not (node.text or node.description)
    yield '<node NAF="true"' if is_bare else "<node"
    for name, value in attributes.items():
        text = str(value).lower() if isinstance(value, bool) else _escaped(value)
        yield f' {name}="{text}"'
    if not node.children:
        yield " />"
        return
    yield ">"
    for child in node.children:
        yield from _written(child, package)
    yield "</node>"


def _escaped(text: str) -> str:
    safe = _HALF.sub("?", _NOT_WRITTEN.sub(".", text))
    return "".join(_ESCAPED.get(character, character) for character in safe)
