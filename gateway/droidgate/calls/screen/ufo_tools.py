"""UFO's 13 tools on one phone, from arguments to results.

`input keyevent` takes the keys of `android.view.KeyEvent` (up to Android 16; reference mobile-agent 5) with
or without `KEYCODE_`. It presses a name that it does not know as key 0, which does nothing, and reports no
error.
"""

from __future__ import annotations

import base64
import re
import threading
import time
from collections.abc import Callable, Mapping
from typing import Final

from droidgate.calls.screen import phone_commands as phone
from droidgate.calls.screen.controls import HIERARCHY_END, Control, read_controls
from droidgate.calls.screen.screen_results import (
    app_target,
    control_info,
    control_targets,
    failure,
    input_result,
)
from droidgate.calls.screen.screen_state import FoundControl, PhoneState, ScreenSnapshot, ToolError
from droidgate.calls.screen.text_input import KEYBOARD, LONGEST_TEXT, keys_that_clear, pieces_of, way_of
from droidgate.devices.device import Device
from droidgate.devices.quoting import is_package
from droidgate_mappings.model.errors import DeviceError, DroidgateError
from droidgate_mappings.model.json_values import Json
from droidgate_mappings.records import dataclass, field

_IN_ORDER: Final = """
UNKNOWN SOFT_LEFT SOFT_RIGHT HOME BACK CALL ENDCALL 0 1 2 3 4 5 6 7 8 9 STAR POUND DPAD_UP DPAD_DOWN
DPAD_LEFT DPAD_RIGHT DPAD_CENTER VOLUME_UP VOLUME_DOWN POWER CAMERA CLEAR A B C D E F G H I J K L M N O P Q
R S T U V W X Y Z COMMA PERIOD ALT_LEFT ALT_RIGHT SHIFT_LEFT SHIFT_RIGHT TAB SPACE SYM EXPLORER ENVELOPE
ENTER DEL GRAVE MINUS EQUALS LEFT_BRACKET RIGHT_BRACKET BACKSLASH SEMICOLON APOSTROPHE SLASH AT NUM
HEADSETHOOK FOCUS PLUS MENU NOTIFICATION SEARCH MEDIA_PLAY_PAUSE MEDIA_STOP MEDIA_NEXT MEDIA_PREVIOUS
MEDIA_REWIND MEDIA_FAST_FORWARD MUTE PAGE_UP PAGE_DOWN PICTSYMBOLS SWITCH_CHARSET BUTTON_A BUTTON_B BUTTON_C
BUTTON_X BUTTON_Y BUTTON_Z BUTTON_L1 BUTTON_R1 BUTTON_L2 BUTTON_R2 BUTTON_THUMBL BUTTON_THUMBR BUTTON_START
BUTTON_SELECT BUTTON_MODE ESCAPE FORWARD_DEL CTRL_LEFT CTRL_RIGHT CAPS_LOCK SCROLL_LOCK META_LEFT META_RIGHT
FUNCTION SYSRQ BREAK MOVE_HOME MOVE_END INSERT FORWARD MEDIA_PLAY MEDIA_PAUSE MEDIA_CLOSE MEDIA_EJECT
MEDIA_RECORD F1 F2 F3 F4 F5 F6 F7 F8 F9 F10 F11 F12 NUM_LOCK NUMPAD_0 NUMPAD_1 NUMPAD_2 NUMPAD_3 NUMPAD_4
NUMPAD_5 NUMPAD_6 NUMPAD_7 NUMPAD_8 NUMPAD_9 NUMPAD_DIVIDE NUMPAD_MULTIPLY NUMPAD_SUBTRACT NUMPAD_ADD
NUMPAD_DOT NUMPAD_COMMA NUMPAD_ENTER NUMPAD_EQUALS NUMPAD_LEFT_PAREN NUMPAD_RIGHT_PAREN VOLUME_MUTE INFO
CHANNEL_UP CHANNEL_DOWN ZOOM_IN ZOOM_OUT TV WINDOW GUIDE DVR BOOKMARK CAPTIONS SETTINGS TV_POWER TV_INPUT
STB_POWER STB_INPUT AVR_POWER AVR_INPUT PROG_RED PROG_GREEN PROG_YELLOW PROG_BLUE APP_SWITCH BUTTON_1
BUTTON_2 BUTTON_3 BUTTON_4 BUTTON_5 BUTTON_6 BUTTON_7 BUTTON_8 BUTTON_9 BUTTON_10 BUTTON_11 BUTTON_12
BUTTON_13 BUTTON_14 BUTTON_15 BUTTON_16 LANGUAGE_SWITCH MANNER_MODE 3D_MODE CONTACTS CALENDAR MUSIC
CALCULATOR ZENKAKU_HANKAKU EISU MUHENKAN HENKAN KATAKANA_HIRAGANA YEN RO KANA ASSIST BRIGHTNESS_DOWN
BRIGHTNESS_UP MEDIA_AUDIO_TRACK SLEEP WAKEUP PAIRING MEDIA_TOP_MENU 11 12 LAST_CHANNEL TV_DATA_SERVICE
VOICE_ASSIST TV_RADIO_SERVICE TV_TELETEXT TV_NUMBER_ENTRY TV_TERRESTRIAL_ANALOG TV_TERRESTRIAL_DIGITAL
TV_SATELLITE TV_SATELLITE_BS TV_SATELLITE_CS TV_SATELLITE_SERVICE TV_NETWORK TV_ANTENNA_CABLE
TV_INPUT_HDMI_1 TV_INPUT_HDMI_2 TV_INPUT_HDMI_3 TV_INPUT_HDMI_4 TV_INPUT_COMPOSITE_1 TV_INPUT_COMPOSITE_2
TV_INPUT_COMPONENT_1 TV_INPUT_COMPONENT_2 TV_INPUT_VGA_1 TV_AUDIO_DESCRIPTION TV_AUDIO_DESCRIPTION_MIX_UP
TV_AUDIO_DESCRIPTION_MIX_DOWN TV_ZOOM_MODE TV_CONTENTS_MENU TV_MEDIA_CONTEXT_MENU TV_TIMER_PROGRAMMING HELP
NAVIGATE_PREVIOUS NAVIGATE_NEXT NAVIGATE_IN NAVIGATE_OUT STEM_PRIMARY STEM_1 STEM_2 STEM_3 DPAD_UP_LEFT
DPAD_DOWN_LEFT DPAD_UP_RIGHT DPAD_DOWN_RIGHT MEDIA_SKIP_FORWARD MEDIA_SKIP_BACKWARD MEDIA_STEP_FORWARD
MEDIA_STEP_BACKWARD SOFT_SLEEP CUT COPY PASTE SYSTEM_NAVIGATION_UP SYSTEM_NAVIGATION_DOWN
SYSTEM_NAVIGATION_LEFT SYSTEM_NAVIGATION_RIGHT ALL_APPS REFRESH THUMBS_UP THUMBS_DOWN PROFILE_SWITCH
VIDEO_APP_1 VIDEO_APP_2 VIDEO_APP_3 VIDEO_APP_4 VIDEO_APP_5 VIDEO_APP_6 VIDEO_APP_7 VIDEO_APP_8
FEATURED_APP_1 FEATURED_APP_2 FEATURED_APP_3 FEATURED_APP_4 DEMO_APP_1 DEMO_APP_2 DEMO_APP_3 DEMO_APP_4
KEYBOARD_BACKLIGHT_DOWN KEYBOARD_BACKLIGHT_UP KEYBOARD_BACKLIGHT_TOGGLE STYLUS_BUTTON_PRIMARY
STYLUS_BUTTON_SECONDARY STYLUS_BUTTON_TERTIARY STYLUS_BUTTON_TAIL RECENT_APPS MACRO_1 MACRO_2 MACRO_3
MACRO_4 EMOJI_PICKER SCREENSHOT DICTATE NEW CLOSE DO_NOT_DISTURB PRINT LOCK FULLSCREEN F13 F14 F15 F16 F17
F18 F19 F20 F21 F22 F23 F24
"""

