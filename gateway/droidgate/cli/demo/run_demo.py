"""What `demo` does: a virtual phone with the sample apps, each step shown and checked; last, an MCP client
calls every sample app through droidgate's own server.
"""

from __future__ import annotations

import os
import shutil
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from droidgate.calls.caller import CapabilityCaller
from droidgate.calls.subjects import EVERY_CAPABILITY
from droidgate.cli.demo.demo_options import Demo
from droidgate.cli.demo.demonstration_calls import (
    AGENT,
    PDF_WITH_PHRASE,
    DemonstrationCalls,
    short_name,
    shorten,
)
from droidgate.cli.demo.demonstration_phone import DemonstrationPhone, demonstration_phone
from droidgate.cli.descriptors.run_convert import conversion_files
from droidgate.cli.descriptors.run_formats import can_write, matrix_page
from droidgate.cli.devices.run_discover import counts_line, discovery_page
from droidgate.cli.exit_codes import ExitCode
from droidgate.cli.output.grouped_findings import (
    count_levels,
    counted,
    findings_table,
    security_blocks,
    security_page,
)
from droidgate.cli.output.pages import Heading, Line, Table, show
from droidgate.cli.output.summaries import provider_page
from droidgate.computer.optional_packages import install_command, need
from droidgate.computer.output_folder import write_files
from droidgate.converting.conversion import Conversion, convert
from droidgate.migration.migration_plan import MigrationPlan, plan_migration
from droidgate.migration.source_sets import find_source_set
from droidgate.sources import read_source
from droidgate.sources.phone_source import PhoneReading, PhoneRequest, read_phone
from droidgate_android.apk.pack import pack
from droidgate_mappings.formats.format import Format, find_format, load_formats
from droidgate_mappings.formats.support_matrix import make_matrix
from droidgate_mappings.model.capability import Provider
from droidgate_mappings.model.errors import DroidgateError, UsageError
from droidgate_mappings.model.findings import Finding
from droidgate_mappings.records import dataclass, field
from droidgate_mappings.translate import dialect_name, provider_name, translate
from droidgate_mappings.user_folders import HOME_VARIABLE
from droidgate_phone.apps.sample_packages import SamplePackage, sample_packages, signing_key
from droidgate_shim.builder.sample_apps import sample_apps_directory

if TYPE_CHECKING:
    from droidgate.devices.device import Device

REVISION: Final = "2026-07-28"
_COLUMNS: Final = ("TOOL", "ANSWER", "MS")
_LONGEST_ANSWER: Final = 60

# Tool -> its arguments, and a text that a right answer has.
_CALLS: Final[dict[str, tuple[dict[str, Any], str]]] = {
    "clockin_query_clock_in": ({"date": "2026-02-03"}, '"has_clocked_in":true'),
    "notes_findNotes": ({"query": {"text": "Umbrella"}}, "Umbrella"),
    "legacy_createNote": ({"title": "Eggs", "content": "Six"}, "noteId"),
    "tally_add_points": ({"player": "Grace", "points": 4}, '"total":4'),
    "weather_currentWeather": ({"location": "Bonn"}, "Bonn"),
    "pdftool_search_text": (dict(zip(("path", "query"), PDF_WITH_PHRASE, strict=True)), PDF_WITH_PHRASE[1]),
}


