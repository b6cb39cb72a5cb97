"""What could be better, as findings with places: the findings of a catalog, and what is not described."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any, Final

from droidgate.coverage.figures import Figures
from droidgate.coverage.quality import IS_POOR
from droidgate.sources.catalogs.places import place_in
from droidgate_mappings.model.findings import Finding, Level, finding_code

_code = partial(finding_code, module=__name__)

UNDESCRIBED_CAPABILITY: Final = _code("undescribed-capability", "A capability says nothing of what it does")
UNDESCRIBED_PARAMETERS: Final = _code(
    "undescribed-parameters", "Parameters of a capability have no description"
)
UNTYPED_PARAMETERS: Final = _code("untyped-parameters", "Nothing says what values some parameters take")
POOR_NAME: Final = _code(
    "poor-name", "A capability's id has no word that a model could choose it by, or is too long"
)

_LEVELS: Final = ("error", "warning", "note")
_FOUND: Final = f"""
SELECT d.source, d.kind, f.place, f.code, f.level, f.pointer, f.message, f.hint, f.rule,
    f.releases
FROM findings f JOIN (
    SELECT unit, min(source) AS source, min(kind) AS kind FROM sources WHERE unit IS NOT NULL GROUP BY unit
) d USING (unit) WHERE origin <> 'reading'
ORDER BY list_position({list(_LEVELS)!r}, f.level), d.source, f.unit, f.finding LIMIT ?
"""
_MISSING: Final = f"""
SELECT d.source, d.kind, c.place, c.capability, c.id, coalesce(trim(c.description), '') = '' AS bare,
    c.undescribed_count, c.untyped_count, {IS_POOR} AS poor
FROM capabilities c JOIN (
    SELECT unit, min(source) AS source, min(kind) AS kind FROM sources WHERE unit IS NOT NULL GROUP BY unit
) d USING (unit)
WHERE bare OR c.undescribed_count > 0 OR c.untyped_count > 0 OR poor
ORDER BY d.source, c.unit, c.provider, c.capability LIMIT ?
"""


def quality_findings(figures: Figures, most: int) -> Iterator[Finding]:
    """Yield what the linters and the security marks say, the gravest first, then what is not described.

    Args:
        figures: The catalog.
        most: How many there may be.
    """
    found = figures.rows(_FOUND, [most])
    for source, kind, place, code, level, pointer, message, hint, rule, releases in found:
        yield Finding(
            code=code,
            level=Level(level),
            pointer=pointer,
            message=message,
            hint=hint,
            source=place_in(source, kind, place or ""),
            rule=rule,
            releases=tuple(releases),
        )
    left = most - len(found)
    if left:
        for number, item in enumerate(_missing(figures, left)):
            if number == left:
                return
            yield item


def _missing(figures: Figures, most: int) -> Iterator[Finding]:
    for source, kind, place, position, name, bare, undescribed, untyped, poor in figures.rows(
        _MISSING, [most]
    ):
        checks: list[tuple[str, Any, str]] = [
            (UNDESCRIBED_CAPABILITY, bare, f"{name} has no description"),
            (UNDESCRIBED_PARAMETERS, undescribed, f"{undescribed} parameters of {name} have no description"),
            (UNTYPED_PARAMETERS, untyped, f"{untyped} parameters of {name} have no type"),
            (POOR_NAME, poor, f"a model could not choose it by the name {name}"),
        ]
        for code, holds, message in checks:
            if holds:
                yield Finding(
                    code=code,
                    level=Level.NOTE,
                    pointer=f"/capabilities/{position}",
                    message=message,
                    source=place_in(source, kind, place or ""),
                )