_PREFIX: Final = "KEYCODE_"
_NAMES: Final = tuple(_IN_ORDER.split())
_MOST_DIGITS: Final = 3


def is_key(text: str) -> bool:
    """Return whether a text is the name or the number of a key."""
    if text.isascii() and text.isdigit():
        return len(text) <= _MOST_DIGITS and 0 < int(text) < len(_NAMES)
    return text.removeprefix(_PREFIX) in _NAMES[1:]


_LONGEST_SWIPE: Final = 60_000
_LONGEST_WAIT: Final = 60
_NOT_TEXT: Final = re.compile("[\0\ud800-\udfff]")
_NO_SUCH_INPUT: Final = ("Unknown command:", "Error: Unknown command:")
"""What `input` prints, with status 0, where this Android does not have a gesture."""

_HIDDEN: Final = "\N{BULLET}"
_CACHES: Final = {
    "controls": "Controls cache",
    "apps": "Apps cache",
    "ui_tree": "UI tree cache",
    "device_info": "Device info cache",
    "all": "All caches",
}


@dataclass(slots=True)
class UfoCall:
    """One call: the phone, and how long it may take. Each tool is a method.

    `wait` takes longer than `seconds` where the caller has no `deadline`, as UFO.
    """

    state: PhoneState
    connect: Callable[[], Device]
    seconds: float
    cancel: threading.Event
    deadline: float | None = None
    end: float = field(init=False)

    def __post_init__(self) -> None:
        self.end = time.monotonic() + self.seconds

    @property
    def device(self) -> Device:
        return self.connect().ended_by(self.cancel)

    @property
    def time_left(self) -> float:
        """Seconds that are left; a device's command with none ends at once."""
        return max(self.end - time.monotonic(), 0.001)

    def capture_screenshot(self, format: str | None = None) -> Json:
        try:
            picture = phone.take_picture(self.device, self.time_left)
        except DeviceError as error:
            message = f"Error capturing screenshot: Failed to capture screenshot on device: {error.located}"
            raise ToolError(message) from error
        image = f"data:image/png;base64,{base64.b64encode(picture).decode('ascii')}"
        if format is None:
            return image
        # PNG: the first chunk begins with width and height.
        width, height = (int.from_bytes(picture[start : start + 4]) for start in (16, 20))
        return {"success": True, "image": image, "width": width, "height": height, "format": format}

    def get_ui_tree(self) -> Json:
        try:
            with self.state.turn(self.time_left):
                hierarchy = self.snapshot().hierarchy
        except DroidgateError as error:
            return failure(f"Failed to dump UI hierarchy: {error.located}")
        return {"success": True, "ui_tree": hierarchy, "format": "xml"}

    def get_device_info(self) -> Json:
        try:
            facts, was_kept = self.state.info(
                lambda: phone.read_device_info(self.device, self.time_left), self.time_left
            )
        except DeviceError as error:
            return failure(f"Failed to get device info: {error.located}")
        return {"success": True, "device_info": dict(facts), "from_cache": was_kept}

    def get_mobile_app_target_info(
        self,
        filter: str = "",  # noqa: A002 - the name of the parameter
        *,
        include_system_apps: bool = False,
        force_refresh: bool = False,
    ) -> Json:
        try:
            packages = self._apps(include_system=include_system_apps, fresh=force_refresh)
        except DeviceError as error:
            message = f"Failed to get mobile app target info: Failed to list packages: {error.located}"
            raise ToolError(message) from error
        return [app_target(self.state.app_id(package), package) for package in packages if filter in package]

    def get_app_window_controls_target_info(self, *, force_refresh: bool = False) -> Json:
        try:
            with self.state.turn(self.time_left):
                snapshot = self.snapshot(fresh=force_refresh)
                self.state.give_ids(snapshot)
        except DroidgateError as error:
            message = f"Failed to get app window controls: {error.located}"
            raise ToolError(message) from error
        return control_targets(snapshot.controls)

    def tap(self, x: int, y: int) -> Json:
        return self.input(f"tap({x}, {y})", ["tap", str(x), str(y)], points=(x, y))

    def swipe(self, start_x: int, start_y: int, end_x: int, end_y: int, duration: int = 300) -> Json:
        action = f"swipe({start_x},{start_y})->({end_x},{end_y}) in {duration}ms"
        if not 0 <= duration <= _LONGEST_SWIPE:
            return input_result(action, error=f"duration {duration} is not from 0 to {_LONGEST_SWIPE} ms")
        points = (start_x, start_y, end_x, end_y)
        return self.input(action, ["swipe", *map(str, (*points, duration))], points=points)

    def press_key(self, key_code: str) -> Json:
        action = f"press_key({key_code})"
        if not is_key(key_code):
            error = f"{key_code[:80]!r} is not a key; write a name such as KEYCODE_BACK, or its number"
            return input_result(action, error=error)
        return self.input(action, ["keyevent", key_code])

    def click_control(self, control_id: str, control_name: str) -> Json:
        action = f"click_control(id={control_id}, name={control_name})"
        try:
            with self.state.turn(self.time_left):
                place = self.find(control_id, control_name)
                point = place.now.center
                error = self.send(["tap", *map(str, point)])
        except DroidgateError as problem:
            return failure(problem.located)
        name = place.control.name
        result: dict[str, Json] = {
            "success": not error,
            "action": action,
            "message": f"{'Failed to click' if error else 'Clicked'} control '{name}' at {point}",
            "control_info": _info(place, with_rect=True),
        }
        if error:
            result["error"] = error
        if name != control_name:
            result["warning"] = f"{name_warning(place.control, control_name)} Clicking control {control_id}."
        return result

    def type_text(
        self, text: str, control_id: str, control_name: str, *, clear_current_text: bool = False
    ) -> Json:
        action = f"type_text(text='{text}', control_id='{control_id}', control_name='{control_name}')"
        try:
            _check_text(text)
            with self.state.turn(self.time_left):
                place = self.find(control_id, control_name)
                self._type(place, text, clear=clear_current_text)
        except DroidgateError as problem:
            return failure(problem.located)
        name = place.control.name
        steps = [f"Clicked control '{name}' at {place.now.center}"]
        if name != control_name:
            steps.insert(0, f"{name_warning(place.control, control_name)} Using ID {control_id}.")
        if clear_current_text:
            steps.append("Cleared existing text")
        return {
            "success": True,
            "action": action,
            "message": " | ".join([*steps, f"Typed text: '{text}'"]),
            "control_info": _info(place, with_rect=False),
            "typed_by": way_of(text),
        }

    def launch_app(self, package_name: str, id: str | None = None) -> Json:
        result: dict[str, Json] = {}
        try:
            package = self._package_of(package_name, id)
            if id is not None:
                result["app_info"] = {"id": id, "name": package, "package": package}
                if package != package_name:
                    result["warning"] = (
                        f"Warning: App ID {id} has package '{package}', but provided package_name is "
                        f"'{package_name}'. Using ID {id}."
                    )
        except DroidgateError as error:
            return failure(error.located)
        try:
            command = self._launch(package)
        except DroidgateError as error:
            message = error.located
            answer: dict[str, Json] = {"success": False, "message": f"Failed to launch {package}: {message}"}
            return {**answer, "package_name": package, "output": "", "error": message, **result}
        answer = {"success": True, "message": f"Launched {package}", "package_name": package}
        return {**answer, "output": "Events injected: 1", "error": "", "command": command, **result}

    def wait(self, seconds: float = 1.0) -> Json:
        if seconds < 0:
            return failure("Wait time must be non-negative")
        if seconds > _LONGEST_WAIT:
            return failure(f"Wait time cannot exceed {_LONGEST_WAIT} seconds")
        if self.deadline is not None and seconds > self.deadline:
            return failure(f"Wait time cannot exceed the call's deadline of {self.deadline:g} seconds")
        seconds = float(seconds)
        if self.cancel.wait(seconds):
            return failure("the wait was canceled")
        with self.state.turn(self.seconds):
            self.state.drop_screen()
        return {"success": True, "action": f"wait({seconds}s)", "message": f"Waited for {seconds} seconds"}

    def invalidate_cache(self, cache_type: str = "all") -> Json:
        if cache_type not in _CACHES:
            names = [f"'{name}'" for name in _CACHES]
            allowed = f"{', '.join(names[:-1])}, or {names[-1]}"
            return failure(f"Invalid cache_type: {cache_type}. Must be {allowed}")
        is_all = cache_type == "all"
        if is_all or cache_type in {"controls", "ui_tree"}:
            with self.state.turn(self.seconds):
                self.state.drop_screen()
                if cache_type != "ui_tree":
                    self.state.drop_ids()
        if is_all or cache_type == "apps":
            self.state.drop_apps()
        if is_all or cache_type == "device_info":
            self.state.drop_info()
        return {"success": True, "message": f"{_CACHES[cache_type]} invalidated"}

    def dump(self) -> tuple[str, tuple[Control, ...]]:
        """Return the hierarchy of the screen and its controls, from the phone."""
        hierarchy = phone.dump_hierarchy(self.device, self.time_left, self.cancel)
        return hierarchy, read_controls(hierarchy)

    def snapshot(self, *, fresh: bool = False) -> ScreenSnapshot:
        """Return the screen; call it in a turn."""
        return self.state.snapshot(self.dump, fresh=fresh)

    def find(self, control_id: str, control_name: str) -> FoundControl:
        """Return the control that an id names, where it is now; call it in a turn.

        Raises:
            ToolError: no list has the id, or its control is not on the screen any more.
        """
        return self.state.find(control_id, control_name, self.snapshot)

    def _apps(self, *, include_system: bool, fresh: bool = False) -> tuple[str, ...]:
        return self.state.apps(
            lambda: phone.list_apps(self.device, self.time_left, include_system=include_system),
            include_system=include_system,
            fresh=fresh,
            seconds=self.time_left,
        )

    def input(self, action: str, arguments: list[str], points: tuple[int, ...] = ()) -> Json:
        """Run `input` and return its result; points that are not on the screen never reach the phone."""
        try:
            if points:
                self._check_on_screen(points)
            with self.state.turn(self.time_left):
                error = self.send(arguments)
        except DroidgateError as problem:
            return input_result(action, error=problem.located)
        return input_result(action, error=error)

    def _check_on_screen(self, points: tuple[int, ...]) -> None:
        side = self.state.longest_side(
            lambda: phone.read_longest_side(self.device, self.time_left), self.time_left
        )
        outside = next((number for number in points if not 0 <= number <= side), None)
        if outside is not None:
            raise ToolError(f"coordinate {outside} is not on the screen, whose longer side has {side} pixels")

    def send(self, arguments: list[str]) -> str:
        """Run `input`; return why it failed, empty where it did not."""
        try:
            result = phone.send_input(self.device, arguments, self.time_left)
        except DeviceError:
            # It may have reached the phone.
            self.state.drop_screen()
            raise
        if result.exit_status != 0 or result.text.startswith(_NO_SUCH_INPUT):
            reason = result.error_text.strip() or result.text.strip()
            return reason or f"input ended with status {result.exit_status}"
        self.state.drop_screen()
        return ""

    def _type(self, control: FoundControl, text: str, *, clear: bool) -> None:
        point = control.now.center
        keys = keys_that_clear(control.now.text) if clear else []
        by_keys = way_of(text) == "keys"
        before = None if by_keys else phone.find_keyboard(self.device, self.time_left)
        if not by_keys and before is None:
            raise ToolError(
                f"Failed to type text: no key types {_first_without_key(text)}; install the input method "
                f"ADBKeyBoard ({KEYBOARD.partition('/')[0]}), which types every text, and enable it in the "
                "phone's settings"
            )
        try:
            if before is None:
                typed = phone.type_by_keys(self.device, point, keys, pieces_of(text), self.time_left)
            else:
                typed = phone.type_by_keyboard(self.device, point, keys, text, before, self.time_left)
        except DeviceError:
            # Some of it may have reached the phone.
            self.state.drop_screen()
            raise
        if typed.tapped:
            self.state.drop_screen()
        if not typed.tapped:
            raise ToolError(f"Failed to click control at {point}: {typed.error}")
        if not typed.typed:
            raise ToolError(f"Failed to type text: {typed.error}")
        if before is not None:
            self._check_typed(control, text, typed.hierarchy, clear=clear)

    def _check_typed(self, control: FoundControl, text: str, hierarchy: str, *, clear: bool) -> None:
        """Check that the field holds a text: an input method reports nothing."""
        dump = self.dump if HIERARCHY_END not in hierarchy else lambda: (hierarchy, read_controls(hierarchy))
        screen = self.state.snapshot(dump, fresh=True)
        self.state.drop_screen()
        now = self.state.find(control.control.id, control.control.name, lambda: screen).now
        is_typed = now.text == text if clear else text in now.text
        if not is_typed and set(now.text) != {_HIDDEN}:
            raise ToolError("Failed to type text: the control does not hold it; look at the screen")

    def _package_of(self, name: str, app_id: str | None) -> str:
        """Return the package that a name or an id means.

        Raises:
            ToolError: the name or the id means no package.
            DeviceError: the packages cannot be listed.
        """
        if app_id is not None:
            package = self.state.package_of(app_id)
            if package is None:
                raise ToolError(f"App with ID '{app_id}' not found in cached app list.")
            return package
        if "." in name:
            if not is_package(name):
                raise ToolError(f"{name[:80]!r} is not a package name")
            return name
        for fresh in (False, True):
            package = _package_with_part(name, self._apps(include_system=True, fresh=fresh)) if name else None
            if package is not None:
                return package
        raise ToolError(f"No app found with name containing '{name}'. Try using full package name.")

    def _launch(self, package: str) -> str:
        """Open an app and return the command that did."""
        activity = phone.find_launcher_activity(self.device, package, self.time_left)
        if activity is None:
            raise ToolError(f"{package} is not installed, or has no activity that its icon would open")
        with self.state.turn(self.time_left):
            try:
                phone.launch(self.device, activity, self.time_left)
            finally:
                self.state.drop_screen()
        return " ".join(["am", "start-activity", "-W", *phone.launch_arguments(activity)])


