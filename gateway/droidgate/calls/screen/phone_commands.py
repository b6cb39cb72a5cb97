"""The device's commands behind the tools: one connection for each, whatever it runs there."""

from __future__ import annotations

import re
import secrets
import threading
import time
from collections.abc import Sequence
from typing import Final

from droidgate.calls.screen.controls import HIERARCHY_END, read_hierarchy
from droidgate.calls.screen.text_input import KEYBOARD, keyboard_text
from droidgate.devices.activities import (
    ActivityStart,
    broadcast_command,
    intent_arguments,
    start_activity,
)
from droidgate.devices.device import CommandResult, Device
from droidgate.devices.device_errors import DeviceOutputError
from droidgate.devices.packages import read_components, read_package_names
from droidgate.devices.quoting import check_package, is_component, join_command, quote_argument
from droidgate_mappings.model.errors import InputError
from droidgate_mappings.records import dataclass

DUMP_ATTEMPTS: Final = 5
"""Most dumps until one succeeds: a screen that moves has none (reference mobile-agent 4)."""

_PAUSE: Final = 0.2
_LARGEST_PICTURE: Final = 64 * 1024 * 1024
_LARGEST_DUMP: Final = 8 * 1024 * 1024
_PNG: Final = b"\x89PNG\r\n\x1a\n"
_MOST_BEFORE_PICTURE: Final = 4096
"""Bytes: on phones with several displays `screencap` prints a warning first."""

_MAIN: Final = "android.intent.action.MAIN"
_LAUNCHER: Final = "android.intent.category.LAUNCHER"
_AS_THE_LAUNCHER: Final = "0x10200000"
"""FLAG_ACTIVITY_NEW_TASK and FLAG_ACTIVITY_RESET_TASK_IF_NEEDED: an open task comes to the front as it is."""

_BATTERY: Final = re.compile(r"\s*(level|status): (-?\d{1,9})", re.ASCII)
_SIZE: Final = re.compile(r" size: (\d{1,6})x(\d{1,6})", re.ASCII)
_INFO: Final = (
    ("model", "getprop ro.product.model"),
    ("android_version", "getprop ro.build.version.release"),
    ("sdk_version", "getprop ro.build.version.sdk"),
    ("screen_size", "wm size"),
    ("screen_density", "wm density"),
)
_TAPPED: Final = "tapped"
_TYPED: Final = "typed"
_XML: Final = "<?xml"
_KEYBOARD_PAUSE: Final = 0.5
"""Seconds until a new input method listens."""
_TRAPS: Final = "trap 'exit 1' HUP INT PIPE TERM"
"""Makes a shell run what is trapped at its exit also where the connection or the output ends."""
_NOT_SET: Final = "null"


@dataclass(frozen=True, slots=True)
class Typed:
    """How far typing came.

    Attributes:
        tapped: The field was tapped.
        typed: The text was sent.
        error: What the failed command printed; empty where none failed.
        hierarchy: The screen afterwards; empty where it was not dumped.
    """

    tapped: bool
    typed: bool
    error: str = ""
    hierarchy: str = ""


def take_picture(device: Device, seconds: float) -> bytes:
    """Return the screen as a PNG file.

    Raises:
        DeviceError: the device fails, or what it sent is not a PNG file.
    """
    return _picture_in(device.check(["screencap", "-p"], deadline=seconds, limit=_LARGEST_PICTURE).stdout)


def _picture_in(data: bytes) -> bytes:
    start = data.find(_PNG, 0, _MOST_BEFORE_PICTURE)
    if start < 0:
        raise DeviceOutputError("screencap -p", "it is not a PNG file", text=data[:40].decode("latin-1"))
    return data[start:]


def dump_hierarchy(device: Device, seconds: float, cancel: threading.Event) -> str:
    """Return the hierarchy of the screen; a dump that fails is repeated while there is time.

    Raises:
        InputError: no dump succeeded.
        DeviceError: the device fails.
    """
    return _dump(device, seconds, cancel)[0]


def dump_with_picture(device: Device, seconds: float, cancel: threading.Event) -> tuple[str, bytes]:
    """Return the hierarchy of the screen and its picture, one right after the other, in one command.

    Raises:
        InputError: no dump succeeded.
        DeviceError: the device fails, or what it sent is not a PNG file.
    """
    hierarchy, rest = _dump(device, seconds, cancel, " && screencap -p")
    return hierarchy, _picture_in(rest)


