"""What `phone apps` does."""

from __future__ import annotations

from collections.abc import Iterator

from droidgate.cli.exit_codes import ExitCode
from droidgate.cli.output.json_output import print_json
from droidgate.cli.output.pages import Line, Table, show
from droidgate.cli.output.safe_text import one_line
from droidgate.cli.output.summaries import dialect_name
from droidgate.cli.phone.phone_outputs import PhoneApp, PhoneAppsDocument
from droidgate.cli.phone.running_phones import find_phone
from droidgate.cli.read_sources import print_problem
from droidgate.devices.device import connect_device
from droidgate.sources.phone_source import PhoneRequest, read_phone
from droidgate_mappings.formats.format import load_formats


def list_phone_apps(port: int | None, *, as_json: bool) -> int:
    """List the apps of the phone of a port, or of the only one, by the protocols that they speak.

    Raises:
        DeviceError: there is none, there are several and no port was given, or it does not answer.
    """
    running = find_phone(port)
    device = connect_device(running.serial, server=running.server)
    formats = tuple(load_formats().values())
    reading = read_phone(device, PhoneRequest(formats, every_app=True, keep=False))
    for problem in (*reading.problems, *(problem for app in reading.apps for problem in app.problems)):
        print_problem(problem)
    apps = tuple(
        PhoneApp.of(app, protocols=tuple(sorted(set(map(dialect_name, app.providers)))))
        for app in reading.apps
    )
    if as_json:
        print_json(PhoneAppsDocument.of(running, apps=apps))
    else:
        show([Table(("PROTOCOL", "PACKAGE", "VERSION"), list(_rows(apps))), Line()])
    return ExitCode.OK


def _rows(apps: tuple[PhoneApp, ...]) -> Iterator[tuple[str, ...]]:
    """One row for each protocol of an app; apps that speak none come last."""
    speaking = [(protocol, app) for app in apps for protocol in app.protocols]
    silent = [("-", app) for app in apps if not app.protocols]
    for protocol, app in [*sorted(speaking, key=lambda item: (item[0], item[1].package)), *silent]:
        yield protocol, one_line(app.package), str(app.version_code)