@dataclass
class DemonstrationServer:
    """A server over HTTP with a token, and the SDK's own client.

    Args:
        device: The phone, with shims.
        folder: Where the token, the audit log and everything else of the user is kept.
        signed_by: SHA-256 of the certificate that signs the shims.
    """

    device: Device
    folder: Path
    signed_by: str
    problems: list[str] = field(default_factory=list)

    def run(self) -> list[str]:
        """Call every app, show the answers, and return what was not right."""
        try:
            anyio = need("anyio", "serve")
            need("mcp", "serve")
        except UsageError:
            show([Line(f"left out: the MCP SDK is not installed ({install_command('serve')})", 1)])
            return []
        rows: list[tuple[str, str, str]] = []
        with _home(self.folder):
            anyio.run(self._serve_and_call, rows)
        show([Table(_COLUMNS, rows)])
        return self.problems

    async def _serve_and_call(self, rows: list[tuple[str, str, str]]) -> None:
        import anyio
        import httpx2
        from mcp import Client
        from mcp.client.streamable_http import streamable_http_client

        from droidgate.serving.http_transport import HttpAddress, http_application, http_server, listen
        from droidgate.serving.phone_tools import PhoneTools
        from droidgate.serving.served_phones import ServedPhone
        from droidgate.serving.server_application import McpServer
        from droidgate.serving.tokens import TokenCheck, read_or_make_token, token_file

        caller = CapabilityCaller(self.device, signed_by=self.signed_by)
        tools = PhoneTools([ServedPhone(None, lambda: caller)], allow=EVERY_CAPABILITY)
        token = read_or_make_token(token_file())
        headers = {"Authorization": f"Bearer {token}"}
        with listen(HttpAddress("127.0.0.1", 0)) as (listener, address):
            server = http_server(http_application(McpServer(tools), address, TokenCheck(token)))
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(server.serve, [listener])
                async with httpx2.AsyncClient(headers=headers, timeout=60) as http:
                    transport = streamable_http_client(address.url, http_client=http)
                    async with Client(transport, mode=REVISION) as client:
                        count = len((await client.list_tools()).tools)
                        show([Line(f"{address.url}, MCP {REVISION}: {count} tools", 1)])
                        for tool, (arguments, expected) in _CALLS.items():
                            rows.append(await self._call(client, tool, arguments, expected))
                server.should_exit = True

    async def _call(
        self, client: Any, tool: str, arguments: dict[str, Any], expected: str
    ) -> tuple[str, str, str]:
        begin = time.perf_counter()
        result = await client.call_tool(tool, arguments)
        spent = (time.perf_counter() - begin) * 1000
        answer = "\n".join(block.text for block in result.content if block.type == "text")
        if result.is_error or expected not in answer:
            self.problems.append(f"{tool}: the answer is not what is so: {answer}")
        return tool, shorten(answer, _LONGEST_ANSWER), f"{spent:.0f}"


@contextmanager
def _home(folder: Path) -> Iterator[None]:
    """Keep everything of the user below a folder: the policy, approvals, the audit log, the token."""
    before = os.environ.get(HOME_VARIABLE)
    os.environ[HOME_VARIABLE] = str(folder)
    try:
        yield
    finally:
        if before is None:
            del os.environ[HOME_VARIABLE]
        else:
            os.environ[HOME_VARIABLE] = before


_INTRODUCTION: Final = (
    "Apps of four agent protocols, and an agent, on a virtual phone. Needs no real phone and no network;",
    "adb has a server and a home folder of its own. --details prints everything.",
)
_MIGRATED_APP: Final = "pdf-tool"
_HOST_APP: Final = "weather"
_MIGRATION_TARGET: Final = "mobile-mcp"


