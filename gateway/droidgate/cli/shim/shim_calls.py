"""What `shim call` does."""

from __future__ import annotations

from droidgate.cli.calls.outputs import show_outputs
from droidgate.cli.calls.typed_arguments import read_arguments
from droidgate.cli.exit_codes import ExitCode
from droidgate.cli.output.json_output import print_json
from droidgate.cli.shim.shim_outputs import ShimCallDocument
from droidgate.devices.device import connect_device
from droidgate.shims.calling import call_shim
from droidgate.shims.place import place_of


def call_and_report(
    capability: str,
    arguments: str,
    shim: str | None,
    serial: str | None,
    *,
    signed_by: str | None,
    deadline_ms: int | None,
    as_json: bool,
) -> int:
    """Call a capability and show its outputs.

    Raises:
        UsageError: the arguments are not a JSON object, or no shim, or more than one, offers the capability.
        InputError: another key than the user's, or the one that is named, signed the shim.
        ShimRefusalError: the call failed; 6 where a policy denies it, else 5.
        DeviceError: the phone or the shim fails.
    """
    given = read_arguments(arguments)
    place = place_of(connect_device(serial))
    answer = call_shim(place, capability, given, shim=shim, signed_by=signed_by, deadline_ms=deadline_ms)
    outputs = answer.outputs
    if as_json:
        print_json(
            ShimCallDocument(
                serial=place.device.serial,
                application_id=answer.application_id,
                capability=capability,
                outputs=outputs,
            )
        )
    else:
        show_outputs(outputs)
    return ExitCode.OK
