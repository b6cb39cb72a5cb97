"""The tools beyond UFO's, from arguments to results, with pictures of a screen for models: scaled to a size,
the ids of the controls drawn on them. A server has those that its user asked for.
"""

from __future__ import annotations

import base64
import io
import time
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Final, Literal

from droidgate.calls.screen import phone_commands as phone
from droidgate.calls.screen.controls import Control, read_controls
from droidgate.calls.screen.screen_results import control_info, control_line, failure, input_result
from droidgate.calls.screen.screen_state import ScreenSnapshot, ToolError
from droidgate.calls.screen.ufo_tools import UfoCall, name_warning
from droidgate_mappings.model.errors import DroidgateError, InputError
from droidgate_mappings.model.json_values import Json
from droidgate_mappings.records import dataclass

if TYPE_CHECKING:
    from PIL import Image

PictureFormat = Literal["jpeg", "png"]

_MOST_PIXELS: Final = 64_000_000
_QUALITY: Final = 80
_TEXT_SIZE: Final = 18
_MARGIN: Final = 2

_Box = tuple[int, int, int, int]
_COLOURS: Final = ("#c2185b", "#1565c0", "#2e7d32", "#6a1b9a", "#bf360c", "#00695c")
"""Dark enough for white numbers; neighbours differ."""


@dataclass(frozen=True, slots=True)
class Picture:
    """A picture of the screen.

    Attributes:
        data: The file.
        size: Its width and height in pixels.
        screen_size: Width and height of the screen in pixels.
    """

    data: bytes
    size: tuple[int, int]
    screen_size: tuple[int, int]


def make_picture(
    png: bytes, *, max_size: int, file_format: PictureFormat, controls: Sequence[Control] = ()
) -> Picture:
    """Return a picture that a model can be shown.

    Args:
        png: The screen as the phone sent it.
        max_size: Longest side in pixels; a smaller screen is not enlarged.
        file_format: What is written.
        controls: Those that get a box with their id.

    Raises:
        InputError: the phone did not send a PNG file that can be read, or it is too large.
    """
    from PIL import Image

    try:
        with Image.open(io.BytesIO(png), formats=["PNG"]) as opened:
            screen_size = opened.size
            if screen_size[0] * screen_size[1] > _MOST_PIXELS:
                raise InputError(f"the phone's picture has {screen_size[0]} x {screen_size[1]} pixels")
            picture = opened.convert("RGB")
    except (OSError, ValueError, SyntaxError, Image.DecompressionBombError) as error:
        raise InputError("the phone's picture cannot be read") from error
    picture.thumbnail((max_size, max_size), Image.Resampling.LANCZOS)
    if controls:
        _draw_boxes(picture, controls, picture.width / screen_size[0])
    written = io.BytesIO()
    picture.save(written, file_format, quality=_QUALITY)
    return Picture(written.getvalue(), picture.size, screen_size)


def _draw_boxes(picture: Image.Image, controls: Sequence[Control], scale: float) -> None:
    """Draw a box around each control, small ones over large ones, and its id in a corner of the box."""
    from PIL import ImageDraw, ImageFont

    pen = ImageDraw.Draw(picture)
    font = ImageFont.load_default(_TEXT_SIZE)
    boxes: list[tuple[str, _Box]] = []
    for control in sorted(controls, key=_area, reverse=True):
        left, top, right, bottom = (round(number * scale) for number in control.rect)
        if left < right and top < bottom and left < picture.width and top < picture.height:
            boxes.append((control.id, (left, top, min(right, picture.width), min(bottom, picture.height))))
    for number, (left, top, right, bottom) in boxes:
        pen.rectangle((left, top, right - 1, bottom - 1), outline=_colour(number), width=2)
    used_corners: set[tuple[int, int]] = set()
    for number, box in reversed(boxes):
        _, _, width, height = pen.textbbox((0, 0), number, font=font)
        x, y = _free_corner(box, (int(width) + 2 * _MARGIN, int(height) + 2 * _MARGIN), used_corners)
        pen.rectangle((x, y, x + width + 2 * _MARGIN, y + height + 2 * _MARGIN), fill=_colour(number))
        pen.text((x + _MARGIN, y + _MARGIN), number, fill="white", font=font)


