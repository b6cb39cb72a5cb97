"""What `lint` does."""

from __future__ import annotations

from collections.abc import Sequence

from droidgate.cli.exit_codes import ExitCode
from droidgate.cli.options import LintThreshold
from droidgate.cli.output.documents import LintDocument
from droidgate.cli.output.grouping import count_levels, counted, findings_table
from droidgate.cli.output.json_output import print_json
from droidgate.cli.output.pages import Line, show
from droidgate.cli.output.sarif import sarif_log
from droidgate.cli.reading import Output, print_problem
from droidgate.sources.linting import lint
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
        print_json(LintDocument(counts=count_levels(findings), findings=findings))
    elif output is Output.SARIF:
        print_json(sarif_log(findings))
    else:
        total = counted(count_levels(findings)) or "no problems found"
        show([*findings_table(findings, places=True), Line(total)])
    reached = any(at_least(finding.level, Level(fail_on.value)) for finding in findings)
    return ExitCode.FINDINGS if reached else ExitCode.OK
