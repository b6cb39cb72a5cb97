"""What `shim grant` and `shim revoke` do."""

from __future__ import annotations

from collections.abc import Sequence

from droidgate.cli.exit_codes import ExitCode
from droidgate.cli.output.json_output import print_json
from droidgate.cli.output.pages import Line, amount, show
from droidgate.cli.output.safe_text import one_line
from droidgate.cli.shim.shim_outputs import GrantRecord, ShimGrantDocument
from droidgate.devices.device import connect_device
from droidgate.shims.granting import GrantChange, grant_capabilities, revoke_capabilities
from droidgate.shims.place import ShimPlace, place_of


def grant_and_report(
    agent: str, capabilities: Sequence[str], shim: str | None, serial: str | None, *, as_json: bool
) -> int:
    """Grant capabilities to an agent and print each grant.

    Raises:
        UsageError: no capability is named, the agent is not installed, or no shim offers a capability.
        DeviceError: the phone or a shim fails.
    """
    place = place_of(connect_device(serial))
    return _report(place, grant_capabilities(place, agent, capabilities, shim), as_json=as_json)


def revoke_and_report(
    agent: str, capabilities: Sequence[str], shim: str | None, serial: str | None, *, as_json: bool
) -> int:
    """Revoke grants of an agent and print how many there were.

    Raises:
        UsageError: no shim is installed, or none offers a capability.
        DeviceError: the phone or a shim fails.
    """
    place = place_of(connect_device(serial))
    return _report(place, revoke_capabilities(place, agent, capabilities, shim), as_json=as_json)


def _report(place: ShimPlace, changes: Sequence[GrantChange], *, as_json: bool) -> int:
    if as_json:
        grants = tuple(map(GrantRecord.of, changes))
        print_json(ShimGrantDocument(serial=place.device.serial, user=place.user, grants=grants))
    else:
        show([Line(one_line(_describe(change))) for change in changes])
    return ExitCode.OK


def _describe(change: GrantChange) -> str:
    subject = "all capabilities" if change.capability == "*" else change.capability
    if change.revoked is None:
        return f"granted: {change.agent} may call {subject} of {change.application_id}"
    if not change.revoked:
        return f"nothing to revoke: {change.agent} has no grant for {subject} of {change.application_id}"
    count = amount(change.revoked, "grant")
    return f"revoked: {count} of {change.agent} for {subject} of {change.application_id}"
