"""`droidgate lint`."""

from __future__ import annotations

from typing import Annotated

import typer

from droidgate.cli.options import AsJson, AsSarif, LintThreshold, OnlyFormats, Sources, Strict
from droidgate.cli.output.page_length import with_details

FailOn = Annotated[LintThreshold, typer.Option("--fail-on", help="Exit with 1 from this level on")]


def register(app: typer.Typer) -> None:
    """Add the command to the program."""
    app.command("lint", short_help="Check descriptors against their specification")(_lint)


@with_details
def _lint(
    sources: Sources,
    *,
    only: OnlyFormats = None,
    strict: Strict = False,
    fail_on: FailOn = LintThreshold.ERROR,
    as_json: AsJson = False,
    sarif: AsSarif = False,
) -> int:
    """Check descriptors against the rules of their protocol's specification."""
    from droidgate.cli.descriptors.linting import lint_sources
    from droidgate.cli.reading import choose_output

    output = choose_output(as_json=as_json, sarif=sarif)
    return lint_sources(sources, only=only, strict=strict, fail_on=fail_on, output=output)
