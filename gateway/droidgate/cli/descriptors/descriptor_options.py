"""`droidgate inspect`, `lint`, `formats`, `diff`, `convert`, `migrate` and `pack`."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path

from droidgate.cli.command_classes import PagedCommand, ReportingCommand, argument, flag, option
from droidgate.cli.run_limits import BoundedCommand, Deadline, Memory
from droidgate.cli.shared_options import (
    AS_JSON,
    AS_MARKDOWN,
    AS_SARIF,
    CHOSEN_PROVIDERS,
    FORCE,
    ONLY_FORMATS,
    PROVIDER_DESCRIPTION,
    PROVIDER_NAME,
    SOURCE_HELP,
    SOURCES,
    STRICT,
    TARGET,
    VARIANT,
    ConversionThreshold,
    DiffThreshold,
    LintThreshold,
)


class Inspect(
    BoundedCommand,
    PagedCommand,
    work="droidgate.cli.descriptors.run_inspect:inspect_sources",
):
    """Show what apps declare for agents.

    Reads every descriptor of every known protocol in the sources, and shows providers, capabilities, and
    where a descriptor differs from its specification.
    """

    sources: list[str] = SOURCES
    capability: str | None = option(
        "--capability ID", "Show one capability with its parameters, by its id or the end of it"
    )
    only: list[str] | None = ONLY_FORMATS
    variant: str | None = VARIANT
    strict: bool = STRICT
    memory: Memory = 4096
    deadline: Deadline = 600.0
    as_json: bool = AS_JSON


class Convert(
    BoundedCommand,
    ReportingCommand,
    work="droidgate.cli.descriptors.run_convert:convert_sources",
):
    """Write what apps declare in another protocol, and say what it costs.

    A folder also gets `fidelity.json`, every difference between the source and what was written, and
    `names.json`, the map of renamed things. Several providers get one folder each. --name, --package and
    --description replace what the source states, of one provider.
    """

    _headings = {
        "What is written": ("target", "out", "name", "package", "description", "force", "check"),
        "What is read": ("only", "providers", "variant", "strict"),
    }

    sources: list[str] = SOURCES
    target: str = TARGET
    out: Path = option(
        "--output -o OUT",
        "Folder to write into, or file for a single artifact; standard output (-) without it",
        Path("-"),
        show_default=False,
    )
    only: list[str] | None = ONLY_FORMATS
    providers: list[str] | None = CHOSEN_PROVIDERS
    name: str | None = PROVIDER_NAME
    package: str | None = option("--package PACKAGE", "Application id of the provider that is written")
    description: str | None = PROVIDER_DESCRIPTION
    variant: str | None = VARIANT
    strict: bool = STRICT
    force: bool = FORCE
    check: bool = flag(
        "--check", "Write nothing, and exit with 1 where the files are not what would be written"
    )
    fail_on: ConversionThreshold | None = option(
        "--fail-on", "Exit with 1 from this level on; everything is written all the same"
    )
    memory: Memory = 4096
    deadline: Deadline = 600.0
    as_json: bool = AS_JSON
    as_sarif: bool = AS_SARIF
    as_markdown: bool = AS_MARKDOWN


class Language(StrEnum):
    """What `--language` takes."""

    JAVA = "java"
    KOTLIN = "kotlin"
    NONE = "none"


class Migrate(
    BoundedCommand,
    ReportingCommand,
    work="droidgate.cli.descriptors.run_migrate:migrate_source",
):
    """Put what an app declares into an Android project, in another protocol.

    Prints the changes of the project as a unified diff, and on standard error what the conversion costs, what
    is left to do, and the files. With --write, this report goes to standard output, and no diff is printed.
    The manifest is edited in place; descriptors and a handler with one typed method for each capability are
    added. A second run changes nothing.
    """

    _headings = {
        "What is written": (
            "target",
            "project",
            "package",
            "language",
            "name",
            "description",
            "drop",
            "write",
        ),
        "What is read": ("only", "providers", "variant", "strict"),
    }

    source: str = argument("SRC", SOURCE_HELP, ...)
    target: str = TARGET
    project: Path = option("--into PROJECT", "Folder of the Android project, or of its module", ...)
    package: str | None = option(
        "--package PACKAGE",
        "Java package of the app, where neither build.gradle nor the manifest names it; also written",
    )
    language: Language | None = option(
        "--language",
        "Language of the handler to fill in; the one that most of the app is written in by default",
    )
    name: str | None = PROVIDER_NAME
    description: str | None = PROVIDER_DESCRIPTION
    drop: bool = flag("--drop", "Let the project's component lose capabilities that the source does not have")
    write: bool = flag("--write", "Apply the changes; without it they are only shown")
    only: list[str] | None = ONLY_FORMATS
    providers: list[str] | None = CHOSEN_PROVIDERS
    variant: str | None = VARIANT
    strict: bool = STRICT
    fail_on: ConversionThreshold | None = option(
        "--fail-on", "Exit with 1, and write nothing, from this level on"
    )
    memory: Memory = 1024
    deadline: Deadline = 60.0
    as_json: bool = AS_JSON


class Pack(
    BoundedCommand,
    work="droidgate.cli.descriptors.run_pack:pack_project",
):
    """Make an APK that installs from the manifest, resources and assets of a source tree.

    It needs none of Android's tools. `--dex` gives the code. Without it, the app
    installs and agents find what it declares, but nothing in it runs. Libraries from Maven are not packed.
    `--generate` writes the descriptors of functions that only Kotlin sources declare; agents find those too.
    """

    _headings = {
        "The APK": (
            "out",
            "dex",
            "package",
            "minimum_sdk",
            "generate",
            "force",
        ),
        "Signing": ("key",),
    }

    project: Path = argument(
        "PROJECT", "Folder of an Android project, of its module, or with an AndroidManifest.xml", ...
    )
    out: Path = option("--output -o APK", "The file to write", ...)
    dex: list[Path] | None = option("--dex FILE", "Compiled code; may be repeated, classes.dex first")
    key: Path | None = option(
        "--key FILE",
        "Sign with this key: PEM, the PKCS#8 key without a password and its certificate. By default a key is "
        "made at the first run, and kept",
    )
    package: str | None = option("--package ID", "Application id, in place of what the project says")
    minimum_sdk: int | None = option("--min-sdk N", "In place of what the project says")
    generate: bool = flag("--generate", "Write the descriptors of functions that Kotlin sources declare")
    force: bool = FORCE
    memory: Memory = 4096
    deadline: Deadline = 300.0
    as_json: bool = AS_JSON


class Lint(
    BoundedCommand,
    PagedCommand,
    work="droidgate.cli.descriptors.run_lint:lint_sources",
):
    """Check descriptors against the rules of their protocol's specification.

    Of a project, all build types and flavours are checked. A finding that is true of some of them only names
    these.
    """

    _headings = {"What is read": ("only", "variant", "strict")}

    sources: list[str] = SOURCES
    only: list[str] | None = ONLY_FORMATS
    variant: str | None = option(
        "--variant VARIANT", "The only variant of a project to check, such as playRelease or play"
    )
    strict: bool = STRICT
    fail_on: LintThreshold = option("--fail-on", "Exit with 1 from this level on", LintThreshold.ERROR)
    memory: Memory = 4096
    deadline: Deadline = 600.0
    as_json: bool = AS_JSON
    as_sarif: bool = AS_SARIF
    as_markdown: bool = AS_MARKDOWN


class Diff(
    BoundedCommand,
    PagedCommand,
    work="droidgate.cli.descriptors.run_diff:diff_sources",
):
    """Report what changed between two versions, and whether it breaks callers.

    An access rule that refuses callers is `breaking`; one that accepts other callers is `security`, comes
    first and reaches every threshold. A replaced permission is both. Where it cannot be known whether a
    change breaks callers, it is `not-decided`, with the reason, and counts as breaking.

    What one side may have in a part that cannot be read is not compared, and the exit code is 3 where no
    change reaches the threshold. What may be gone, since the new side cannot be read, counts as breaking.
    """

    _headings = {"What is read": ("only", "variant", "strict")}

    old: str = argument("OLD", SOURCE_HELP, ...)
    new: str = argument("NEW", "What it became", ...)
    only: list[str] | None = ONLY_FORMATS
    variant: str | None = VARIANT
    strict: bool = STRICT
    fail_on: DiffThreshold | None = option("--fail-on", "Exit with 1 from this weight on")
    accept: Path | None = option(
        "--accept FILE",
        "TOML file of known changes, which do not count: code, reason, until and place of each",
    )
    memory: Memory = 4096
    deadline: Deadline = 600.0
    as_json: bool = AS_JSON
    as_sarif: bool = AS_SARIF
    as_markdown: bool = AS_MARKDOWN


class Formats(
    PagedCommand,
    work="droidgate.cli.descriptors.run_formats:list_formats",
):
    """List the formats and dialects that are read and written."""

    matrix: bool = flag("--matrix", "Show what each dialect can carry, and what becomes of the rest")
    as_json: bool = AS_JSON