@dataclass
class _Demonstration:
    """One run: where it writes, its phone, how much it prints, and what went wrong."""

    folder: Path
    phone: DemonstrationPhone
    details: bool
    problems: list[str] = field(default_factory=list)

    def run(self) -> None:
        self.install_samples()
        calls = DemonstrationCalls(self.phone, self.app_files(), signing_key(), details=self.details)
        reading = self.discover()
        self.convert([*_providers(reading), *calls.ask_for_tools()])
        self.migrate(reading)
        if self.details:
            matrix = make_matrix(load_formats().values(), only_defaults=True)
            show([Heading("What each format can carry"), *matrix_page(matrix), Line()])
        self.call(calls)
        self.serve()

    def install_samples(self) -> None:
        show([Heading("2. Install the sample apps, packed and signed without an Android SDK")])
        rows = [self.install(self.apk_of(sample.name), sample.apk) for sample in self.samples.values()]
        show([Table(("FILE", "BYTES", "MS"), rows), Line()])

    def apk_of(self, name: str) -> Path:
        return self.folder / "apks" / f"{name}.apk"

    def app_files(self) -> list[Path]:
        return [self.apk_of(name) for name, sample in self.samples.items() if sample.package != AGENT]

    def install(self, apk: Path, content: bytes) -> tuple[str, str, str]:
        """Install an APK; return its name, its size, and the time that took."""
        apk.parent.mkdir(parents=True, exist_ok=True)
        apk.write_bytes(content)
        begin = time.perf_counter()
        command = self.phone.install(apk)
        spent = (time.perf_counter() - begin) * 1000
        if self.details:
            show([Line(f"{command}: Success", 1)])
        return apk.name, f"{len(content):,}", f"{spent:.0f}"

    def read_phone(self, package: str | None = None) -> PhoneReading:
        formats = tuple(load_formats().values())
        return read_phone(self.phone.device, PhoneRequest(formats, package=package, keep=False))

    def discover(self) -> PhoneReading:
        show([Heading("3. Discover what they declare, over adb")])
        reading = self.read_phone()
        if self.details:
            show([*discovery_page(reading), Line(counts_line(reading)), Line()])
            for provider in _providers(reading):
                show([*provider_page(provider.changed({"source": None})), Line()])
        else:
            rows = [
                (
                    provider_name(provider),
                    dialect_name(provider),
                    str(len(provider.capabilities) or "not known yet"),
                )
                for provider in _providers(reading)
            ]
            show([Table(("APP", "PROTOCOL", "CAPABILITIES"), rows), Line()])
        declared = read_source(str(sample_apps_directory())).providers
        expected = {provider.content_digest() for provider in declared}
        missing = expected - {provider.content_digest() for provider in _providers(reading)}
        self.problems.extend(f"{problem.message}" for app in reading.apps for problem in app.problems)
        if missing:
            self.problems.append(f"{len(missing)} providers of the source trees were not found on the phone")
        return reading

    def convert(self, providers: Sequence[Provider]) -> None:
        """Convert each provider into every other format and read the result back."""
        show([Heading("4. Convert each app into every other protocol, and read it back")])
        rows = []
        for position, provider in enumerate(providers):
            for target in _targets(provider) if provider.capabilities else ():
                place = self.folder / "converted" / f"{position}-{target.id}"
                try:
                    rows.append(self.convert_one(provider, target, place))
                except DroidgateError as error:
                    self.problems.append(f"{provider_name(provider)} to {target.id}: {error.message}")
        show([Table(("APP", "FROM", "TO", "READ BACK", "CHANGED"), rows), Line()])

    def convert_one(self, provider: Provider, target: Format, place: Path) -> tuple[str, ...]:
        """Convert a provider and read the files back; return what is printed of it."""
        converted = convert(provider, target.id)
        write_files(conversion_files(converted, place), force=True)
        is_same = _reads_back(converted, target, place)
        (translation,) = converted.translations
        findings = translation.writing.findings
        if self.details:
            subjects = [capability.id for capability in provider.capabilities]
            heading = f"{provider_name(provider)} -> {dialect_name(translation.writing.provider)}"
            security = security_page(security_blocks(findings, subjects))
            show([Heading(heading), *security, *findings_table(findings, subjects), Line()])
        if not is_same:
            self.problems.append(f"what was written into {place.name} reads back as something else")
        return (
            short_name(provider.package or ""),
            dialect_name(provider),
            dialect_name(translation.writing.provider),
            "the same" if is_same else "NOT THE SAME",
            _counts(findings),
        )

    def migrate(self, found: PhoneReading) -> None:
        """Migrate an app into a copy of another's project, pack that, install it, and discover it again."""
        name, target_id = _MIGRATED_APP, _MIGRATION_TARGET
        original = sample_apps_directory() / name
        project = self.folder / f"{name}-in-{_HOST_APP}"
        shutil.copytree(sample_apps_directory() / _HOST_APP, project, dirs_exist_ok=True)
        show([Heading(f"5. Migrate {name} to {target_id}, into a copy of {_HOST_APP}'s source tree")])
        migration = _plan(original, project, target_id)
        migration.write()
        new = [change.path for change in migration.changes if change.before is None]
        changed = [change.path for change in migration.changes if change.before is not None]
        if self.details:
            show(Line(f"changed: {path}", 1) for path in changed)
            show(Line(f"new: {path}", 1) for path in new)
        if _plan(original, project, target_id).changes:
            self.problems.append(f"migrating {name} a second time changes it again")
        packing = pack(project, key=signing_key())
        self.install(self.apk_of(project.name), packing.apk)
        again = list(_providers(self.read_phone(packing.facts.package)))
        counts = f"{len(changed)} changed and {len(new)} new files"
        show([Line(f"{counts}; packed, installed, and found on the phone:", 1)])
        show(Line(f"{provider_name(provider)}  {dialect_name(provider)}", 2) for provider in again)
        expected = migration.translations[0].writing.provider
        if _bare_digest(expected) not in map(_bare_digest, again):
            self.problems.append(f"the migrated {name} does not declare on the phone what was meant")
        if len(again) <= sum(provider.package == packing.facts.package for provider in _providers(found)):
            self.problems.append(f"the migrated {name} has no new provider")
        show([Line()])

    def call(self, calls: DemonstrationCalls) -> None:
        """Install a shim for each sample app, and let agents of each protocol call through them."""
        show([Heading("6. Install a shim for each app, so that agents of other protocols reach it")])
        # The migrated app has replaced weather, into whose project it was put.
        self.install(self.apk_of(_HOST_APP), self.samples[_HOST_APP].apk)
        self.problems.extend(calls.build_and_install())
        show([Line(), Heading("7. Call, and check each answer against the app itself")])
        self.problems.extend(calls.run())
        show([Line()])

    def serve(self) -> None:
        """Let an MCP client call each sample app through `droidgate serve`."""
        show([Heading("8. Call each app from an MCP client, through droidgate serve")])
        server = DemonstrationServer(self.phone.device, self.folder / "served", signing_key().digest)
        self.problems.extend(server.run())
        show([Line()])

    @cached_property
    def samples(self) -> Mapping[str, SamplePackage]:
        return {sample_package.name: sample_package for sample_package in sample_packages()}


