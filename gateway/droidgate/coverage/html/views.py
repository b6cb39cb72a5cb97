"""What the page's templates show: figures as shares, bars, shades and lines, and texts of apps made harmless
in a page, in a script element and in a command that people copy.
"""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from itertools import accumulate
from typing import Any, Final

from droidgate.computer.optional_packages import need
from droidgate.coverage.coverage_document import (
    ChangedApp,
    CoverageReport,
    FidelityCell,
    Overlap,
    ProtocolCount,
    TrendPoint,
)
from droidgate_mappings.formats.format import load_formats
from droidgate_mappings.model.json_values import Json, one_line_json
from droidgate_mappings.records import dataclass
from droidgate_mappings.text_safety import visible as shown

_ENDS_TELL: Final = frozenset("/#")
_IN_SCRIPT: Final = str.maketrans({"<": "\\u003c", ">": "\\u003e", "&": "\\u0026"})


def ends_tell(text: str | None) -> bool:
    """Return whether a long text loses its start: of paths and qualified names the end matters."""
    return text is not None and not _ENDS_TELL.isdisjoint(text)


def shortened(text: str, most: int) -> str:
    """Return a text, beyond so many characters with an ellipsis, as it is shown."""
    return shown(text if len(text) <= most else f"{text[: most - 1].rstrip()}\u2026")


def shortened_name(text: str, most: int) -> str:
    """Return a name as `shortened` does, of a path or qualified name the end."""
    if len(text) <= most or not ends_tell(text):
        return shortened(text, most)
    return shown(f"\u2026{text[1 - most :].lstrip()}")


def script_json(value: Json) -> str:
    """Return a value as JSON that may be in a script element.

    It has no `<`, `>` or `&`, so nothing in it ends the element, begins a comment or a script.
    """
    return one_line_json(value).translate(_IN_SCRIPT)


def shell_word(text: str) -> str:
    """Return a text as one word of a POSIX shell that no command takes for an option."""
    return shlex.quote(shown(f"./{text}" if text.startswith("-") else text))


def finalized(value: Any) -> Any:
    """Return what a template shows of a value: texts by `shown`, nothing for None."""
    if value is None:
        return ""
    return shown(value) if type(value) is str else value


def marked(text: str | None) -> Any:
    """Return one of our own sentences as markup: text between backticks is code."""
    markup: Any = need("markupsafe", "coverage").Markup
    parts = shown(text or "").split("`")
    return markup().join(
        markup("<code>{}</code>" if at % 2 else "{}").format(part) for at, part in enumerate(parts)
    )


SHADES: Final = 10
"""Steps of the heat map's scale beyond none."""

CARRIED_UP_TO: Final = "narrowed"
"""What the heat map counts as carried at first: all of which nothing is dropped."""

REACH_TITLES: Final[Mapping[str, str]] = {
    "native": "Native",
    "gateway": "Through the gateway",
    "ui-only": "Screens only",
    "none": "Not at all",
}

KIND_TITLES: Final[Mapping[str, str]] = {
    "near-duplicate": "in nearly the same words",
    "same-job": "of the same job",
    "same-app-twice": "twice in one app",
}

ORIGIN_TITLES: Final[Mapping[str, str]] = {"reading": "lenient read", "security": "security"}
"""The level of findings that no linter has."""

_SPARK_WIDTH: Final = 120
_SPARK_HEIGHT: Final = 28
_SPARK_EDGE: Final = 3
_SMALL_SHARE: Final = 0.005
_LARGE_SHARE: Final = 0.995


def number(value: int | None) -> str:
    """Return a count with separators, a dash where there is none."""
    return "\u2013" if value is None else f"{value:,}"


def signed(value: int) -> str:
    """Return a difference with its sign."""
    return f"+{value:,}" if value > 0 else f"\u2212{-value:,}" if value < 0 else "0"


def percent(part: int, whole: int) -> str:
    """Return a share in whole percent that says 0 or 100 only where it is so."""
    if not whole:
        return "\u2013"
    share = part / whole
    if 0 < share < _SMALL_SHARE:
        return "<\u00a01\u00a0%"
    if _LARGE_SHARE <= share < 1:
        return ">\u00a099\u00a0%"
    return f"{share * 100:.0f}\u00a0%"


@dataclass(frozen=True, slots=True)
class Segment:
    """A part of a bar, in hundredths of its length."""

    name: str
    start: float
    length: float


def segments(names: Sequence[str], counts: Sequence[int]) -> list[Segment]:
    """Return the parts of a bar that shows counts as shares of their sum; empty ones are left out."""
    whole = sum(counts)
    starts = accumulate(counts, initial=0)
    return [
        Segment(name, round(100 * start / whole, 3), round(100 * count / whole, 3))
        for name, start, count in zip(names, starts, counts, strict=False)
        if count
    ]


def length(part: int, largest: int) -> float:
    """Return how long a bar is, in hundredths of the longest."""
    return round(100 * part / largest, 3) if largest else 0


def callable_count(counts: Sequence[int]) -> int:
    """Return how many of counts by reach can be called, natively or through the gateway."""
    return counts[0] + counts[1]


def served_use_cases(report: CoverageReport) -> str:
    """Return how many of the guideline's use cases are served, as a sentence."""
    types = report.use_cases or ()
    served = sum(app_type.covered for app_type in types)
    return f"{served} of {sum(len(app_type.use_cases) for app_type in types)} are served."


