"""Installing the agent app, twice: under two application ids it is two callers to Android. And,
for a while, the app that is checked.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from pathlib import Path

from droidgate.agents.agent_client import AGENTS, AgentClient
from droidgate.devices.app_installation import install_apks, uninstall
from droidgate.shims.building import chosen_key
from droidgate.shims.device_user import DeviceUser
from droidgate_android.apk.apk_application import read_application
from droidgate_android.apk.reader import open_apk
from droidgate_mappings.model.errors import DeviceError, InputError
from droidgate_shim.builder.sample_apps import agent_apk


def install_agents(
    device_user: DeviceUser, key: Path | None, report: Callable[[str], None]
) -> tuple[AgentClient, ...]:
    """Install both agents, or replace them, and be sure that each answers.

    Args:
        device_user: The phone.
        key: PEM file of the key that signs; the user's own where it is None, which may be made.
        report: Is called with a line where a key is made.

    Raises:
        InputError: the key cannot be read.
        DeviceError: the phone fails, or refuses.
    """
    return tuple(_install(device_user, application_id, key, report) for application_id in AGENTS)


def _install(
    device_user: DeviceUser, application_id: str, key: Path | None, report: Callable[[str], None]
) -> AgentClient:
    apk = agent_apk(application_id, chosen_key(key, report).signing)
    install_apks(device_user.device, {f"{application_id}.apk": apk}, user=device_user.user)
    client = AgentClient(device_user.device, application_id, user=device_user.user)
    client.hello()
    return client


def uninstall_agents(device_user: DeviceUser) -> tuple[str, ...]:
    """Remove the agents that are installed, and return their application ids.

    Raises:
        DeviceError: the phone fails, or refuses.
    """
    installed = device_user.packages()
    application_ids = tuple(item for item in AGENTS if item in installed)
    for application_id in application_ids:
        uninstall(device_user.device, application_id, user=device_user.user)
    return application_ids


@contextmanager
def installed_agents(
    device_user: DeviceUser, report: Callable[[str], None]
) -> Iterator[tuple[AgentClient, AgentClient]]:
    """Yield both agents; those that were not installed before are removed at the end.

    Raises:
        DeviceError: the phone fails, or refuses.
    """
    installed = device_user.packages()
    missing = [item for item in AGENTS if item not in installed]
    first, second = (AgentClient(device_user.device, item, user=device_user.user) for item in AGENTS)
    with _removed_at_the_end(device_user, missing, report):
        for application_id in missing:
            _install(device_user, application_id, None, report)
        yield first, second


@contextmanager
def _removed_at_the_end(
    device_user: DeviceUser, packages: Collection[str], report: Callable[[str], None]
) -> Iterator[None]:
    try:
        yield
    finally:
        try:
            for package in packages and device_user.packages().keys() & set(packages):
                uninstall(device_user.device, package, user=device_user.user)
        except DeviceError:
            commands = ", ".join(f"adb uninstall {package}" for package in packages)
            report(f"left on the phone; remove with: {commands}")
            raise


@contextmanager
def installed_app(device_user: DeviceUser, path: Path, report: Callable[[str], None]) -> Iterator[str]:
    """Install an APK with all permissions that it requests, and yield its package; it is removed at the end.

    An app that was installed before is replaced, with the permissions that it has, and stays.

    Raises:
        InputError: the file is not an APK.
        DeviceError: the phone fails, or refuses.
    """
    with open_apk(path) as apk:
        package = read_application(apk).package
    if package is None:
        raise InputError("the manifest names no package", place=str(path))
    was_installed = package in device_user.packages()
    with _removed_at_the_end(device_user, () if was_installed else (package,), report):
        apks = {"base.apk": path.read_bytes()}
        install_apks(device_user.device, apks, user=device_user.user, grant=not was_installed)
        report(f"{package} is {'replaced, and stays' if was_installed else 'installed for the check'}")
        yield package
