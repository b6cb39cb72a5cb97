"""What `lint` does, and its document."""

from __future__ import annotations

from droidgate.cli.descriptors.descriptor_options import Lint
from droidgate.cli.exit_codes import ExitCode
from droidgate.cli.output.grouped_findings import count_levels, counted, reaches, remarks_table
from droidgate.cli.output.json_output import PublishedDocument
from droidgate.cli.output.pages import Line
from droidgate.cli.output.reports import Report
from droidgate.sources.linting import LintReport, lint
from droidgate_mappings.model.findings import Finding


class LintDocument(PublishedDocument, schema="droidgate.lint/1"):
    """What `lint --json` prints.

    Attributes:
        counts: How many findings there are of each level.
        findings: What is wrong.
        without_rules: Formats of what was read that have no rules.
    """

    counts: dict[str, int]
    findings: tuple[Finding, ...]
    without_rules: tuple[str, ...]


def lint_sources(options: Lint) -> Report:
    """Check the sources and report what they break."""
    report = lint(*options.sources, formats=options.only, strict=options.strict, variant=options.variant)
    findings = report.findings
    return Report(
        lambda: [*remarks_table(findings, lines=options.form == "markdown"), Line(_summary(report))],
        lambda: LintDocument.of(report, counts=count_levels(findings)),
        ExitCode.FINDINGS if reaches(findings, options.fail_on) else ExitCode.OK,
        findings=lambda: findings,
    )


def _summary(report: LintReport) -> str:
    """Return the counts of the findings, and the formats that have no rules by which one could be found."""
    summary = counted(count_levels(report.findings))
    if not report.without_rules:
        if not summary and not report.checked:
            return "nothing was checked: nothing is declared; see `droidgate formats`"
        return summary or "no problems found"
    unchecked = f"no rules for {', '.join(report.without_rules)}"
    if not summary and report.checked:
        summary = "no problems found"
    return f"{summary}; {unchecked}" if summary else unchecked
