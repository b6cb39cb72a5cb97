"""Lending the shell's identity to one app, `dev.droidgate.shim`, which calls app functions for all shims
(shim.md 4; reference android-runtime 1.8, appfunctions 7.3).
"""

from __future__ import annotations

import time
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from droidgate.devices.quoting import check_component, check_user
from droidgate.devices.service_shells import app_function_shell
from droidgate.shims.answers import Hello, StatusAnswer
from droidgate.shims.device_user import DeviceUser
from droidgate.shims.host_client import HostClient
from droidgate.shims.installation_steps import (
    APP_FUNCTION_ALLOWLIST_SDK,
    APP_FUNCTIONS,
    APP_FUNCTIONS_SDK,
    Installation,
    InstallationStep,
    install_archive,
    not_needed,
    remove_shim,
    run_step,
)
from droidgate.shims.shim_facts import ShimFacts, installed_facts
from droidgate_mappings.formats.installed import SHIM_PACKAGE, is_shim
from droidgate_mappings.model.errors import DroidgateError
from droidgate_shim.builder.shim_manifest import INSTRUMENTATION

if TYPE_CHECKING:
    from droidgate_android.apk.signing_keys import SigningKey

INSTALL: Final = f"install {SHIM_PACKAGE}, which calls app functions for all shims"
LEND: Final = "start its instrumentation, with which it borrows the shell's permission to call app functions"
ALLOWLIST_READ: Final = "let Android read its list of agents anew"
ALLOWLIST: Final = "be on Android's list of agents that may call app functions"
REMOVE: Final = f"remove {SHIM_PACKAGE}, as no shim is left that calls app functions"
END: Final = "end its instrumentation, as no shim is left that calls app functions"

END_COMMAND: Final = f"am force-stop {SHIM_PACKAGE}"
"""What ends the instrumentation by hand."""

_PURGE: Final = "purge-allowlist-cache"
_AGENTS: Final = "2"
"""Number of the list of agents, as Google's own testing agent names it (reference appfunctions 7.3)."""

_SECONDS_TO_LEND: Final = 10.0
_PAUSE: Final = 0.25

_REMOVE_IT: Final = (
    f"remove it with `droidgate shim uninstall {SHIM_PACKAGE}`, then install all shims with one key (--key)"
)
_ONLY_KEY: Final = "only the key that signed the shims can sign it; name it with --key"


def needs_identity(device_user: DeviceUser, shims: Iterable[ShimFacts]) -> bool:
    """Return whether one of these shims calls app functions, and the device has them."""
    return device_user.sdk >= APP_FUNCTIONS_SDK and any(shim.calls_functions for shim in shims)


def set_up_identity(
    device_user: DeviceUser, shims: Sequence[ShimFacts], key: SigningKey | None
) -> Installation:
    """Let `dev.droidgate.shim` call app functions for these shims; what is so already stays as it is.

    Args:
        device_user: Where.
        shims: The shims that are installed.
        key: Signs `dev.droidgate.shim` where it has to be installed; None where no key is at hand.

    Raises:
        DeviceError: the device fails; what Android refuses is a step of the record.
    """
    callers = [shim for shim in shims if shim.calls_functions]
    first, signer = _be_installed(device_user, {caller.signer for caller in callers}, key)
    if first.outcome == "refused":
        return Installation(SHIM_PACKAGE, (first,), None)
    client = device_user.client(SHIM_PACKAGE)
    status = _status_of(client)
    steps = [first, *_lend(device_user, client, signer, status)]
    steps += [_unserved(caller) for caller in callers if caller.signer != signer]
    hello: Hello | None = status or _status_of(client)
    return Installation(SHIM_PACKAGE, tuple(steps), hello)


def release_identity(device_user: DeviceUser, signers: Collection[str]) -> InstallationStep | None:
    """Remove `dev.droidgate.shim`, or end its instrumentation, where no shim needs it any more.

    Args:
        device_user: Where.
        signers: Keys of the shims that it was installed for; one that another key signed stays.

    Returns:
        What was done; None where nothing had to be.

    Raises:
        DeviceError: the device fails.
    """
    packages = device_user.packages()
    facts = {name: installed_facts(device_user, packages[name]) for name in sorted(filter(is_shim, packages))}
    holder = facts.get(SHIM_PACKAGE)
    if holder is None or holder.signer not in signers:
        return None
    if any(fact is None or fact.calls_functions for fact in facts.values()):
        return None
    if holder.is_bare:
        return replace(remove_shim(device_user, SHIM_PACKAGE), what=REMOVE)
    return end_instrumentation(device_user) if is_lending(device_user.client(SHIM_PACKAGE)) else None


def end_instrumentation(device_user: DeviceUser) -> InstallationStep:
    """End the instrumentation, and with it the process of `dev.droidgate.shim`."""
    words = ["am", "force-stop", "--user", check_user(device_user.user), SHIM_PACKAGE]
    return run_step(device_user.device, END, words, accept=lambda result: not result.stderr.strip())


