"""The window that has the display: what it shows, also as a picture and as `uiautomator dump` writes it
(AOSP's `AccessibilityNodeInfoDumper`), and what touches and keys do to it.

Its methods may be called from any thread, one after the other.
"""

from __future__ import annotations

import io
import re
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Protocol

from PIL import Image, ImageDraw

from droidgate_phone.java.app_values import (
    FLAG_WINDOW_IS_OBSCURED,
    FLAG_WINDOW_IS_PARTIALLY_OBSCURED,
    AndroidError,
    View,
    ViewKind,
)
from droidgate_phone.screen import keys
from droidgate_phone.screen.layout import (
    LINE_HEIGHT,
    PADDING,
    STATUS_BAR,
    TEXT_SIZE,
    Box,
    Display,
    Path,
    Placed,
    drawable,
    font,
    lay_out,
    shown_text,
    width_of,
)

_PAPER: Final = (250, 250, 250)
_INK: Final = (33, 33, 33)
_FAINT: Final = (140, 140, 140)
_BAR: Final = (69, 90, 100)
_BUTTON: Final = (187, 222, 251)
_OFF: Final = (224, 224, 224)
_ON: Final = (129, 199, 132)
_FIELD: Final = (255, 255, 255)
_FOCUS: Final = (25, 118, 210)


def draw_screen(root: Placed | None, display: Display, focused: Path | None = None) -> Image.Image:
    """Return the picture of a screen; None for an empty one."""
    picture = Image.new("RGB", (display.width, display.height), _PAPER)
    pen = ImageDraw.Draw(picture)
    pen.rectangle((0, 0, display.width - 1, min(STATUS_BAR, display.height) - 1), fill=_BAR)
    for placed in root.walk() if root is not None else ():
        _draw(pen, placed, is_focused=placed.path == focused)
    return picture


def png_of(picture: Image.Image) -> bytes:
    """Return a picture as a PNG file."""
    written = io.BytesIO()
    picture.save(written, "PNG", compress_level=1)
    return written.getvalue()


def _draw(pen: ImageDraw.ImageDraw, placed: Placed, *, is_focused: bool) -> None:
    view, box = placed.view, placed.box
    if view.kind == "button":
        _fill(pen, box, _BUTTON if view.enabled else _OFF)
    elif view.kind == "switch":
        _fill(pen, box, _ON if view.checked else _OFF)
    elif view.kind == "input":
        _fill(pen, box, _FIELD, outline=_FOCUS if is_focused else _FAINT)
    elif view.kind == "icon":
        _fill(pen, box, _OFF)
    is_faint = not view.enabled or (view.kind == "input" and not view.text)
    is_centred = view.kind in {"button", "icon"}
    _write(pen, placed, _FAINT if is_faint else _INK, is_centred=is_centred)


def _fill(
    pen: ImageDraw.ImageDraw,
    box: Box,
    colour: tuple[int, int, int],
    *,
    outline: tuple[int, int, int] | None = None,
) -> None:
    pen.rectangle((box.left, box.top, box.right - 1, box.bottom - 1), fill=colour, outline=outline, width=4)


