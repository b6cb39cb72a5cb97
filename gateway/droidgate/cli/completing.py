"""What a shell offers for values: formats, dialects, phones, shims and their capabilities.

A shell waits for each completion. So nothing is offered if the answer takes long or fails, and no adb server
is started.
"""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, Final, ParamSpec

import typer

if TYPE_CHECKING:
    from droidgate.devices.adb_client import AdbClient
    from droidgate.shims.device_user import InstalledShim

SECONDS: Final = 1.5
"""How long a phone may take to answer."""

Values = list[tuple[str, str]]
"""Each value, with what it is."""
_Arguments = ParamSpec("_Arguments")


def complete_formats(incomplete: str) -> Values:
    """Return the ids of the formats that are read."""
    from droidgate_mappings.formats.format import load_formats

    return _starting_with(incomplete, [(item.id, item.title) for item in load_formats().values()])


def complete_agents(incomplete: str) -> Values:
    """Return the kinds of agents."""
    from droidgate_mappings.tables.reach import load_reach

    return _starting_with(incomplete, [(item.id, item.title) for item in load_reach().agents])


def complete_targets(incomplete: str) -> Values:
    """Return the formats that can be written; after a `+`, the dialects of one."""
    from droidgate_mappings.formats.format import load_formats

    formats = load_formats().values()
    dialects = [
        (f"{item.id}+{dialect.id}", dialect.summary)
        for item in formats
        for dialect in item.dialects
        if item.write is not None and dialect.capacity is not None
    ]
    if "+" in incomplete:
        return _starting_with(incomplete, dialects)
    written = {name.partition("+")[0] for name, _ in dialects}
    return _starting_with(incomplete, [(item.id, item.title) for item in formats if item.id in written])


def complete_commands(context: typer.Context, incomplete: str) -> Values:
    """Return the commands of droidgate, or of the group whose words come before."""
    group: Any = None if context.parent is None else context.parent.command
    for word in context.params.get("command") or ():
        group = getattr(group, "commands", {}).get(word)
    commands = getattr(group, "commands", {})
    return _starting_with(incomplete, [(name, item.get_short_help_str()) for name, item in commands.items()])


def complete_clients(incomplete: str) -> Values:
    """Return the MCP clients whose settings can be changed."""
    from droidgate_mappings.tables.clients import load_clients

    return _starting_with(incomplete, [(row.id, row.title) for row in load_clients().values()])


def _in_time(complete: Callable[_Arguments, Values]) -> Callable[_Arguments, Values]:
    """Let a function return what comes in time, else nothing."""

    @functools.wraps(complete)
    def run(*arguments: _Arguments.args, **named: _Arguments.kwargs) -> Values:
        from droidgate.cli.run_limits import RunBudget, run_within
        from droidgate_mappings.model.errors import DroidgateError

        values: Values = []

        def find() -> int:
            values.extend(complete(*arguments, **named))
            return 0

        with contextlib.suppress(DroidgateError, OSError):
            run_within(RunBudget(deadline=SECONDS), find)
        return values

    return run


@_in_time
def complete_serials(incomplete: str) -> Values:
    """Return the serials of the phones that a running adb server lists."""
    devices = _running_server().devices()
    return _starting_with(incomplete, [(device.serial, device.state) for device in devices])


@_in_time
def complete_shims(context: typer.Context, incomplete: str) -> Values:
    """Return the application ids of the shims on the phone."""
    return _starting_with(incomplete, [(shim.application_id, "") for shim in _shims(context)])


@_in_time
def complete_capabilities(context: typer.Context, incomplete: str) -> Values:
    """Return the ids of the capabilities that the shims on the phone offer."""
    chosen = context.params.get("shim")
    values = [
        (capability, shim.application_id)
        for shim in _shims(context)
        if shim.status is not None and chosen in {None, shim.application_id}
        for capability in sorted(shim.status.routes)
    ]
    return _starting_with(incomplete, values)


@_in_time
def complete_declared(context: typer.Context, incomplete: str) -> Values:
    """Return the ids of what the phone's apps declare, as short as `call` takes them."""
    from droidgate.calls.phones import open_device

    packages = {
        capability.id.rpartition("#")[2]: app.package
        for app in open_device(_serial_of(context), server=_running_server()).discover().apps
        for provider in app.providers
        for capability in provider.capabilities
    }
    return _starting_with(incomplete, list(packages.items()))


def _starting_with(incomplete: str, values: Values) -> Values:
    return [
        (value, _plain(about)) for value, about in values if value.startswith(incomplete) and _is_plain(value)
    ]


def _is_plain(value: str) -> bool:
    """Return whether a shell can take a value as it is; texts of apps may hold anything."""
    return bool(value) and value.isascii() and all(letter.isalnum() or letter in "._-+:/" for letter in value)


def _plain(text: str) -> str:
    from droidgate_mappings.text_safety import one_line

    # Brackets are markup for typer.
    return one_line(text).replace("[", "(").replace("]", ")")


def _running_server() -> AdbClient:
    from droidgate.devices.adb_client import AdbClient

    return AdbClient(may_start=False)


def _shims(context: typer.Context) -> Iterator[InstalledShim]:
    from droidgate.devices.device import connect_device
    from droidgate.shims.device_user import device_user_of, installed_shims

    device = connect_device(_serial_of(context), server=_running_server())
    yield from installed_shims(device_user_of(device))


def _serial_of(context: typer.Context) -> str | None:
    serial = context.params.get("serial")
    return serial if isinstance(serial, str) else None
