"""The apps of sources, read for a shim: what each declares, who signed it, and what was approved of it.

Apps are opened whole, each with its APK: APKs, containers, folders of them, phones, projects. A project has
no APK yet. It is packed in memory, so that everything is read from compiled content as from an app on a
phone.
"""

from __future__ import annotations

import stat
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

from droidgate.computer.missing_files import hint_of_missing
from droidgate.sources.apk_sources import open_archive, open_loose_archives
from droidgate.sources.archives import is_archive
from droidgate.sources.catalogs.catalog_files import catalog_folder
from droidgate.sources.folders import scan_folder
from droidgate.sources.format_reading import FormatReader, ReadOptions
from droidgate.sources.source_schemes import DEVICE_SCHEME
from droidgate_android.apk.apk_application import read_application, verify_signers
from droidgate_android.apk.apk_files import MemorySource
from droidgate_android.apk.pack import pack
from droidgate_android.apk.reader import Apk, open_apk
from droidgate_android.apk.signing_keys import SigningKey, make_key
from droidgate_mappings.formats.application import Application, Component
from droidgate_mappings.formats.format import load_formats
from droidgate_mappings.formats.installed import INSTALL_SHIM, SHIM_PACKAGE, is_shim
from droidgate_mappings.formats.reachability import find_component
from droidgate_mappings.model.capability import Place, Provider
from droidgate_mappings.model.errors import DroidgateError, InputError, UsageError, option_hint
from droidgate_mappings.model.findings import Finding, Level, finding_code
from droidgate_mappings.model.json_values import pointer_token
from droidgate_mappings.records import dataclass, field
from droidgate_mappings.text.shown_paths import printable
from droidgate_shim.builder.shim_callability import (
    backends,
    call_conditions,
    listing_of,
    unknown_parameters,
    why_function_not_called,
    why_not_called,
)
from droidgate_shim.builder.source_app import TOOLS_NOT_KNOWN, SourceApp, certificate_digest

if TYPE_CHECKING:
    from droidgate.devices.device import Device
    from droidgate.devices.packages import InstalledPackage


@dataclass(frozen=True, slots=True)
class OpenedApp:
    """One app as it was opened; the APK can be read until the next one is asked for.

    Attributes:
        application: Its manifest and resources.
        apk: Its APK with splits.
        providers: What it declares in any format.
        findings: What the readers accepted beyond the specification.
        problems: What of it could not be read.
        place: How messages name it.
        is_named: It is what the user named, not one of several in a folder or on a phone.
        is_project: It is a project, which has no signature.
        is_installed: It is on a phone, which verified the signature when it installed the app.
        version_code: Its version.
    """

    application: Application
    apk: Apk
    providers: tuple[Provider, ...]
    findings: tuple[Finding, ...]
    problems: tuple[InputError, ...]
    place: str
    is_named: bool
    is_project: bool = False
    version_code: int = 1
    is_installed: bool = False


@dataclass(frozen=True, slots=True)
class UnreadApp:
    """One app of several that cannot be read.

    Attributes:
        package: Its package, or its file where that is all that is known.
        place: How messages name it.
        error: Why.
    """

    package: str
    place: str
    error: DroidgateError


def open_apps(source: str) -> Iterator[OpenedApp | UnreadApp]:
    """Yield the apps of one source, each with its APK open.

    Args:
        source: As the user wrote it.

    Raises:
        InputError: it cannot be read, or holds no app.
        DeviceError: the phone cannot be reached or used.
        UsageError: it is not an app and has none in it, or is a catalog, which has no APKs.
    """
    if catalog_folder(source) is not None:
        message = "a catalog has no APKs, and a shim is made of what the APKs declare"
        hint = "name the APKs, projects or phones that the catalog was made of"
        raise UsageError(message, place=printable(source), hint=hint)
    if source.startswith(DEVICE_SCHEME):
        yield from _apps_of_phone(source)
    elif stat.S_ISDIR(_mode_of(source)):
        yield from _apps_of_folder(source)
    elif is_archive(source):
        yield from _open_and_close(open_archive(source), source, is_named=True)
    else:
        hint = "name an APK, a folder of APKs, a project's folder, or a phone as adb:SERIAL"
        raise UsageError("not an app", place=printable(source), hint=hint)


