"""Phones as inputs: every installed app, by its manifest and what the running system says of it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from droidgate.coverage.scanned import Scanned
from droidgate.coverage.unit_rows import Unit, rows_of_unit
from droidgate.devices.device import open_device
from droidgate.formats import load_formats
from droidgate.model.capability import declaration_of
from droidgate.model.errors import InputError
from droidgate.model.findings import Finding
from droidgate.model.json_values import Json, digest_of
from droidgate.sources import SourceReading
from droidgate.sources.checking import check_reading
from droidgate.sources.device import InstalledApp, PhoneRequest, read_phone, spelled_phone

_MANIFEST: Final = "AndroidManifest.xml"


def scan_phone(spelled: str) -> Iterator[Scanned]:
    """Yield a result for each app of a phone, for the user in front.

    An app's unit is the digest of what was read of it: its APK stays on the phone.

    Raises:
        UsageError: no phone is written so.
        DeviceError: the phone cannot be reached or used.
    """
    serial, package = spelled_phone(spelled)
    formats = tuple(load_formats().values())
    phone = read_phone(open_device(serial), PhoneRequest(formats, package=package, every_app=True))
    for app in phone.apps:
        yield _scan_installed(f"adb:{phone.serial}/{app.package}", app)
    for problem in phone.problems:
        yield Scanned.failed(f"adb:{phone.serial}", "unreadable", problem.message, kind="installed")


def _scan_installed(name: str, app: InstalledApp) -> Scanned:
    scanned = Scanned(name, "installed")
    if app.application is None:
        reason = app.problems[0].message if app.problems else "its manifest could not be read"
        return scanned.ended("unreadable", reason)
    reading = SourceReading(app.providers, app.findings, (app.application,), (), app.problems)
    findings: tuple[Finding, ...] = ()
    try:
        findings = tuple(check_reading(reading, load_formats().values(), lambda _: None))
    except InputError:  # what a linter needs was not fetched from the phone
        findings = ()
    scanned.unit = _unit_of(app)
    prefix = app.application.place.path.removesuffix(_MANIFEST)
    return scanned.ended("read", rows=rows_of_unit(Unit(scanned.unit, reading, findings, prefix=prefix)))


def _unit_of(app: InstalledApp) -> str:
    held = app.application
    states: list[Json] = [
        [capability.state.enabled if capability.state else None for capability in one.capabilities]
        for one in app.providers
    ]
    told: Json = {
        "package": app.package,
        "version": app.version_code,
        "label": None if held is None else held.label,
        "signers": [] if held is None else list(held.signers),
        "providers": [declaration_of(one) for one in app.providers],
        "states": states,
        "problems": [one.message for one in app.problems],
    }
    return digest_of(told).removeprefix("sha256:")
