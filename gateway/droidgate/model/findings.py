"""Findings: what a reader had to accept, what a conversion changes, what a linter objects to.

Every finding has a stable code. A module declares its codes once, where they are used, with `finding_code`;
the docs list
them from there.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from droidgate.model.capability import Place
from droidgate.model.types import Frozen


class Level(StrEnum):
    """How much a conversion changes a fact, in order of harm; then the levels of lint findings.

    docs/concepts/levels.md has the rule and an example for each.
    """

    READ = "read"
    """The reader accepted what the specification does not allow; nothing is lost."""
    RENAMED = "renamed"
    """Another name; the name map leads back."""
    MOVED = "moved"
    """Text that is in another place of the target; the same values are accepted."""
    DEFAULTED = "defaulted"
    """The target requires what the source does not state."""
    WIDENED = "widened"
    """The target accepts more values than the source, also where a description names the limit."""
    NARROWED = "narrowed"
    """The target accepts fewer values than the source."""
    DROPPED = "dropped"
    """Gone."""
    IMPOSSIBLE = "impossible"
    """The target cannot hold the thing at all."""
    SECURITY = "security"
    """An access rule of the source that the target does not enforce."""
    NOTE = "note"
    WARNING = "warning"
    ERROR = "error"


CONVERSION_LEVELS: tuple[Level, ...] = (
    Level.READ,
    Level.RENAMED,
    Level.MOVED,
    Level.DEFAULTED,
    Level.WIDENED,
    Level.NARROWED,
    Level.DROPPED,
    Level.IMPOSSIBLE,
    Level.SECURITY,
)
"""The levels of reading and conversion, mildest first. A security finding reaches every threshold."""

LINT_LEVELS: tuple[Level, ...] = (Level.NOTE, Level.WARNING, Level.ERROR)
"""The levels of linting, mildest first."""


def at_least(level: Level, threshold: Level) -> bool:
    """Return whether a level reaches a threshold of the same scale; levels of different scales never do."""
    for scale in (CONVERSION_LEVELS, LINT_LEVELS):
        if level in scale and threshold in scale:
            return scale.index(level) >= scale.index(threshold)
    return False


class Finding(Frozen):
    """One thing worth reporting.

    Attributes:
        code: Stable id, such as `enum-moved`.
        level: How grave.
        pointer: JSON Pointer of the leaf in the model (conversion), or of the place in the source (others);
            properties,
            definitions and extensions are addressed by name, capabilities by position.
        message: One sentence, without a period.
        hint: The fix, or None.
        source: Where it is in the sources, or None.
        rule: Id of the specification's rule or of the divergence record behind it, or None.
        releases: Ids of the Android releases that it is true of, oldest first; empty where it depends on
            none.
    """

    code: str
    level: Level
    pointer: str
    message: str
    hint: str | None = None
    source: Place | None = None
    rule: str | None = None
    releases: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class FindingCode:
    """A declared code: its id, what it means in one sentence, and the module that declares it."""

    code: str
    meaning: str
    module: str


FINDING_CODES: dict[str, FindingCode] = {}
"""Every declared code; filled as modules are imported."""


def finding_code(code: str, meaning: str, module: str) -> str:
    """Declare a finding code and return it.

    Args:
        code: Stable id in lower-case words joined by hyphens.
        meaning: What it says, one sentence.
        module: The declaring module's `__name__`.

    Raises:
        ValueError: another module declared the same code, or this one with another meaning.
    """
    declared = FindingCode(code, meaning, module)
    if FINDING_CODES.setdefault(code, declared) != declared:
        reason = f"finding code {code} is declared twice"
        raise ValueError(reason)
    return code
