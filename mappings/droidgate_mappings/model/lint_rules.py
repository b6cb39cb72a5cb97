"""The rules of a specification, as an adapter's linter declares them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from droidgate_mappings.model.capability import Place
from droidgate_mappings.model.findings import Finding, Level, finding_code


@dataclass(frozen=True, slots=True)
class LintRule:
    """One rule.

    Attributes:
        id: Its finding code.
        level: How grave a breach is.
        specification: What it is a rule of, as findings name it.
        section: The section of the source.
        asks: What it asks for, one sentence.
        hint: The usual way out, None where each breach has its own.
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