def touched(app: ChangedApp) -> str:
    """Return how many capabilities of an app were added, removed, changed or not compared, without zeros."""
    counts = (
        (app.capabilities_added, "added"),
        (app.capabilities_removed, "removed"),
        (app.capabilities_changed, "changed"),
        (app.capabilities_not_compared, "not compared"),
    )
    return ", ".join(f"{count:,} {what}" for count, what in counts if count)


@dataclass(frozen=True, slots=True)
class OverlapColumn:
    """A protocol in the overlap: its id, its title, its apps, and the position of its dots."""

    id: str
    title: str
    apps: int
    x: int


def overlap_columns(report: CoverageReport) -> list[OverlapColumn]:
    """Return the protocols of the overlap, those with most apps first."""
    apps: dict[str, int] = {}
    for item in report.overlap:
        for protocol in item.protocols:
            apps[protocol] = apps.get(protocol, 0) + item.apps
    titles = {figures.protocol: figures.title for figures in report.protocols}
    ordered = sorted(apps, key=lambda app: (-apps[app], app))
    return [
        OverlapColumn(item, titles.get(item, item), apps[item], 12 + 24 * at)
        for at, item in enumerate(ordered)
    ]


def overlap_name(overlap: Overlap, columns: Sequence[OverlapColumn]) -> str:
    """Return what a set of protocols is called."""
    titles = [column.title for column in columns if column.id in overlap.protocols]
    return " + ".join(titles) if titles else "Nothing declared"


def dialect_name(counted_dialect: ProtocolCount | FidelityCell) -> str:
    """Return `FORMAT+DIALECT` of where something comes from."""
    return (
        counted_dialect.protocol
        if counted_dialect.dialect is None
        else f"{counted_dialect.protocol}+{counted_dialect.dialect}"
    )


@dataclass(frozen=True, slots=True)
class HeatCell:
    """A cell of the heat map: counts by level, their sum, and at first what is carried, with its shade.

    `security` counts the capabilities with an access rule that the target does not enforce.
    """

    levels: tuple[int, ...]
    security: int
    total: int
    carried: int
    shade: int


@dataclass(frozen=True, slots=True)
class HeatRow:
    """A row of the heat map: a dialect that occurs, and a cell for each target, None where there is none."""

    name: str
    capabilities: int
    cells: list[HeatCell | None]


def heat_rows(report: CoverageReport) -> list[HeatRow]:
    """Return the heat map, a row for each dialect that occurs, in the order of the report."""
    most = report.levels.index(CARRIED_UP_TO) if CARRIED_UP_TO in report.levels else 0
    cells: dict[str, dict[str, HeatCell]] = {}
    for item in report.fidelity:
        total, carried = sum(item.levels), sum(item.levels[: most + 1])
        cells.setdefault(dialect_name(item), {})[item.target] = HeatCell(
            item.levels, item.security, total, carried, shade(carried, total)
        )
    return [
        HeatRow(
            name,
            max((cell.total for cell in by_target.values()), default=0),
            [by_target.get(target) for target in report.targets],
        )
        for name, by_target in cells.items()
    ]


def shade(part: int, whole: int) -> int:
    """Return the step of the scale for a share; the highest and 0 only where it is all or nothing."""
    if not whole or not part:
        return 0
    return SHADES if part == whole else min(SHADES - 1, max(1, round(SHADES * part / whole)))


@dataclass(frozen=True, slots=True)
class TrendLine:
    """How a count went: the points of its line, and its last point."""

    title: str
    values: list[int]
    points: str
    x: float
    y: float


def trend_lines(trend: Sequence[TrendPoint], titles: Mapping[str, str]) -> list[TrendLine]:
    """Return the lines of a trend: apps, declaring apps, capabilities, and capabilities by protocol."""
    protocols = sorted({protocol.name for point in trend for protocol in point.protocols})
    by_protocol = [{protocol.name: protocol.count for protocol in point.protocols} for point in trend]
    return [
        _line("Apps", [item.apps for item in trend]),
        _line("Apps that declare something", [item.declaring_apps for item in trend]),
        _line("Capabilities", [item.capabilities for item in trend]),
        *(
            _line(
                f"Capabilities in {titles.get(protocol, protocol)}",
                [counts.get(protocol, 0) for counts in by_protocol],
            )
            for protocol in protocols
        ),
    ]


def protocol_titles(report: CoverageReport) -> dict[str, str]:
    """Return the human-readable name of each protocol."""
    return {protocol.protocol: protocol.title for protocol in report.protocols}


def format_titles() -> dict[str, str]:
    """Return the human-readable name of each format, also of one that only an earlier catalog has."""
    return {format_.id: format_.title for format_ in load_formats().values()}


def line_box() -> str:
    """Return the box of a line."""
    return f"0 0 {_SPARK_WIDTH} {_SPARK_HEIGHT}"


def _line(title: str, values: list[int]) -> TrendLine:
    highest = max(values, default=0) or 1
    step = (_SPARK_WIDTH - 2 * _SPARK_EDGE) / max(1, len(values) - 1)
    room = _SPARK_HEIGHT - 2 * _SPARK_EDGE
    points = [
        (round(_SPARK_EDGE + at * step, 1), round(_SPARK_HEIGHT - _SPARK_EDGE - room * value / highest, 1))
        for at, value in enumerate(values)
    ]
    return TrendLine(title, values, " ".join(f"{x},{y}" for x, y in points), *points[-1])
