"""Phones as sources: which apps may declare something, and what their APKs and the system say of it.

Only apps that answer a query of a format, or that a listing of the system names, are read, and of their APKs
only the pieces that are needed. What can change without an update is asked anew.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import TYPE_CHECKING, Final

from droidgate.devices.device import Device, connect_device
from droidgate.devices.device_errors import (
    CommandFailedError,
    DeviceOutputError,
    OutputLimitError,
    TransferError,
    UnsafeArgumentError,
)
from droidgate.devices.packages import (
    InstalledPackage,
    QueryKind,
    list_command,
    list_packages,
    package_paths,
    query_components,
)
from droidgate.devices.properties import build_of, current_user, get_properties
from droidgate.devices.remote_apk import RemoteApk, file_statuses, open_remote_apk
from droidgate.devices.service_shells import SystemList, run_listing, service_shell
from droidgate.devices.sync import FileStatus
from droidgate.sources.format_reading import FormatReader, ReadOptions
from droidgate.sources.kept_answers import digest_of_commands, kept_answers
from droidgate.sources.kept_applications import ApplicationStore, KeptApplication, NotKeptError, record
from droidgate.sources.source_results import Providers
from droidgate.sources.source_schemes import DEVICE_SCHEME
from droidgate_mappings.formats.application import Application
from droidgate_mappings.formats.format import Format, load_formats
from droidgate_mappings.formats.installed import (
    SHIM_PREFIX,
    ComponentQuery,
    DeviceFacts,
    InstalledState,
    SystemListing,
    is_shim,
    own_app,
)
from droidgate_mappings.model.capability import Place, Provider
from droidgate_mappings.model.errors import DeviceError, DroidgateError, InputError, UsageError
from droidgate_mappings.model.findings import Finding, Level, finding_code
from droidgate_mappings.model.json_values import Json
from droidgate_mappings.records import dataclass, field, replace
from droidgate_mappings.text.counted_nouns import amount
from droidgate_mappings.text.nearest_names import suggest_name
from droidgate_mappings.timed_steps import timed_step
from droidgate_mappings.user_folders import cache_folder

if TYPE_CHECKING:
    from droidgate_android.apk.reader import Apk
    from droidgate_android.apk.xml_tree import XmlElement

_FOLDER: Final = "installed-applications"
_SHELL_KINDS: Final[Mapping[str, QueryKind]] = {
    "service": "services",
    "activity": "activities",
    "receiver": "receivers",
}
_DEVICE_SOURCE: Final = re.compile(r"adb:(?P<serial>[^/]*)(?:/(?P<package>[^!/]+))?/?")
_AT_ONCE: Final = 4
"""Queries, or apps that are read: a phone takes longer to answer than it takes to read an answer."""
_MOST_NAMED: Final = 10
_EVERY_APP_INSTEAD: Final = "every app's manifest is read instead"
_OF_ONE_ANSWER: Final = (CommandFailedError, DeviceOutputError, OutputLimitError)
"""Errors of one command, which an app may have brought about; the phone answers other ones."""
_OF_ONE_APP: Final = (*_OF_ONE_ANSWER, InputError, TransferError, UnsafeArgumentError)
"""Errors that are one app's; any other of a device ends the run."""


@dataclass(frozen=True, slots=True)
class InstalledApp:
    """One app that was looked at.

    Attributes:
        package: Its package name.
        version_code: Its version.
        providers: What it declares.
        findings: Deviations from a specification that the readers accepted, and other findings.
        problems: What could not be read.
        application: Its manifest and resources, None where it could not be read.
        was_kept: Nothing of its APK was read.
        path: Its APK, or its base APK, on the phone; each installation has another one.
        is_newer_than_shim: Its APK is newer than that of its shim, which may not fit it any more.
    """

    package: str
    version_code: int
    providers: tuple[Provider, ...] = ()
    findings: tuple[Finding, ...] = ()
    problems: tuple[InputError, ...] = ()
    application: Application | None = None
    was_kept: bool = False
    path: str = ""
    is_newer_than_shim: bool = False


