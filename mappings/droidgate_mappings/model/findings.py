"""Findings: what a reader had to accept, what a conversion changes, what a linter objects to, and the rules
of a specification as an adapter's linter declares them.

Every finding has a stable code. A module declares its codes once, where they are used, with `finding_code`;
the docs list them from there.
"""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Self

from droidgate_mappings.model.capability import Place
from droidgate_mappings.model.types import Frozen
from droidgate_mappings.records import dataclass, field

# Type checkers accept a comparison that the text on its other side accepts, and text accepts text. So they do
# not know that the words are text, and report `level >= "dropped"`.
if TYPE_CHECKING:
    from enum import Enum as _Words
else:
    from enum import StrEnum as _Words


class Graded(_Words):
    """Words that are ordered by gravity, mildest first, not as text.

    Order is defined between words of one scale; anything else, text included, is a TypeError, and an error of
    type checkers.
    """

    def scale(self) -> tuple[Self, ...]:
        """Return the words that this one can be compared with, mildest first."""
        return tuple(type(self))

    def __lt__(self, other: Self) -> bool:
        """Return whether this is milder."""
        return self._distance(other) < 0

    def __le__(self, other: Self) -> bool:
        """Return whether this is as mild."""
        return self._distance(other) <= 0

    def __gt__(self, other: Self) -> bool:
        """Return whether this is graver."""
        return self._distance(other) > 0

    def __ge__(self, other: Self) -> bool:
        """Return whether this is as grave."""
        return self._distance(other) >= 0

    def _distance(self, other: Self) -> int:
        scale = self.scale()
        if type(other) is not type(self) or other not in scale:
            message = f"{self!r} and {other!r} are not words of one scale"
            raise TypeError(message)
        return scale.index(self) - scale.index(other)


class Level(Graded):
    """How much a conversion changes a fact, in order of harm; then the levels of lint findings.

    Levels of conversion and levels of linting are two scales: comparing across them is a TypeError.
    docs/concepts/levels.md has the rule and an example for each.
    """

    def scale(self) -> "tuple[Level, ...]":
        """Return the levels of its scale, mildest first."""
        return LINT_LEVELS if self in LINT_LEVELS else CONVERSION_LEVELS

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
    return threshold in level.scale() and level >= threshold


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
        variants: The only flavours, build types or combinations of them where it is true; empty where it is
            true of the variant that is read by default.
    """

    code: str
    level: Level
    pointer: str
    message: str
    hint: str | None = None
    source: Place | None = None
    rule: str | None = None
    releases: tuple[str, ...] = ()
    variants: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        """The message, with the only variants where it is true."""
        return f"{self.message} (only in {', '.join(self.variants)})" if self.variants else self.message


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


@dataclass(frozen=True, slots=True)
class LintRule:
    """One rule.

    Attributes:
        id: Its finding code.
        level: How grave a breach is.
        specification: What it is a rule of, as findings name it.
        section: The section of the source.
        asks: What it asks for, one sentence.
        hint: The usual fix; None where each breach has its own.
    """

    id: str
    level: Level
    specification: str
    section: str
    asks: str
    hint: str | None = None

    def broken(
        self,
        message: str,
        *,
        pointer: str = "",
        source: Place | None = None,
        hint: str | None = None,
        level: Level | None = None,
        releases: Iterable[str] = (),
    ) -> Finding:
        """Return the finding that something breaks the rule; hint and level replace the rule's own."""
        return Finding(
            code=self.id,
            level=level or self.level,
            pointer=pointer,
            message=message,
            hint=hint or self.hint,
            source=source,
            rule=f"{self.specification} {self.section}",
            releases=tuple(releases),
        )


@dataclass(frozen=True, slots=True)
class LintRules:
    """The rules of one specification.

    Attributes:
        specification: What findings call it.
        module: The declaring module's `__name__`.
        prefix: What the id of each rule begins with, where the declarations leave it out.
        by_id: Every declared rule, in order.
    """

    specification: str
    module: str
    prefix: str = ""
    by_id: dict[str, LintRule] = field(default_factory=dict)

    def __post_init__(self) -> None:
        RULE_BOOKS[self.module] = self

    def declare(
        self, level: Level, rule_id: str, section: str, asks: str, hint: str | None = None
    ) -> LintRule:
        """Declare a rule and its finding code.

        Raises:
            ValueError: the code is declared already, with another meaning or by another module.
        """
        code = finding_code(self.prefix + rule_id, asks, self.module)
        rule = LintRule(code, level, self.specification, section, asks, hint)
        self.by_id[code] = rule
        return rule


RULE_BOOKS: dict[str, LintRules] = {}
"""The rules of each module that declares some; filled as modules are imported."""
