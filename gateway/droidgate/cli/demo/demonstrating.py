"""What `demo` does: a virtual phone with the sample apps, each step told and checked."""

from __future__ import annotations

import shutil
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Final

from droidgate.apk.pack import pack
from droidgate.cli.demo.demonstration_calls import AGENT, DemonstrationCalls
from droidgate.cli.demo.demonstration_phone import DemonstrationPhone, demonstration_phone
from droidgate.cli.descriptors.converting import write_conversion
from droidgate.cli.descriptors.listing_formats import can_write, matrix_page
from droidgate.cli.descriptors.matrix import make_matrix
from droidgate.cli.devices.discovering import counts_line, discovery_page
from droidgate.cli.exit_codes import ExitCode
from droidgate.cli.output.grouping import (
    count_levels,
    counted,
    findings_table,
    security_blocks,
    security_page,
)
from droidgate.cli.output.pages import Heading, Line, show
from droidgate.cli.output.summaries import dialect_name, provider_page
from droidgate.formats import Format, find_format, load_formats
from droidgate.migration.plan import MigrationPlan, plan_migration
from droidgate.migration.source_sets import find_source_set
from droidgate.model.capability import Provider
from droidgate.model.errors import DroidgateError
from droidgate.sources import Providers, read_source
from droidgate.sources.device import PhoneReading, PhoneRequest, read_phone
from droidgate.translate import Conversion, convert, provider_name, translate
from droidgate_phone.sample_apps import sample_apps_directory
from droidgate_phone.sample_packages import SamplePackage, sample_packages, signing_key

_INTRODUCTION: Final = (
    "Apps in four protocols for agents, and an agent, on a phone that is a program. Nothing here needs a",
    "real phone or a network, and nothing of yours is touched: adb has a server and a home of its own.",
)
_MIGRATED_APP: Final = "pdf-tool"
_HOST_APP: Final = "weather"
_MIGRATION_TARGET: Final = "mobile-mcp"


@dataclass
class _Demonstration:
    """One run: where it writes, its phone, and what went wrong."""

    folder: Path
    phone: DemonstrationPhone
    problems: list[str] = field(default_factory=list)

    def run(self) -> None:
        self.install_samples()
        found = self.discover()
        self.convert(found)
        self.migrate(found)
        matrix = make_matrix(load_formats().values(), only_defaults=True)
        show([Heading("6. What each format can carry"), *matrix_page(matrix), Line()])
        self.call()

    def install_samples(self) -> None:
        show([Heading("2. Install the sample apps, packed and signed without an Android SDK")])
        for sample in self.samples.values():
            self.install(self.apk_of(sample.name), sample.apk)
        show([Line()])

    def apk_of(self, name: str) -> Path:
        return self.folder / "apks" / f"{name}.apk"

    def install(self, apk: Path, content: bytes) -> None:
        apk.parent.mkdir(parents=True, exist_ok=True)
        apk.write_bytes(content)
        begin = time.perf_counter()
        command = self.phone.install(apk)
        spent = (time.perf_counter() - begin) * 1000
        show([Line(f"{command}: Success ({len(content)} bytes, {spent:.0f} ms)", 1)])

    def discover(self) -> PhoneReading:
        show([Heading("3. Discover what they declare, over adb")])
        found = read_phone(self.phone.device, PhoneRequest(tuple(load_formats().values()), keep=False))
        show([*discovery_page(found), Line(counts_line(found)), Line()])
        for provider in _providers(found):
            show([*provider_page(provider.model_copy(update={"source": None})), Line()])
        expected = {in_source.content_digest() for in_source in _declared_in_sources()}
        missing = expected - {other.content_digest() for other in _providers(found)}
        self.problems.extend(f"{problem.message}" for app in found.apps for problem in app.problems)
        if missing:
            self.problems.append(f"{len(missing)} providers of the source trees were not found on the phone")
        return found

    def convert(self, found: PhoneReading) -> None:
        """Convert each provider into every other format and read the result back."""
        show([Heading("4. Convert what was found into every other format")])
        for position, provider in enumerate(_providers(found)):
            for target in _targets(provider) if provider.capabilities else ():
                place = self.folder / "converted" / f"{position}-{target.id}"
                try:
                    self.cross(provider, target, place)
                except DroidgateError as error:
                    self.problems.append(f"{provider_name(provider)} to {target.id}: {error.message}")
        show([Line()])

    def cross(self, provider: Provider, target: Format, place: Path) -> None:
        read = Providers((provider,))
        converted = convert(read, target.id)
        write_conversion(read, converted, place, force=True)
        is_same = _reads_back(converted, target, place)
        (one,) = converted.translations
        count = len(one.writing.artifacts)
        summary = ", ".join(
            (
                f"{count} {'file' if count == 1 else 'files'}",
                counted(count_levels(one.writing.findings)) or "nothing is lost",
                "read back: the same" if is_same else "READ BACK: NOT THE SAME",
            )
        )
        subjects = [capability.id for capability in provider.capabilities]
        crossing = f"{dialect_name(provider)} -> {dialect_name(one.writing.provider)}"
        show([Line(f"{provider_name(provider)}  {crossing}: {summary}")])
        security = security_page(security_blocks(one.writing.findings, subjects))
        show([*security, *findings_table(one.writing.findings, subjects)])
        if not is_same:
            self.problems.append(f"what was written into {place.name} reads back as something else")

    def migrate(self, found: PhoneReading) -> None:
        """Migrate an app into a copy of another's project, pack that, install it, and discover it again."""
        name, target_id = _MIGRATED_APP, _MIGRATION_TARGET
        original = sample_apps_directory() / name
        project = self.folder / f"{name}-in-{_HOST_APP}"
        shutil.copytree(sample_apps_directory() / _HOST_APP, project, dirs_exist_ok=True)
        show([Heading(f"5. Migrate {name} to {target_id}, into a copy of {_HOST_APP}'s source tree")])
        migration = _plan(original, project, target_id)
        migration.write()
        for change in migration.changes:
            show([Line(f"{'new' if change.before is None else 'changed'}: {change.path}", 1)])
        if _plan(original, project, target_id).changes:
            self.problems.append(f"migrating {name} a second time changes it again")
        packing = pack(project, key=signing_key())
        self.install(self.folder / "apks" / f"{project.name}.apk", packing.apk)
        again = read_phone(
            self.phone.device,
            PhoneRequest(tuple(load_formats().values()), package=packing.facts.package, keep=False),
        )
        show([Line("declared on the phone now:", 1)])
        show(
            [
                Line(f"{provider_name(provider)}  {dialect_name(provider)}", 2)
                for provider in _providers(again)
            ]
        )
        expected = migration.translations[0].writing.provider
        if _bare_digest(expected) not in {_bare_digest(provider) for provider in _providers(again)}:
            self.problems.append(f"the migrated {name} does not declare on the phone what was meant")
        if len(list(_providers(again))) <= sum(
            provider.package == packing.facts.package for provider in _providers(found)
        ):
            self.problems.append(f"the migrated {name} brought no new provider")
        show([Line()])

    def call(self) -> None:
        """Put a shim before each sample app, and let agents of each kind call through them."""
        show([Heading("7. Put a shim before each app, so that agents of other protocols reach it")])
        # Migrated into weather's project, the PDF tool has replaced weather.
        self.install(self.apk_of(_HOST_APP), self.samples[_HOST_APP].apk)
        apks = [self.apk_of(name) for name, sample in self.samples.items() if sample.package != AGENT]
        demonstration = DemonstrationCalls(self.phone, apks, signing_key())
        self.problems.extend(demonstration.build_and_install())
        show([Line(), Heading("8. Call: each answer is checked against what the app itself tells")])
        self.problems.extend(demonstration.run())
        show([Line()])

    @cached_property
    def samples(self) -> Mapping[str, SamplePackage]:
        return {sample_package.name: sample_package for sample_package in sample_packages()}


