"""What `inspect` does."""

from __future__ import annotations

import sys
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from droidgate.cli.descriptors.descriptor_options import Inspect
from droidgate.cli.exit_codes import ExitCode
from droidgate.cli.output.grouped_findings import remarks_table
from droidgate.cli.output.marking import marks_of_all, provider_marks_page
from droidgate.cli.output.page_length import is_short_page
from droidgate.cli.output.pages import Block, Heading, Line, Table, is_drawn
from droidgate.cli.output.reports import Report
from droidgate.cli.output.safe_text import one_line
from droidgate.cli.output.summaries import capability_page, provider_page
from droidgate.cli.read_sources import read_all
from droidgate.sources.source_results import Providers
from droidgate_mappings.formats.application import Application, Query
from droidgate_mappings.formats.format import finder_of_silent, found_by, load_formats
from droidgate_mappings.model.capability import CapabilitySet, Provider
from droidgate_mappings.model.errors import UsageError
from droidgate_mappings.text.counted_nouns import amount

if TYPE_CHECKING:
    from droidgate.cli.descriptors.inspect_documents import InspectDocument, InspectedApp


_MOST_APPS: Final = 10
_MOST_PROVIDERS: Final = 3
"""Providers that a terminal shows with all that they declare; more of them have a row each."""

_LONGEST: Final = 300


def applications_of(read: Providers) -> list[Application]:
    """Return the applications that were read, those of APKs with their signature verified."""
    applications = list(read.applications)
    # Only what was read from an APK has the archive at hand, and needs the modules that read it.
    if any(hasattr(app.resources, "apk") for app in applications):
        from droidgate_android.apk.apk_application import verify_signers

        applications = [verify_signers(app) for app in applications]
    return applications


def is_signed(app: Application) -> bool:
    """Return whether somebody signed an application, or tried to."""
    return bool(app.signers) or app.signers_verified is not None


def app_records(applications: Sequence[Application], read: Providers) -> tuple[InspectedApp, ...]:
    """Return the records of the applications for `--json`."""
    from droidgate.cli.descriptors.inspect_documents import AppQuery, InspectedApp

    protocols = _protocols_by_action()
    declaring = _declaring_packages(read)
    return tuple(
        InspectedApp.of(
            app,
            place=str(app.place),
            declares=app.package in declaring,
            queries=tuple(
                AppQuery.of(query, protocols=_protocols_of(query, protocols)) for query in app.queries
            ),
        )
        for app in applications
    )


def apps_page(applications: Sequence[Application], read: Providers) -> list[Block]:
    """Return what `inspect` shows of the applications; of many, only those that declare something."""
    declaring = _declaring_packages(read)
    shown_apps = list(applications)
    if len(shown_apps) > _MOST_APPS:
        shown_apps = [app for app in shown_apps if app.package in declaring or app.queries]
    if not applications:
        return []
    protocols = _protocols_by_action()
    blocks: list[Block] = [Heading("Apps", is_detail=len(applications) > 1)]
    for app in shown_apps:
        blocks += _app_lines(app, protocols)
        if app.package not in declaring:
            finder = finder_of_silent(app)
            words = "no capabilities could be read" if read.problems else "declares no capabilities"
            blocks.append(Line(words if finder is None else f"its capabilities are not known. {finder}", 2))
    hidden_count = len(applications) - len(shown_apps)
    if hidden_count:
        blocks.append(Line(f"{hidden_count} more apps declare nothing", 1))
    return [*blocks, Line()]


def _declaring_packages(read: Providers) -> Collection[str | None]:
    return {provider.package for provider in read.providers if provider.capabilities}


def _app_lines(app: Application, protocols: Mapping[str, str]) -> Iterator[Block]:
    yield Line(one_line(", ".join(_identity(app))), 1)
    yield Line(f"at {app.place}", 2)
    if is_signed(app):
        yield Line(one_line(_signer_words(app)), 2)
    if app.queries:
        words = [_query_words(query, protocols) for query in app.queries]
        yield Line(one_line(f"queries: {'; '.join(words)}"), 2, longest=_LONGEST)


def _identity(app: Application) -> Iterator[str]:
    label = f' "{app.label}"' if app.label else ""
    yield f"{app.package or '(unknown package)'}{label}"
    if app.version_name or app.version_code is not None:
        code = "" if app.version_code is None else f"({app.version_code})"
        yield " ".join(filter(None, ("version", app.version_name, code)))
    for word, level in (("minSdk", app.minimum_sdk), ("targetSdk", app.target_sdk)):
        if level is not None:
            yield f"{word} {level}"


def _signer_words(app: Application) -> str:
    digests = ", ".join(app.signers) or "unknown signer"
    states = {
        True: "verified",
        False: f"not verified: {app.signature_problem}",
        None: "verified by the phone at installation",
    }
    return f"signer: {digests} ({states[app.signers_verified]})"


def _protocols_by_action() -> dict[str, str]:
    return {
        query.action: format_.title
        for format_ in load_formats().values()
        for query in format_.phones.looks_for
        if query.action is not None
    }


