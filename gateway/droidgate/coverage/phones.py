"""Phones as inputs: every installed app, by its manifest and what the running system says of it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from droidgate.coverage.scanned import Scanned
from droidgate.coverage.unit_rows import Unit, rows_of_unit
from droidgate.devices.device import Device, open_device
from droidgate.devices.errors import CommandFailedError, DeviceOutputError
from droidgate.devices.packages import disabled_packages
from droidgate.sources.catalogs.rows import LEFT_OUT, OWN_APP
from droidgate.sources.checking import check_reading
from droidgate.sources.device import InstalledApp, PhoneReading, PhoneRequest, parse_phone_source, read_phone
from droidgate.sources.providers import Providers
from droidgate_mappings.formats.format import load_formats
from droidgate_mappings.model.capability import declaration_of
from droidgate_mappings.model.errors import DeviceError, InputError
from droidgate_mappings.model.findings import Finding
from droidgate_mappings.model.json_values import Json, digest_of

_MANIFEST: Final = "AndroidManifest.xml"


@dataclass(frozen=True, slots=True)
class ScannedPhone:
    """A phone that is there.

    Attributes:
        device: It.
        package: Only this app is asked for.
    """

    device: Device
    package: str | None

    @property
    def name(self) -> str:
        """How it is called in a catalog."""
        return f"adb:{self.device.serial}"


def find_phone(source: str) -> ScannedPhone:
    """Return the phone that is meant.

    Raises:
        UsageError: no phone is written so.
        DeviceError: it is not there, or does not let us in.
    """
    serial, package = parse_phone_source(source)
    return ScannedPhone(open_device(serial), package)


def scan_phone(phone: ScannedPhone, *, own_apps: bool) -> Iterator[Scanned]:
    """Yield a result for each app of a phone, for the user in front.

    Args:
        phone: The phone.
        own_apps: Read shims and droidgate's agent apps as any other app; else each is a result that says so.

    An app's unit is the digest of what was read of it: its APK stays on the phone. A phone that fails is one
    result with its reason.
    """
    formats = tuple(load_formats().values())
    try:
        request = PhoneRequest(formats, package=phone.package, every_app=True, own_apps=own_apps)
        reading = read_phone(phone.device, request)
        disabled = _disabled_of(phone.device, reading)
    except DeviceError as error:
        yield Scanned.failed(phone.name, "unreadable", error.message, kind="installed")
        return
    for app in reading.apps:
        enabled = None if disabled is None else app.package not in disabled
        yield _scan_installed(f"{phone.name}/{app.package}", app, enabled, reading.facts.sdk)
    for package in reading.left_out:
        yield Scanned.failed(f"{phone.name}/{package}", LEFT_OUT, OWN_APP, kind="installed")
    problems = [problem.message for problem in reading.problems]
    if disabled is None:
        problems.append("which apps are disabled cannot be asked")
    if problems:
        yield Scanned.failed(phone.name, "unreadable", "; ".join(problems), kind="installed")


def _disabled_of(device: Device, reading: PhoneReading) -> frozenset[str] | None:
    try:
        return disabled_packages(device, reading.facts.user)
    except (CommandFailedError, DeviceOutputError):
        return None


def _scan_installed(
    name: str,
    app: InstalledApp,
    enabled: bool | None,  # noqa: FBT001
    sdk: int,
) -> Scanned:
    scanned = Scanned(name, "installed")
    if app.application is None:
        reason = app.problems[0].message if app.problems else "its manifest could not be read"
        return scanned.ended("unreadable", reason)
    reading = Providers(app.providers, app.findings, (app.application,), (), app.problems)
    findings: tuple[Finding, ...] = ()
    try:
        findings = tuple(check_reading(reading, load_formats().values(), lambda _: None))
    except InputError:  # what a linter needs was not fetched from the phone
        findings = ()
    scanned.unit = _unit_of(app, enabled, sdk)
    prefix = app.application.place.path.removesuffix(_MANIFEST)
    unit = Unit(scanned.unit, reading, findings, prefix=prefix, is_installed=True, enabled=enabled, sdk=sdk)
    return scanned.ended("read", rows=rows_of_unit(unit))


def _unit_of(app: InstalledApp, enabled: bool | None, sdk: int) -> str:  # noqa: FBT001
    application = app.application
    states: list[Json] = [
        [capability.state.enabled if capability.state else None for capability in provider.capabilities]
        for provider in app.providers
    ]
    identity: dict[str, Json] = {
        "package": app.package,
        "version": app.version_code,
        "label": None if application is None else application.label,
        "signers": [] if application is None else list(application.signers),
        "providers": [declaration_of(provider) for provider in app.providers],
        "states": states,
        "enabled": enabled,
        "problems": [problem.message for problem in app.problems],
    }
    if any(not isinstance(provider.access.enabled, bool) for provider in app.providers):
        identity["sdk"] = sdk  # which value of the resource counts depends on the release
    levels: list[Json] = [provider.access.protection_level for provider in app.providers]
    if any(levels):
        identity["protection"] = levels
    return digest_of(identity).removeprefix("sha256:")
