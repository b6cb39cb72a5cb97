"""What `inspect` does."""

from __future__ import annotations

from collections.abc import Sequence

from droidgate.cli.exit_codes import ExitCode
from droidgate.cli.grouping import findings_table
from droidgate.cli.pages import Block, Heading, Line, show
from droidgate.cli.reading import Read, read_all
from droidgate.cli.summaries import provider_page
from droidgate.model.capability import CapabilitySet


def inspect_sources(
    spelled: Sequence[str], *, only: Sequence[str] | None, strict: bool, as_json: bool
) -> int:
    """Read the sources and show what is in them; return 3 where all that was found cannot be read."""
    read = read_all(spelled, only=only, strict=strict)
    if as_json:
        from droidgate.cli.documents import InspectDocument, Problem
        from droidgate.cli.json_output import print_json

        print_json(
            InspectDocument(
                digest=CapabilitySet(providers=read.providers).content_digest(),
                providers=read.providers,
                findings=read.findings,
                problems=Problem.all_of(read.problems),
            )
        )
    else:
        show(inspect_page(read))
    nothing_was_read = bool(read.problems) and not read.providers
    return ExitCode.INPUT if nothing_was_read else ExitCode.OK


def inspect_page(read: Read) -> list[Block]:
    """Return what `inspect` shows."""
    blocks: list[Block] = []
    for provider in read.providers:
        blocks += [*provider_page(provider), Line()]
    if read.findings:
        blocks += [Heading("Remarks of the readers"), *findings_table(read.findings, places=True), Line()]
    counts = (
        (len(read.providers), "provider", "providers"),
        (sum(len(one.capabilities) for one in read.providers), "capability", "capabilities"),
        (len(read.findings), "remark", "remarks"),
    )
    blocks.append(Line(", ".join(f"{count} {one if count == 1 else many}" for count, one, many in counts)))
    return blocks
