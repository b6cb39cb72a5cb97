"""Which shims on a phone may offer an app; known without the route through them, which imports much."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from droidgate.calls.targets import CallTarget
from droidgate.devices.device import Device
from droidgate.devices.packages import InstalledPackage, list_packages
from droidgate.devices.quoting import quote_argument
from droidgate_mappings.formats.installed import SHIM_PACKAGE, SHIM_PREFIX, DeviceFacts
from droidgate_mappings.model.capability import Provider
from droidgate_mappings.values.failures import CallError, Failure, call_error
from droidgate_shim.builder.shim_callability import native_protocols
from droidgate_shim.builder.source_app import is_unasked


def shims_for(
    package: str, installed: Mapping[str, InstalledPackage], *, any_shim: bool = False
) -> Iterator[InstalledPackage]:
    """Yield the installed shims that may offer an app: its own first, then the one for several apps."""
    names = [f"{SHIM_PREFIX}{package}", SHIM_PACKAGE]
    if any_shim:
        names += sorted(name for name in installed if name.startswith(SHIM_PREFIX))
    for name in dict.fromkeys(names):
        if name in installed:
            yield installed[name]


def shims_to_ask(provider: Provider, facts: DeviceFacts, device: Device) -> tuple[InstalledPackage, ...]:
    """Return the shims that may ask a receiver of broadcasts for its tools; none for any other provider.

    Raises:
        DeviceError: the phone fails.
    """
    if not is_unasked(provider) or provider.package is None:
        return ()
    installed = {package.name: package for package in list_packages(device, facts.user)}
    return tuple(shims_for(provider.package, installed, any_shim=True))


def missing_shim(target: CallTarget, serial: str) -> CallError:
    """Return the failure of a capability whose app has no shim on the phone."""
    source = quote_argument(f"adb:{serial}/{target.app.package}")
    # Without a choice of protocols, no shim is made for these.
    every = " --format all" if target.provider.protocol in native_protocols() else ""
    return call_error(
        Failure("unavailable", f"{target.app.package} has no shim on the phone"),
        hint=f"run `droidgate shim install --from {source} --serial {serial}{every}`",
    )
