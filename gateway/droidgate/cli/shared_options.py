"""Arguments and options that several commands share. Nothing heavy is imported here: `--help` reads it."""

from __future__ import annotations

from enum import StrEnum
from typing import Final

from droidgate.cli.command_classes import argument, flag, option
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
    "A descriptor file, project folder, APK, folder or archive (.zip, .tgz) of any of these, catalog, "
    "git:REVISION[:PATH], adb:[SERIAL] or - for standard input"
)
PATTERN_HELP = "A name as `call` takes it, CAPABILITY or PACKAGE/CAPABILITY; * and ? are wildcards"

SOURCES: Final = argument("SRC", SOURCE_HELP, ...)
STRICT: Final = flag("--strict", "Read by the specification: every leniency is an error")
VARIANT: Final = option(
    "--variant VARIANT",
    "Variant of a project that is read, such as playRelease or play; Gradle's default without it",
)
ONLY_FORMATS: Final = option(
    "--format FORMAT", "Read as this format only; may be repeated", autocompletion=complete_formats
)
TARGET: Final = option(
    "--to FORMAT[+DIALECT]", "What to write; see `droidgate formats`", ..., autocompletion=complete_targets
)
SERIAL: Final = option(
    "--serial SERIAL", "The phone, where several are attached", autocompletion=complete_serials
)
SERIALS: Final = option(
    "--serial SERIAL", "A phone; may be repeated. The only one by default", autocompletion=complete_serials
)
VALUES: Final = argument(
    "NAME=VALUE",
    "Its arguments, each NAME=TEXT or NAME:=JSON; text becomes a number or a boolean where one is declared",
)
ARGUMENTS: Final = option(
    "--args JSON", "More arguments, as a JSON object; - reads it from standard input", "{}"
)
SIGNED_BY: Final = option(
    "--signed-by SHA256", "Trust a shim that another key than yours signed: its certificate's digest"
)
CHOSEN_PROVIDERS: Final = option(
    "--provider COMPONENT",
    "Use this provider only, by its component or file; may be repeated. The whole source is read",
)
PROVIDER_NAME: Final = option("--name TEXT", "Name of the provider that is written")
PROVIDER_DESCRIPTION: Final = option("--description TEXT", "Description of the provider that is written")
INCLUDE_SHIMS: Final = flag("--include-shims", "Include shims and droidgate's agent app")
FORCE: Final = flag("--force", "Overwrite files that are there and differ")
AS_JSON: Final = flag("--json", "Print a JSON document instead of text")
AS_SARIF: Final = flag("--sarif", "Print a SARIF 2.1.0 log instead of text")
AS_MARKDOWN: Final = flag("--markdown", "Print Markdown for a pull request's comment instead of text")
