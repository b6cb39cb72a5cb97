"""`droidgate inspect`, `lint`, `formats`, `diff`, `convert`, `migrate` and `pack`."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from droidgate.cli.options import (
    SOURCE_HELP,
    AsJson,
    AsSarif,
    ChosenProviders,
    ConversionThreshold,
    DiffThreshold,
    LintThreshold,
    OnlyFormats,
    ProviderDescription,
    ProviderName,
    Sources,
    Strict,
    Target,
)
from droidgate.cli.output.page_length import with_details, with_details_of_report
from droidgate.cli.run_limits import Deadline, Memory, RunBudget, run_within


@with_details
def _inspect(
    sources: Sources, *, only: OnlyFormats = None, strict: Strict = False, as_json: AsJson = False
) -> int:
    """Show what apps declare for agents.

    Reads every descriptor of every known protocol in the sources, and shows providers, capabilities and what
    the readers had to bend.
    """
    from droidgate.cli.descriptors.inspecting import inspect_sources

    return inspect_sources(sources, only=only, strict=strict, as_json=as_json)


LintFailOn = Annotated[LintThreshold, typer.Option("--fail-on", help="Exit with 1 from this level on")]


@with_details
def _lint(
    sources: Sources,
    *,
    only: OnlyFormats = None,
    strict: Strict = False,
    fail_on: LintFailOn = LintThreshold.ERROR,
    as_json: AsJson = False,
    sarif: AsSarif = False,
) -> int:
    """Check descriptors against the rules of their protocol's specification."""
    from droidgate.cli.descriptors.lint_report import lint_sources
    from droidgate.cli.read_sources import choose_output

    output = choose_output(as_json=as_json, sarif=sarif)
    return lint_sources(sources, only=only, strict=strict, fail_on=fail_on, output=output)


WithMatrix = Annotated[
    bool, typer.Option("--matrix", help="Show what each dialect can carry, and what becomes of the rest")
]


@with_details
def _formats(*, matrix: WithMatrix = False, as_json: AsJson = False) -> int:
    """List the formats and dialects that are read and written."""
    from droidgate.cli.descriptors.listing_formats import list_formats

    return list_formats(with_matrix=matrix, as_json=as_json)


Old = Annotated[str, typer.Argument(metavar="OLD", help=SOURCE_HELP)]
New = Annotated[str, typer.Argument(metavar="NEW", help="What it became")]
DiffFailOn = Annotated[
    DiffThreshold | None, typer.Option("--fail-on", help="Exit with 1 from this weight on")
]


@with_details
def _diff(
    old: Old,
    new: New,
    *,
    only: OnlyFormats = None,
    strict: Strict = False,
    fail_on: DiffFailOn = None,
    as_json: AsJson = False,
) -> int:
    """Report what changed between two versions, and whether it breaks callers.

    An access rule that refuses callers is `breaking`; one that accepts other callers is `security`, comes
    first and reaches every threshold. A replaced permission is both.
    """
    from droidgate.cli.descriptors.diffing import diff_sources

    return diff_sources(old, new, only=only, strict=strict, fail_on=fail_on, as_json=as_json)


OutFolder = Annotated[
    Path,
    typer.Option(
        "--output",
        "-o",
        metavar="OUT",
        help="Folder to write into, file for a single artifact, or - for standard output",
    ),
]
WrittenPackage = Annotated[
    str | None,
    typer.Option("--package", metavar="PACKAGE", help="Application id of the provider that is written"),
]
Force = Annotated[bool, typer.Option("--force", help="Overwrite files that are there and differ")]
ConversionFailOn = Annotated[
    ConversionThreshold | None,
    typer.Option("--fail-on", help="Exit with 1 from this level on; everything is written all the same"),
]


@with_details_of_report
def _convert(  # noqa: PLR0913
    sources: Sources,
    *,
    to: Target,
    out: OutFolder,
    only: OnlyFormats = None,
    provider: ChosenProviders = None,
    name: ProviderName = None,
    package: WrittenPackage = None,
    description: ProviderDescription = None,
    strict: Strict = False,
    force: Force = False,
    fail_on: ConversionFailOn = None,
    as_json: AsJson = False,
    sarif: AsSarif = False,
) -> int:
    """Write what apps declare in another protocol, and say what it costs.

    Also writes `fidelity.json`, every difference between the source and what was written, and
    `names.json`, the map of renamed things. Several providers get one folder each. --name, --package and
    --description replace what the source states, of one provider.
    """
    from droidgate.cli.descriptors.converting import ConvertRequest, convert_sources
    from droidgate.cli.read_sources import choose_output

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


class Language(StrEnum):
    """What `--language` takes."""

    JAVA = "java"
    KOTLIN = "kotlin"
    NONE = "none"