@dataclass(frozen=True, slots=True)
class PhoneReading:
    """What a phone's apps declare.

    Attributes:
        serial: The phone.
        facts: What it is.
        apps: The apps that were looked at, by name.
        problems: What could not be asked of the phone.
        packages: All that are installed, by name.
        bytes_read: Bytes of APKs that came over adb.
        requests: Reads of APKs.
        not_asked: What Android's shell cannot be asked for; only reading every app finds it. Nothing where
            the apps were not chosen by the shell's answers.
        left_out: Package names of droidgate's own apps, by name, where they were left out.
        listings: What the running system lists for each format that asks for it.
    """

    serial: str
    facts: DeviceFacts
    apps: tuple[InstalledApp, ...]
    problems: tuple[InputError, ...] = ()
    packages: tuple[InstalledPackage, ...] = ()
    bytes_read: int = 0
    requests: int = 0
    not_asked: tuple[ComponentQuery, ...] = ()
    left_out: tuple[str, ...] = ()
    listings: Mapping[str, SystemList] = field(default_factory=dict)

    def __repr__(self) -> str:
        """Return one line: what was found, counted."""
        return f"<PhoneReading {self.serial!r}: apps={len(self.apps)}, problems={len(self.problems)}>"

    @property
    def declared(self) -> Providers:
        """What its apps declare, as any other source's."""
        applications = tuple(app.application for app in self.apps if app.application is not None)
        left_out = (_report_left_out(self),) if self.left_out else ()
        return Providers(
            providers=tuple(provider for app in self.apps for provider in app.providers),
            findings=(*left_out, *(finding for app in self.apps for finding in app.findings)),
            applications=applications,
            files_read=tuple(application.place.path for application in applications),
            problems=(*self.problems, *(problem for app in self.apps for problem in app.problems)),
        )

    @property
    def installed(self) -> int:
        """How many packages it has."""
        return len(self.packages)

    @property
    def kept(self) -> int:
        """How many apps were known from an earlier run."""
        return sum(app.was_kept for app in self.apps)


OWN_APPS_LEFT_OUT: Final = finding_code(
    "own-apps-left-out",
    "A phone has shims or other apps of droidgate, which are read only where they are named",
    __name__,
)


def _report_left_out(reading: PhoneReading) -> Finding:
    place = f"{DEVICE_SCHEME}{reading.serial}"
    return Finding(
        code=OWN_APPS_LEFT_OUT,
        level=Level.NOTE,
        pointer="",
        message=f"left out: {amount(len(reading.left_out), 'app')} of droidgate itself (shims, its agent)",
        source=Place(path=place),
        hint=f"name one to read it: {place}/{reading.left_out[0]}",
    )


@dataclass(frozen=True, slots=True)
class PhoneRequest:
    """What to read of a phone.

    Attributes:
        formats: The formats to look for.
        strict: Every leniency of a reader is an error.
        package: Only this app.
        every_app: Read the whole manifest of every app, not only of those that answer a query.
        keep: Use and keep what was read of APKs.
        own_apps: Read shims and droidgate's agent apps as any other app. One that is named is always read.
    """

    formats: tuple[Format, ...]
    strict: bool = False
    package: str | None = None
    every_app: bool = False
    keep: bool = True
    own_apps: bool = True


def read_device_source(source: str, *, formats: Iterable[Format], strict: bool = False) -> PhoneReading:
    """Read a phone as a user writes it: `adb:`, `adb:SERIAL`, `adb:SERIAL/PACKAGE`.

    Shims and droidgate's agent apps repeat what other apps declare, so they are read only where one is named.

    Raises:
        UsageError: it is written otherwise.
        DeviceError: the phone cannot be reached or used.
    """
    serial, package = parse_phone_source(source)
    device = connect_device(serial)
    return read_phone(device, PhoneRequest(tuple(formats), strict=strict, package=package, own_apps=False))


def parse_phone_source(source: str) -> tuple[str | None, str | None]:
    """Return the serial number and the package that a user wrote, None for each that is not there.

    Raises:
        UsageError: it is none of `adb:`, `adb:SERIAL`, `adb:SERIAL/PACKAGE`.
    """
    match = _DEVICE_SOURCE.fullmatch(source)
    if match is None:
        message = f"{source!r} is not a device"
        raise UsageError(message, hint="write adb: or adb:SERIAL or adb:SERIAL/PACKAGE")
    return match["serial"] or None, match["package"]


def read_phone(device: Device, request: PhoneRequest) -> PhoneReading:
    """Read what a phone's apps declare, for the user in front.

    An app that cannot be read is a problem of the reading.

    Raises:
        DeviceError: the phone fails.
    """
    with timed_step(f"read the apps of {device.serial}"):
        if not request.keep:
            return _PhoneReader(device, request, device).read()
        cache = kept_answers(device)
        reading = _PhoneReader(device, request, device.answered_from(cache.answers)).read()
        cache.keep()
        return reading


def listings_changed(device: Device, reading: PhoneReading) -> bool:
    """Return whether a phone's system lists something else for a format than it did.

    Raises:
        DeviceError: the phone fails.
    """
    facts = reading.facts
    for format_id, former in reading.listings.items():
        listing = load_formats()[format_id].phones.listing
        with suppress(*_OF_ONE_ANSWER):
            if (
                listing is not None
                and run_listing(device, listing, facts.user, facts.shell_commands) != former
            ):
                return True
    return False