def _dump(device: Device, seconds: float, cancel: threading.Event, further: str = "") -> tuple[str, bytes]:
    """Return the hierarchy and what the further command wrote."""
    end = time.monotonic() + seconds
    limit = _LARGEST_DUMP + (_LARGEST_PICTURE if further else 0)
    for attempt in range(1, DUMP_ATTEMPTS + 1):
        remaining = max(end - time.monotonic(), _PAUSE)
        result = device.run(["sh", "-c", _dump_script(further)], deadline=remaining, limit=limit)
        xml, tag, rest = result.stdout.partition(HIERARCHY_END.encode())
        text = (xml + tag).decode("utf-8", "backslashreplace")
        try:
            return read_hierarchy(text), rest
        except InputError:
            if attempt == DUMP_ATTEMPTS or time.monotonic() + _PAUSE >= end or cancel.wait(_PAUSE):
                return read_hierarchy(text or result.error_text), rest
    raise AssertionError(DUMP_ATTEMPTS)


def _dump_script(further: str = "") -> str:
    """Return a script that prints the hierarchy, and what a further command writes if there is one.

    The file is a new one for each dump, so that no earlier screen is ever read, and is removed at once. Some
    phones can dump to `/dev/tty` and need no file, but not all.
    """
    file = f"/data/local/tmp/droidgate-{secrets.token_hex(8)}.xml"
    return f"uiautomator dump {file} >&2; cat {file}{further}; rm -f {file}"


def read_device_info(device: Device, seconds: float) -> dict[str, str]:
    """Return what a device is, as its commands print it: model, releases, screen and battery.

    Raises:
        DeviceError: the device fails, or does not report its release or its screen.
    """
    mark = secrets.token_hex(8)
    commands = [*(command for _, command in _INFO), "dumpsys battery"]
    result = device.run(["sh", "-c", f"; echo {mark}; ".join(commands)], deadline=seconds)
    parts = [part.strip() for part in result.text.replace("\r\n", "\n").split(f"{mark}\n")]
    if len(parts) != len(commands):
        raise DeviceOutputError("getprop; wm; dumpsys", "the output is cut off", text=result.text[-40:])
    info = {name: part for (name, _), part in zip(_INFO, parts, strict=False)}
    if not info["sdk_version"] or _SIZE.search(info["screen_size"]) is None:
        raise DeviceOutputError("getprop; wm", "the device does not report its release and screen")
    for line in parts[-1].split("\n"):
        match = _BATTERY.fullmatch(line)
        if match is not None:
            info[f"battery_{match[1]}"] = match[2]
    return info


def read_longest_side(device: Device, seconds: float) -> int:
    """Return the longer side of the screen in pixels: of its override, where there is one.

    Raises:
        DeviceError: the device fails, or its output is not that of `wm size`.
    """
    text = device.check(["wm", "size"], deadline=seconds).text
    sizes = _SIZE.findall(text)
    if not sizes:
        raise DeviceOutputError("wm size", "it has no size", text=text)
    return max(map(int, sizes[-1]))


def list_apps(device: Device, seconds: float, *, include_system: bool) -> list[str]:
    """Return the packages of the user in front, in the package manager's order.

    Raises:
        DeviceError: the device fails, or its output is not that of `pm list packages`.
    """
    chosen = [] if include_system else ["-3"]
    result = device.run(["pm", "list", "packages", *chosen, "--user", "current"], deadline=seconds)
    return read_package_names(result.text, result.exit_status, result.error_text)


def find_launcher_activity(device: Device, package: str, seconds: float) -> str | None:
    """Return the activity that an app's icon opens, None where it has none.

    Raises:
        DeviceError: the device fails, or the package is not the name of one.
    """
    intent = ["-a", _MAIN, "-c", _LAUNCHER, "-p", check_package(package), "--user", "current"]
    result = device.run(["cmd", "package", "query-activities", "--components", *intent], deadline=seconds)
    components = read_components("activities", result.text, result.exit_status, result.error_text)
    return components[0] if components else None


def launch_arguments(component: str) -> list[str]:
    """Return the Intent that opens an activity as its icon does, as arguments of `am start-activity`."""
    intent = intent_arguments(component=component, action=_MAIN, user="current")
    return [*intent, "-c", _LAUNCHER, "-f", _AS_THE_LAUNCHER]