Source = Annotated[str, typer.Argument(metavar="SRC", help=SOURCE_HELP)]
Into = Annotated[
    Path, typer.Option("--into", metavar="PROJECT", help="Folder of the Android project, or of its module")
]
ProjectPackage = Annotated[
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
MigrationFailOn = Annotated[
    ConversionThreshold | None,
    typer.Option("--fail-on", help="Exit with 1, and write nothing, from this level on"),
]


@with_details_of_report
def _migrate(  # noqa: PLR0913
    source: Source,
    *,
    to: Target,
    into: Into,
    package: ProjectPackage = None,
    language: LanguageOption = None,
    name: ProviderName = None,
    description: ProviderDescription = None,
    write: Write = False,
    only: OnlyFormats = None,
    provider: ChosenProviders = None,
    strict: Strict = False,
    fail_on: MigrationFailOn = None,
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
    from droidgate.cli.descriptors.migration_report import MigrateRequest, migrate_source

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


class KeyTypeOption(StrEnum):
    """What `--key-type` takes."""

    EC = "ec"
    RSA = "rsa"


Project = Annotated[
    Path,
    typer.Argument(
        metavar="PROJECT", help="Folder of an Android project, of its module, or with an AndroidManifest.xml"
    ),
]
ApkFile = Annotated[Path, typer.Option("--output", "-o", metavar="APK", help="The file to write")]
Dex = Annotated[
    list[Path] | None,
    typer.Option("--dex", metavar="FILE", help="Compiled code; may be repeated, classes.dex first"),
]
KeyTypeChoice = Annotated[
    KeyTypeOption, typer.Option("--key-type", help="Kind of the key that is made and kept at the first run")
]
KeyFile = Annotated[
    Path | None,
    typer.Option(
        "--key",
        metavar="FILE",
        help="Sign with this key: PEM, the PKCS#8 key without a password and its certificate",
    ),
]
PackedPackage = Annotated[
    str | None,
    typer.Option("--package", metavar="ID", help="Application id, in place of what the project says"),
]
VersionCode = Annotated[
    int | None, typer.Option("--version-code", metavar="N", help="In place of what the project says")
]
MinimumSdk = Annotated[
    int | None, typer.Option("--min-sdk", metavar="N", help="In place of what the project says")
]
TargetSdk = Annotated[
    int | None, typer.Option("--target-sdk", metavar="N", help="In place of what the project says")
]
Generate = Annotated[
    bool, typer.Option("--generate", help="Write the descriptors of functions that Kotlin sources declare")
]
ReplaceFile = Annotated[bool, typer.Option("--force", help="Replace a file that is there and differs")]


def _pack(  # noqa: PLR0913
    project: Project,
    *,
    out: ApkFile,
    dex: Dex = None,
    key_type: KeyTypeChoice = KeyTypeOption.EC,
    key: KeyFile = None,
    package: PackedPackage = None,
    version_code: VersionCode = None,
    minimum_sdk: MinimumSdk = None,
    target_sdk: TargetSdk = None,
    generate: Generate = False,
    force: ReplaceFile = False,
    memory: Memory = 4096,
    deadline: Deadline = 300.0,
    as_json: AsJson = False,
) -> int:
    """Make an APK that installs from the manifest, resources and assets of a source tree.

    It needs none of Android's tools. Code is what `--dex` gives; without it the app installs, and agents find
    what it declares, but nothing in it runs. Libraries from Maven are not packed. Agents find functions that
    only Kotlin sources declare where `--generate` writes their descriptors.
    """
    from droidgate.cli.descriptors.packing_report import report_packing
    from droidgate.computer.output_folder import check_folder
    from droidgate.migration.project_packing import pack

    # The key is made by the packing, and nothing is to be left behind.
    check_folder(out.parent)

    def run() -> int:
        packed = pack(
            project,
            dex=dex or (),
            key=key,
            key_type=key_type.value,
            package=package,
            version_code=version_code,
            minimum_sdk=minimum_sdk,
            target_sdk=target_sdk,
            generate=generate,
        )
        return report_packing(project, packed, out, generate=generate, force=force, as_json=as_json)

    return run_within(RunBudget(memory, deadline), run)


def register(app: typer.Typer) -> None:
    """Add the commands to the program."""
    app.command("inspect", short_help="Show what apps declare for agents")(_inspect)
    app.command("convert", short_help="Write what apps declare in another protocol")(_convert)
    app.command("migrate", short_help="Put a descriptor and its handler into an app's source tree")(_migrate)
    app.command("pack", short_help="Make a signed APK of an app's source tree")(_pack)
    app.command("lint", short_help="Check descriptors against their specification")(_lint)
    app.command("diff", short_help="Report what changed, and whether it breaks callers")(_diff)
    app.command("formats", short_help="List formats, dialects, and what each can carry")(_formats)
