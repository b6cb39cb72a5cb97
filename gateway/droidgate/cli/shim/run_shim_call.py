"""What `shim call`, `grant` and `revoke` do."""

from __future__ import annotations

from collections.abc import Sequence

from droidgate.cli.calls.run_call import point_to_parameters
from droidgate.cli.calls.typed_arguments import output_lines, read_arguments
from droidgate.cli.output.pages import Line
from droidgate.cli.output.reports import Report
from droidgate.cli.output.safe_text import one_line
from droidgate.cli.shim import shim_options
from droidgate.cli.shim.shim_documents import ShimCallDocument, ShimGrantDocument
from droidgate.devices.device import connect_device
from droidgate.shims.device_user import DeviceUser, device_user_of
from droidgate.shims.granting import GrantChange, grant_capabilities, revoke_capabilities
from droidgate.shims.host_client import EVERY_CAPABILITY
from droidgate.shims.refusals import ShimRefusalError
from droidgate.shims.shim_calls import call_shim
from droidgate_mappings.text.counted_nouns import amount


def call_and_report(options: shim_options.ShimCall) -> Report:
    """Call a capability and report its outputs.

    Raises:
        UsageError: the arguments are not a JSON object, or no shim, or more than one, offers the capability.
        InputError: another key than the user's, or the one that is named, signed the shim.
        ShimRefusalError: the call failed; 6 where a policy denies it, else 5.
        DeviceError: the phone or the shim fails.
    """
    arguments = read_arguments(options.arguments, options.values or ())
    device_user = device_user_of(connect_device(options.serial))
    try:
        answer = call_shim(
            device_user,
            options.capability,
            arguments,
            shim=options.shim,
            signed_by=options.signed_by,
            deadline_ms=None if options.deadline is None else round(options.deadline * 1000),
        )
    except ShimRefusalError as error:
        point_to_parameters(error, options.capability, options.serial)
        raise
    document = ShimCallDocument(
        serial=device_user.device.serial,
        application_id=answer.application_id,
        capability=answer.capability,
        outputs=answer.outputs,
    )
    return Report(lambda: output_lines(answer.outputs), lambda: document, is_data=True)


def grant_and_report(options: shim_options.ShimGrant) -> Report:
    """Grant capabilities to an agent and report each grant.

    Raises:
        UsageError: no capability is named, the agent is not installed, or no shim offers a capability.
        DeviceError: the phone or a shim fails.
    """
    device_user = device_user_of(connect_device(options.serial))
    capabilities = tuple(options.capability or ())
    return _report(device_user, grant_capabilities(device_user, options.agent, capabilities, options.shim))


def revoke_and_report(options: shim_options.ShimRevoke) -> Report:
    """Revoke grants of an agent and report how many there were.

    Raises:
        UsageError: no shim is installed, or none offers a capability.
        DeviceError: the phone or a shim fails.
    """
    device_user = device_user_of(connect_device(options.serial))
    capabilities = tuple(options.capability or ())
    return _report(device_user, revoke_capabilities(device_user, options.agent, capabilities, options.shim))


def _report(device_user: DeviceUser, changes: Sequence[GrantChange]) -> Report:
    return Report(
        lambda: [Line(one_line(line)) for line in _changed_lines(changes)],
        lambda: ShimGrantDocument(
            serial=device_user.device.serial, user=device_user.user, grants=tuple(changes)
        ),
    )


def _changed_lines(changes: Sequence[GrantChange]) -> list[str]:
    """Return a line for each change that a shim made; one line where none made any."""
    lines = [_describe(change) for change in changes if change.revoked != 0]
    if lines or not changes:
        return lines
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