def is_lending(client: HostClient) -> bool:
    """Return whether the instrumentation runs and can borrow the permission, as the shim says."""
    status = _status_of(client)
    return status is not None and status.access.execute_app_functions


def list_as_agent(device_user: DeviceUser, application_id: str, signer: str) -> Iterator[InstallationStep]:
    """Put a shim on the list of agents; Android's service for that is not on every build."""
    commands = app_function_shell(device_user.device).commands
    if _PURGE in commands:
        yield run_step(
            device_user.device,
            ALLOWLIST_READ,
            ["cmd", "app_function", _PURGE],
            accept=lambda result: not result.stderr,
        )
    arguments = ["cmd", "allowlist", "add-package-multimap", _AGENTS, f"{application_id}:{signer}", "*"]
    yield run_step(device_user.device, ALLOWLIST, arguments, accept=lambda result: not result.stderr.strip())


def start_instrumentation(device_user: DeviceUser, client: HostClient) -> InstallationStep:
    """Start the instrumentation, which borrows the shell's EXECUTE_APP_FUNCTIONS while calls are open.

    It lasts as long as the command on the device, so the command stays there in the background. It ends with
    a restart of the device, when the shim is installed anew, or by `END_COMMAND`.
    """
    step = run_instrumentation(device_user, f"{client.application_id}/{INSTRUMENTATION}")
    if step.outcome != "done":
        return step
    if _wait_for_permission(client):
        reason = f"until the device restarts (then `droidgate shim install`), or `{END_COMMAND}`"
        return replace(step, why=reason)
    reason = (
        "it does not run after it, or another instrumentation has the shell's permissions; shims of earlier "
        "versions have one each, until `droidgate shim sync`"
    )
    return replace(step, outcome="refused", why=reason)


def run_instrumentation(device_user: DeviceUser, component: str) -> InstallationStep:
    """Start an instrumentation whose command stays on the device in the background."""
    command = f"am instrument -w --user {check_user(device_user.user)} '{check_component(component)}'"
    script = f"{command} </dev/null >/dev/null 2>&1 &"
    step = run_step(
        device_user.device, LEND, ["sh", "-c", script], accept=lambda result: not result.stderr.strip()
    )
    return replace(step, outcome="done" if step.outcome == "done" else "refused", command=f"{command} &")


def _be_installed(
    device_user: DeviceUser, signers: Collection[str], key: SigningKey | None
) -> tuple[InstallationStep, str]:
    """Return the outcome, and the digest of the certificate that signed what is there."""
    package = device_user.packages().get(SHIM_PACKAGE)
    installed = None if package is None else installed_facts(device_user, package)
    own = key if key is not None and key.digest in signers else None
    if package is not None and installed is None:
        return _refuse(f"an app with this id is installed that cannot be read as a shim; {_REMOVE_IT}")
    if installed is not None and installed.signer not in signers:
        return _refuse(f"it is installed, signed with another key than the shims; {_REMOVE_IT}")
    if installed is not None and not installed.is_bare:
        return not_needed(INSTALL, "it is installed"), installed.signer
    # What only asks about shims makes none.
    from droidgate_shim.builder.shims import build_bare_shim

    built = None if own is None else build_bare_shim(own)
    if installed is not None and (built is None or built.build == installed.build):
        return not_needed(INSTALL, "it is installed"), installed.signer
    if built is None or own is None:
        return _refuse(_ONLY_KEY)
    return replace(install_archive(device_user, built.apk, built.file_name), what=INSTALL), own.digest


def _refuse(reason: str) -> tuple[InstallationStep, str]:
    return InstallationStep(INSTALL, "refused", why=reason), ""


def _lend(
    device_user: DeviceUser, client: HostClient, signer: str, status: StatusAnswer | None
) -> Iterator[InstallationStep]:
    if status is not None and status.access.execute_app_functions:
        yield not_needed(LEND, "it runs already")
        return
    if device_user.sdk >= APP_FUNCTION_ALLOWLIST_SDK:
        yield from list_as_agent(device_user, client.application_id, signer)
    yield start_instrumentation(device_user, client)


def _unserved(shim: ShimFacts) -> InstallationStep:
    why = f"{SHIM_PACKAGE} serves only shims that its own key signed; sign all shims with one key (--key)"
    return InstallationStep(f"{APP_FUNCTIONS} for {shim.application_id}", "refused", why=why)


def _status_of(client: HostClient) -> StatusAnswer | None:
    try:
        return client.status()
    except DroidgateError:
        # Starting an instrumentation ends the app's process, and such a call with it. The next command says
        # whether it was the device.
        client.device.run(["true"])
        return None


def _wait_for_permission(client: HostClient) -> bool:
    end = time.monotonic() + _SECONDS_TO_LEND
    while not is_lending(client):
        if time.monotonic() >= end:
            return False
        time.sleep(_PAUSE)
    return True
