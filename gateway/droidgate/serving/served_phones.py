"""A phone that is served: what its apps declare, read again when an app or a listing has changed."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from droidgate.calls.caller import CapabilityCaller
from droidgate.calls.subjects import CapabilityKey
from droidgate.calls.targets import CallTarget, ScreenTarget
from droidgate.devices.packages import InstalledPackage, list_packages
from droidgate.devices.properties import current_user
from droidgate.sources.phone_source import digest_of_lists, listings_changed
from droidgate_mappings.model.types import ScalarType
from droidgate_mappings.records import dataclass, field
from droidgate_mappings.values.failures import CallError


@dataclass(slots=True)
class ServedPhone:
    """One phone.

    Attributes:
        serial: As the user named it; None for the only one that is attached.
        connect: Returns what calls its apps. Raises `DeviceError` while it is not there.
        caller: What calls its apps, None until the phone was first reached.
        packages: What was installed when its apps were read.
        targets: What its apps declare and can be called.
        failures: Why each call of a capability that is left out would fail.
        declared: What its apps declare, whether it can be called or not.
        sdk_full: Its API level.
        screens: MobileAgent's commands are served too.
        digest: Of the phone's lists at the last check that found `targets` current; None before that.
    """

    serial: str | None
    connect: Callable[[], CapabilityCaller]
    caller: CapabilityCaller | None = None
    packages: frozenset[InstalledPackage] = frozenset()
    targets: tuple[CallTarget, ...] = ()
    failures: dict[CapabilityKey, CallError] = field(default_factory=dict)
    declared: tuple[CallTarget, ...] = ()
    sdk_full: str = ""
    screens: bool = False
    digest: str | None = None

    @property
    def name(self) -> str:
        """Its serial number; empty where it was not named and never reached."""
        return self.serial or ("" if self.caller is None else self.caller.device.serial)

    def look(self) -> bool:
        """Read what its apps declare where an app, or what the system lists, has changed; return whether.

        Raises:
            DroidgateError: the phone is not there, or fails.
        """
        caller = self.caller or self.connect()
        if self.caller is not None:
            digest = digest_of_lists(caller.device, caller.targets.reading)
            if digest is not None and digest == self.digest:
                return False
            packages = frozenset(list_packages(caller.device, current_user(caller.device)))
            if packages == self.packages and not listings_changed(caller.device, caller.targets.reading):
                self.digest = digest
                return False
        reading = caller.targets.refresh()
        declared = caller.targets.all()
        of_apps = (
            target
            for target in declared
            if target.capability.id not in dict(caller.targets.callability(target).closed)
        )
        every = (*of_apps, *(_screen_commands(caller) if self.screens else ()))
        self.failures = caller.uncallable(every, reading.packages)
        self.targets = tuple(target for target in every if target.key not in self.failures)
        self.declared, self.sdk_full = declared, reading.facts.sdk_full
        self.caller, self.packages, self.digest = caller, frozenset(reading.packages), None
        return True


def _screen_commands(caller: CapabilityCaller) -> Iterator[ScreenTarget]:
    """Yield MobileAgent's commands; a text is a picture, which clients get as an image without a schema."""
    commands = caller.targets.screens()
    provider = commands[0].provider
    capabilities = tuple(
        capability.changed({"output": None}) if isinstance(capability.output, ScalarType) else capability
        for capability in provider.capabilities
    )
    served = provider.changed({"capabilities": capabilities})
    for command, capability in zip(commands, capabilities, strict=True):
        yield ScreenTarget(served, capability, command.app, command.user)
