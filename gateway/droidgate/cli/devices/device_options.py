"""`droidgate devices` and `droidgate discover`."""

from __future__ import annotations

from droidgate.cli.command_classes import Command, PagedCommand, flag, option
from droidgate.cli.completing import complete_formats
from droidgate.cli.run_limits import BoundedCommand, Deadline
from droidgate.cli.shared_options import AS_JSON, INCLUDE_SHIMS, SERIAL


class Devices(
    Command,
    work="droidgate.cli.devices.run_devices:report_devices",
):
    """List the phones that adb sees: state, model, Android version, and the fix where one is not ready.

    Starts an adb server where none runs; never ends one.
    """

    as_json: bool = AS_JSON


class Discover(
    BoundedCommand,
    PagedCommand,
    work="droidgate.cli.devices.run_discover:discover",
):
    """Find what the apps of a phone declare for agents.

    Asks the phone for the components of every known protocol, reads only the APKs that have some, and shows
    for each provider how it could be called from here, and what is missing. A second run reads only what
    changed.
    """

    serial: str | None = SERIAL
    only: list[str] | None = option(
        "--format FORMAT", "Look for this format only; may be repeated", autocompletion=complete_formats
    )
    every_app: bool = flag("--all", "Read every app's manifest, which also finds what adb cannot query")
    no_cache: bool = flag("--no-cache", "Read APKs anew, and keep nothing of them")
    include_shims: bool = INCLUDE_SHIMS
    deadline: Deadline = 600.0
    as_json: bool = AS_JSON
