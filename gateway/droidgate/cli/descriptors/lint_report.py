"""What `lint` does."""

from __future__ import annotations

from collections.abc import Sequence

from droidgate.cli.exit_codes import ExitCode
from droidgate.cli.options import LintThreshold
from droidgate.cli.output.grouped_findings import count_levels, counted, findings_table
from droidgate.cli.output.json_documents import LintDocument
from droidgate.cli.output.json_output import print_json
from droidgate.cli.output.pages import Line, show
from droidgate.cli.output.sarif import sarif_log
from droidgate.cli.read_sources import Output, print_problem
from droidgate.sources.linting import LintReport, lint
from droidgate_mappings.model.findings import Level, at_least


def lint_sources(
    sources: Sequence[str],
    *,
    only: Sequence[str] | None,
    strict: bool,
    fail_on: LintThreshold,
    output: Output,
) -> int:
    """Check the sources and show what they break."""
    report = lint(*sources, formats=only, strict=strict)
    for problem in report.problems:
        print_problem(problem)
    findings = report.findings
    if output is Output.JSON:
        print_json(LintDocument.of(report, counts=count_levels(findings)))
    elif output is Output.SARIF:
        print_json(sarif_log(findings))
    else:
        show([*findings_table(findings, places=True), Line(_summary(report))])
    reached = any(at_least(finding.level, Level(fail_on.value)) for finding in findings)
    return ExitCode.FINDINGS if reached else ExitCode.OK


def _summary(report: LintReport) -> str:
    """Return the counts of the findings, and the formats that have no rules by which one could be found."""
    found = counted(count_levels(report.findings))
    if not report.without_rules:
        return found or "no problems found"
    unchecked = f"no rules for {', '.join(report.without_rules)}"
    if not found and report.checked:
        found = "no problems found"
    return f"{found}; {unchecked}" if found else unchecked
