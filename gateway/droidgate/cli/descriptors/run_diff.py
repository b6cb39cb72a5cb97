"""What `diff` does, and its document."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Final, TypeAlias

from droidgate.cli.descriptors.accepted_changes import Acceptance, MatchedChange, accept_changes
from droidgate.cli.descriptors.descriptor_options import Diff
from droidgate.cli.exit_codes import ExitCode
from droidgate.cli.failure_texts import print_problem
from droidgate.cli.output.finding_lines import with_lines
from droidgate.cli.output.grouped_findings import counted, findings_table, security_blocks, security_page
from droidgate.cli.output.json_output import Problem, PublishedDocument
from droidgate.cli.output.pages import Block, Heading, Line, Table, print_warning
from droidgate.cli.output.reports import Report
from droidgate.cli.output.safe_text import one_line
from droidgate.cli.read_sources import read_all
from droidgate.sources.differences import diff, read_sides
from droidgate_mappings.compare import (
    WEIGHTS,
    Change,
    Comparison,
    NotCompared,
    ProtocolChange,
    ProviderComparison,
    Weight,
)
from droidgate_mappings.model.capability import Place, Provider
from droidgate_mappings.model.errors import UsageError
from droidgate_mappings.model.findings import Finding, Level
from droidgate_mappings.text.counted_nouns import amount

DeclaredAt: TypeAlias = Callable[[ProviderComparison | ProtocolChange, str], Place | None]
"""Returns where a capability, or with "" the provider itself, is declared."""

PlaceOf: TypeAlias = Callable[[Change], Place | None]
"""Returns the file and line of a change."""

_LEVELS: Final = {
    Weight.TEXT_ONLY: Level.NOTE,
    Weight.COMPATIBLE: Level.NOTE,
    Weight.NOT_DECIDED: Level.ERROR,
    Weight.BREAKING: Level.ERROR,
    Weight.SECURITY: Level.SECURITY,
}
"""The level of a change in a SARIF log, where what is not decided counts as breaking."""

_OPENED_HINT: Final = "hint: check that these callers may call it, or restore the rule"


class DiffDocument(PublishedDocument, schema="droidgate.diff/1"):
    """What `diff --json` prints.

    Attributes:
        weight: The heaviest change that is not accepted, None where there is none; `not-decided` also
            where an old capability is not compared.
        counts: How many of these changes there are of each weight.
        comparison: Every change that is not accepted.
        accepted: The changes that `--accept` takes out, with their reasons.
        problems: What could not be read on either side, and what is wrong with entries of `--accept`.
    """

    weight: Weight | None
    counts: dict[str, int]
    comparison: Comparison
    accepted: tuple[MatchedChange, ...]
    problems: tuple[Problem, ...]


def diff_sources(options: Diff) -> Report:
    """Read both sources and report what changed.

    The code is 3 where a part of one cannot be read whose capabilities the other has, unless a change reaches
    the threshold.
    """
    if options.old == options.new == "-":
        message = "standard input cannot be both sides"
        raise UsageError(message, hint="name a file for one of them")
    before, after, empty = read_sides(
        options.old,
        options.new,
        lambda source: read_all([source], only=options.only, strict=options.strict, variant=options.variant),
    )
    for error in empty:
        print_problem(error)
    acceptance = Acceptance(diff(before, after))
    if options.accept is not None:
        acceptance = accept_changes(acceptance.left, options.accept, _place_of)
        for note in acceptance.notes:
            print_problem(note)
    comparison = acceptance.left
    weight, threshold = comparison.weight(), options.fail_on
    if weight is Weight.NOT_DECIDED and threshold is not None:
        unknown = "compared" if comparison.not_compared else "decided"
        print_warning(f"what is not {unknown} counts as breaking")
        weight = Weight.BREAKING
    reached = threshold is not None and weight is not None and weight >= Weight(threshold.value)
    declared_at = _places_of([*before.providers, *after.providers])
    return Report(
        lambda: diff_page(
            comparison,
            acceptance.matched,
            _lines_of(comparison, declared_at) if options.form == "markdown" else None,
        ),
        lambda: DiffDocument.of(
            after,
            weight=comparison.weight(),
            counts=count_weights(comparison.all_changes()),
            comparison=comparison,
            accepted=acceptance.matched,
            problems=[*empty, *before.problems, *after.problems, *acceptance.notes],
        ),
        ExitCode.FINDINGS if reached else ExitCode.INPUT if comparison.not_compared else ExitCode.OK,
        findings=lambda: [finding for _, finding in _findings_of(comparison, declared_at)],
    )


def _places_of(providers: Sequence[Provider]) -> DeclaredAt:
    """Return where a capability or provider is, the later one where two have its name."""
    places: dict[tuple[str | None, ...], Place | None] = {}
    for provider in providers:
        name = (provider.protocol, provider.package, provider.component)
        places[name] = provider.source
        for capability in provider.capabilities:
            places[*name, capability.id] = capability.source or provider.source

    def declared_at(item: ProviderComparison | ProtocolChange, subject: str) -> Place | None:
        name = (item.protocol, item.package, item.component)
        return places.get((*name, subject)) or places.get(name)

    return declared_at


def _lines_of(comparison: Comparison, declared_at: DeclaredAt) -> PlaceOf:
    """Return where each change is, as the SARIF log has it."""
    listed = list(_findings_of(comparison, declared_at))
    located = with_lines(finding for _, finding in listed)
    places = {id(change): finding.source for (change, _), finding in zip(listed, located, strict=True)}
    return lambda change: places.get(id(change))


def _findings_of(comparison: Comparison, declared_at: DeclaredAt) -> Iterator[tuple[Change, Finding]]:
    """Yield each change, and it as a finding where it is declared, on the newer side where it is on both."""
    for item in comparison.protocol_changes:
        yield item.change, _finding_of(item.change, "", declared_at(item, ""))
    for compared in comparison.providers:
        for subject, changes in _subjects_of(compared):
            for change in changes:
                yield change, _finding_of(change, subject, declared_at(compared, subject))


def _finding_of(change: Change, subject: str, place: Place | None) -> Finding:
    about = f"{change.weight.value}: {subject}: " if subject else f"{change.weight.value}: "
    return Finding(
        code=change.code,
        level=_LEVELS[change.weight],
        pointer=_place_of(change, subject),
        message=one_line(about + change.message),
        source=place,
    )


def diff_page(
    comparison: Comparison, accepted: Sequence[MatchedChange] = (), place_of: PlaceOf | None = None
) -> list[Block]:
    """Return what `diff` shows.

    Args:
        comparison: What changed.
        accepted: What changed and is accepted.
        place_of: Returns the file and line of each change; without it they are not shown.
    """
    blocks: list[Block] = list(_left_out_blocks(comparison.not_compared))
    opened = [line for provider in comparison.providers for line in _opened_lines(provider, place_of)]
    if opened:
        blocks += [Heading("Security: access rules that accept other callers now"), *opened, Line()]
    for protocol_change in comparison.protocol_changes:
        blocks += [*_protocol_page(protocol_change), Line()]
    for provider in comparison.providers:
        blocks += [*_provider_page(provider, place_of), Line()]
    count = comparison.unchanged_capabilities
    unchanged = "1 capability is as it was" if count == 1 else f"{count} capabilities are as they were"
    counts = counted(count_weights(comparison.all_changes()))
    left_out = len(comparison.not_compared)
    nothing = "nothing changed in what could be read" if left_out else "nothing changed"
    summary = f"{counts or nothing}; {unchanged}"
    if left_out:
        summary += f"; {left_out} not compared"
    if accepted:
        columns = ("WEIGHT", "CAPABILITY", "CODE", "WHERE", "UNTIL", "REASON")
        blocks += [Heading("Accepted"), Table(columns, [_accepted_row(item) for item in accepted]), Line()]
        summary += f"; {len(accepted)} accepted"
    blocks.append(Line(summary))
    return blocks


def _left_out_blocks(left_out: Sequence[NotCompared]) -> Iterator[Block]:
    """Yield which side could not be read, and what is not compared for that."""
    if not left_out:
        return
    sides = " and ".join(sorted({item.missing_from for item in left_out}, reverse=True))
    unread = "the old and the new side" if " " in sides else f"the {sides} side"
    yield Line(
        f"{unread} cannot be read in full: {amount(len(left_out), 'capability', 'capabilities')} not compared"
    )
    rows = [
        (one_line(item.id), item.missing_from, one_line(f"{item.place}: {item.reason}")) for item in left_out
    ]
    yield from (Table(("CAPABILITY", "UNREAD IN", "REASON"), rows), Line())


def _accepted_row(item: MatchedChange) -> tuple[str, ...]:
    change, subject = item.change, item.capability or ""
    place = (one_line(subject) or "-", change.code, _place_of(change, subject))
    return change.weight.value, *place, item.until, one_line(item.reason)


def _protocol_page(item: ProtocolChange) -> list[Block]:
    heading = f"{_name_of(item)}  {item.old_protocol} -> {item.protocol}: differences caused by the protocol"
    change = Line(one_line(f"{item.change.weight.value}: {item.change.message}"), 1)
    table = findings_table(item.findings, item.capabilities)
    security = security_page(security_blocks(item.findings, item.capabilities))
    return [Heading(heading), change, *(security + table or [Line("nothing is lost", 1)])]


def count_weights(changes: Iterable[Change]) -> dict[str, int]:
    """Return how many changes there are of each weight that occurs, heaviest first."""
    weights = [change.weight for change in changes]
    return {weight.value: weights.count(weight) for weight in reversed(WEIGHTS) if weight in weights}


def _opened_lines(provider: ProviderComparison, place_of: PlaceOf | None) -> Iterator[Line]:
    """Yield each security change by itself."""
    for subject, changes in _subjects_of(provider):
        for change in changes:
            if change.weight is Weight.SECURITY:
                where = f"{one_line(subject)} {_relative(change.new_pointer, subject)}".strip()
                yield Line(f"{_name_of(provider)}  {where}: {change.code}", 1)
                yield Line(one_line(change.message), 2)
                yield Line(_OPENED_HINT, 2)
                if place_of is not None and (place := place_of(change)) is not None:
                    yield Line(one_line(str(place)), 2)


def _subjects_of(provider: ProviderComparison) -> list[tuple[str, Sequence[Change]]]:
    return [
        ("", provider.changes),
        *((capability.id, capability.changes) for capability in provider.capabilities),
    ]


def _name_of(provider: ProviderComparison | ProtocolChange) -> str:
    name = "/".join(part for part in (provider.package, provider.component) if part is not None)
    own = provider.name if isinstance(provider, ProviderComparison) else None
    return one_line(name or own or "") or "(no name)"


def _provider_page(provider: ProviderComparison, place_of: PlaceOf | None) -> list[Block]:
    heading = Heading(f"{_name_of(provider)}  {one_line(provider.protocol)}: {provider.status}")
    rows = [
        (
            change.weight.value,
            one_line(subject) or "-",
            change.code,
            _place_of(change, subject),
            *([] if place_of is None else [one_line(str(place_of(change) or "-"))]),
            one_line(change.message),
        )
        for subject, changes in _subjects_of(provider)
        for change in sorted(changes, key=lambda change: change.weight, reverse=True)
        if change.weight is not Weight.SECURITY
    ]
    if not rows:
        return [heading, Line("nothing else changed", 1)]
    columns = ("WEIGHT", "CAPABILITY", "CODE", "WHERE", *([] if place_of is None else ["PLACE"]), "MESSAGE")
    return [heading, Table(columns, rows)]


def _place_of(change: Change, subject: str) -> str:
    """Return the place of a change below its capability, empty for none."""
    return _relative(change.new_pointer if change.new_pointer is not None else change.old_pointer, subject)


def _relative(pointer: str | None, subject: str) -> str:
    """Return a pointer below its capability."""
    if pointer is None:
        return "/"
    tokens = pointer.split("/")
    if subject and tokens[1:2] == ["capabilities"]:
        tokens = ["", *tokens[3:]]
    return one_line("/".join(tokens)) or "/"
