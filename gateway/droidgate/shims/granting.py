"""Granting capabilities of shims to agents, and revoking the grants (shim.md 3, 7)."""

from __future__ import annotations

from collections.abc import Sequence

from droidgate.devices.packages import InstalledPackage
from droidgate.devices.remote_apk import open_remote_apk
from droidgate.shims.device_user import DeviceUser, InstalledShim, installed_package, installed_shims
from droidgate.shims.host_client import ANY_APP, EVERY_CAPABILITY
from droidgate.shims.shim_calls import named_shims, shim_with
from droidgate_android.apk.reader import open_apk
from droidgate_mappings.model.errors import DeviceError, UsageError, option_hint
from droidgate_mappings.records import dataclass
from droidgate_mappings.text.counted_nouns import amount


@dataclass(frozen=True, slots=True)
class GrantChange:
    """The outcome of one grant.

    Attributes:
        application_id: The shim.
        agent: The package of the agent, or `any-app`.
        signer: SHA-256 of the agent's certificate, hexadecimal; None for `any-app` and for a revoked grant.
        capability: The capability's id; `*` for all of the shim.
        revoked: How many grants were removed; None where one was added.
    """

    application_id: str
    agent: str
    signer: str | None
    capability: str
    revoked: int | None = None


def grant_capabilities(
    device_user: DeviceUser, agent: str, capabilities: Sequence[str], application_id: str | None = None
) -> list[GrantChange]:
    """Let an agent call capabilities; a grant that exists stays.

    Args:
        device_user: The device.
        agent: The package of an installed app, or `any-app`.
        capabilities: Their ids, or ends of them; `*` for all of the shim that is named.
        application_id: The shim, or the package of its app; needed for `*` and for an id of several shims.

    Raises:
        UsageError: no capability is named, the agent is not installed, or the shim that offers one is not
            known.
        DeviceError: the device or a shim fails.
    """
    if not capabilities:
        raise UsageError(
            "no capability is named",
            hint=option_hint(
                "name some with {}, or '*' for all of a shim", "--capability ID", "capabilities="
            ),
        )
    packages = device_user.packages()
    signer = None if agent == ANY_APP else _signer_of(device_user, installed_package(packages, agent))
    changes = []
    for shim, capability in _shims_of(installed_shims(device_user, packages), capabilities, application_id):
        device_user.client(shim.application_id).grant(agent, capability, signer=signer)
        changes.append(GrantChange(shim.application_id, agent, signer, capability))
    return changes


def revoke_capabilities(
    device_user: DeviceUser, agent: str, capabilities: Sequence[str], application_id: str | None = None
) -> list[GrantChange]:
    """Revoke grants of an agent, which need not be installed any more.

    Args:
        device_user: The device.
        agent: A package, or `any-app`.
        capabilities: Their ids; none, or `*`, for all grants of the agent.
        application_id: The shim, or the package of its app; all shims where it is None.

    Raises:
        UsageError: no shim is installed, or none offers a capability.
        DeviceError: the device or a shim fails. Where a shim does not answer, the grants of the others are
            revoked.
    """
    shims = installed_shims(device_user)
    silent: list[str] = []
    if capabilities and EVERY_CAPABILITY not in capabilities:
        chosen = _shims_of(shims, capabilities, application_id)
    else:
        named = _shims_named(shims, application_id)
        chosen = [(shim, EVERY_CAPABILITY) for shim in named if shim.status is not None]
        silent = [shim.application_id for shim in named if shim.status is None]
    changes = [
        GrantChange(
            shim.application_id,
            agent,
            None,
            capability,
            device_user.client(shim.application_id).revoke(agent, capability),
        )
        for shim, capability in chosen
    ]
    if silent:
        message = f"a shim that does not answer keeps its grants: {', '.join(silent)}"
        revoked = sum(change.revoked or 0 for change in changes)
        hint = f"{amount(revoked, 'grant')} of the other shims revoked; see `droidgate shim doctor`"
        raise DeviceError(message, place=device_user.device.serial, hint=hint)
    return changes


def _shims_of(
    shims: Sequence[InstalledShim], capabilities: Sequence[str], application_id: str | None
) -> list[tuple[InstalledShim, str]]:
    chosen = []
    for capability in dict.fromkeys(capabilities):
        if capability != EVERY_CAPABILITY:
            chosen.append(shim_with(shims, capability, application_id))
            continue
        candidates = _shims_named(shims, application_id)
        if len(candidates) > 1:
            identifiers = ", ".join(shim.application_id for shim in candidates)
            raise UsageError(
                "all capabilities of several shims cannot be granted at once",
                hint=option_hint(f"name one with {{}}: {identifiers}", "--shim", "application_id="),
            )
        chosen.append((candidates[0], capability))
    return chosen


def _shims_named(shims: Sequence[InstalledShim], application_id: str | None) -> list[InstalledShim]:
    """Return the shims with capabilities that a name means."""
    return named_shims([shim for shim in shims if not shim.is_bare], application_id)


def _signer_of(device_user: DeviceUser, package: InstalledPackage) -> str:
    with open_apk(open_remote_apk(device_user.device, package)) as apk:
        digests = apk.signer_digests(device_user.sdk)
    if len(digests) != 1:
        raise DeviceError(
            f"{len(digests)} certificates sign it, and a grant needs exactly one",
            place=package.name,
            hint="answer the question on the phone instead",
        )
    return digests[0]