def _free_corner(box: _Box, size: tuple[int, int], taken: set[tuple[int, int]]) -> tuple[int, int]:
    """Return where an id goes: in the first corner where no other id is, else in the upper left one."""
    left, top, right, bottom = box
    across, down = (left, max(left, right - size[0] - 1)), (top, max(top, bottom - size[1] - 1))
    corners = [(x, y) for y in down for x in across]
    cell = _TEXT_SIZE
    chosen = next((each for each in corners if (each[0] // cell, each[1] // cell) not in taken), corners[0])
    taken.add((chosen[0] // cell, chosen[1] // cell))
    return chosen


def _colour(number: str) -> str:
    return _COLOURS[int(number) % len(_COLOURS)]


def _area(control: Control) -> int:
    left, top, right, bottom = control.rect
    return (right - left) * (bottom - top)


_LEAST_PRESS: Final = 500
"""Milliseconds after which Android takes a touch for a long press, unless the user chose another time."""

_LONGEST_PRESS: Final = 10_000
_PAUSE: Final = 0.3
"""Seconds between two looks at the screen."""


class ExtensionCall(UfoCall):
    """One call of any tool."""

    def list_controls(self, since: str = "", *, force_refresh: bool = False) -> Json:
        try:
            with self.state.turn(self.time_left):
                snapshot = self.snapshot(fresh=force_refresh)
                before = self.state.given_list(since)
                screen = self.state.give_ids(snapshot)
        except DroidgateError as error:
            return failure(f"Failed to list controls: {error.located}")
        if before is None:
            return {"success": True, "screen": screen, "controls": _lines(snapshot.controls)}
        return {"success": True, "screen": screen, "since": since, **_differences(before, snapshot.controls)}

    def find_element(self, text: str | None = None, resource_id: str | None = None) -> Json:
        try:
            matches = _matcher(text, resource_id)
            with self.state.turn(self.time_left):
                return self._matching_controls(self.snapshot(), matches)
        except DroidgateError as error:
            return failure(error.located)

    def wait_for_element(
        self,
        text: str | None = None,
        resource_id: str | None = None,
        timeout: float = 10.0,
        *,
        gone: bool = False,
    ) -> Json:
        end = time.monotonic() + timeout
        self.end = end + self.seconds
        try:
            matches = _matcher(text, resource_id)
            while True:
                problem = ""
                try:
                    with self.state.turn(self.time_left):
                        snapshot = self.snapshot(fresh=True)
                        if gone != any(map(matches, snapshot.controls)):
                            return self._matching_controls(snapshot, matches)
                except InputError as error:
                    # A screen that moves has no dump, and may stop moving in time.
                    problem = f": {error.located}"
                if time.monotonic() + _PAUSE > end:
                    kind = "the element is still on the screen" if gone else "no such element"
                    return failure(f"{kind} after {timeout:g} seconds{problem}")
                if self.cancel.wait(_PAUSE):
                    return failure("the wait was canceled")
        except DroidgateError as error:
            return failure(error.located)

    def take_screenshot(
        self, max_size: int = 1024, format: Literal["jpeg", "png"] = "jpeg", *, boxes: bool = False
    ) -> Json:
        controls: tuple[Control, ...] = ()
        facts: dict[str, Json] = {}
        try:
            if boxes:
                with self.state.turn(self.time_left):
                    hierarchy, png = phone.dump_with_picture(self.device, self.time_left, self.cancel)
                    snapshot = self.state.snapshot(lambda: (hierarchy, read_controls(hierarchy)), fresh=True)
                    facts["screen"] = self.state.give_ids(snapshot)
                controls = snapshot.controls
                facts["controls"] = _lines(controls)
            else:
                png = phone.take_picture(self.device, self.time_left)
            picture = make_picture(png, max_size=max_size, file_format=format, controls=controls)
        except DroidgateError as error:
            raise ToolError(f"Failed to capture screenshot on device: {error.located}") from error
        return {
            "success": True,
            "size": list(picture.size),
            "screen_size": list(picture.screen_size),
            **facts,
            "mimeType": f"image/{format}",
            "image": base64.b64encode(picture.data).decode("ascii"),
        }

    def long_press(
        self,
        x: int | None = None,
        y: int | None = None,
        control_id: str | None = None,
        control_name: str | None = None,
        duration: int = 1000,
    ) -> Json:
        target = f"{x}, {y}" if control_id is None else f"id={control_id}"
        action = f"long_press({target})"
        if not _LEAST_PRESS <= duration <= _LONGEST_PRESS:
            return input_result(action, error=_wrong_duration(duration))
        if control_id is None:
            if x is None or y is None:
                return input_result(action, error="x and y, or a control_id, is required")
            return self.input(action, _press((x, y), duration), points=(x, y))
        if x is not None or y is not None:
            return input_result(action, error="a control_id and a point are given; leave one of them out")
        try:
            with self.state.turn(self.time_left):
                place = self.find(control_id, control_name or "")
                error = self.send(_press(place.now.center, duration))
        except DroidgateError as problem:
            return input_result(action, error=problem.located)
        info = {**control_info(place.control, with_rect=True), "rect": list(place.now.rect)}
        result: dict[str, Json] = {**input_result(action, error=error), "control_info": info}
        if control_name not in (None, place.control.name):
            result["warning"] = name_warning(place.control, control_name or "")
        return result

    def drag(self, start_x: int, start_y: int, end_x: int, end_y: int, duration: int = 1000) -> Json:
        action = f"drag({start_x},{start_y})->({end_x},{end_y}) in {duration}ms"
        if not _LEAST_PRESS <= duration <= _LONGEST_PRESS:
            return input_result(action, error=_wrong_duration(duration))
        points = (start_x, start_y, end_x, end_y)
        return self.input(action, ["draganddrop", *map(str, (*points, duration))], points=points)

    def _matching_controls(self, snapshot: ScreenSnapshot, matches: Callable[[Control], bool]) -> Json:
        """Return the controls of a screen that match, with ids that a client may use from then on."""
        screen = self.state.give_ids(snapshot)
        controls: list[Json] = [
            {**control_info(control, with_rect=True), "resource_id": control.sign.resource_id}
            for control in snapshot.controls
            if matches(control)
        ]
        return {"success": True, "screen": screen, "controls": controls}


EXTENSION_TOOLS: Final[Mapping[str, Callable[..., Json]]] = {
    method.__name__: method
    for method in (
        ExtensionCall.list_controls,
        ExtensionCall.find_element,
        ExtensionCall.wait_for_element,
        ExtensionCall.take_screenshot,
        ExtensionCall.long_press,
        ExtensionCall.drag,
    )
}


def _lines(controls: Sequence[Control]) -> list[Json]:
    return [control_line(control) for control in controls]


def _differences(before: Sequence[Control], now: Sequence[Control]) -> dict[str, Json]:
    """Return what a client that has an earlier list needs to have the list of now."""
    were = {control.id: control_line(control) for control in before}
    are = {control.id: control_line(control) for control in now}
    added: list[Json] = [line for number, line in are.items() if number not in were]
    changed: list[Json] = [line for number, line in are.items() if were.get(number, line) != line]
    return {
        "added": added,
        "changed": changed,
        "removed": [number for number in were if number not in are],
        "unchanged": len(are) - len(added) - len(changed),
    }


def _matcher(text: str | None, resource_id: str | None) -> Callable[[Control], bool]:
    """Return what finds a control: by a part of its text or description, by its resource id, or by both.

    Raises:
        ToolError: neither is given.
    """
    if not text and not resource_id:
        raise ToolError("text or resource_id is required")
    part = (text or "").casefold()

    def matches(control: Control) -> bool:
        own = control.sign.resource_id
        is_named = any(part in label.casefold() for label in (control.text, control.sign.description))
        return is_named and (not resource_id or resource_id in (own, own.rpartition(":id/")[2]))

    return matches


def _press(point: tuple[int, int], duration: int) -> list[str]:
    """Return a touch of so many milliseconds as arguments of `input`: a swipe that stays where it is."""
    return ["swipe", *map(str, (*point, *point, duration))]


def _wrong_duration(duration: int) -> str:
    return f"duration {duration} is not from {_LEAST_PRESS} to {_LONGEST_PRESS} ms"