def _protocols_of(query: Query, protocols: Mapping[str, str]) -> tuple[str, ...]:
    """Return the protocols whose components an intent of `<queries>` looks for."""
    if query.kind != "intent":
        return ()
    return tuple(dict.fromkeys(protocols[name] for name in query.names if name in protocols))


def _query_words(query: Query, protocols: Mapping[str, str]) -> str:
    words = f"{query.kind} {', '.join((*query.names, *query.data))}".rstrip()
    protocol_names = _protocols_of(query, protocols)
    return f"{words} ({', '.join(protocol_names)})" if protocol_names else words


def inspect_sources(options: Inspect) -> Report:
    """Read the sources and report what is in them; the code is 3 where all that was found cannot be read."""
    read = read_all(options.sources, only=options.only, strict=options.strict, variant=options.variant)
    applications = applications_of(read)
    nothing_was_read = bool(read.problems) and not (read.providers or read.only_in_variants)
    name = options.capability
    if name is not None:
        read = _limited_to(read, name)
    return Report(
        lambda: inspect_page(read, applications) if name is None else _capability_pages(read),
        lambda: _document(read, applications),
        ExitCode.INPUT if nothing_was_read else ExitCode.OK,
    )


def _limited_to(read: Providers, name: str) -> Providers:
    """Return the providers that have a capability of a name, with it alone.

    Raises:
        UsageError: none has.
    """
    from droidgate.calls.subjects import CapabilityKey, key_of, names_capability, suggest_capability

    providers: list[Provider] = []
    keys: list[CapabilityKey] = []
    for provider in read.providers:
        capabilities = []
        for capability in provider.capabilities:
            keys.append(key_of(provider, capability.id, user=0))
            if names_capability(name, keys[-1]):
                capabilities.append(capability)
        if capabilities:
            providers.append(provider.changed({"capabilities": tuple(capabilities)}))
    if not providers:
        hint = suggest_capability(name, keys) or "without --capability, all are listed"
        raise UsageError(f"no capability is called {name!r}", hint=hint)
    return replace(read, providers=tuple(providers))


def _capability_pages(read: Providers) -> list[Block]:
    pages = (
        [*capability_page(provider, capability), Line()]
        for provider in read.providers
        for capability in provider.capabilities
    )
    return [block for page in pages for block in page][:-1]


def _document(read: Providers, applications: Sequence[Application]) -> InspectDocument:
    from droidgate.cli.descriptors.inspect_documents import AppSigners, InspectDocument

    signers = (
        AppSigners.of(
            application,
            place=str(application.place),
            digests=application.signers,
            verified=application.signers_verified,
            problem=application.signature_problem,
        )
        for application in applications
        if is_signed(application)
    )
    return InspectDocument.of(
        read,
        digest=CapabilitySet(providers=read.providers).content_digest(),
        applications=app_records(applications, read),
        signers=tuple(signers),
        marks=marks_of_all(read.providers),
    )


def inspect_page(read: Providers, applications: Sequence[Application] = ()) -> list[Block]:
    """Return what `inspect` shows."""
    apps = apps_page(applications, read)
    is_single = len(applications) == 1
    blocks: list[Block] = apps if is_single else []
    is_overview = len(read.providers) > _MOST_PROVIDERS and is_short_page(on_terminal=is_drawn(sys.stdout))
    if is_overview:
        blocks += _overview(read.providers)
    else:
        for provider in read.providers:
            blocks += [*provider_page(provider), Line()]
    remarks = provider_marks_page(read.providers)
    if read.findings:
        remarks += [Heading("Remarks of the readers"), *remarks_table(read.findings), Line()]
    # What is said about single capabilities takes no room from the overview.
    blocks += [
        replace(block, is_detail=True) if is_overview and isinstance(block, Heading) else block
        for block in remarks
    ]
    blocks += [] if is_single else apps
    counts = (
        amount(len(read.providers), "provider"),
        amount(sum(len(provider.capabilities) for provider in read.providers), "capability", "capabilities"),
        amount(len(read.findings), "remark"),
    )
    blocks.append(Line(", ".join(counts)))
    blocks += _in_variants(read)
    return blocks


def _overview(providers: Iterable[Provider]) -> list[Block]:
    """Return a row for each provider, since a screen has no room for all that they declare."""
    from droidgate.calls.subjects import last_part

    rows = [
        (
            one_line(provider.package or provider.component or "-"),
            provider.protocol,
            one_line(", ".join(last_part(capability.id) for capability in provider.capabilities))
            or ("none" if found_by(provider) is None else "not known"),
        )
        for provider in providers
    ]
    hint = "--capability ID shows one of them with its parameters, --details all of them"
    return [Table(("APP", "PROTOCOL", "CAPABILITIES"), rows), Line(), Line(hint), Line()]


def _in_variants(read: Providers) -> list[Block]:
    """Return the line about what only other variants declare, nothing where they add nothing."""
    count = sum(len(provider.capabilities) for provider, _ in read.only_in_variants)
    names = dict.fromkeys(name for _, variants in read.only_in_variants for name in variants)
    if not count:
        return []
    counted = amount(count, "more capability", "more capabilities")
    return [Line(one_line(f"{counted} only in other variants, with --variant: {', '.join(names)}"))]
