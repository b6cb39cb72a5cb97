"""One rule that a live tool app was held to, and the outcome."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, Literal

from droidgate_mappings.model.capability import Place
from droidgate_mappings.model.findings import Finding, LintRule
from droidgate_mappings.records import dataclass

CheckVerdict = Literal["passed", "failed", "not-applicable", "not-checked"]

DECLARED: Final = "declared"
"""The transport of rules that files were held to."""

UNKNOWN_NAME: Final = "droidgate.verify.unknown"
"""What no tool app declares; a call of it is refused."""

NOT_ALLOWED: Final = "it takes a call that the app carries out; allow one with --call"


@dataclass(frozen=True, slots=True)
class RuleCheck:
    """A rule, with what was sent and received.

    Attributes:
        rule: The rule.
        component: Whose, `PACKAGE/CLASS`; a package, or the source that declares it, where no class is named.
        transport: How it was called; `declared` where its files were read.
        verdict: `not-checked` says nothing about the app, `not-applicable` that it has nothing of the kind.
        reason: Why it is another than `passed`.
        sent: The request, or several.
        received: The answers, as texts.
    """

    rule: LintRule
    component: str
    transport: str
    verdict: CheckVerdict
    reason: str = ""
    sent: Sequence[str] = ()
    received: Sequence[str] = ()

    def finding(self, source: Place) -> Finding | None:
        """Return the finding of a rule that is broken by what was seen; the linter has those of files."""
        if self.verdict != "failed" or self.transport == DECLARED:
            return None
        message = f"{self.component.partition('/')[2] or self.component}, {self.transport}: {self.reason}"
        return self.rule.broken(message, source=source, pointer=f"/{self.transport}")
