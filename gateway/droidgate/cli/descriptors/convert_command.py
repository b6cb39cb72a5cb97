"""`droidgate convert`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from droidgate.cli.options import (
    AsJson,
    AsSarif,
    ChosenProviders,
    ConversionThreshold,
    OnlyFormats,
    ProviderDescription,
    ProviderName,
    Sources,
    Strict,
    Target,
)
from droidgate.cli.output.page_length import with_details_of_report

Out = Annotated[
    Path,
    typer.Option(
        "--output",
        "-o",
        metavar="OUT",
        help="Folder to write into, file for a single artifact, or - for standard output",
    ),
]
Package = Annotated[
    str | None,
    typer.Option("--package", metavar="PACKAGE", help="Application id of the provider that is written"),
]
Force = Annotated[bool, typer.Option("--force", help="Overwrite files that are there and differ")]
FailOn = Annotated[
    ConversionThreshold | None,
    typer.Option("--fail-on", help="Exit with 1 from this level on; everything is written all the same"),
]


def register(app: typer.Typer) -> None:
    """Add the command to the program."""
    app.command("convert", short_help="Write what apps declare in another protocol")(_convert)


@with_details_of_report
def _convert(  # noqa: PLR0913
    sources: Sources,
    *,
    to: Target,
    out: Out,
    only: OnlyFormats = None,
    provider: ChosenProviders = None,
    name: ProviderName = None,
    package: Package = None,
    description: ProviderDescription = None,
    strict: Strict = False,
    force: Force = False,
    fail_on: FailOn = None,
    as_json: AsJson = False,
    sarif: AsSarif = False,
) -> int:
    """Write what apps declare in another protocol, and say what it costs.

    Also writes `fidelity.json`, every difference between the source and what was written, and
    `names.json`, the map of renamed things. Several providers get one folder each. --name, --package and
    --description replace what the source states, of one provider.
    """
    from droidgate.cli.descriptors.converting import ConvertRequest, convert_sources
    from droidgate.cli.reading import choose_output

    output = choose_output(as_json=as_json, sarif=sarif)
    conversion = ConvertRequest(
        target=to,
        out=out,
        only=only,
        providers=provider,
        strict=strict,
        force=force,
        name=name,
        package=package,
        description=description,
    )
    return convert_sources(sources, conversion, fail_on=fail_on, output=output)
