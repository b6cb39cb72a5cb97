"""What `inspect` does."""

from __future__ import annotations

from collections.abc import Sequence

from droidgate.cli.descriptors.inspected_apps import app_records, applications_of, apps_page, is_signed
from droidgate.cli.exit_codes import ExitCode
from droidgate.cli.output.grouping import findings_table
from droidgate.cli.output.marking import marks_of_all, provider_marks_page
from droidgate.cli.output.pages import Block, Heading, Line, amount, show
from droidgate.cli.output.summaries import provider_page
from droidgate.cli.reading import read_all
from droidgate.sources.providers import Providers
from droidgate_mappings.formats.application import Application
from droidgate_mappings.model.capability import CapabilitySet


def inspect_sources(
    sources: Sequence[str], *, only: Sequence[str] | None, strict: bool, as_json: bool
) -> int:
    """Read the sources and show what is in them; return 3 where all that was found cannot be read."""
    read = read_all(sources, only=only, strict=strict)
    applications = applications_of(read)
    if as_json:
        from droidgate.cli.output.documents import AppSigners, InspectDocument
        from droidgate.cli.output.json_output import print_json

        print_json(
            InspectDocument.of(
                read,
                digest=CapabilitySet(providers=read.providers).content_digest(),
                applications=app_records(applications, read),
                signers=tuple(
                    AppSigners.of(
                        application,
                        place=str(application.place),
                        digests=application.signers,
                        verified=application.signers_verified,
                        problem=application.signature_problem,
                    )
                    for application in applications
                    if is_signed(application)
                ),
                marks=marks_of_all(read.providers),
            )
        )
    else:
        show(inspect_page(read, applications))
    nothing_was_read = bool(read.problems) and not read.providers
    return ExitCode.INPUT if nothing_was_read else ExitCode.OK


def inspect_page(read: Providers, applications: Sequence[Application] = ()) -> list[Block]:
    """Return what `inspect` shows."""
    apps = apps_page(applications, read)
    is_single = len(applications) == 1
    blocks: list[Block] = apps if is_single else []
    for provider in read.providers:
        blocks += [*provider_page(provider), Line()]
    blocks += provider_marks_page(read.providers)
    if read.findings:
        blocks += [Heading("Remarks of the readers"), *findings_table(read.findings, places=True), Line()]
    blocks += [] if is_single else apps
    counts = (
        amount(len(read.providers), "provider"),
        amount(sum(len(other.capabilities) for other in read.providers), "capability", "capabilities"),
        amount(len(read.findings), "remark"),
    )
    blocks.append(Line(", ".join(counts)))
    return blocks
