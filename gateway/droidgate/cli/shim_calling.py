"""What `shim call` does."""

from __future__ import annotations

from droidgate.cli.exit_codes import ExitCode
from droidgate.cli.json_output import json_text, print_json
from droidgate.cli.pages import Line, show
from droidgate.cli.safe_text import one_line
from droidgate.cli.shim_documents import ShimCallDocument
from droidgate.devices.device import open_device
from droidgate.model.errors import InputError, UsageError
from droidgate.model.json_values import Json
from droidgate.parsing.json_text import parse_json
from droidgate_shim.host.calling import call_capability, shim_with
from droidgate_shim.host.place import installed_shims, place_of


def call_and_report(
    capability: str,
    arguments: str,
    shim: str | None,
    serial: str | None,
    *,
    deadline_ms: int | None,
    as_json: bool,
) -> int:
    """Call a capability and show its outputs.

    Raises:
        UsageError: the arguments are no JSON object, or no shim, or more than one, offers the capability.
        ShimRefusalError: the call failed; 6 where a policy denies it, else 5.
        DeviceError: the phone or the shim fails.
    """
    given = _read_arguments(arguments)
    place = place_of(open_device(serial))
    chosen = shim_with(installed_shims(place), capability, shim)
    client = place.client(chosen.application_id)
    outputs = call_capability(client, capability, given, deadline_ms=deadline_ms)
    if as_json:
        print_json(
            ShimCallDocument(
                serial=place.device.serial,
                application_id=chosen.application_id,
                capability=capability,
                outputs=outputs,
            )
        )
    elif outputs:
        show([Line(f"{one_line(name)}: {_shown(value)}") for name, value in outputs.items()])
    else:
        show([Line("done; it returns nothing")])
    return ExitCode.OK


def _read_arguments(text: str) -> dict[str, Json]:
    try:
        value = parse_json(text, path="--args")
    except InputError as error:
        raise UsageError(f"--args is no JSON: {error.message}", place=error.place) from None
    if not isinstance(value, dict):
        raise UsageError("--args is no JSON object", hint='Such as --args \'{"date": "2026-03-01"}\'')
    return value


def _shown(value: Json) -> str:
    return value if isinstance(value, str) else json_text(value).strip()