def demonstrate(keep: Path | None) -> int:
    """Show everything on a virtual phone; return 0 only when each step did what it should."""
    with _working_folder(keep) as folder:
        show([Heading("droidgate demo"), *(Line(item) for item in _INTRODUCTION), Line()])
        problems: list[str] = []
        try:
            with demonstration_phone(folder / "home") as phone:
                show([Heading("1. Start a phone"), *_about(phone), Line()])
                demonstration = _Demonstration(folder, phone, problems)
                demonstration.run()
        except DroidgateError as error:
            problems.append(str(error))
        if keep is not None:
            show([Line(f"everything written is in {folder}")])
        return _conclude(problems)


def _about(phone: DemonstrationPhone) -> list[Line]:
    identity = phone.device.identity
    reached = "adb's own program" if phone.adb is not None else "the phone's own adb server"
    return [Line(f"{phone.phone.serial}, {identity.fingerprint}, reached by {reached}", 1)]


@contextmanager
def _working_folder(keep: Path | None) -> Iterator[Path]:
    if keep is not None:
        yield keep
        return
    with tempfile.TemporaryDirectory(prefix="droidgate-demo-") as folder:
        yield Path(folder)


def _providers(found: PhoneReading) -> Iterator[Provider]:
    return (provider for app in found.apps for provider in app.providers)


def _declared_in_sources() -> Iterator[Provider]:
    return iter(read_source(str(sample_apps_directory())).providers)


def _bare_digest(provider: Provider) -> str:
    # In another app it has that app's package, and a component with attributes it did not ask for.
    return provider.model_copy(update={"extensions": {}, "package": None}).content_digest()


def _plan(original: Path, project: Path, target_id: str) -> MigrationPlan:
    target, dialect = find_format(target_id)
    source_set = find_source_set(project)
    translations = translate(read_source(str(original)).providers, target, dialect)
    return plan_migration(project, source_set, translations, target, dialect, source_set.language)


def _reads_back(converted: Conversion, target: Format, place: Path) -> bool:
    """Tell whether what was written, read without any leniency, is what was meant."""
    written = converted.translations[0].writing.provider.content_digest()
    found = read_source(str(place), strict=True, formats=[target]).providers
    # A writer may add the bare descriptor beside the app's files, and that is read too.
    return written in [item.content_digest() for item in found]


def _targets(provider: Provider) -> list[Format]:
    return [
        format_
        for format_ in load_formats().values()
        if format_.id != provider.protocol and can_write(format_, format_.dialects[0].id)
    ]


def _conclude(problems: Sequence[str]) -> int:
    if problems:
        show([Heading("Not everything worked"), *(Line(problem, 1) for problem in problems)])
        return ExitCode.FINDINGS
    said = (
        "Everything worked: each app was installed, found over adb, converted into every other format and "
        "read back, and called through a shim by agents of other protocols."
    )
    show([Heading(said)])
    return ExitCode.OK
