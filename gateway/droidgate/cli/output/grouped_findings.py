"""Findings in groups, so that a person can read them: one for each capability, code and message."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from droidgate.cli.output.finding_lines import with_lines
from droidgate.cli.output.pages import Block, Heading, Line, Table
from droidgate.cli.output.safe_text import one_line
from droidgate.cli.shared_options import ConversionThreshold, LintThreshold
from droidgate_mappings.model.capability import Place
from droidgate_mappings.model.findings import CONVERSION_LEVELS, LINT_LEVELS, Finding, Level, at_least
from droidgate_mappings.records import dataclass
from droidgate_mappings.text.counted_nouns import amount

_ORDER: Final = {
    level: position for scale in (CONVERSION_LEVELS, LINT_LEVELS) for position, level in enumerate(scale)
}
_PLURALS: Final = {"error": "errors", "warning": "warnings", "note": "notes"}
"""The other levels are participles."""


@dataclass(frozen=True, slots=True)
class FindingGroup:
    """Findings of one code.

    Attributes:
        level: Their level.
        code: Their code.
        subjects: The ids of the capabilities they are about; empty where it is the provider as a whole.
        prefix: The longest pointer that all of theirs begin with; below the capability where there is one.
        findings: Themselves, in order.
    """

    level: Level
    code: str
    subjects: tuple[str, ...]
    prefix: str
    findings: tuple[Finding, ...]

    @property
    def message(self) -> str:
        """The first one's message, and that there are others."""
        messages = dict.fromkeys(finding.text for finding in self.findings)
        more = f" (and {amount(len(messages) - 1, 'other message')})" if len(messages) > 1 else ""
        return one_line(next(iter(messages))) + more

    @property
    def place(self) -> str:
        """Where they are in the sources, as `path:line`; several lines of one file are `path:3,7`.

        A part of a JSON document is `path:/tools/0/name`, since its line says little.
        """
        spots: dict[str, dict[str, None]] = {}
        for finding in self.findings:
            if finding.source is not None:
                spot = _spot_of(finding, finding.source)
                spots.setdefault(finding.source.path, {}).update(dict.fromkeys(filter(None, [spot])))
        return ", ".join(_joined_place(path, list(inside)) for path, inside in spots.items())


_MOST_SPOTS: Final = 3


def _spot_of(finding: Finding, source: Place) -> str:
    """Return the line of a finding, the pointer in a JSON document, or both where lines came before it."""
    line = "" if source.line is None else str(source.line)
    if not finding.pointer or source.inner != finding.pointer:
        return line
    return one_line(finding.pointer if line in {"", "1"} else f"{line}:{finding.pointer}")


def _joined_place(path: str, spots: list[str]) -> str:
    if not any("/" in spot for spot in spots):
        return f"{path}:{','.join(spots)}" if spots else path
    more = f" and {len(spots) - _MOST_SPOTS} more" if len(spots) > _MOST_SPOTS else ""
    return f"{path}:{', '.join(spots[:_MOST_SPOTS])}{more}"


def reaches(findings: Iterable[Finding], threshold: ConversionThreshold | LintThreshold | None) -> bool:
    """Return whether a finding reaches the threshold of `--fail-on`."""
    return threshold is not None and any(
        at_least(finding.level, Level(threshold.value)) for finding in findings
    )


def group_findings(findings: Iterable[Finding], subjects: Sequence[str] = ()) -> list[FindingGroup]:
    """Group findings by code and capability, gravest first, else in their order.

    What several capabilities have in common, at the same place inside of each, is one group. Security
    findings are never grouped (`security_blocks`), so they are left out.

    Args:
        findings: The findings; their pointers address capabilities by position.
        subjects: The capabilities' ids.
    """
    leaves: dict[tuple[int, str, str, Level], list[Finding]] = {}
    for finding in findings:
        if finding.level is Level.SECURITY:
            continue
        position = _position(finding.pointer, len(subjects))
        field = "" if position >= 0 else finding.pointer.split("/")[1:2]
        leaves.setdefault((position, "".join(field), finding.code, finding.level), []).append(finding)
    alike: dict[tuple[Level, str, str, bool], list[tuple[str, Finding]]] = {}
    for (position, _, code, level), members in leaves.items():
        prefix = common_prefix([member.pointer for member in members])
        is_inside = position >= 0
        inside = "/".join(["", *prefix.split("/")[3:]]) if is_inside else prefix
        subject = subjects[position] if is_inside else ""
        alike.setdefault((level, code, inside, is_inside), []).extend((subject, member) for member in members)
    grouped = [
        FindingGroup(
            level=level,
            code=code,
            subjects=tuple(dict.fromkeys(subject for subject, _ in members)) if is_inside else (),
            prefix=inside,
            findings=tuple(item for _, item in members),
        )
        for (level, code, inside, is_inside), members in alike.items()
    ]
    return sorted(grouped, key=lambda item: -_ORDER[item.level])


def group_by_file(findings: Iterable[Finding]) -> list[FindingGroup]:
    """Group findings that say the same of one file, gravest first, else in their order.

    A remark is of use only with its place, so nothing else is brought together.
    """
    alike: dict[tuple[Level, str, str, str | None], list[Finding]] = {}
    for finding in findings:
        path = None if finding.source is None else finding.source.path
        alike.setdefault((finding.level, finding.code, finding.text, path), []).append(finding)
    grouped = [
        FindingGroup(
            level=level,
            code=code,
            subjects=(),
            prefix=common_prefix([member.pointer for member in members]),
            findings=tuple(members),
        )
        for (level, code, _, _), members in alike.items()
    ]
    return sorted(grouped, key=lambda item: -_ORDER[item.level])