def _mode_of(source: str) -> int:
    try:
        return Path(source).stat().st_mode
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        hint = hint_of_missing(Path(source)) if isinstance(error, FileNotFoundError) else None
        raise InputError(f"cannot be read: {reason}", place=printable(source), hint=hint) from None


def _apps_of_folder(folder: str) -> Iterator[OpenedApp | UnreadApp]:
    scan = scan_folder(folder, folder)
    folders = [
        Path(main.shown or folder)
        for module in scan.modules
        if not module.gradle.is_library and (main := module.source_sets.get("main")) is not None
    ]
    if not scan.archives and not folders:
        message = "the folder holds neither an APK nor an Android project"
        raise InputError(message, place=printable(folder))
    problems = list(scan.problems)
    for apk in open_loose_archives(scan.archives, problems):
        yield from _open_and_close(apk, apk.name, is_named=False)
    for error in problems:
        place = error.place or folder
        yield UnreadApp(place, place, error)
    for project in folders:
        packed = pack(project, key=_project_key()).apk
        apk = open_apk(MemorySource(packed, name=project.as_posix()))
        yield from _open_and_close(apk, project.as_posix(), is_named=True, is_project=True)


@cache
def _project_key() -> SigningKey:
    """Return a key for APKs that nobody keeps."""
    return make_key()


def _open_and_close(apk: Apk, place: str, *, is_named: bool, is_project: bool = False) -> Iterator[OpenedApp]:
    with apk:
        application = read_application(apk)
        reader = FormatReader(ReadOptions(with_silent=True))
        reader.read_application(application)
        yield OpenedApp(
            application,
            apk,
            tuple(reader.providers),
            (*apk.findings, *reader.findings),
            tuple(reader.problems.values()),
            place,
            is_named,
            is_project,
            apk.version_code or 1,
        )


def _apps_of_phone(source: str) -> Iterator[OpenedApp | UnreadApp]:
    # Most shims are made for files, and these modules take their time to import.
    from droidgate.devices.device import connect_device
    from droidgate.devices.device_errors import TransferError
    from droidgate.devices.packages import list_packages
    from droidgate.sources.phone_source import read_device_source

    reading = read_device_source(source, formats=load_formats().values())
    device = connect_device(reading.serial)
    packages = {installed.name: installed for installed in list_packages(device, reading.facts.user)}
    is_named = "/" in source
    for app in reading.apps:
        package = packages.get(app.package)
        if package is None or not (app.providers or app.problems or is_named):
            continue
        place = f"{DEVICE_SCHEME}{reading.serial}/{app.package}"
        try:
            with _open_installed(device, package, reading.facts.user) as apk:
                yield OpenedApp(
                    read_application(apk, reading.facts.sdk),
                    apk,
                    app.providers,
                    app.findings,
                    app.problems,
                    place,
                    is_named,
                    version_code=app.version_code,
                    is_installed=True,
                )
        except (InputError, TransferError) as error:
            yield UnreadApp(app.package, place, error)


def _open_installed(device: Device, package: InstalledPackage, user: int) -> Apk:
    from droidgate.devices.packages import package_paths
    from droidgate.devices.remote_apk import file_statuses, open_remote_apk

    paths = package_paths(device, package.name, user) or [package.path]
    statuses = file_statuses(device, paths)
    base, *splits = (open_remote_apk(device, package, path=path, status=statuses.get(path)) for path in paths)
    return open_apk(base, splits=splits)


_code = partial(finding_code, module=__name__)

APP_UNREADABLE: Final = _code(
    "shim-app-unreadable", "An app of several cannot be read, or nothing of one of its components"
)
SIGNER_UNCLEAR: Final = _code(
    "shim-signer-unclear",
    "An app with no or several signers, or whose signature is not verified; the shim binds what was "
    "approved to one certificate",
)
NOT_PINNED: Final = _code(
    "shim-not-pinned", "A phone cannot compare what a component declares with what was approved"
)


