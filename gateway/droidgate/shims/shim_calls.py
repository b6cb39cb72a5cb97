"""Calling a capability through a shim, as the host."""

from __future__ import annotations

import secrets
from collections.abc import Mapping, Sequence
from typing import Final

from droidgate.devices.device_errors import DeviceOutputError
from droidgate.devices.packages import InstalledPackage
from droidgate.shims.device_user import DeviceUser, InstalledShim, installed_shims
from droidgate.shims.host_client import HostClient
from droidgate.shims.refusals import refusal_of
from droidgate.shims.scopes import load_scopes
from droidgate.shims.shim_facts import installed_facts
from droidgate_mappings.formats.installed import INSTALL_SHIM
from droidgate_mappings.model.errors import InputError, UsageError
from droidgate_mappings.model.json_values import Json
from droidgate_mappings.model.names import is_named
from droidgate_mappings.records import dataclass
from droidgate_mappings.tables.failure_tokens import FALLBACK
from droidgate_mappings.text.nearest_names import suggest_name
from droidgate_mappings.values.coercion import check_arguments
from droidgate_mobile_mcp.wire import (
    WIRE_DIALECTS,
    MalformedResponseError,
    MobileMcpResponse,
    read_response,
    write_request,
)
from droidgate_shim.builder.source_app import certificate_digest
from droidgate_shim.deadlines import SHORTEST_MS, check_seconds

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
        DeviceError: the device or the shim fails, or what came back does not answer this request.
    """
    identifier, request = new_request(capability, arguments)
    answered = client.call(request, deadline_ms=deadline_ms)
    return read_outputs(answered.response, identifier, capability, client.application_id)


def new_request(capability: str, arguments: Mapping[str, Json]) -> tuple[str, str]:
    """Return the id of a request, which nobody can guess, and its text."""
    identifier = secrets.token_hex(16)
    (request,) = write_request(WIRE_DIALECTS[_DIALECT], identifier, capability, arguments).values()
    return identifier, request


def read_outputs(text: str, identifier: str, capability: str, application_id: str) -> dict[str, Json]:
    """Return the outputs of a shim's response.

    Args:
        text: The response.
        identifier: The request's.
        capability: What was called, for errors.
        application_id: Which shim answered, for errors.

    Raises:
        ShimRefusalError: the call failed.
        DeviceError: it is not a response, or not to this request.
    """
    response = _read(text, application_id)
    # A request whose id cannot be read is refused without it.
    is_unread = not response.request_id and response.token is not None
    if response.request_id != identifier and not is_unread:
        raise DeviceOutputError(f"{application_id} call", "the answer is to another request")
    if not response.succeeded:
        raise refusal_of(response.token or FALLBACK, response.message or "", place=capability)
    return dict(response.outputs or {})


@dataclass(frozen=True, slots=True)
class ShimAnswer:
    """What a capability returned.

    Attributes:
        application_id: The shim that was called.
        capability: The capability's id.
        outputs: Name -> value.
    """

    application_id: str
    capability: str
    outputs: dict[str, Json]


def call_shim(
    device_user: DeviceUser,
    capability: str,
    arguments: Mapping[str, Json],
    *,
    shim: str | None = None,
    signed_by: str | None = None,
    deadline_ms: int | None = None,
) -> ShimAnswer:
    """Call a capability through the shim that offers it, if its signer is trusted.

    Args:
        device_user: The device.
        capability: Its id, the end of its id, or `APP.ID`.
        arguments: Name -> value.
        shim: Only this shim: its application id, or the package of its app.
        signed_by: SHA-256 of the certificate of a shim to trust that another key than the user's signed.
        deadline_ms: How long it may take, 1 to 150,000 milliseconds; the shim's own limit where it is None.

    Raises:
        UsageError: no shim, or more than one, offers the capability, the deadline is out of range, or the
            arguments are not a JSON object.
        InputError: another key than the user's, or the one that is named, signed the shim.
        ShimRefusalError: the call failed.
        DeviceError: the device or the shim fails.
    """
    if deadline_ms is not None:
        check_seconds(deadline_ms / 1000, SHORTEST_MS / 1000)
    check_arguments(arguments)
    packages = device_user.packages()
    chosen, identifier = shim_with(installed_shims(device_user, packages), capability, shim)
    check_signer(device_user, packages[chosen.application_id], signed_by)
    client = device_user.client(chosen.application_id)
    outputs = call_capability(client, identifier, arguments, deadline_ms=deadline_ms)
    return ShimAnswer(chosen.application_id, identifier, outputs)


def named_shims(shims: Sequence[InstalledShim], application_id: str | None) -> list[InstalledShim]:
    """Return the shims that a name means, all of them without a name.

    Args:
        shims: Those that are installed.
        application_id: The id of a shim, or the package of its app.

    Raises:
        UsageError: no shim is installed, or the name means none.
    """
    if not shims:
        hint = f"install some with: {INSTALL_SHIM}"
        raise UsageError("no shim is installed", hint=hint)
    matches = [
        shim
        for shim in shims
        if application_id in {None, shim.application_id} or application_id in shim.source_packages
    ]
    if not matches:
        names = [name for shim in shims for name in (shim.application_id, *shim.source_packages)]
        hint = suggest_name(application_id or "", dict.fromkeys(names), most=_MOST_NAMED)
        raise UsageError(f"{application_id!r} is not a shim of the phone", hint=hint)
    return matches


def shim_with(
    shims: Sequence[InstalledShim], capability: str, application_id: str | None
) -> tuple[InstalledShim, str]:
    """Return the shim that offers a capability, and the capability's id.

    Args:
        shims: Those that are installed.
        capability: The id, the end of the id, or `APP.ID`.
        application_id: Only this shim, or the one of this package.

    Raises:
        UsageError: none does, or several do and none was named.
    """
    candidates = named_shims(shims, application_id)
    offered = [(item, item.status.routes) for item in candidates if item.status]
    # A whole id is not taken before another app's end of an id, as in a call.
    offering = [
        (item, route)
        for item, routes in offered
        for route in ([capability] if capability in routes else routes)
        if route == capability or any(is_named(capability, name, route) for name in item.source_packages)
    ]
    if not offering:
        names = sorted({route for _, routes in offered for route in routes})
        choices = f"{suggest_name(capability, names, most=_MOST_NAMED)}; " if names else ""
        hint = f"{choices}see `droidgate shim status --details`"
        raise UsageError(f"no shim on the phone offers {capability!r}", hint=hint)
    if len(offering) > 1:
        ids = dict.fromkeys(item.application_id for item, _ in offering)
        routes = ", ".join(route for _, route in offering)
        hint = f"name the shim: {', '.join(ids)}" if len(ids) > 1 else f"name one: {routes}"
        raise UsageError(f"several shims on the phone offer {capability!r}", hint=hint)
    return offering[0]


def _read(text: str, application_id: str) -> MobileMcpResponse:
    try:
        response = read_response(text, carrier="bind")
    except MalformedResponseError as error:
        raise DeviceOutputError(f"{application_id} call", error.message, text=error.raw) from None
    if response is None:
        raise DeviceOutputError(f"{application_id} call", "it is not a response", text=text)
    return response


def check_signer(device_user: DeviceUser, shim: InstalledPackage, signed_by: str | None) -> None:
    """Check that a shim is one of the user's: any app may call itself a shim.

    Args:
        device_user: The device.
        shim: The shim.
        signed_by: SHA-256 of the certificate to trust instead of the user's own.

    Raises:
        InputError: another key signed it, or its APK cannot be read.
        UsageError: `signed_by` is not a SHA-256.
    """
    trusted = _own_signers(device_user) if signed_by is None else {certificate_digest(signed_by)}
    facts = installed_facts(device_user, shim)
    signer = None if facts is None else facts.signer
    if signer is None or signer not in trusted:
        message = "your key did not sign this shim" if signed_by is None else "another key signed this shim"
        replaced = f"`droidgate shim uninstall {shim.name}`, then `{INSTALL_SHIM}`"
        trusted_by = f", or trust this one with --signed-by {signer}" if signer else ""
        hint = f"replace it with your own: {replaced}{trusted_by}"
        raise InputError(message, place=shim.name, hint=hint)


def _own_signers(device_user: DeviceUser) -> set[str]:
    """Return the certificates' digests of the keys that sign the user's shims there."""
    # Calls of Android's own shell need no key.
    from droidgate_android.apk.signing_keys import key_path, load_key

    keys = {scope.options.key for scope in load_scopes(device_user.device)} or {None}
    paths = {key_path() if key is None else key for key in keys}
    return {load_key(path).digest for path in paths if path.exists()}
