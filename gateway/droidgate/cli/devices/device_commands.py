"""`droidgate devices` and `droidgate discover`."""

from __future__ import annotations

from typing import Annotated

import typer

from droidgate.cli.completing import complete_formats
from droidgate.cli.options import AsJson, IncludeShims, Serial
from droidgate.cli.output.page_length import with_details


def _devices(*, as_json: AsJson = False) -> int:
    """List the phones that adb sees: state, model, Android version, and the fix where one is not ready.

    Starts an adb server where none runs; never ends one.
    """
    from droidgate.cli.devices.listing_devices import report_devices

    return report_devices(as_json=as_json)


@with_details
def _discover(
    *,
    serial: Serial = None,
    only: Annotated[
        list[str] | None,
        typer.Option(
            "--only",
            metavar="FORMAT",
            help="Look for this format only; may be repeated",
            autocompletion=complete_formats,
        ),
    ] = None,
    every_app: Annotated[
        bool,
        typer.Option(
            "--all", help="Read every app's manifest: finds what Android's shell cannot be asked for"
        ),
    ] = False,
    no_cache: Annotated[
        bool, typer.Option("--no-cache", help="Read APKs anew, and keep nothing of them")
    ] = False,
    include_shims: IncludeShims = False,
    as_json: AsJson = False,
) -> int:
    """Find what the apps of a phone declare for agents.

    Asks the phone for the components of every known protocol, reads only the APKs that have some, and shows
    for each provider how it could be called from here, and what is missing. A second run reads only what
    changed.
    """
    from droidgate.cli.devices.discover_report import discover

    return discover(
        serial,
        only=only,
        every_app=every_app,
        keep=not no_cache,
        include_shims=include_shims,
        as_json=as_json,
    )


def register(app: typer.Typer) -> None:
    """Add the commands to the program."""
    app.command("devices", short_help="List what is attached, and what to do where it is not ready")(_devices)
    app.command("discover", short_help="Find what the apps of a phone declare for agents")(_discover)