def _write(
    pen: ImageDraw.ImageDraw, placed: Placed, colour: tuple[int, int, int], *, is_centred: bool
) -> None:
    """Write the lines that are seen as a whole."""
    full, box = placed.full, placed.box
    top = full.top + (full.height - LINE_HEIGHT * len(placed.lines)) // 2
    for line in placed.lines:
        if box.top <= top and top + LINE_HEIGHT <= box.bottom:
            spare = max(2 * PADDING, full.width - width_of(line))
            left = full.left + (spare // 2 if is_centred else PADDING)
            pen.text((left, top + (LINE_HEIGHT - TEXT_SIZE) // 2), drawable(line), fill=colour, font=font())
        top += LINE_HEIGHT


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


def write_hierarchy(screen: Screen) -> str:
    """Return the XML of a screen."""
    content = _written(screen, () if screen.root is None else (screen.root,))
    body = "".join(_frame(screen, "", _frame(screen, "android:id/content", content)))
    head = "<?xml version='1.0' encoding='UTF-8' standalone='yes' ?>"
    return f'{head}<hierarchy rotation="{screen.display.rotation}">{body}</hierarchy>'


def _written(screen: Screen, placed: Iterable[Placed]) -> Iterator[str]:
    for item in placed:
        children = _written(screen, item.children)
        view = item.view
        is_clickable = view.kind in _CLICKABLE
        attributes = {
            **_FRAME,
            "index": item.path[-1] if item.path else 0,
            "text": shown_text(view),
            "resource-id": f"{screen.package}:id/{view.id}" if view.id else "",
            "class": _CLASSES[view.kind],
            "package": screen.package,
            "content-desc": view.description,
            "checkable": view.kind == "switch",
            "checked": view.checked,
            "clickable": is_clickable,
            "enabled": view.enabled,
            "focusable": is_clickable or view.kind == "list",
            "focused": item.path == screen.focused,
            "scrollable": item.overflow > 0,
            "long-clickable": view.long_clickable or view.kind in _LONG_CLICKABLE,
        }
        yield from _node(attributes, item.box, children)


_FRAME: Final[Mapping[str, str | int | bool]] = {
    "index": 0, "text": "", "resource-id": "", "class": "android.widget.FrameLayout", "package": "",
    "content-desc": "", "checkable": False, "checked": False, "clickable": False, "enabled": True,
    "focusable": False, "focused": False, "scrollable": False, "long-clickable": False,
}  # fmt: skip
"""Attributes of a frame around the content, in the order of the dumper."""


def _frame(screen: Screen, resource_id: str, children: Iterable[str]) -> Iterator[str]:
    attributes = {**_FRAME, "package": screen.package, "resource-id": resource_id}
    return _node(attributes, Box(0, 0, screen.display.width, screen.display.height), children)


def _node(attributes: Mapping[str, str | int | bool], box: Box, children: Iterable[str]) -> Iterator[str]:
    is_bare = attributes["clickable"] and attributes["enabled"]
    is_bare = is_bare and not (attributes["text"] or attributes["content-desc"])
    yield '<node NAF="true"' if is_bare else "<node"
    bounds = f"[{box.left},{box.top}][{box.right},{box.bottom}]"
    for name, value in {**attributes, "password": False, "selected": False, "bounds": bounds}.items():
        text = str(value).lower() if isinstance(value, bool) else _escaped(str(value))
        yield f' {name}="{text}"'
    inner = "".join(children)
    yield f">{inner}</node>" if inner else " />"


def _escaped(text: str) -> str:
    safe = _HALF.sub("?", _NOT_WRITTEN.sub(".", text))
    return "".join(_ESCAPED.get(character, character) for character in safe)


LAUNCHER_PACKAGE: Final = "com.android.launcher3"
_ICONS_IN_A_ROW: Final = 4
_SLOP: Final = 21
"""By how many pixels a finger moves before it scrolls: 8 dp."""
_LONG_PRESS: Final = 500
"""Milliseconds."""
_UPPER_PART: Final = 4
"""An overlay that does not cover all covers this part of the display's height."""
_FIRST_PARTIAL_FLAG: Final = 29
_TYPE_APPLICATION_OVERLAY: Final = 2038


def _ignore_flags(flags: int) -> None:
    del flags


class InputNotModelledError(Exception):
    """A key or gesture that the phone does not model; its message says which."""


class Touched:
    """What an activity does with touches and text, on its app's main thread; nothing by itself."""

    def view(self) -> View | None:
        """Return what it shows."""

    def on_click(self, view_id: str) -> None:
        """Handle a tap on a view."""

    def on_long_click(self, view_id: str) -> None:
        """Handle a long press on a view."""

    def on_drop(self, view_id: str, target_id: str) -> None:
        """Handle that a view was dragged onto another one."""

    def on_text(self, view_id: str, text: str) -> None:
        """Handle the new text of an input."""


@dataclass(frozen=True, slots=True)
class Shown:
    """The activity that has the display.

    Attributes:
        token: Differs from every other activity's.
        package: Its package.
        activity: What it shows and does.
        hides_overlays: Whether overlays of apps are hidden while it has the display.
        set_touch_flags: Takes the flags of the tap that the next `on_click` handles.
    """

    token: object
    package: str
    activity: Touched
    hides_overlays: bool = False
    set_touch_flags: Callable[[int], None] = _ignore_flags


@dataclass(frozen=True, slots=True)
class Overlay:
    """An overlay window of an app, which lets touches through (`TYPE_APPLICATION_OVERLAY`).

    Attributes:
        package: Whose it is.
        covers_all: Whether it covers the whole display; else it covers the upper quarter.
    """

    package: str
    covers_all: bool

    def covers(self, display: Display, y: int) -> bool:
        """Return whether it covers a row of the display."""
        return self.covers_all or y < display.height // _UPPER_PART


@dataclass(frozen=True, slots=True)
class LauncherEntry:
    """An app on the home screen: its package and label, and what starts it."""

    package: str
    label: str
    launch: Callable[[], None]


class Stage(Protocol):
    """Where activities come from: the activity manager."""

    def top(self) -> Shown | None:
        """Return the activity that has the display, None where the home screen has it."""

    def go_back(self) -> None:
        """End the top activity as the back key does; nothing on the home screen."""

    def go_home(self) -> None:
        """Show the home screen; activities go on behind it."""

    def launcher_entries(self) -> Sequence[LauncherEntry]:
        """Return the apps of the home screen, in its order."""


class Window:
    """The display of one phone.

    Attributes:
        display: The display, upright.
    """

    def __init__(
        self,
        stage: Stage,
        display: Display | None = None,
        *,
        rotation: Callable[[], int] = lambda: 0,
        may_overlay: Callable[[str], bool] = lambda package: True,  # noqa: ARG005 - every package may
        sdk: int = _FIRST_PARTIAL_FLAG,
    ) -> None:
        """Show a stage.

        Args:
            stage: Where activities come from.
            display: The display, upright.
            rotation: By how many quarters the phone is turned now.
            may_overlay: Returns whether a package may show overlays now.
            sdk: The phone's API level.
        """
        self.display = display or Display()
        self._stage = stage
        self._rotation = rotation
        self._may_overlay = may_overlay
        self._sdk = sdk
        # Apart from the other lock, which a tap holds while an app handles it.
        self._overlay_lock = threading.Lock()
        self._overlays: dict[str, Overlay] = {}
        self._lock = threading.RLock()
        self._token: object = None
        self._focused: Path | None = None
        self._scrolled: dict[Path, int] = {}

    def screen(self) -> Screen:
        """Return what is on the display now."""
        with self._lock:
            return self._look()[1]

    def png(self) -> bytes:
        """Return the picture of the display as a PNG file."""
        screen = self.screen()
        return png_of(draw_screen(screen.root, screen.display, screen.focused))

    def hierarchy(self) -> str:
        """Return the display as `uiautomator dump` writes it."""
        return write_hierarchy(self.screen())

    def launcher_entries(self) -> Sequence[LauncherEntry]:
        """Return the apps of the home screen."""
        return self._stage.launcher_entries()

    def show_overlay(self, package: str, *, covers_all: bool) -> None:
        """Put an app's overlay over the screen, see-through enough (alpha 0.8) that touches pass through it.

        Args:
            package: The app; an overlay of its own from before is replaced.
            covers_all: Whether it covers the whole display; else it covers the upper quarter.

        Raises:
            AndroidError: android.view.WindowManager$BadTokenException, if the user has not allowed the app
                SYSTEM_ALERT_WINDOW.
        """
        if not self._may_overlay(package):
            message = (
                "Unable to add window android.view.ViewRootImpl$W@0 -- permission denied for window type "
                f"{_TYPE_APPLICATION_OVERLAY}"
            )
            raise AndroidError("android.view.WindowManager$BadTokenException", message)
        with self._overlay_lock:
            self._overlays[package] = Overlay(package, covers_all)

    def hide_overlays(self, package: str | None = None) -> None:
        """Remove the overlays of a package, by default those of all."""
        with self._overlay_lock:
            self._overlays = {
                name: overlay for name, overlay in self._overlays.items() if package not in (None, name)
            }

    def seen_overlays(self) -> list[Overlay]:
        """Return the overlays over the screen now, of apps other than the one that has the display."""
        with self._lock:
            return self._overlays_over(self._look()[0])

    def _overlays_over(self, shown: Shown) -> list[Overlay]:
        if shown.hides_overlays:
            return []
        with self._overlay_lock:
            overlays = list(self._overlays.values())
        return [
            overlay
            for overlay in overlays
            if overlay.package != shown.package and self._may_overlay(overlay.package)
        ]

    def _touch_flags(self, shown: Shown, display: Display, y: int) -> int:
        """Return the flags of a touch (InputDispatcher's isWindowObscuredAtPoint, isWindowObscured)."""
        overlays = self._overlays_over(shown)
        if any(overlay.covers(display, y) for overlay in overlays):
            return FLAG_WINDOW_IS_OBSCURED
        return FLAG_WINDOW_IS_PARTIALLY_OBSCURED if overlays and self._sdk >= _FIRST_PARTIAL_FLAG else 0

    def tap(self, x: int, y: int) -> None:
        """Touch a pixel and release it."""
        with self._lock:
            foreground, screen = self._look()
            placed = screen.root.at(x, y) if screen.root is not None else None
            if placed is None or not placed.view.enabled:
                return
            if placed.view.kind == "input":
                self._focused = placed.path
            if placed.view.kind in {"button", "switch", "icon"}:
                foreground.set_touch_flags(self._touch_flags(foreground, screen.display, y))
                foreground.activity.on_click(placed.view.id)

    def press_long(self, x: int, y: int) -> None:
        """Touch a pixel for long: an input takes the keyboard, another view what its app makes of it."""
        self._press_long(x, y)

    def drag(self, start: tuple[int, int], end: tuple[int, int]) -> None:
        """Touch a pixel for long, draw the finger to another one, and release it there."""
        with self._lock:
            foreground, dragged = self._press_long(*start)
            # The long press may have changed what is shown.
            root = self._look()[1].root
            target = root.at(*end) if root is not None else None
            if dragged is not None and target is not None:
                foreground.activity.on_drop(dragged.view.id, target.view.id)

    def _press_long(self, x: int, y: int) -> tuple[Shown, Placed | None]:
        """Touch a pixel for long; return the view there if it takes long presses."""
        with self._lock:
            foreground, screen = self._look()
            placed = screen.root.at(x, y) if screen.root is not None else None
            if placed is None or not placed.view.enabled:
                return foreground, None
            if placed.view.kind == "input":
                self._focused = placed.path
            if not placed.view.long_clickable:
                return foreground, None
            foreground.activity.on_long_click(placed.view.id)
            return foreground, placed

    def swipe(self, start: tuple[int, int], end: tuple[int, int], milliseconds: int = 300) -> None:
        """Draw a finger over the display: lists follow it; one that stays where it is taps."""
        across, down = end[0] - start[0], end[1] - start[1]
        if max(abs(across), abs(down)) < _SLOP:
            (self.press_long if milliseconds >= _LONG_PRESS else self.tap)(*start)
            return
        with self._lock:
            placed = self._scrolled_at(*start)
            if placed is not None:
                before = min(self._scrolled.get(placed.path, 0), placed.overflow)
                self._scrolled[placed.path] = min(max(0, before - down), placed.overflow)

    def type_text(self, text: str) -> None:
        """Type at the end of the input that has the keyboard; nothing where none has it."""
        self._change_text(lambda before: before + text)

    def press_key(self, code: int) -> None:
        """Press a key.

        Raises:
            InputNotModelledError: the phone does not model this key.
        """
        if code == keys.HOME:
            self._stage.go_home()
        elif code == keys.BACK:
            self._stage.go_back()
        elif code == keys.DELETE:
            self._change_text(lambda before: before[:-1])
        elif code in keys.TYPED:
            self.type_text(keys.TYPED[code])
        elif code == keys.TAB or code in keys.CONFIRMING:
            self._focus_next(wraps=code == keys.TAB)
        elif code not in keys.WITHOUT_EFFECT:
            message = f"key {code}"
            raise InputNotModelledError(message)

    def _look(self) -> tuple[Shown, Screen]:
        home = Shown(None, LAUNCHER_PACKAGE, _HomeScreen(self._stage))
        foreground = self._stage.top() or home
        if foreground.token is not self._token:
            self._token, self._focused, self._scrolled = foreground.token, None, {}
        display = self.display.turned(self._rotation())
        view = foreground.activity.view()
        root = None if view is None else lay_out(view, display, self._scrolled)
        if self._focused_input(root) is None:
            self._focused = None
        return foreground, Screen(foreground.package, root, display, self._focused)

    def _scrolled_at(self, x: int, y: int) -> Placed | None:
        """Return the innermost list at a pixel that can be scrolled."""
        root = self._look()[1].root
        under = [item for item in root.walk() if item.overflow and item.box.holds(x, y)] if root else []
        return under[-1] if under else None

    def _focused_input(self, root: Placed | None) -> Placed | None:
        if root is None or self._focused is None:
            return None
        inputs = (item for item in root.walk() if item.view.kind == "input")
        return next((input_ for input_ in inputs if input_.path == self._focused), None)

    def _change_text(self, change: Callable[[str], str]) -> None:
        with self._lock:
            foreground, screen = self._look()
            focused = self._focused_input(screen.root)
            if focused is not None:
                foreground.activity.on_text(focused.view.id, change(focused.view.text))

    def _focus_next(self, *, wraps: bool) -> None:
        with self._lock:
            root = self._look()[1].root
            inputs = (
                [item.path for item in root.walk() if item.view.kind == "input"] if root is not None else []
            )
            if self._focused is None or not inputs:
                return
            following = inputs[inputs.index(self._focused) + 1 :] + (inputs if wraps else [])
            self._focused = following[0] if following else self._focused


class _HomeScreen(Touched):
    """The launcher: an icon for each app."""

    def __init__(self, stage: Stage) -> None:
        self._entries = stage.launcher_entries()

    def view(self) -> View:
        icons = [
            View("icon", f"icon_{number}", entry.label, entry.label)
            for number, entry in enumerate(self._entries)
        ]
        rows = [icons[at : at + _ICONS_IN_A_ROW] for at in range(0, len(icons), _ICONS_IN_A_ROW)]
        filled = (tuple(row + [View("text")] * (_ICONS_IN_A_ROW - len(row))) for row in rows)
        return View("list", "workspace", children=tuple(View("row", children=row) for row in filled))

    def on_click(self, view_id: str) -> None:
        self._entries[int(view_id.removeprefix("icon_"))].launch()