def launch(device: Device, component: str, seconds: float) -> ActivityStart:
    """Open an activity as its icon does, and wait until it is drawn.

    Raises:
        DeviceError: the device fails, or refuses.
    """
    return start_activity(device, launch_arguments(component), deadline=seconds)


def send_input(device: Device, arguments: Sequence[str], seconds: float) -> CommandResult:
    """Run `input`.

    Raises:
        DeviceError: the device fails.
    """
    return device.run(["input", *arguments], deadline=seconds)


def type_by_keys(
    device: Device, point: tuple[int, int], clear: Sequence[str], pieces: Sequence[str], seconds: float
) -> Typed:
    """Tap a field, press the keys that clear it, and type a text, all in one command of the shell.

    Raises:
        DeviceError: the device fails.
    """
    steps = [_tap(point), *_clearing(clear)]
    steps += [f"input text {quote_argument(piece)}" for piece in pieces]
    return _read_typed(device.run(["sh", "-c", " && ".join([*steps, f"echo {_TYPED}"])], deadline=seconds))


def find_keyboard(device: Device, seconds: float) -> str | None:
    """Return the current input method where the user has enabled ADBKeyBoard, which may be ""; else None.

    Raises:
        DeviceError: the device fails.
    """
    script = "ime list -s; settings get secure default_input_method"
    *enabled, current = device.check(["sh", "-c", script], deadline=seconds).text.split("\n")[:-1] or [""]
    return current if KEYBOARD in enabled else None


def type_by_keyboard(
    device: Device, point: tuple[int, int], clear: Sequence[str], text: str, before: str, seconds: float
) -> Typed:
    """Do the same through ADBKeyBoard, and dump the screen.

    No other app gets the text. The input method is set back by the phone's own shell, whatever ends the
    command.

    Args:
        device: The phone, on which ADBKeyBoard is enabled.
        point: Where the field is.
        clear: The keys that clear it.
        text: Any text.
        before: The current input method, which is set again in the end.
        seconds: For all of it.

    Raises:
        DeviceError: the device fails.
    """
    intent = intent_arguments(action="ADB_INPUT_B64", strings={"msg": keyboard_text(text)}, user="current")
    # Its receiver is not declared in its manifest, so the package is named, not the component.
    broadcast = join_command([*broadcast_command(intent), "-p", KEYBOARD.partition("/")[0]])
    pause = f"sleep {_KEYBOARD_PAUSE}"
    switch = [] if before == KEYBOARD else [f"ime set {KEYBOARD} >&2"]
    steps = [*switch, _tap(point), *_clearing(clear), pause, f"{broadcast} >&2", f"echo {_TYPED}", pause]
    back = _setting_back(before)
    restore = [] if before == KEYBOARD else [f"trap {quote_argument(back)} EXIT", _TRAPS]
    script = "; ".join([*restore, " && ".join(steps)])
    # A shell that is killed (SIGKILL) runs no trap, so the one that started it does the same.
    again = f" || {back}" if restore else ""
    result = device.run(
        ["sh", "-c", f"sh -c {quote_argument(script)}{again}; {_dump_script()}"],
        deadline=seconds,
        limit=_LARGEST_DUMP,
    )
    return _read_typed(result)


def _setting_back(method: str) -> str:
    """Return the command that makes an input method the current one, or leaves none as it was."""
    if is_component(method):
        command = ["ime", "set", method]
    elif method == _NOT_SET:
        command = ["settings", "delete", "secure", "default_input_method"]
    else:
        command = ["settings", "put", "secure", "default_input_method", method]
    return f"{join_command(command)} >/dev/null 2>&1"


def _tap(point: tuple[int, int]) -> str:
    return f"input tap {point[0]} {point[1]} && echo {_TAPPED}"


def _clearing(keys: Sequence[str]) -> list[str]:
    return [f"input keyevent {' '.join(keys)}"] if keys else []


def _read_typed(result: CommandResult) -> Typed:
    steps, start, rest = result.text.partition(_XML)
    lines = steps.split()
    typed = _TYPED in lines
    error = "" if typed else result.error_text.strip() or f"status {result.exit_status}"
    return Typed(_TAPPED in lines, typed, error, start + rest)
