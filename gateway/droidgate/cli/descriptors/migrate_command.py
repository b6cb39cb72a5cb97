"""`droidgate migrate`."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from droidgate.cli.budgets import Deadline, Memory, RunBudget, run_within
from droidgate.cli.options import (
    SOURCE_HELP,
    AsJson,
    ChosenProviders,
    ConversionThreshold,
    OnlyFormats,
    ProviderDescription,
    ProviderName,
    Strict,
    Target,
)
from droidgate.cli.output.page_length import with_details_of_report


class Language(StrEnum):
    """What `--language` takes."""

    JAVA = "java"
    KOTLIN = "kotlin"
    NONE = "none"


Source = Annotated[str, typer.Argument(metavar="SRC", help=SOURCE_HELP)]
Into = Annotated[
    Path, typer.Option("--into", metavar="PROJECT", help="Folder of the Android project, or of its module")
]
Package = Annotated[
    str | None,
    typer.Option(
        "--package",
        metavar="PACKAGE",
        help="Java package of the app, where neither build.gradle nor the manifest names it; also written",
    ),
]
LanguageOption = Annotated[
    Language | None,
    typer.Option(
        "--language",
        help="Language of the handler to fill in; the one that most of the app is written in by default",
    ),
]
Write = Annotated[bool, typer.Option("--write", help="Apply the changes; without it they are only shown")]
FailOn = Annotated[
    ConversionThreshold | None,
    typer.Option("--fail-on", help="Exit with 1, and write nothing, from this level on"),
]


def register(app: typer.Typer) -> None:
    """Add the command to the program."""
    app.command("migrate", short_help="Put a descriptor and its handler into an app's source tree")(_migrate)


@with_details_of_report
def _migrate(  # noqa: PLR0913
    source: Source,
    *,
    to: Target,
    into: Into,
    package: Package = None,
    language: LanguageOption = None,
    name: ProviderName = None,
    description: ProviderDescription = None,
    write: Write = False,
    only: OnlyFormats = None,
    provider: ChosenProviders = None,
    strict: Strict = False,
    fail_on: FailOn = None,
    memory: Memory = 1024,
    deadline: Deadline = 60.0,
    as_json: AsJson = False,
) -> int:
    """Put what an app declares into an Android project, in another protocol.

    Prints the changes of the project as a unified diff, and on standard error what the conversion costs, what
    is left to do, and the files. With --write, this report goes to standard output, and no diff is printed.
    The manifest is edited in place; descriptors and a handler with one typed method for each capability are
    added. A second run changes nothing.
    """
    from droidgate.cli.descriptors.migrating import MigrateRequest, migrate_source

    request = MigrateRequest(
        source=source,
        target=to,
        project=into,
        package=package,
        language=None if language is None else language.value,
        write=write,
        name=name,
        description=description,
        only=only,
        providers=provider,
        strict=strict,
    )
    budget = RunBudget(memory, deadline)
    return run_within(budget, lambda: migrate_source(request, fail_on=fail_on, as_json=as_json))
