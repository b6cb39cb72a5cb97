"""`droidgate phone start`, `stop`, `status`, `apps`, `install` and `push`."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from droidgate.cli.command_classes import Command, argument, flag, option
from droidgate.cli.shared_options import AS_JSON, AndroidRelease

RUNNING_PORT: Final = option("--port", "Port of the phone; not needed where one runs", min=1, max=65535)


class PhoneStart(
    Command,
    short="Start a virtual phone that adb connects to",
    work="droidgate.cli.phone.run_phone_start:start_virtual_phone",
):
    """Start a virtual phone in the background, and say how to reach it.

    The real adb connects to it as to any phone; the sample apps are installed. It listens on this machine
    only, and keeps nothing when it stops.
    """

    _headings = {
        "How it is reached": ("port", "server_port"),
        "The phone": ("sdk", "packages", "no_apps", "fault", "shim_runtime"),
    }

    port: int = option("--port", "Port that adb connects to, 0 for a free one", 0, min=0, max=65535)
    server_port: int = option(
        "--server-port",
        "Port where it acts as an adb server, so that no adb is needed; 0 for a free one",
        0,
        min=0,
        max=65535,
    )
    sdk: AndroidRelease = option(
        "--sdk RELEASE", f"Android release: {', '.join(AndroidRelease)}", AndroidRelease.R36_1
    )
    packages: int = option("--packages N", "Install so many packages more", 0, min=0, max=2000)
    no_apps: bool = flag("--no-apps", "Leave out the sample apps")
    fault: list[str] | None = option(
        "--fault FAULT",
        "Show a fault, such as drop-after=BYTES or unauthorized; may be repeated; `list` names them",
    )
    log: Path | None = option("--log FILE", "Write every adb service, Intent and result as a line of JSON")
    shim_runtime: str = option(
        "--shim-runtime RUNTIME",
        "What shims run on: python, or jvm for their own Java classes (needs a JDK and Robolectric)",
        "python",
    )
    foreground: bool = flag("--foreground", "Stay until Ctrl-C")
    handover: bool = flag("--handover", "", hidden=True)
    as_json: bool = AS_JSON


class PhoneStop(Command, short="Stop a virtual phone", work="droidgate.cli.phone.run_phone:stop_phone"):
    """Stop a virtual phone that was started in the background."""

    port: int | None = RUNNING_PORT
    as_json: bool = AS_JSON


class PhoneStatus(
    Command,
    short="Show which virtual phones are running",
    work="droidgate.cli.phone.run_phone:show_running_phones",
):
    """Show which virtual phones are running, and how to reach them."""

    as_json: bool = AS_JSON


class PhoneInstall(
    Command, short="Install APKs on a virtual phone", work="droidgate.cli.phone.run_phone:install_on_phone"
):
    """Install apps on a virtual phone, with the permissions that they request.

    An app that is there is replaced.
    """

    apks: list[Path] = argument("APK", "APKs, and containers with the splits of one app", ...)
    port: int | None = RUNNING_PORT
    as_json: bool = AS_JSON


class PhonePush(
    Command, short="Copy a file to a virtual phone", work="droidgate.cli.phone.run_phone:push_to_phone"
):
    """Copy a file to a virtual phone."""

    local: Path = argument("FILE", "The file to copy", ...)
    remote: str = argument("TARGET", "File or folder on the phone", "/sdcard/Download/")
    port: int | None = RUNNING_PORT
    as_json: bool = AS_JSON


class PhoneApps(
    Command,
    short="List the apps of a virtual phone, by protocol",
    work="droidgate.cli.phone.run_phone:list_apps",
):
    """List the apps that a running virtual phone has, by the agent protocols that they speak."""

    port: int | None = RUNNING_PORT
    as_json: bool = AS_JSON