class NothingDeclaredError(InputError):
    """An app that was named can be read, and declares nothing in any known protocol."""


def read_source_apps(sources: Sequence[str], *, signer: str | None = None) -> tuple[SourceApp, ...]:
    """Read the apps of all sources, by package; apps that declare nothing and shims are left out.

    Args:
        sources: As the user wrote them: an APK, a container of split APKs, a folder of APKs or of a project,
            or a phone (`adb:`, `adb:SERIAL`, `adb:SERIAL/PACKAGE`).
        signer: SHA-256 of the certificate that will sign a project's app, in hexadecimal; with colons too.

    Raises:
        NothingDeclaredError: an app that was named declares nothing.
        InputError: a source cannot be read, or holds an app that was named and cannot be used: a project
            without `signer`, an app with no or several signers or whose signature is not verified, two
            versions of one app, a shim.
        UsageError: no source is given, or a shim cannot be made for one.
        DeviceError: a phone cannot be reached or used.
    """
    if not sources:
        raise UsageError("no app is named", hint="name an APK, a folder, a project or a phone")
    expected = None if signer is None else certificate_digest(signer)
    apps: dict[str, SourceApp] = {}
    for source in sources:
        for opened in open_apps(source):
            app = _read_app(opened, expected)
            if app is None:
                continue
            earlier_app = apps.setdefault(app.package, app)
            if _approved_content(earlier_app) != _approved_content(app):
                message = f"{app.package} is named twice, with different contents"
                raise InputError(message, place=source, hint="name each app once")
    return tuple(apps[package] for package in sorted(apps))


def _approved_content(app: SourceApp) -> tuple[str, int, Mapping[tuple[str, str], str]]:
    return app.signer, app.version_code, app.digests


def _read_app(opened: OpenedApp | UnreadApp, signer: str | None) -> SourceApp | None:
    if isinstance(opened, UnreadApp):
        finding = _warning(APP_UNREADABLE, opened.error.message, opened.place, opened.error.hint)
        return SourceApp(opened.package, opened.package, 0, "", findings=(finding,))
    application = opened.application
    package = application.package or ""
    if _is_shim(application, package):
        if opened.is_named:
            raise InputError("it is a shim itself", place=opened.place, hint="name the app behind it")
        return None
    if not opened.providers and not opened.problems:
        if opened.is_named and not opened.is_project:
            message = "the app declares no capability in any known protocol"
            hint = "`droidgate inspect` prints what it holds"
            raise NothingDeclaredError(message, place=opened.place, hint=hint)
        return None
    label = application.label or package
    try:
        certificate = _signer_of(opened, signer)
    except InputError as error:
        if opened.is_named:
            raise
        finding = _warning(SIGNER_UNCLEAR, error.message, opened.place, error.hint)
        return SourceApp(package, label, opened.version_code, "", findings=(finding,))
    reader = _AppReader(opened).read()
    return SourceApp(
        package=package,
        label=label,
        version_code=opened.version_code,
        signer=certificate,
        description=_first(provider.description for provider in reader.providers) or application.description,
        instructions="\n\n".join(
            dict.fromkeys(provider.instructions for provider in reader.providers if provider.instructions)
        )
        or None,
        providers=tuple(reader.providers),
        digests=reader.digests,
        findings=tuple(dict.fromkeys(reader.findings)),
    )


def _is_shim(application: Application, package: str) -> bool:
    host = f"{SHIM_PACKAGE}.host.HostProvider"
    return is_shim(package) or any(
        application.qualified_name(component) == host for component in application.of_kind("provider")
    )


