"""What `discover` does."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Final

from droidgate.calls.phones import open_device
from droidgate.calls.subjects import last_part
from droidgate.cli.devices.device_options import Discover
from droidgate.cli.exit_codes import ExitCode
from droidgate.cli.output.grouped_findings import remarks_table
from droidgate.cli.output.marking import provider_marks_page
from droidgate.cli.output.pages import Block, Heading, Line, Table, print_note
from droidgate.cli.output.reports import Report
from droidgate.cli.output.safe_text import one_line
from droidgate.cli.output.summaries import left_out_line
from droidgate.cli.read_sources import print_problem
from droidgate.sources.callability import Callability, callability_of, why_not_by_shell
from droidgate.sources.phone_source import InstalledApp, PhoneReading
from droidgate_mappings.formats.format import found_by
from droidgate_mappings.formats.installed import INSTALL_SHIM, own_app
from droidgate_mappings.formats.reachability import REPORTED_AS_DISABLED
from droidgate_mappings.model.capability import Provider
from droidgate_mappings.model.errors import InputError
from droidgate_mappings.model.findings import Finding, Level
from droidgate_mappings.tables.android_names import android_name
from droidgate_mappings.text.counted_nouns import amount
from droidgate_mappings.text_safety.marks import text_marks
from droidgate_mappings.translate import dialect_name

if TYPE_CHECKING:
    from droidgate.cli.devices.discover_documents import DiscoverDocument

_COLUMNS: Final = ("PACKAGE", "COMPONENT", "PROTOCOL", "CAPABILITIES", "CALLS")
_LONGEST: Final = {"PACKAGE": 40, "COMPONENT": 40}
_DETAILS: Final = frozenset({"COMPONENT"})
_SHOWN: Final = frozenset({Level.WARNING, Level.ERROR})


def discover(options: Discover) -> int:
    """Read a phone and print what its apps declare; return 3 where all that was found cannot be read.

    Raises:
        DeviceError: the phone cannot be reached or used.
        UsageError: an unknown format.
    """
    phone = open_device(options.serial).discover(
        formats=options.only,
        every_app=options.every_app,
        keep=not options.no_cache,
        own_apps=options.include_shims,
    )
    problems = [*phone.problems, *(problem for app in phone.apps for problem in app.problems)]
    for problem in problems:
        print_problem(problem)
    nothing_was_read = bool(problems) and not any(app.providers for app in phone.apps)
    code = ExitCode.INPUT if nothing_was_read else ExitCode.OK
    Report(lambda: discovery_page(phone), lambda: _document(phone, problems)).print(options.form)
    print_note(counts_line(phone))
    return code


def discovery_page(phone: PhoneReading) -> list[Block]:
    """Return what `discover` shows."""
    blocks: list[Block] = []
    entries = [
        (app, provider, callability_of(provider, app, phone))
        for app in phone.apps
        for provider in app.providers
    ]
    if entries:
        blocks += [
            Table(_COLUMNS, [_row(*item) for item in entries], _LONGEST, _DETAILS),
            Line(),
            *_obstacle_blocks(entries, phone),
        ]
    else:
        blocks += [Line("no app declares anything in a protocol that is known"), Line()]
    blocks += provider_marks_page(provider for app in phone.apps for provider in app.providers)
    findings = tuple(_shown_findings(phone))
    if findings:
        blocks += [Heading("Remarks"), *remarks_table(findings), Line()]
    if phone.not_asked:
        blocks.append(Line(_not_asked_line(phone)))
    blocks += [Line(line) for line in _own_apps_lines(phone)]
    providers = [provider for app in phone.apps for provider in app.providers]
    capabilities = sum(len(provider.capabilities) for provider in providers)
    counted = (
        amount(sum(bool(app.providers) for app in phone.apps), "app"),
        amount(len(providers), "provider"),
        amount(capabilities, "capability", "capabilities"),
    )
    summary = ", ".join(counted)
    blocks.append(
        Line(f"{summary} on {phone.serial}, {android_name(phone.facts.sdk_full)}, user {phone.facts.user}")
    )
    return blocks


def _row(app: InstalledApp, provider: Provider, callability: Callability) -> tuple[str, ...]:
    return (
        marked_package(app.package),
        one_line(_component(provider, app)),
        dialect_name(provider),
        _count(provider, callability),
        _calls(callability),
    )


def marked_package(package: str) -> str:
    """Return a package name; after the name of one of droidgate's own apps, which app that is."""
    own = own_app(package)
    return one_line(package) if own is None else f"{one_line(package)} ({own})"


def _own_apps_lines(phone: PhoneReading) -> Iterator[str]:
    """Yield what the table does not show of droidgate's own apps."""
    if phone.left_out:
        yield left_out_line(len(phone.left_out))
        return
    declaring = {app.package for app in phone.apps if app.providers}
    for package in sorted(phone.facts.shims - declaring):
        yield f"{package} is a shim without capabilities of its own"


def _component(provider: Provider, app: InstalledApp) -> str:
    return (provider.component or "-").removeprefix(app.package)


