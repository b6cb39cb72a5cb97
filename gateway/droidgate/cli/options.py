"""Arguments and options that several commands share. Nothing heavy is imported here: `--help` reads it."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Final, TypeAlias

import typer

from droidgate.cli.added_options import Body, add_options
from droidgate.cli.completing import complete_formats, complete_serials, complete_targets


class ConversionThreshold(StrEnum):
    """Levels of a conversion's findings that `convert --fail-on` takes, mildest first."""

    RENAMED = "renamed"
    MOVED = "moved"
    DEFAULTED = "defaulted"
    WIDENED = "widened"
    NARROWED = "narrowed"
    DROPPED = "dropped"
    IMPOSSIBLE = "impossible"
    SECURITY = "security"


class AndroidRelease(StrEnum):
    """What `--sdk` takes."""

    R26 = "26"
    R30 = "30"
    R33 = "33"
    R34 = "34"
    R36 = "36"
    R36_1 = "36.1"
    R37 = "37"


class LintThreshold(StrEnum):
    """Levels of lint findings that `lint --fail-on` takes, mildest first."""

    NOTE = "note"
    WARNING = "warning"
    ERROR = "error"


class DiffThreshold(StrEnum):
    """Weights of changes that `diff --fail-on` takes, lightest first."""

    TEXT_ONLY = "text-only"
    COMPATIBLE = "compatible"
    BREAKING = "breaking"
    SECURITY = "security"


SOURCE_HELP = (
    "A descriptor file, project folder, APK, folder of any of these, catalog, adb:[SERIAL] or - for "
    "standard input"
)
PATTERN_HELP = "CAPABILITY, PACKAGE/CAPABILITY or PACKAGE/COMPONENT/CAPABILITY; * and ? are wildcards"

Sources: TypeAlias = Annotated[list[str], typer.Argument(metavar="SRC", help=SOURCE_HELP)]
Strict: TypeAlias = Annotated[
    bool, typer.Option("--strict", help="Read by the specification: every leniency is an error")
]
OnlyFormats: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(
        "--from",
        metavar="FORMAT",
        help="Read as this format only; may be repeated",
        autocompletion=complete_formats,
    ),
]
Target: TypeAlias = Annotated[
    str,
    typer.Option(
        "--to",
        metavar="FORMAT[+DIALECT]",
        help="What to write; see `droidgate formats`",
        autocompletion=complete_targets,
    ),
]
Serial: TypeAlias = Annotated[
    str | None,
    typer.Option("--serial", help="The phone, where several are attached", autocompletion=complete_serials),
]
ChosenProviders: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(
        "--provider",
        metavar="COMPONENT",
        help="Use this provider only, by its component or file; may be repeated. The whole source is read",
    ),
]
ProviderName: TypeAlias = Annotated[
    str | None, typer.Option("--name", metavar="TEXT", help="Name of the provider that is written")
]
ProviderDescription: TypeAlias = Annotated[
    str | None,
    typer.Option("--description", metavar="TEXT", help="Description of the provider that is written"),
]
IncludeShims: TypeAlias = Annotated[
    bool, typer.Option("--include-shims", help="Include shims and droidgate's agent app")
]
AsJson: TypeAlias = Annotated[bool, typer.Option("--json", help="Print a JSON document instead of text")]
AsSarif: TypeAlias = Annotated[bool, typer.Option("--sarif", help="Print a SARIF 2.1.0 log instead of text")]


def _print_schema(context: typer.Context, is_asked: bool) -> None:  # noqa: FBT001
    if not is_asked or context.resilient_parsing:
        return
    from droidgate.cli.output.json_output import print_json, schema_of
    from droidgate.cli.published import PUBLISHED

    words = context.command_path.split()[1:]
    print_json(schema_of(PUBLISHED["-".join(words)]))
    raise typer.Exit


_JSON_SCHEMA: Final = Annotated[
    bool,
    typer.Option(
        "--json-schema",
        is_eager=True,
        callback=_print_schema,
        help="Print the JSON Schema of what --json prints",
    ),
]


def with_json_schema(body: Body) -> Body:
    """Return the body of a command that takes `--json-schema` if it takes `--json`."""
    if "as_json" not in body.__annotations__:
        return body
    # The option's callback has printed the schema and ended the run where it is asked for.
    return add_options(body, {"json_schema": (_JSON_SCHEMA, False)}, lambda **_: None, before="details")
