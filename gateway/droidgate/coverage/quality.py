"""How well apps describe what they declare, counted from the rows of a catalog alone.

The score of an app is 100 less what is missing, each as a share:

- 30 for capabilities without a description,
- 20 for parameters without one,
- 15 for parameters of which nothing says what they are,
- 10 for ids with no word in them, or longer than a model should be shown,
- 15 for errors of the linters, 10 for security marks: one a capability, or more, is the whole share.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final

from droidgate.coverage.coverage_document import (
    AppQuality,
    FindingCount,
    Quality,
    QualityFigures,
    ReleaseCount,
)
from droidgate.coverage.figures import Figures
from droidgate.coverage.security_findings import SECURITY_ORIGIN
from droidgate_mappings.formats.format import meaning_of
from droidgate_mappings.tables.app_functions import load_indexing
from droidgate_mappings.text_safety import MAX_NAME

MOST_WORST: Final = 20
MOST_FINDINGS: Final = 200

_COLUMNS: Final = tuple(QualityFigures.model_fields)
_SHARES: Final = (
    (30, "undescribed_capabilities", "capabilities"),
    (20, "undescribed_parameters", "parameters"),
    (15, "untyped_parameters", "parameters"),
    (10, "poor_names", "capabilities"),
    (15, "lint_errors", "capabilities"),
    (10, "marks", "capabilities"),
)
_SCORE: Final = " - ".join(
    [
        "100.0",
        *(f"{points} * least(1, coalesce({item} / nullif({of}, 0), 0))" for points, item, of in _SHARES),
    ]
)
_ROUNDED: Final = f"CASE WHEN capabilities > 0 THEN round({_SCORE})::INTEGER END"
IS_POOR: Final = (
    r"NOT regexp_matches(regexp_extract(c.id, '[^#./]*$'), '[A-Za-z]{3}|[^\x00-\x7f]') "
    f"OR length(c.id) > {MAX_NAME}"
)
_TABLES: Final = (
    """
CREATE TABLE finding_fact AS
    SELECT f.*, coalesce(p.entry, CASE WHEN o.entries = 1 THEN o.entry END) AS entry,
        coalesce(
            p.protocol, CASE WHEN o.entries = 1 AND len(e.protocols) = 1 THEN e.protocols[1] END
        ) AS protocol
    FROM (SELECT unit, origin, provider, code, level, releases FROM findings) f
    LEFT JOIN provider_fact p USING (unit, provider)
    LEFT JOIN first_entry o ON o.unit = f.unit
    LEFT JOIN entry_sum e ON e.entry = o.entry
""",
    f"""
CREATE TABLE described AS
    SELECT p.entry, count(*) AS capabilities,
        count(*) FILTER (coalesce(trim(c.description), '') = '') AS undescribed_capabilities,
        sum(c.parameter_count)::BIGINT AS parameters,
        sum(c.undescribed_count)::BIGINT AS undescribed_parameters,
        sum(c.untyped_count)::BIGINT AS untyped_parameters, count(*) FILTER ({IS_POOR}) AS poor_names,
        coalesce(sum(c.token_estimate), 0)::BIGINT AS tokens
    FROM capabilities c JOIN provider_fact p USING (unit, provider) GROUP BY p.entry
""",
    f"""
CREATE TABLE objected AS
    SELECT entry, count(*) FILTER (origin = 'lint' AND level = 'error') AS lint_errors,
        count(*) FILTER (origin = 'lint' AND level = 'warning') AS lint_warnings,
        count(*) FILTER (origin = 'lint' AND level = 'note') AS lint_notes,
        count(*) FILTER (origin = 'reading') AS lenient_reads,
        count(*) FILTER (origin = '{SECURITY_ORIGIN}') AS marks
    FROM finding_fact GROUP BY entry
""",
)


def _count_columns() -> str:
    columns = [name for name in _COLUMNS if name != "score"]
    return ", ".join(f"coalesce({name}, 0) AS {name}" for name in columns)


def prepare_quality(figures: Figures) -> None:
    """Make the table `quality`: the figures of every entry."""
    for statement in _TABLES:
        figures.connection.execute(statement)
    figures.connection.execute(
        f"CREATE TABLE quality AS SELECT *, {_ROUNDED} AS score "
        f"FROM (SELECT entry, {_count_columns()} FROM entry_sum e "
        "LEFT JOIN (SELECT * RENAME (capabilities AS described_capabilities) FROM described) d USING (entry) "
        "LEFT JOIN objected USING (entry))"
    )


def quality_of(figures: Figures) -> Quality:
    """Return how well everything is described; `prepare_quality` comes first."""
    columns = [name for name in _COLUMNS if name != "score"]
    sums = ", ".join(f"coalesce(sum({name}), 0)::BIGINT AS {name}" for name in columns)
    whole = figures.row(
        f"SELECT *, {_ROUNDED} FROM (SELECT {sums} FROM "
        "(FROM quality UNION ALL BY NAME FROM objected WHERE entry IS NULL))"
    )
    listed = ", ".join(_COLUMNS)
    worst = figures.rows(
        f"SELECT unit || ':' || coalesce(app, -1), package, label, source, {listed} FROM quality "
        "JOIN entry USING (entry) "
        f"WHERE score < 100 AND latest ORDER BY score, capabilities DESC, entry LIMIT {MOST_WORST}"
    )
    return Quality(
        all=figures_of(whole),
        worst=tuple(
            AppQuality(key=key, package=package, label=label, source=source, figures=figures_of(values))
            for key, package, label, source, *values in worst
        ),
        findings=_findings(figures),
        releases=tuple(_releases(figures)),
    )


def figures_of(row: Sequence[Any]) -> QualityFigures:
    """Return the columns of the table `quality` from `capabilities` on as figures."""
    return QualityFigures(**dict(zip(_COLUMNS, row, strict=True)))


def _findings(figures: Figures) -> tuple[FindingCount, ...]:
    counted = figures.records(
        "SELECT origin, protocol, code, level, count(*) AS findings, count(DISTINCT entry) AS apps "
        "FROM finding_fact GROUP BY origin, protocol, code, level "
        f"ORDER BY findings DESC, origin, protocol, code, level LIMIT {MOST_FINDINGS}"
    )
    return tuple(FindingCount(meaning=meaning_of(record["code"]), **record) for record in counted)


def _releases(figures: Figures) -> Iterator[ReleaseCount]:
    """Yield the lint findings by the releases that they are true of, the oldest release first."""
    titles = {release.id: release.title for release in load_indexing().releases}
    counted = figures.records(
        "SELECT release, protocol, count(*) FILTER (level = 'error') AS errors, "
        "count(*) FILTER (level = 'warning') AS warnings, count(*) FILTER (level = 'note') AS notes, "
        "count(DISTINCT entry) AS apps "
        "FROM (SELECT unnest(releases) AS release, * FROM finding_fact WHERE origin = 'lint') "
        f"GROUP BY release, protocol ORDER BY list_position({list(titles)!r}, release), release, protocol"
    )
    for record in counted:
        yield ReleaseCount(**{**record, "release": titles.get(record["release"], record["release"])})