def _calls(callability: Callability) -> str:
    """Return how the capabilities are called from this computer now."""
    if callability.verdict.closed_because is not None:
        return "not callable"
    ready = [route.title for route in callability.routes if route.ready]
    if ready or not callability.routes:
        return ", ".join(ready) or "-"
    (*_, route) = callability.routes
    return "needs a shim" if route.id.startswith("shim-") else route.title


def _count(provider: Provider, callability: Callability) -> str:
    if found_by(provider) is not None:
        return "not known"
    count = len(provider.capabilities)
    disabled = sum(
        capability.state is not None and capability.state.enabled is False
        for capability in provider.capabilities
    )
    others = len(callability.closed) - disabled
    notes = [f"{disabled} disabled"] if disabled else []
    notes += [f"{others} not callable"] if others else []
    return f"{count} ({', '.join(notes)})" if notes else str(count)


def _obstacle_blocks(
    found: Iterable[tuple[InstalledApp, Provider, Callability]], phone: PhoneReading
) -> Iterator[Block]:
    """Yield what keeps capabilities from being called, each reason once with the apps that have it."""
    apps: dict[str, dict[str, None]] = {}
    needs_shims = False
    for app, provider, callability in found:
        routes = callability.routes if callability.verdict.closed_because is None else ()
        needs_shims |= any(route.id.startswith("shim-") and not route.ready for route in routes)
        needs_shims |= found_by(provider) is not None and not phone.facts.shims
        for reason in _reasons(provider, callability, phone):
            apps.setdefault(one_line(reason), {})[marked_package(app.package)] = None
    if not apps:
        return
    yield Heading("Missing for calls" + (f"; shims: {INSTALL_SHIM}" if needs_shims else ""))
    heading: tuple[str, ...] = ()
    for reason, packages in apps.items():
        if tuple(packages) != heading:
            heading = tuple(packages)
            yield Line(", ".join(heading), 1)
        yield Line(reason, 2)
    yield Line()


def _reasons(provider: Provider, callability: Callability, phone: PhoneReading) -> Iterator[str]:
    closed = callability.verdict.closed_because
    if closed is not None:
        yield f"cannot be called: {closed}"
        return
    finder = found_by(provider)
    if finder is not None and phone.facts.shims:
        yield "the list of its tools, which no shim on the phone got; `droidgate shim doctor` says why"
    elif finder is not None:
        yield "the list of its tools: a shim asks the app for them"
    yield from (need for route in callability.routes for need in route.needs)
    yield from callability.verdict.conditions
    for declared in provider.capabilities if not phone.facts.shims else ():
        need = why_not_by_shell(provider, declared)
        if need is not None and any(route.ready for route in callability.routes):
            yield f"a shim for {last_part(declared.id)}: {need}"
    for capability, reason in callability.closed:
        if reason != REPORTED_AS_DISABLED:
            yield f"{last_part(capability)} cannot be called: {reason}"


def _shown_findings(phone: PhoneReading) -> Iterator[Finding]:
    for app in phone.apps:
        yield from (finding for finding in app.findings if finding.level in _SHOWN)


def _not_asked_line(phone: PhoneReading) -> str:
    kinds = sorted({item.kind for item in phone.not_asked})
    declarations = amount(len(phone.not_asked), "more declaration")
    return f"adb cannot query {declarations} ({', '.join(kinds)}); --all reads every app's manifest"


def counts_line(phone: PhoneReading) -> str:
    """Return what the run cost: for standard error."""
    apps, pieces = amount(phone.installed, "app"), amount(phone.requests, "piece")
    return (
        f"{apps} installed, {len(phone.apps)} looked at, {phone.kept} known from an earlier run; "
        f"{phone.bytes_read} bytes of APKs read over adb in {pieces}"
    )


def _document(phone: PhoneReading, problems: Sequence[InputError]) -> DiscoverDocument:
    from droidgate.cli.devices.discover_documents import (
        ClosedCapability,
        DiscoverDocument,
        DiscoveredApp,
        DiscoveredProvider,
    )

    def provider_record(provider: Provider, app: InstalledApp) -> DiscoveredProvider:
        callability = callability_of(provider, app, phone)
        return DiscoveredProvider.of(
            callability,
            provider=provider,
            digest=provider.content_digest(),
            not_callable_because=callability.verdict.closed_because,
            conditions=callability.verdict.conditions,
            closed_capabilities=tuple(
                ClosedCapability(id=capability, reason=reason) for capability, reason in callability.closed
            ),
            found_by=found_by(provider),
            marks=tuple(text_marks(provider)),
        )

    apps = tuple(
        DiscoveredApp.of(
            app,
            own=own_app(app.package),
            providers=tuple(provider_record(provider, app) for provider in app.providers),
        )
        for app in phone.apps
        if app.providers or app.findings
    )
    return DiscoverDocument.of(
        phone,
        release=phone.facts.sdk_full,
        user=phone.facts.user,
        looked_at=len(phone.apps),
        apps=apps,
        problems=problems,
        not_asked=tuple(f"{item.kind} {item.action or item.mark}" for item in phone.not_asked),
    )
