"""Calling a capability through a shim, as the host."""

from __future__ import annotations

import secrets
from collections.abc import Mapping, Sequence
from typing import Final

from droidgate.devices.errors import DeviceOutputError
from droidgate.model.errors import UsageError
from droidgate.model.json_values import Json
from droidgate_mappings.failure_tokens import FALLBACK
from droidgate_mobile_mcp.wire import (
    WIRE_DIALECTS,
    MalformedResponseError,
    Response,
    read_response,
    write_request,
)
from droidgate_shim.host.client import HostClient
from droidgate_shim.host.errors import refusal_of
from droidgate_shim.host.place import InstalledShim

_DIALECT: Final = "S1"
_MOST_NAMED: Final = 10


def call_capability(
    client: HostClient, capability: str, arguments: Mapping[str, Json], *, deadline_ms: int | None = None
) -> dict[str, Json]:
    """Call a capability and return its outputs by name.

    Args:
        client: The shim.
        capability: Its id there.
        arguments: Name -> value.
        deadline_ms: How long it may take; the route's own deadline where it is None.

    Raises:
        ShimRefusalError: it failed; the error has the failure's token, and exits with 6 where it is denied.
        DeviceError: the device or the shim fails, or what came back is no answer to this request.
    """
    identifier = secrets.token_hex(16)
    (request,) = write_request(WIRE_DIALECTS[_DIALECT], identifier, capability, arguments).values()
    response = _read(client.call(request, deadline_ms=deadline_ms), client)
    # A request whose id cannot be read is refused without it.
    is_unread = not response.request_id and response.token is not None
    if response.request_id != identifier and not is_unread:
        raise DeviceOutputError(f"{client.application_id} call", "the answer is to another request")
    if not response.succeeded:
        raise refusal_of(response.token or FALLBACK, response.message or "", place=capability)
    return dict(response.outputs or {})


def shim_with(shims: Sequence[InstalledShim], capability: str, application_id: str | None) -> InstalledShim:
    """Return the shim that offers a capability.

    Args:
        shims: Those that are installed.
        capability: The capability's id.
        application_id: Only this shim, or the one of this package.

    Raises:
        UsageError: none does, or several do and none was named.
    """
    if not shims:
        hint = "Install some with: droidgate shim install --from adb:"
        raise UsageError("no shim is installed", hint=hint)
    named = [
        one
        for one in shims
        if application_id in {None, one.application_id} or application_id in one.source_packages
    ]
    if not named:
        hint = f"There are: {', '.join(one.application_id for one in shims)}"
        raise UsageError(f"{application_id!r} is no shim of the phone", hint=hint)
    offering = [one for one in named if one.status is not None and capability in one.status.routes]
    if not offering:
        offered = sorted({route for one in named if one.status is not None for route in one.status.routes})
        more = f" and {len(offered) - _MOST_NAMED} more" if len(offered) > _MOST_NAMED else ""
        told = f"There are: {', '.join(offered[:_MOST_NAMED])}{more}. " if offered else ""
        hint = f"{told}See `droidgate shim status`"
        raise UsageError(f"no shim on the phone offers {capability!r}", hint=hint)
    if len(offering) > 1:
        hint = f"Name one with --shim: {', '.join(one.application_id for one in offering)}"
        raise UsageError(f"several shims on the phone offer {capability!r}", hint=hint)
    return offering[0]


def _read(text: str, client: HostClient) -> Response:
    try:
        response = read_response(text, carrier="bind")
    except MalformedResponseError as error:
        raise DeviceOutputError(f"{client.application_id} call", error.message, text=error.raw) from None
    if response is None:
        raise DeviceOutputError(f"{client.application_id} call", "it is no response", text=text)
    return response
