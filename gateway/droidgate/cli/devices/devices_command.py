"""`droidgate devices`."""

from __future__ import annotations

import typer

from droidgate.cli.options import AsJson


def register(app: typer.Typer) -> None:
    """Add the command to the program."""
    app.command("devices", short_help="List what is attached, and what to do where it is not ready")(_devices)


def _devices(*, as_json: AsJson = False) -> int:
    """List the phones that adb sees: state, model, Android version, and the fix where one is not ready.

    Starts an adb server where none runs; never ends one.
    """
    from droidgate.cli.devices.listing_devices import report_devices

    return report_devices(as_json=as_json)
