"""What `shim call`, `grant` and `revoke` do."""

from __future__ import annotations

from collections.abc import Sequence

from droidgate.cli.calls.run_call import point_to_parameters
from droidgate.cli.calls.typed_arguments import output_lines, read_arguments
from droidgate.cli.output.pages import Line, amount
from droidgate.cli.output.reports import Report
from droidgate.cli.output.safe_text import one_line
from droidgate.cli.shim import shim_options
from droidgate.cli.shim.shim_documents import ShimCallDocument, ShimGrantDocument
from droidgate.devices.device import connect_device
from droidgate.shims.answers import ShimRefusalError
from droidgate.shims.granting import GrantChange, grant_capabilities, revoke_capabilities
from droidgate.shims.host_client import EVERY_CAPABILITY
from droidgate.shims.place import DeviceUser, place_of
from droidgate.shims.shim_calls import call_shim


def call_and_report(options: shim_options.ShimCall) -> Report:
    """Call a capability and report its outputs.

    Raises:
        UsageError: the arguments are not a JSON object, or no shim, or more than one, offers the capability.
        InputError: another key than the user's, or the one that is named, signed the shim.
        ShimRefusalError: the call failed; 6 where a policy denies it, else 5.
        DeviceError: the phone or the shim fails.
    """
    given = read_arguments(options.arguments, options.values or ())
    place = place_of(connect_device(options.serial))
    try:
        answer = call_shim(
            place,
            options.capability,
            given,
            shim=options.shim,
            signed_by=options.signed_by,
            deadline_ms=options.deadline_ms,
        )
    except ShimRefusalError as error:
        point_to_parameters(error, options.capability, options.serial)
        raise
    document = ShimCallDocument(
        serial=place.device.serial,
        application_id=answer.application_id,
        capability=options.capability,
        outputs=answer.outputs,
    )
    return Report(lambda: output_lines(answer.outputs), lambda: document, is_data=True)


def grant_and_report(options: shim_options.ShimGrant) -> Report:
    """Grant capabilities to an agent and report each grant.

    Raises:
        UsageError: no capability is named, the agent is not installed, or no shim offers a capability.
        DeviceError: the phone or a shim fails.
    """
    place = place_of(connect_device(options.serial))
    capabilities = tuple(options.capability or ())
    return _report(place, grant_capabilities(place, options.agent, capabilities, options.shim))


def revoke_and_report(options: shim_options.ShimRevoke) -> Report:
    """Revoke grants of an agent and report how many there were.

    Raises:
        UsageError: no shim is installed, or none offers a capability.
        DeviceError: the phone or a shim fails.
    """
    place = place_of(connect_device(options.serial))
    capabilities = tuple(options.capability or ())
    return _report(place, revoke_capabilities(place, options.agent, capabilities, options.shim))


def _report(place: DeviceUser, changes: Sequence[GrantChange]) -> Report:
    return Report(
        lambda: [Line(one_line(line)) for line in _changed_lines(changes)],
        lambda: ShimGrantDocument(serial=place.device.serial, user=place.user, grants=tuple(changes)),
    )


def _changed_lines(changes: Sequence[GrantChange]) -> list[str]:
    """Return a line for each change that a shim made; one line where none made any."""
    made = [_describe(change) for change in changes if change.revoked != 0]
    if made or not changes:
        return made
    subjects = ", ".join(dict.fromkeys(change.capability for change in changes))
    grant = "no grant" if subjects == EVERY_CAPABILITY else f"no grant for {subjects}"
    return [f"nothing to revoke: {changes[0].agent} has {grant}; `droidgate shim status` lists all grants"]


def _describe(change: GrantChange) -> str:
    is_every = change.capability == EVERY_CAPABILITY
    if change.revoked is None:
        subject = "all capabilities" if is_every else change.capability
        return f"granted: {change.agent} may call {subject} of {change.application_id}"
    subject = "" if is_every else f" for {change.capability}"
    return f"revoked: {amount(change.revoked, 'grant')} of {change.agent}{subject} of {change.application_id}"