def digest_of_lists(device: Device, reading: PhoneReading) -> str | None:
    """Return a digest of the installed packages and of what the phone's system lists.

    The same digest means that nothing has changed; another may only be another order.

    Returns:
        None where the phone's shell makes none.

    Raises:
        DeviceError: the phone fails.
    """
    listed = (command for listing in reading.listings.values() for command in listing.commands)
    return digest_of_commands(device, [list_command(reading.facts.user), *listed])


@dataclass(slots=True)
class _PhoneReader:
    device: Device
    request: PhoneRequest
    asked: Device
    facts: DeviceFacts = field(init=False)
    store: ApplicationStore | None = field(init=False)
    looks_for: tuple[ComponentQuery, ...] = field(init=False)
    listed: dict[str, SystemList] = field(default_factory=dict)
    not_listed_because: dict[str, str] = field(default_factory=dict)
    problems: list[InputError] = field(default_factory=list)
    opened: list[RemoteApk] = field(default_factory=list)
    statuses: dict[str, FileStatus] = field(default_factory=dict)
    shim_paths: dict[str, str] = field(default_factory=dict)
    """The shim's APK of each app that has one of its own."""
    chosen_by_the_shell: bool = False
    candidates: set[str] = field(default_factory=set)
    """Packages that are read for a mark alone: in the result are those of them that declare something."""

    @property
    def place(self) -> str:
        return f"{DEVICE_SCHEME}{self.device.serial}"

    def read(self) -> PhoneReading:
        request = self.request
        self.looks_for = tuple(
            dict.fromkeys(query for format_ in load_formats().values() for query in format_.phones.looks_for)
        )
        self.store = ApplicationStore(cache_folder() / _FOLDER) if request.keep else None
        facts = self.read_facts()
        packages = {package.name: package for package in list_packages(self.asked, facts.user)}
        self.facts = replace(facts, shims=frozenset(filter(is_shim, packages)))
        self.shim_paths = {
            name: packages[f"{SHIM_PREFIX}{name}"].path
            for name in packages
            if f"{SHIM_PREFIX}{name}" in packages
        }
        self.problems += [
            InputError(f"the listing of {name} is not read to its end: {fault}", place=self.place)
            for listed in self.listed.values()
            for name, fault in listed.faults.items()
            if name not in packages
        ]
        chosen = self.choose(packages)
        apps = self.read_apps(chosen)
        queries = [query for format_ in request.formats for query in format_.phones.looks_for]
        unasked = [query for query in queries if not query.can_be_asked]
        return PhoneReading(
            serial=self.device.serial,
            facts=self.facts,
            apps=tuple(
                app for app in apps if app.package not in self.candidates or app.providers or app.problems
            ),
            problems=tuple(self.problems),
            packages=tuple(packages.values()),
            bytes_read=sum(apk.bytes_read for apk in self.opened),
            requests=sum(apk.requests for apk in self.opened),
            not_asked=tuple(dict.fromkeys(unasked)) if self.chosen_by_the_shell else (),
            left_out=tuple(name for name in sorted(packages) if self.leaves_out(name)),
            listings=self.listed,
        )

    def read_facts(self) -> DeviceFacts:
        """Ask what the phone is, and for the listings of formats."""
        sdk_full = build_of(get_properties(self.asked)).sdk_full
        user = current_user(self.asked)
        commands: dict[str, frozenset[str]] = {}
        for format_ in self.request.formats:
            if format_.phones.listing is not None:
                commands.update(self.read_listing(format_.id, format_.phones.listing, user))
        return DeviceFacts(sdk_full, user, commands)

    def read_listing(self, format_id: str, listing: SystemListing, user: int) -> Mapping[str, frozenset[str]]:
        """Keep what the system lists for a format, or why it does not; return the commands of the service."""
        commands: Mapping[str, frozenset[str]] = {}
        try:
            shell = service_shell(self.asked, listing)
            commands = shell.commands
            if listing.command in commands:
                self.listed[format_id] = run_listing(self.asked, listing, user, commands)
            else:
                reason = shell.reason or "the phone's shell has no command that lists them"
                self.not_listed_because[format_id] = reason
        except _OF_ONE_ANSWER as error:
            self.not_listed_because[format_id] = f"the listing cannot be read ({error.message})"
            self.problems.append(_as_problem(error, self.place))
        return commands

    def choose(self, packages: Mapping[str, InstalledPackage]) -> list[InstalledPackage]:
        """Return the packages to look at, by name."""
        request = self.request
        if request.package is not None:
            if request.package not in packages:
                place = f"{self.place}/{request.package}"
                hint = suggest_name(request.package, sorted(packages), most=_MOST_NAMED)
                raise DeviceError("the app is not installed for the user in front", place=place, hint=hint)
            return [packages[request.package]]
        names = None if request.every_app else self.ask_for_names()
        if names is None:
            self.candidates.clear()
            return [package for name, package in packages.items() if not self.leaves_out(name)]
        self.chosen_by_the_shell = True
        names.update(*(listed.functions.keys() | listed.faults for listed in self.listed.values()))
        self.candidates -= names
        names |= self.candidates
        return [packages[name] for name in sorted(names) if name in packages and not self.leaves_out(name)]

    def leaves_out(self, package: str) -> bool:
        """Return whether an app is droidgate's own and not asked for."""
        request = self.request
        return not request.own_apps and request.package is None and own_app(package) is not None

    def ask_for_names(self) -> set[str] | None:
        """Ask the phone's package manager which packages have components of the formats.

        Returns:
            The packages; None where an answer cannot be read, which is a problem of the reading. One app may
            have brought that about by the name of a class, and hides nothing when every app is read instead.
        """
        queries = {query for format_ in self.request.formats for query in format_.phones.looks_for}
        ordered_queries = sorted((query for query in queries if query.can_be_asked), key=str)
        names: set[str] = set()
        failures: dict[str, DeviceError] = {}
        for query, answer in zip(ordered_queries, self.ask(ordered_queries), strict=True):
            if isinstance(answer, DeviceError):
                failures[str(answer)] = answer
            else:
                packages = names if query.mark is None else self.candidates
                packages.update(component.partition("/")[0] for component in answer)
        for failure in failures.values():
            message = _as_problem(failure, self.place).message
            self.problems.append(InputError(message, place=self.place, hint=_EVERY_APP_INSTEAD))
        return None if failures else names

    def ask(self, queries: Sequence[ComponentQuery]) -> list[list[str] | DeviceError]:
        """Ask the phone's package manager for components, some queries at once."""

        def ask_one(query: ComponentQuery) -> list[str] | DeviceError:
            kind = _SHELL_KINDS[query.kind]
            try:
                return query_components(self.asked, kind, query.action or "", self.facts.user)
            except _OF_ONE_ANSWER as error:
                return error

        # Formats look for different marks in the apps of one action.
        unique = {(query.kind, query.action): query for query in queries}
        with ThreadPoolExecutor(_AT_ONCE) as pool:
            answers = dict(zip(unique, pool.map(ask_one, unique.values()), strict=True))
        return [answers[query.kind, query.action] for query in queries]

    def read_apps(self, packages: Sequence[InstalledPackage]) -> list[InstalledApp]:
        """Read apps, those whose APKs are as they were from what was kept."""
        records = {package.name: self.load(package) for package in packages}
        paths = {package.path for package in packages}
        for kept in records.values():
            paths.update(() if kept is None else kept[0].get("files", {}))
        paths.update(self.shim_paths[name] for name in records if name in self.shim_paths)
        self.statuses = file_statuses(self.device, sorted(paths)) if paths else {}

        def read_one(package: InstalledPackage) -> InstalledApp:
            record = records.pop(package.name)
            if record is not None and record[0] != self.key(package, list(record[0].get("files", {}))):
                record = None
            app = self.read_app(package, None if record is None else record[1])
            return replace(app, is_newer_than_shim=self.is_newer_than_shim(package))

        pool = ThreadPoolExecutor(_AT_ONCE)
        try:
            return list(pool.map(read_one, packages))
        finally:
            # After a failure of the phone, or at a deadline, no further app is begun.
            pool.shutdown(cancel_futures=True)

    def load(self, package: InstalledPackage) -> tuple[dict[str, Json], KeptApplication] | None:
        return None if self.store is None else self.store.load(self.name_of(package))

    def name_of(self, package: InstalledPackage) -> str:
        return f"{self.device.identity.serial_number}\n{self.device.serial}\n{package.name}"

    def is_newer_than_shim(self, package: InstalledPackage) -> bool:
        """Return whether an app was installed or updated after its shim."""
        app, shim = (
            self.statuses.get(path) for path in (package.path, self.shim_paths.get(package.name, ""))
        )
        return app is not None and shim is not None and app.modified > shim.modified

    def key(self, package: InstalledPackage, paths: Sequence[str]) -> dict[str, Json]:
        """Return everything that makes what was kept of a package out of date."""
        statuses = [(path, self.statuses[path]) for path in paths if path in self.statuses]
        files = {path: [status.size, status.modified] for path, status in statuses}
        looked_for = hashlib.sha256("\n".join(map(str, self.looks_for)).encode()).hexdigest()
        return {
            "fingerprint": self.device.identity.fingerprint,
            "version_code": package.version_code,
            "base": package.path,
            "files": files,
            "looked_for": looked_for,
        }

    def read_app(self, package: InstalledPackage, kept_app: KeptApplication | None) -> InstalledApp:
        """Read one app; whatever is wrong with it alone is a problem of it."""
        app = InstalledApp(package.name, package.version_code, path=package.path)
        try:
            if kept_app is not None:
                try:
                    return replace(self.read_formats(app, kept_app), was_kept=True)
                except NotKeptError:
                    pass
            return self.read_apk(app, package, kept_app)
        except _OF_ONE_APP as error:
            place = f"{self.place}/{package.name}"
            return replace(app, problems=(_as_problem(error, place),))

    def read_apk(
        self, app: InstalledApp, package: InstalledPackage, kept_app: KeptApplication | None
    ) -> InstalledApp:
        """Read one app from its APKs on the phone, and keep what was asked of them."""
        from droidgate_android.apk.reader import open_apk

        paths = package_paths(self.device, package.name, self.facts.user) or [package.path]
        others = [path for path in paths if path not in self.statuses]
        if others:
            self.statuses |= file_statuses(self.device, others)
        # What is read is kept as an application: keeping its pieces, too, would be a sixth of the work.
        sources = [
            open_remote_apk(self.device, package, path=path, status=self.statuses.get(path)) for path in paths
        ]
        try:
            with open_apk(sources[0], splits=sources[1:]) as apk:
                application = self.application_of(apk, package.name)
                now = record(application, {} if kept_app is None else kept_app.resources.answers)
                read = self.read_formats(app, now)
                now = replace(now, findings=apk.findings)
        finally:
            self.opened.extend(sources)
            for source in sources:
                source.close()
        if self.store is not None:
            self.store.keep(self.name_of(package), self.key(package, paths), now)
        return replace(read, findings=(*now.findings, *read.findings))

    def application_of(self, apk: Apk, name: str) -> Application:
        """Return an APK's application; one without components where no format finds anything in it.

        An app that is asked for is read whole.
        """
        from droidgate_android.apk.apk_application import read_application, read_identity

        if self.is_asked_for(name) or any(
            item.may_match(text) for text in _texts_of(apk.manifest) for item in self.looks_for
        ):
            return read_application(apk, self.facts.sdk).for_release(self.facts.sdk)
        return read_identity(apk, self.facts.sdk)

    def is_asked_for(self, package: str) -> bool:
        """Return whether the user or the phone's listing asks for an app."""
        return (
            self.request.every_app
            or package == self.request.package
            or any(package in listed.functions or package in listed.faults for listed in self.listed.values())
        )

    def read_formats(self, app: InstalledApp, kept_app: KeptApplication) -> InstalledApp:
        """Run every format on an application, with what the system says of it now.

        Raises:
            NotKeptError: what was kept does not answer what a format asks.
        """
        application = kept_app.application
        if not application.components:
            if self.is_asked_for(app.package):
                raise NotKeptError(app.package)
            return replace(app, application=application, findings=kept_app.findings)
        reader = FormatReader(ReadOptions(self.request.formats, strict=self.request.strict))
        reader.read_application(application, state_for=lambda format_: self.state_of(app.package, format_))
        read = reader.result()
        return replace(
            app,
            application=application,
            providers=read.providers,
            findings=tuple(dict.fromkeys((*kept_app.findings, *read.findings))),
            problems=read.problems,
        )

    def state_of(self, package: str, format_: Format) -> InstalledState:
        """Return what the running system says of an app to a format."""
        listed = self.listed.get(format_.id)
        functions = None if listed is None else listed.functions.get(package, ())
        fault = None if listed is None else listed.faults.get(package)
        return InstalledState(self.facts, functions, self.not_listed_because.get(format_.id), fault)


def _texts_of(root: XmlElement) -> Iterator[str]:
    pending = [root]
    while pending:
        element = pending.pop()
        yield from (attribute.value.text for attribute in element.attributes if attribute.value.text)
        pending.extend(element.child_elements())


def _as_problem(error: DroidgateError, place: str) -> InputError:
    if isinstance(error, InputError) and error.place:
        return error
    message = f"{error.message} ({error.place})" if error.place else error.message
    return InputError(message, place=place, hint=error.hint)
