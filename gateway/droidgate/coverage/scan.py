"""A scan from its inputs to its catalog, which one scan at a time writes.

Of a phone, every installed app is an input, by its manifest and what the running system says of it.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Container, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from os import PathLike
from pathlib import Path
from typing import Any, Final, Protocol, TypeVar

from droidgate.computer.optional_packages import need
from droidgate.computer.process_limits import usable_cores
from droidgate.computer.version import VERSION
from droidgate.coverage.catalog_questions import query_catalog
from droidgate.coverage.catalog_writing import (
    KEPT_LOG_FILE,
    CatalogParts,
    Header,
    ScanLog,
    check_catalog_folder,
    only_scan_of,
    write_catalog,
)
from droidgate.coverage.cluster import Cluster, check_cluster
from droidgate.coverage.conversions import targets
from droidgate.coverage.known_units import KNOWN_FILES, KnownUnits, write_known
from droidgate.coverage.process_pool import PoolAnswer, PoolSettings, ProcessPool
from droidgate.coverage.remote_files import is_only_here
from droidgate.coverage.scan_inputs import Inputs, Item, list_inputs, state_of
from droidgate.coverage.scan_results import CHANGED, KNOWN, OUT_OF_TIME, PART, Scanned
from droidgate.coverage.unit_rows import Unit, rows_of_unit
from droidgate.coverage.worker import do_work, load_work
from droidgate.devices.device import Device, connect_device
from droidgate.devices.device_errors import CommandFailedError, DeviceOutputError
from droidgate.devices.packages import disabled_packages
from droidgate.sources.catalogs.catalog import Catalog, check_name
from droidgate.sources.catalogs.catalog_files import CATALOG_FILE, LOG_FILE
from droidgate.sources.catalogs.catalog_rows import LEFT_OUT, OWN_APP
from droidgate.sources.linting import check_reading
from droidgate.sources.phone_source import (
    InstalledApp,
    PhoneReading,
    PhoneRequest,
    parse_phone_source,
    read_phone,
)
from droidgate.sources.source_results import Providers
from droidgate.sources.source_schemes import source_names
from droidgate_android.apk.bundle_files import ApkIdentity, group_apks
from droidgate_mappings.formats.format import load_formats
from droidgate_mappings.model.capability import declaration_of
from droidgate_mappings.model.errors import DeviceError, InputError, UsageError
from droidgate_mappings.model.findings import Finding
from droidgate_mappings.model.json_values import Json, digest_of
from droidgate_mappings.records import dataclass
from droidgate_mappings.text.shown_paths import printable

_MANIFEST: Final = "AndroidManifest.xml"
_T = TypeVar("_T")


def scan_phone(device: Device, package: str | None, *, own_apps: bool) -> Iterator[Scanned]:
    """Yield a result for each app of a phone, for the user in front.

    Args:
        device: The phone.
        package: Only this app is asked for.
        own_apps: Read shims and droidgate's agent apps as any other app; else each is a result that says so.

    An app's unit is the digest of what was read of it: its APK stays on the phone. A phone that fails is one
    result with its reason.
    """
    name = f"adb:{device.serial}"
    formats = tuple(load_formats().values())
    try:
        request = PhoneRequest(formats, package=package, every_app=True, own_apps=own_apps)
        reading = read_phone(device, request)
        disabled = _disabled_of(device, reading)
    except DeviceError as error:
        yield Scanned.failed(name, "unreadable", error.message, kind="installed")
        return
    for app in reading.apps:
        enabled = None if disabled is None else app.package not in disabled
        yield _scan_installed(f"{name}/{app.package}", app, enabled, reading.facts.sdk)
    for own_app in reading.left_out:
        yield Scanned.failed(f"{name}/{own_app}", LEFT_OUT, OWN_APP, kind="installed")
    problems = [problem.message for problem in reading.problems]
    if disabled is None:
        problems.append("which apps are disabled cannot be asked")
    if problems:
        yield Scanned.failed(name, "unreadable", "; ".join(problems), kind="installed")


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
        "sdk": sdk,
    }
    levels: list[Json] = [provider.access.protection_level for provider in app.providers]
    if any(levels):
        identity["protection"] = levels
    return digest_of(identity).removeprefix("sha256:")


PoolAnswers = Generator[PoolAnswer, None, None]

_MOST_NAMED: Final = 5

_GOOD: Final = frozenset({"read", KNOWN})


class Executor(Protocol):
    """Whatever scans inputs: processes of this machine, or a cluster."""

    def run(self, items: Iterable[Item]) -> Iterator[PoolAnswer]:
        """Yield an answer for each input, as they come."""


class Watcher:
    """Sees how a scan goes on; this one looks at nothing."""

    def begin(self, total: int, done: int) -> None:
        """So many inputs are there, and so many have their results from an earlier run."""

    def advance(self, outcome: str) -> None:
        """One more input has its result."""

    def finish(self) -> None:
        """Every input has its result; the catalog is written now."""


_MEBIBYTE: Final = 1 << 20


@dataclass(frozen=True, slots=True)
class ScanOptions:
    """How a scan works.

    Attributes:
        known: Folders of further catalogs whose rows need not be made again.
        workers: Processes; one for each core by default.
        memory: Memory of each, in MiB.
        deadline: Time for each input, in seconds.
        run_deadline: Time for all of them, in seconds.
        cluster: Address of a Dask scheduler, which scans instead of this machine.
        trust_scheduler: Connect to the scheduler although its connection is not encrypted.
        keep_log: Keep the log next to the catalog.
        own_apps: Read shims and droidgate's agent apps on phones, too.
    """

    known: tuple[str, ...] = ()
    workers: int | None = None
    memory: int = 1024
    deadline: float = 60.0
    run_deadline: float = 3600.0
    cluster: str | None = None
    trust_scheduler: bool = False
    keep_log: bool = False
    own_apps: bool = False


@dataclass(frozen=True, slots=True)
class ScanResult:
    """What a scan came to.

    Attributes:
        catalog: The catalog.
        outcomes: How many inputs had which outcome, those of an earlier run included.
        resumed: How many had their result from an earlier run that did not end.
        known: How many were read by an earlier scan: their content is in a catalog.
        out_of_time: The sources that were not read before the end of the scan's time.
    """

    catalog: Catalog
    outcomes: Mapping[str, int]
    resumed: int
    known: int
    out_of_time: tuple[str, ...] = ()

    def __repr__(self) -> str:
        """Return one line: what became of the inputs, counted, and what the catalog has."""
        counts = {**self.outcomes, "capabilities": self.catalog.rows["capabilities"]}
        return f"<ScanResult {', '.join(f'{name}={count}' for name, count in counts.items())}>"

    def ask(
        self, sql: str, *, memory: int | None = None, deadline: float | None = None
    ) -> list[tuple[Any, ...]]:
        """Return the rows that a query of the catalog gives, as `droidgate catalog sql` does.

        Args:
            sql: One SELECT; it reads the catalog's tables and no other file.
            memory: MiB that DuckDB may take; what it takes by itself by default.
            deadline: Seconds that the query may take; without it, any time.

        Raises:
            UsageError: DuckDB refuses the query.
            BudgetError: it needs more memory, or takes longer.
            InputError: the catalog cannot be read.
        """
        with query_catalog(self.catalog, sql, memory=memory, deadline=deadline) as answered:
            return list(answered.rows)


MakeExecutor = Callable[[PoolSettings], Executor]


def run_scan(
    sources: Sequence[str],
    folder: Path,
    options: ScanOptions,
    *,
    pool: PoolSettings,
    make_executor: MakeExecutor = ProcessPool,
    watcher: Watcher | None = None,
) -> ScanResult:
    """Scan sources into the catalog of a folder, which afterwards holds exactly them, by an executor.

    A scan that did not end goes on where it was; content that an earlier catalog has is not read again. What
    is not read before the end of the scan's time has the outcome `out-of-time`; the same scan goes on there.

    Raises:
        UsageError: a source is invalid, a package is missing, or an unfinished scan had other settings.
        InputError: a source is not there, nothing can be scanned, a list or catalog cannot be read, or the
            folder cannot be written, or is by another scan.
        DeviceError: a phone is not there; one that goes away meanwhile is a row.
    """
    need("duckdb", "coverage")
    try:
        return _Scan(sources, folder, options, pool, make_executor, watcher or Watcher()).run()
    except BrokenPipeError:
        raise
    except OSError as error:
        reason = error.strerror or type(error).__name__
        place = printable(str(error.filename or folder))
        raise InputError(f"cannot be written: {reason}", place=place) from None


class _Scan:
    def __init__(
        self,
        sources: Sequence[str],
        folder: Path,
        options: ScanOptions,
        pool: PoolSettings,
        make_executor: MakeExecutor,
        watcher: Watcher,
    ) -> None:
        self._sources = sources
        self._folder = folder
        self._options = options
        self._pool = pool
        self._make_executor = make_executor
        self._watcher = watcher
        limits = {"memory": pool.memory, "deadline": pool.deadline}
        self._header = Header(VERSION, tuple(targets()), limits)
        self._known_count = 0
        self._ends_at = time.monotonic() + options.run_deadline
        self._out_of_time: list[str] = []
        self._begun: dict[str, None] = {}

    def run(self) -> ScanResult:
        inputs = list_inputs(self._sources, leave_out=self._folder)
        if not (inputs.items or inputs.phones or inputs.catalogs):
            hint = "a scan looks for APKs, containers of splits, Android modules and descriptors"
            place = ", ".join(map(printable, self._sources[:_MOST_NAMED]))
            raise InputError("nothing in it can be scanned", place=place, hint=hint)
        merged = [(name, Catalog.open(catalog)) for name, catalog in inputs.catalogs.items()]
        if any(Path(catalog).resolve() == self._folder.resolve() for catalog in inputs.catalogs.values()):
            message = "the catalog that is written cannot be one of the sources"
            raise UsageError(message, hint="its content is known to the scan already")
        own_apps = self._options.own_apps
        self._phones = [open_phone(phone, own_apps=own_apps) for phone in inputs.phones]
        self._make_folder()
        with only_scan_of(self._folder):
            return self._run(inputs, merged)

    def _run(self, inputs: Inputs, merged: Sequence[tuple[str, Catalog]]) -> ScanResult:
        earlier = self._earlier_catalogs()
        check_catalog_folder(self._folder)
        for torn in self._folder.glob(KNOWN_FILES):
            torn.unlink()
        self._known_file = write_known(self._folder, _units_of(earlier))
        log = self._scan_all(inputs, KnownUnits(str(self._known_file)))
        self._watcher.finish()
        parts = CatalogParts(log.path, self._header, earlier, merged)
        catalog = write_catalog(self._folder, parts)
        self._known_file.unlink()
        if not (self._options.keep_log or self._out_of_time):
            log.path.unlink()
        outcomes: dict[str, int] = dict(
            catalog.read_rows("SELECT outcome, count(*) FROM sources GROUP BY 1 ORDER BY 1")
        )
        return ScanResult(catalog, outcomes, self._resumed, self._known_count, tuple(self._out_of_time))

    def _scan_all(self, inputs: Inputs, units: Container[str]) -> ScanLog:
        items = {item.source: item for item in inputs.items}
        log = ScanLog.open(self._folder / LOG_FILE, self._header, items, units)
        self._resumed = len(log.done)
        self._watcher.begin(len(items), self._resumed)
        try:
            waiting = [item for item in inputs.items if item.source not in log.done]
            waiting.sort(key=lambda item: log.late.get(item.source, 0))
            self._take(log, self._answers(waiting, units))
            unscanned = {item.source: item for item in waiting if item.source not in log.done}
            self._write_unread(log, self._by_turn(unscanned))
            apps = sorted(_apps_with_splits(log, items), key=lambda app: log.late.get(app.last_split, 0))
            groups = {app.item.source: app for app in apps}
            with closing(self._answers([group.item for group in groups.values()], units)) as answers:
                for answer in answers:
                    _write_group(log, answer, groups.pop(answer.item.source).splits)
            for group in self._by_turn(groups):
                _write_group(log, self._unread(group.item), group.splits)
            self._out_of_time += groups
            for name, phone in zip(inputs.phones, self._phones, strict=True):
                if self._is_over():
                    self._write_unread(log, [Item(name, "refused")])
                else:
                    self._take(log, (PoolAnswer.of(Item(each.source, "installed"), each) for each in phone()))
        finally:
            log.close()
        return log

    def _is_over(self) -> bool:
        return time.monotonic() >= self._ends_at

    def _write_unread(self, log: ScanLog, items: Iterable[Item]) -> None:
        for item in items:
            log.write(self._unread(item))
            self._out_of_time.append(item.source)

    def _unread(self, item: Item) -> PoolAnswer:
        reason = f"the scan ended after {self._options.run_deadline:g} seconds, before it was read"
        return PoolAnswer.of(item, Scanned.failed(item.source, OUT_OF_TIME, reason))

    def _take(self, log: ScanLog, answers: PoolAnswers) -> None:
        # Whatever ends this, the workers end first: an exiting interpreter cannot end them.
        with closing(answers):
            for answer in answers:
                log.write(answer)
                self._known_count += answer.head["outcome"] == KNOWN
                self._watcher.advance(answer.head["outcome"])

    def _answers(self, items: Sequence[Item], units: Container[str]) -> PoolAnswers:
        self._begun = {}
        pool = self._pool
        work = load_work(pool.work)
        here = [item for item in items if item.kind == "refused" or is_only_here(item.location)]
        for item in here:
            if self._is_over():
                return
            yield PoolAnswer.of(item, do_work(work, item, units, None)[0])
        pool_items = [item for item in items if item.kind != "refused" and not is_only_here(item.location)]
        if pool_items and not self._is_over():
            settings = PoolSettings(
                workers=min(pool.workers, len(pool_items)),
                memory=pool.memory,
                deadline=pool.deadline,
                known_file=str(self._known_file.absolute()),
                work=pool.work,
                ends_at=self._ends_at,
            )
            yield from self._make_executor(settings).run(map(self._noted, pool_items))

    def _noted(self, item: Item) -> Item:
        self._begun[item.source] = None
        return item

    def _by_turn(self, remaining: Mapping[str, _T]) -> list[_T]:
        """Return what has no answer, in the order of the next run.

        What was begun first is the last, so that a file that takes all the time of each run keeps no other
        one from being read.
        """
        first = next((source for source in self._begun if source in remaining), None)
        return [remaining[source] for source in sorted(remaining, key=lambda source: source == first)]

    def _make_folder(self) -> None:
        check_name(self._folder)
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            is_strange = any(
                path.name != KEPT_LOG_FILE and not path.match(KNOWN_FILES) for path in self._folder.iterdir()
            )
        except (OSError, ValueError) as error:
            place = printable(str(self._folder))
            if not self._folder.is_dir() and self._folder.exists():
                raise InputError("it is a file", place=place, hint="a catalog is a folder") from None
            raise InputError(f"cannot be made: {getattr(error, 'strerror', error)}", place=place) from None
        is_catalog = any((self._folder / item).exists() for item in (CATALOG_FILE, LOG_FILE))
        if is_strange and not is_catalog:
            hint = "name a folder that is empty, or not there yet"
            message = "the folder holds something that is not a catalog"
            raise InputError(message, place=printable(str(self._folder)), hint=hint)

    def _earlier_catalogs(self) -> list[Catalog]:
        """Return the catalogs whose rows are what this scan would make: same program, same targets."""
        folders = [*self._options.known]
        if (self._folder / CATALOG_FILE).exists():
            folders.insert(0, str(self._folder))
        catalogs = [Catalog.open(folder) for folder in folders]
        header = self._header
        return [
            catalog
            for catalog in catalogs
            if (catalog.droidgate, catalog.targets) == (header.droidgate, header.targets)
        ]


def _units_of(catalogs: Iterable[Catalog]) -> Iterator[str]:
    for catalog in catalogs:
        rows = catalog.read_rows(
            "SELECT DISTINCT unit FROM sources WHERE unit IS NOT NULL AND kind <> 'installed'"
        )
        yield from (row[0] for row in rows)


@dataclass(frozen=True, slots=True)
class _Group:
    """An app that is read again, with its splits: their items and the heads of their lines."""

    item: Item
    splits: tuple[tuple[Item, Mapping[str, Any]], ...]

    @property
    def last_split(self) -> str:
        """The name of its last split."""
        return self.splits[-1][0].source


def _apps_with_splits(log: ScanLog, items: Mapping[str, Item]) -> Iterator[_Group]:
    """Yield the bases that have splits in their folder."""
    if not log.outcomes.get(PART):
        return
    folders: dict[str, list[tuple[Item, Mapping[str, Any], ApkIdentity]]] = {}
    for head in log.heads():
        item = items.get(head["source"])
        if item is not None and head["identity"] is not None and item.kind != "remote":
            package, split, version = head["identity"]
            identity = ApkIdentity(package, split, version and tuple(version))
            folders.setdefault(item.location.rpartition("/")[0], []).append((item, head, identity))
    for folder in sorted(folders):
        members = sorted(folders[folder], key=lambda member: member[0].source)
        apps, _ = group_apks([identity for _, _, identity in members])
        for base, *numbers in apps:
            if numbers:
                item_of_base = members[base][0]
                splits = tuple(members[number][:2] for number in numbers)
                parts = tuple((split.source, split.location) for split, _ in splits)
                yield _Group(Item(item_of_base.source, "app", item_of_base.location, parts), splits)


def _write_group(log: ScanLog, answer: PoolAnswer, splits: Iterable[tuple[Item, Mapping[str, Any]]]) -> None:
    """Write an app's lines: that of its base, and those of its splits, which belong to its unit.

    Where the whole cannot be read, the base stays as it was read alone: no split takes an app away.
    """
    members = tuple(splits)
    unit, reason = answer.head["unit"], f"it is read with its base, {answer.item.source}"
    if any(head["state"] != state_of(split) for split, head in members):
        unit, reason = None, f"cannot be read with its base, {answer.item.source}: {CHANGED}"
    elif answer.head["outcome"] in _GOOD:
        log.write(answer, stage=2)
    else:
        unit = None
        reason = f"cannot be read with its base, {answer.item.source}: {answer.head['reason']}"
    for split, head in members:
        fields = {name: value for name, value in head.items() if name != "identity"}
        log.write(PoolAnswer(split, {**fields, "unit": unit, "reason": reason}), stage=2)


def open_phone(source: str, *, own_apps: bool) -> Callable[[], Iterator[Scanned]]:
    """Return what scans a phone that is there now.

    Raises:
        UsageError: no phone is written so.
        DeviceError: the phone is not connected.
    """
    serial, package = parse_phone_source(source)
    device = connect_device(serial)
    return lambda: scan_phone(device, package, own_apps=own_apps)


_LEAST: Final = {"workers": 1, "memory": 64, "deadline": 0.1, "run_deadline": 0.1}
"""The least value of each option that is a number."""


def scan(
    *sources: str | PathLike[str],
    catalog: str | PathLike[str],
    options: ScanOptions | None = None,
    watcher: Watcher | None = None,
) -> ScanResult:
    """Scan sources into a catalog, which afterwards holds exactly them; needs the extra `coverage`.

    A scan that did not end goes on where it was; content that an earlier catalog has is not read again. What
    is not read before the end of the scan's time has the outcome `out-of-time`; the same scan goes on there.

    Args:
        sources: As `droidgate.read` takes them, also `@FILE` for a list of sources, and web addresses.
        catalog: The catalog's folder.
        options: How it works.
        watcher: What is called as it goes on.

    Raises:
        UsageError: a source or an option is invalid, a package is missing, or an unfinished scan had
            other settings; or anybody on the network could answer as the cluster's scheduler.
        InputError: a source does not exist, nothing can be scanned, or the folder cannot be written.
        DeviceError: a phone is not there.

    Example:
        >>> dict(droidgate.scan("pdf-tool", "weather", catalog="catalog").outcomes)
        {'read': 2}
    """
    chosen = options or ScanOptions()
    for name, least in _LEAST.items():
        value = getattr(chosen, name)
        if value is not None and not value >= least:
            raise UsageError(f"{name} cannot be {value}", hint=f"give at least {least}")
    address = chosen.cluster
    if address is not None:
        check_cluster(address, is_trusted=chosen.trust_scheduler)

    def executor(settings: PoolSettings) -> Executor:
        return ProcessPool(settings) if address is None else Cluster(address, settings)

    pool = PoolSettings(
        workers=chosen.workers or usable_cores(),
        memory=chosen.memory * _MEBIBYTE,
        deadline=chosen.deadline,
    )
    return run_scan(
        source_names(sources), Path(catalog), chosen, pool=pool, make_executor=executor, watcher=watcher
    )
