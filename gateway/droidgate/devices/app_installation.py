"""Installing and removing apps: `pm install-create`, `install-write`, `install-commit`, `uninstall`.

Answers: AOSP PackageManagerShellCommand, which prints `Success` or `Failure [CODE: text]`.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Mapping
from typing import Final

from droidgate.devices.device import TRANSFER_SECONDS, CommandResult, Device
from droidgate.devices.device_errors import (
    CommandFailedError,
    DeviceOutputError,
    UnsafeArgumentError,
    command_failed,
    excerpt,
)
from droidgate.devices.quoting import check_package, check_user
from droidgate_mappings.model.errors import DeviceError

_INSTALL: Final = "pm install"
_SESSION: Final = re.compile(r"Success: created install session \[(\d{1,10})\]")
_FAILURE: Final = re.compile(r"Failure \[(?P<code>[A-Z][A-Z0-9_]*)(?:: (?P<text>.*))?\]", re.DOTALL)
_SPLIT: Final = re.compile(r"[A-Za-z0-9_][\w.-]*\.apk", re.ASCII)
_REMOVE: Final = "uninstall it first: adb uninstall PACKAGE"

HINTS: Final[Mapping[str, str]] = {
    "INSTALL_FAILED_UPDATE_INCOMPATIBLE": f"it is installed with another signature: {_REMOVE}",
    "INSTALL_FAILED_VERSION_DOWNGRADE": f"a newer version is installed: {_REMOVE}",
    "INSTALL_FAILED_USER_RESTRICTED": "allow installing over USB in the developer options",
    "INSTALL_FAILED_INSUFFICIENT_STORAGE": "free some space on the device",
    "INSTALL_FAILED_OLDER_SDK": "the app needs a newer Android",
}


class InstallError(CommandFailedError):
    """Android did not install or remove an app.

    Attributes:
        code: Android's word, such as `INSTALL_FAILED_UPDATE_INCOMPATIBLE`.
    """

    def __init__(self, code: str, text: str, *, exit_status: int) -> None:
        reason = f": {excerpt(text)}" if text else ""
        super().__init__(f"Android answers {code}{reason}", exit_status=exit_status, hint=HINTS.get(code))
        self.code = code


def install_apks(device: Device, apks: Mapping[str, bytes], *, user: int = 0, grant: bool = False) -> None:
    """Install an app, or replace it.

    Args:
        device: The device.
        apks: Its APKs by file name, such as `base.apk`; all of one app.
        user: For whom.
        grant: Grant all runtime permissions that the app requests, as `adb install -g`.

    Raises:
        InstallError: Android refuses.
        UnsafeArgumentError: a name is none of an APK.
        DeviceError: the device fails.
    """
    for name in apks:
        if _SPLIT.fullmatch(name) is None:
            raise UnsafeArgumentError(f"{excerpt(name)!r} is not a name of an APK")
    total = sum(map(len, apks.values()))
    options = ["-r", "-t", *(["-g"] if grant else []), "--user", check_user(user), "-S", str(total)]
    session = read_session(*_output_of(device.run(["pm", "install-create", *options])))
    try:
        for name, data in apks.items():
            arguments = ["pm", "install-write", "-S", str(len(data)), session, name, "-"]
            written = device.run(arguments, stdin=data, deadline=TRANSFER_SECONDS)
            read_success(*_output_of(written))
        read_success(*_output_of(device.run(["pm", "install-commit", session], deadline=TRANSFER_SECONDS)))
    except BaseException:
        with contextlib.suppress(DeviceError):
            device.run(["pm", "install-abandon", session])
        raise


def uninstall(device: Device, package: str, *, user: int | None = None) -> None:
    """Remove an app, for one user or for all.

    Raises:
        InstallError: Android refuses, or it is not installed.
        DeviceError: the device fails.
    """
    options = [] if user is None else ["--user", check_user(user)]
    read_success(*_output_of(device.run(["pm", "uninstall", *options, check_package(package)])))


def read_session(text: str, exit_status: int = 0, error_text: str = "") -> str:
    """Read what `pm install-create` printed and return the session's number as text.

    Raises:
        InstallError: Android refused.
        DeviceOutputError: it is not an answer of it.
    """
    match = _SESSION.fullmatch(text.strip())
    if exit_status == 0 and match is not None:
        return match[1]
    raise _failure(text, exit_status, error_text)


def read_success(text: str, exit_status: int = 0, error_text: str = "") -> None:
    """Read what an install command printed: `Success`, alone or with how many bytes came.

    Raises:
        InstallError: Android refused.
        DeviceOutputError: it is not an answer of such a command.
    """
    output = text.strip()
    if exit_status != 0 or re.fullmatch(r"Success(: streamed \d+ bytes)?", output) is None:
        raise _failure(text, exit_status, error_text)


def _failure(text: str, exit_status: int, error_text: str) -> CommandFailedError | DeviceOutputError:
    for stream in (text, error_text):
        match = _FAILURE.fullmatch(stream.strip())
        if match is not None:
            return InstallError(match["code"], match["text"] or "", exit_status=exit_status)
    if exit_status != 0:
        return command_failed(_INSTALL, exit_status, text, error_text)
    return DeviceOutputError(_INSTALL, "it is not an answer of an installation", text=text)


def _output_of(result: CommandResult) -> tuple[str, int, str]:
    return result.text, result.exit_status, result.error_text