def _signer_of(opened: OpenedApp, signer: str | None) -> str:
    if opened.is_project:
        if signer is None:
            message = "a project has no signature, and a shim is bound to its app's certificate"
            named = option_hint(
                "build and sign it and name the APK, or give the SHA-256 of its certificate with {}",
                "--signer",
                "signer=",
            )
            raise InputError(message, place=opened.place, hint=named)
        return signer
    application = opened.application if opened.is_installed else verify_signers(opened.application)
    signers = application.signers
    if application.signers_verified is False:
        message = f"the signature of the APK is not verified: {application.signature_problem}"
        hint = "use the APK as its developer signed it, or name the phone that it is installed on: adb:SERIAL"
        raise InputError(message, place=opened.place, hint=hint)
    if not signers:
        message = "the APK is not signed, and a shim is bound to its app's certificate"
        raise InputError(message, place=opened.place, hint="name the APK that is installed on phones")
    if len(signers) > 1:
        message = f"{len(signers)} certificates signed the APK, and a shim is bound to one"
        hint = "sign the app with one key; Android 9 and later can change keys by rotation"
        raise InputError(message, place=opened.place, hint=hint)
    return signers[0]


def _first(texts: Iterable[str | None]) -> str | None:
    return next((text for text in texts if text), None)


@dataclass(slots=True)
class _AppReader:
    """Sorts what one app declares by whether the shim can call it."""

    opened: OpenedApp
    providers: list[Provider] = field(default_factory=list)
    digests: dict[tuple[str, str], str] = field(default_factory=dict)
    findings: list[Finding] = field(default_factory=list)

    def read(self) -> _AppReader:
        # Each receiver that lists tools in answer to a broadcast has a finding here until it is asked.
        listed_later = {backend.listing.finding for backend in backends().values() if backend.listing}
        self.findings.extend(finding for finding in self.opened.findings if finding.code not in listed_later)
        for error in self.opened.problems:
            place = error.place or self.opened.place
            self.findings.append(_warning(APP_UNREADABLE, error.message, place, error.hint))
        for provider in self.opened.providers:
            self.take(provider)
        return self

    def take(self, provider: Provider) -> None:
        component = self.component_of(provider)
        if component is not None:
            name = self.opened.application.qualified_name(component)
            provider = provider.changed({"component": name})
        refusal = why_not_called(self.opened.application, component, provider)
        if refusal is not None:
            self.findings.append(refusal)
            return
        if component is None and provider.component is not None:
            message = f"{provider.component} is not in the manifest, so a phone cannot compare it"
            self.findings.append(_warning(NOT_PINNED, message, self.opened.place, None))
            return
        open_provider = self.with_open_functions(provider)
        if listing_of(provider) is not None:
            self.providers.append(open_provider)
            self.findings.append(_unasked_finding(open_provider))
            self.findings.extend(call_conditions(self.opened.application, open_provider))
        elif open_provider.capabilities and self.pin(open_provider, component):
            self.providers.append(open_provider)
            self.findings.extend(unknown_parameters(open_provider))
            self.findings.extend(call_conditions(self.opened.application, open_provider))

    def component_of(self, provider: Provider) -> Component | None:
        return find_component(self.opened.application, provider)

    def with_open_functions(self, provider: Provider) -> Provider:
        capabilities = []
        for capability in provider.capabilities:
            refusal = why_function_not_called(capability, provider)
            if refusal is None:
                capabilities.append(capability)
            else:
                self.findings.append(refusal)
        return provider.changed({"capabilities": tuple(capabilities)})

    def pin(self, provider: Provider, component: Component | None) -> bool:
        """Keep the digest of what a provider declares; return whether there is one."""
        application = self.opened.application
        holder = component or next(application.of_kind("application"))
        try:
            digest = backends()[provider.protocol].digest(self.opened.apk, holder)
        except InputError as error:
            place = error.place or self.opened.place
            self.findings.append(_warning(NOT_PINNED, error.message, place, error.hint))
            return False
        self.digests[provider.protocol, provider.component or ""] = digest
        return True


def _unasked_finding(provider: Provider) -> Finding:
    return Finding(
        code=TOOLS_NOT_KNOWN,
        level=Level.NOTE,
        pointer=f"/{pointer_token(provider.component or '')}",
        message=f"{provider.component} lists its tools only in answer to a broadcast on the phone",
        source=provider.source,
        hint=f"`{INSTALL_SHIM}` asks it on the phone",
    )


def _warning(code: str, message: str, place: str, hint: str | None) -> Finding:
    return Finding(
        code=code, level=Level.WARNING, pointer="", message=message, hint=hint, source=Place(path=place)
    )