UFO_TOOLS: Final[Mapping[str, Callable[..., Json]]] = {
    method.__name__: method
    for method in (
        UfoCall.capture_screenshot,
        UfoCall.get_ui_tree,
        UfoCall.get_device_info,
        UfoCall.get_mobile_app_target_info,
        UfoCall.get_app_window_controls_target_info,
        UfoCall.tap,
        UfoCall.swipe,
        UfoCall.type_text,
        UfoCall.launch_app,
        UfoCall.press_key,
        UfoCall.click_control,
        UfoCall.wait,
        UfoCall.invalidate_cache,
    )
}


def _info(control: FoundControl, *, with_rect: bool) -> dict[str, Json]:
    info = control_info(control.control, with_rect=with_rect)
    return {**info, "rect": list(control.now.rect)} if with_rect else info


def name_warning(control: Control, name: str) -> str:
    """Return the warning that a client has another name for a control."""
    return f"Warning: Control ID {control.id} has name '{control.name}', but provided name is '{name}'."


def _check_text(text: str) -> None:
    if len(text) > LONGEST_TEXT:
        raise ToolError(f"Failed to type text: it has {len(text)} characters, more than {LONGEST_TEXT}")
    if _NOT_TEXT.search(text):
        raise ToolError("Failed to type text: it holds a NUL character or half of a surrogate pair")


def _first_without_key(text: str) -> str:
    character = next(character for character in text if way_of(character) != "keys")
    return f"U+{ord(character):04X}"


def _package_with_part(name: str, packages: tuple[str, ...]) -> str | None:
    """Return the first package with a part between dots that is a name, else the first that contains it."""
    part = name.lower()
    parts = (package for package in packages if part in package.lower().split("."))
    return next(parts, None) or next((package for package in packages if part in package.lower()), None)
