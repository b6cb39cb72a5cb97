"""Asking apps that list their tools only in answer to a broadcast: the bare shim on the phone sends it."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from typing import Final

from droidgate.devices.app_installation import install_apks, uninstall
from droidgate.shims.device_user import DeviceUser
from droidgate.shims.host_client import HostClient
from droidgate.shims.installation_steps import InstallationStep
from droidgate.shims.shell_identity import is_lending
from droidgate_android.apk.signing_keys import SigningKey
from droidgate_mappings.formats.installed import SHIM_PACKAGE
from droidgate_mappings.model.errors import DeviceError, DroidgateError, InputError
from droidgate_mappings.records import dataclass
from droidgate_mappings.timed_steps import whole_step
from droidgate_shim.builder.shims import build_bare_shim
from droidgate_shim.builder.source_app import SourceApp, complete_broadcast, without_answer

ASK: Final = "ask an app by broadcast for its tools"


@dataclass(frozen=True, slots=True)
class DiscoveredApps:
    """Apps with the tools that their receivers listed, and the outcome of asking each."""

    apps: tuple[SourceApp, ...]
    steps: tuple[InstallationStep, ...] = ()


def ask_broadcast_apps(device_user: DeviceUser, apps: Sequence[SourceApp], key: SigningKey) -> DiscoveredApps:
    """Ask the receivers whose tools are not known yet.

    The shim `dev.droidgate.shim` asks. Where none is installed, the bare one is, and removed again. One that
    is there stays: it may call app functions for the other shims.

    Args:
        device_user: The phone that the apps are on.
        apps: The apps.
        key: Signs the bare shim.

    Returns:
        The apps; one that is not on this phone, or does not answer, is as it was.

    Raises:
        DeviceError: the phone fails.
    """
    packages = device_user.packages()
    if not any(app.unasked_components for app in apps if app.package in packages):
        return DiscoveredApps(tuple(apps))
    with _asking_shim(device_user, key, is_installed=SHIM_PACKAGE in packages) as client:
        steps: list[InstallationStep] = []
        asked_apps = [_ask_app(client, app, steps) if app.package in packages else app for app in apps]
    return DiscoveredApps(tuple(asked_apps), tuple(steps))


@contextlib.contextmanager
def _asking_shim(device_user: DeviceUser, key: SigningKey, *, is_installed: bool) -> Iterator[HostClient]:
    client = device_user.client(SHIM_PACKAGE)
    with contextlib.ExitStack() as stack:
        if not is_installed:
            bare = build_bare_shim(key)
            with whole_step():
                install_apks(device_user.device, {"base.apk": bare.apk}, user=device_user.user)
                stack.callback(_remove_asking_shim, device_user, client)
        yield client


def _remove_asking_shim(device_user: DeviceUser, client: HostClient) -> None:
    with whole_step(), contextlib.suppress(DeviceError):
        # Somebody who installed shims meanwhile may let it call app functions for them.
        if not is_lending(client):
            uninstall(device_user.device, SHIM_PACKAGE, user=device_user.user)


def _ask_app(client: HostClient, app: SourceApp, steps: list[InstallationStep]) -> SourceApp:
    for name in app.unasked_components:
        component = f"{app.package}/{name}"
        try:
            tools = client.discover_broadcast(component)
            app = complete_broadcast(app, name, tools)
        except DroidgateError as error:
            if not isinstance(error, InputError):
                # The next command says whether it was the phone or only this app.
                client.device.run(["true"])
            app = without_answer(app, name, error)
            steps.append(InstallationStep(f"{ASK}: {component}", "refused", why=error.message))
        else:
            steps.append(InstallationStep(f"{ASK}: {component}", "done", why=f"{len(tools)} tools"))
    return app