def common_prefix(pointers: Sequence[str]) -> str:
    """Return the longest pointer, in whole tokens, that all the given ones begin with."""
    split = [pointer.split("/") for pointer in pointers]
    shortest = min(split, key=len)
    for position, token in enumerate(shortest):
        if any(item[position] != token for item in split):
            return "/".join(shortest[:position])
    return "/".join(shortest)


def count_levels(findings: Iterable[Finding]) -> dict[str, int]:
    """Return how many findings there are of each level that occurs, gravest first."""
    counts: dict[Level, int] = {}
    for finding in findings:
        counts[finding.level] = counts.get(finding.level, 0) + 1
    return {level.value: counts[level] for level in sorted(counts, key=lambda count: -_ORDER[count])}


def counted(counts: Mapping[str, int]) -> str:
    """Return counts as words, such as `3 dropped, 1 moved` or `2 errors`."""
    return ", ".join(
        f"{count} {word if count == 1 else _PLURALS.get(word, word)}" for word, count in counts.items()
    )


def security_blocks(
    findings: Iterable[Finding],
    subjects: Sequence[str] = (),
    *,
    provider: str | None = None,
    sources: bool = False,
) -> list[Block]:
    """Return each security finding by itself, with its message and hint; nothing where there are none.

    Args:
        findings: The findings; those of other levels are left out.
        subjects: The capabilities' ids.
        provider: The provider's name, where the page has several.
        sources: Show the file and line of each.
    """
    blocks: list[Block] = []
    for finding in with_lines(findings) if sources else findings:
        if finding.level is not Level.SECURITY:
            continue
        where = security_place(finding, subjects)
        prefix = f"{one_line(provider)}  " if provider is not None else ""
        blocks += [Line(f"{prefix}{where}: {finding.code}", 1), Line(one_line(finding.message), 2)]
        if sources and finding.source is not None:
            blocks.append(Line(one_line(str(finding.source)), 2))
        if finding.hint is not None:
            blocks.append(Line(f"hint: {one_line(finding.hint)}", 2))
    return blocks


def security_page(blocks: Sequence[Block]) -> list[Block]:
    """Return security findings under their heading, nothing where there are none."""
    return [Heading("Security: access rules that nothing enforces"), *blocks, Line()] if blocks else []


def security_place(finding: Finding, subjects: Sequence[str]) -> str:
    """Return the capability that a finding is about, and the pointer below it."""
    position = _position(finding.pointer, len(subjects))
    if position < 0:
        return one_line(finding.pointer) or "/"
    return one_line(f"{subjects[position]} {'/'.join(['', *finding.pointer.split('/')[3:]])}")


def findings_table(
    findings: Iterable[Finding], subjects: Sequence[str] = (), *, sources: bool = False
) -> list[Block]:
    """Return the table of a conversion's losses without security findings, nothing where there are none.

    A short page has a row for each level and code, without the places.

    Args:
        findings: The findings, which are grouped by what they are about.
        subjects: The capabilities' ids.
        sources: Show where in the sources they are, too.
    """
    groups = group_findings(with_lines(findings) if sources else findings, subjects)
    columns = ["LEVEL", "COUNT", "CODE", "WHERE", *(["PLACE"] if sources else []), "MESSAGE"]
    rows = [
        [
            group.level.value,
            str(len(group.findings)),
            group.code,
            _group_place(group),
            *([group.place or "-"] if sources else []),
            group.message,
        ]
        for group in groups
    ]
    hidden = frozenset({"CODE", "WHERE"})
    return [Table(columns, rows, details=hidden, short_rows=_short_rows(groups))] if groups else []


def remarks_table(findings: Iterable[Finding], *, lines: bool = False) -> list[Block]:
    """Return the table of what readers and linters say, each file's on its own; nothing without findings.

    Args:
        findings: The findings.
        lines: Show the lines of parts of JSON documents, too.
    """
    rows = [
        [
            group.level.value,
            str(len(group.findings)),
            group.code,
            group.findings[0].rule or "-",
            group.place or "-",
            _with_hint(group),
        ]
        for group in group_by_file(with_lines(findings) if lines else findings)
    ]
    return [Table(["LEVEL", "COUNT", "CODE", "RULE", "PLACE", "MESSAGE"], rows)] if rows else []


def _short_rows(groups: Iterable[FindingGroup]) -> list[tuple[str, ...]]:
    """Return a row for each level and code, in the order of the first group of each."""
    alike: dict[tuple[Level, str], list[Finding]] = {}
    for group in groups:
        alike.setdefault((group.level, group.code), []).extend(group.findings)
    joined = (FindingGroup(*key, (), "", tuple(findings)) for key, findings in alike.items())
    return [(group.level.value, str(len(group.findings)), group.message) for group in joined]


def _with_hint(group: FindingGroup) -> str:
    hint = group.findings[0].hint
    return group.message if hint is None else f"{group.message}; hint: {one_line(hint)}"


def _position(pointer: str, count: int) -> int:
    """Return the position of the capability that a pointer addresses, -1 where it addresses none."""
    tokens = pointer.split("/")
    is_capability = len(tokens) > 2 and tokens[1] == "capabilities" and tokens[2].isdecimal()  # noqa: PLR2004
    return int(tokens[2]) if is_capability and int(tokens[2]) < count else -1


def _group_place(group: FindingGroup) -> str:
    """Return the capability, or how many there are, and the common pointer below."""
    if not group.subjects:
        return one_line(group.prefix) or "/"
    subject = group.subjects[0] if len(group.subjects) == 1 else f"{len(group.subjects)} capabilities"
    return one_line(f"{subject} {group.prefix}")
