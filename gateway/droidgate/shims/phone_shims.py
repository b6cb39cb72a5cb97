"""The shims of a phone, as Python values."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from os import PathLike
from pathlib import Path
from typing import Protocol

from droidgate.devices.device import Device
from droidgate.shims.building import ignore
from droidgate.shims.device_user import InstalledShim, device_user_of, installed_shims
from droidgate.shims.doctor import DoctorCheck, examine
from droidgate.shims.granting import GrantChange, grant_capabilities, revoke_capabilities
from droidgate.shims.installations import (
    InstalledShims,
    InstallRequest,
    RemovedShims,
    install_prepared,
    prepare_shims,
    uninstall_shims,
)
from droidgate.shims.shim_calls import ShimAnswer, call_shim
from droidgate.shims.sync_runs import SyncedChange, carry_out, plan_sync
from droidgate.sources.source_schemes import source_names
from droidgate_mappings.model.json_values import Json
from droidgate_shim.builder.shim_choices import ShimOptions


class _ReachedPhone(Protocol):
    @property
    def device(self) -> Device: ...


class PhoneShims:
    """The shims of a phone, for the user in front.

    Args:
        phone: What `open_device` returns.

    Raises:
        DeviceError: the phone fails; so does each method.
    """

    def __init__(self, phone: _ReachedPhone) -> None:
        self._device_user = device_user_of(phone.device)

    def installed(self) -> tuple[InstalledShim, ...]:
        """Return the shims by application id, each with its status or why it does not answer."""
        return installed_shims(self._device_user)

    def check(self) -> tuple[DoctorCheck, ...]:
        """Return what each check of `droidgate shim doctor` found, with the fix of each problem."""
        return examine(self._device_user, self.installed())

    def install(
        self,
        *sources: str | PathLike[str],
        apks: Collection[str | PathLike[str]] = (),
        any_app: bool | None = None,
        options: ShimOptions | None = None,
    ) -> InstalledShims:
        """Install shims and set them up; without sources and APKs set up those that are installed.

        Args:
            sources: Apps to build shims for, as `build_shim` takes them; `adb:` is this phone.
            apks: Shims that were built before, or their folders, instead.
            any_app: Let every app on the phone use the shims, or take that back; None leaves it as it is.
            options: How the shims of these apps are made, where that is not the default.

        Raises:
            InputError: a source or an APK cannot be read, or nothing in it can be offered.
            UsageError: sources and APKs are named at once, or options without sources.
        """
        request = InstallRequest(
            tuple(source_names(sources)) if sources else (),
            tuple(map(Path, apks)),
            options or ShimOptions(),
            any_app=any_app,
        )
        prepared = prepare_shims(self._device_user, request, ignore)
        return install_prepared(self._device_user, request, prepared, ignore)

    def sync(self) -> list[SyncedChange]:
        """Build and install shims of added or changed apps, and remove those of removed apps.

        Raises:
            InputError: an app or the key cannot be read.
        """
        return carry_out(plan_sync(self._device_user, ignore), ignore)

    def call(
        self,
        capability: str,
        arguments: Mapping[str, Json],
        *,
        shim: str | None = None,
        signed_by: str | None = None,
        deadline_ms: int | None = None,
    ) -> ShimAnswer:
        """Call a capability through the shim that offers it, if its signer is trusted.

        Args:
            capability: Its id.
            arguments: Name -> value.
            shim: Only this shim: its application id, or the package of its app.
            signed_by: SHA-256 of the certificate of a shim to trust that another key than the user's signed.
            deadline_ms: How long it may take, 1 to 150,000 milliseconds.

        Raises:
            UsageError: no shim, or more than one, offers the capability.
            InputError: the shim's signer is not trusted.
            ShimRefusalError: the call failed; the error has the failure's token.
        """
        return call_shim(
            self._device_user, capability, arguments, shim=shim, signed_by=signed_by, deadline_ms=deadline_ms
        )

    def grant(self, agent: str, *capabilities: str, shim: str | None = None) -> list[GrantChange]:
        """Let an agent call capabilities without a question on the phone; a grant that exists stays.

        The grant holds for the app with the certificate that it has now.

        Args:
            agent: The package of an installed app, or `any-app` for every app.
            capabilities: Their ids; `*` for all of the shim.
            shim: Only this shim: its application id, or the package of its app.

        Raises:
            UsageError: no capability is named, the agent is not installed, or no shim, or several, offer one.
        """
        return grant_capabilities(self._device_user, agent, capabilities, shim)

    def revoke(self, agent: str, *capabilities: str, shim: str | None = None) -> list[GrantChange]:
        """Revoke grants of an agent: those for the named capabilities, or all.

        Args:
            agent: A package, or `any-app`; it need not be installed any more.
            capabilities: Their ids; none for all grants of the agent.
            shim: Only this shim; all shims by default.

        Raises:
            UsageError: no shim is installed, or none offers a capability.
        """
        return revoke_capabilities(self._device_user, agent, capabilities, shim)

    def uninstall(self, *names: str) -> RemovedShims:
        """Remove shims, by application id or package of their app; all of them without a name.

        Raises:
            UsageError: a name is not that of a shim of the phone.
        """
        return uninstall_shims(self._device_user, names, every_shim=not names, report=ignore)