def demonstrate(options: Demo) -> int:
    """Show everything on a virtual phone; return 0 only when each step did what it should."""
    with tempfile.TemporaryDirectory(prefix="droidgate-demo-") as name:
        folder = Path(name)
        show([Heading("droidgate demo"), *(Line(item) for item in _INTRODUCTION), Line()])
        problems: list[str] = []
        try:
            with demonstration_phone(folder / "home") as phone:
                show([Heading("1. Start a phone"), *_phone_lines(phone), Line()])
                demonstration = _Demonstration(folder, phone, options.details, problems)
                demonstration.run()
        except DroidgateError as error:
            problems.append(str(error))
        return _conclude(problems)


def _phone_lines(phone: DemonstrationPhone) -> list[Line]:
    reached = "adb's own program" if phone.adb is not None else "the phone's own adb server"
    return [
        Line(f"{phone.phone.serial}, Android {phone.phone.system.release.version}, reached by {reached}", 1)
    ]


def _providers(found: PhoneReading) -> Iterator[Provider]:
    return (provider for app in found.apps for provider in app.providers)


def _bare_digest(provider: Provider) -> str:
    # In the other app, it has that app's package, and its component has further attributes.
    return provider.changed({"extensions": {}, "package": None}).content_digest()


def _plan(original: Path, project: Path, target_id: str) -> MigrationPlan:
    target, dialect = find_format(target_id)
    source_set = find_source_set(project)
    translations = translate(read_source(str(original)).providers, target, dialect)
    return plan_migration(project, source_set, translations, target, dialect, source_set.language)


def _reads_back(converted: Conversion, target: Format, place: Path) -> bool:
    """Return whether the written files, read without leniency, declare what the writer reports."""
    written = converted.translations[0].writing.provider.content_digest()
    providers = read_source(str(place), strict=True, formats=[target]).providers
    # A writer may add the bare descriptor next to the app's files, and that is read too.
    return written in [item.content_digest() for item in providers]


def _targets(provider: Provider) -> list[Format]:
    return [
        format_
        for format_ in load_formats().values()
        if format_.id != provider.protocol
        and format_.tables.declared_by_apps
        and can_write(format_, format_.dialects[0].id)
    ]


def _counts(findings: Sequence[Finding]) -> str:
    """Return how many findings there are of the two gravest levels, and how many more."""
    levels = count_levels(findings)
    gravest_levels = dict(list(levels.items())[:2])
    more = sum(levels.values()) - sum(gravest_levels.values())
    return ", ".join([counted(gravest_levels), *([f"{more} more"] if more else [])]) if levels else "nothing"


def _conclude(problems: Sequence[str]) -> int:
    if problems:
        show([Heading("Not everything worked"), *(Line(problem, 1) for problem in problems)])
        return ExitCode.FINDINGS
    show([Heading("Everything worked.")])
    return ExitCode.OK
