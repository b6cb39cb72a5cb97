"""`droidgate audit show` and `audit verify`."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from droidgate.cli.command_classes import Command, argument, option
from droidgate.cli.shared_options import AS_JSON, PATTERN_HELP

FOLDER: Final = option("--folder DIR", "A copy of a log; the one of this computer by default")


class AuditShow(
    Command,
    short="Show the calls that were made or refused",
    work="droidgate.cli.audit.run_audit:show_calls",
):
    """Show the newest calls: who called what, what was decided, and how it ended.

    The log has no arguments and no results; --json prints the digest of each call's arguments.
    """

    patterns: list[str] | None = argument("PATTERN", PATTERN_HELP)
    last: int = option("--last -n N", "At most this many, the newest", 20, min=1)
    folder: Path | None = FOLDER
    as_json: bool = AS_JSON


class AuditVerify(
    Command,
    short="Check that no record was changed or removed",
    work="droidgate.cli.audit.run_audit:verify_log",
):
    """Check that no record was changed, removed or moved; exit with 1 and name the first place otherwise.

    A program that may write the log can write its last records anew. Keep the printed digest somewhere else,
    and name it the next time.
    """

    expected: str | None = option(
        "--expect DIGEST", "A digest that an earlier check printed: its record must still be there"
    )
    folder: Path | None = FOLDER
    as_json: bool = AS_JSON
