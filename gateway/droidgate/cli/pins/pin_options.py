"""`droidgate pins list`, `diff`, `approve` and `remove`."""

from __future__ import annotations

from typing import Final

from droidgate.cli.command_classes import Command, argument, flag, option
from droidgate.cli.run_limits import BoundedCommand, Deadline
from droidgate.cli.shared_options import AS_JSON, PATTERN_HELP, SERIAL

PATTERNS: Final = argument("PATTERN", PATTERN_HELP, ...)
PATTERNS_OR_ALL: Final = argument("PATTERN", f"{PATTERN_HELP}; all by default")


class PinsList(Command, short="List what is approved", work="droidgate.cli.pins.run_pins:list_pins"):
    """List what is approved: capabilities, who may call them, and since when."""

    patterns: list[str] | None = PATTERNS_OR_ALL
    as_json: bool = AS_JSON


class PinsDiff(
    BoundedCommand,
    short="Show what changed since it was approved",
    work="droidgate.cli.pins.run_pins:diff_pins",
):
    """Show what changed in approved capabilities since they were approved, by what the phone's apps declare.

    A changed capability is not called until it is approved again.
    """

    patterns: list[str] | None = PATTERNS_OR_ALL
    serial: str | None = SERIAL
    deadline: Deadline = 600.0
    as_json: bool = AS_JSON


class PinsApprove(
    Command,
    short="Approve capabilities as they are declared now",
    work="droidgate.cli.pins.run_pins:approve_pins",
):
    """Read capabilities from the phone, show them, and approve them as they are declared now.

    An approval also holds for other versions of the app. It ends when the app declares the capability
    differently, or is signed by another key. Asks on a terminal. A program without one is refused, unless
    `policy.toml` has `programs_may_approve = true` and it says --yes.
    """

    patterns: list[str] = PATTERNS
    serial: str | None = SERIAL
    client: str = option(
        "--client PATTERN",
        "Who may call on this approval: cli, or an MCP client, such as mcp:claude-code",
        "*",
    )
    yes: bool = flag("--yes -y", "Approve without a question")
    deadline: float = option(
        "--deadline SECONDS", "Seconds that reading the phone's apps may take", 600.0, min=0.1, max=1e6
    )
    as_json: bool = AS_JSON


class PinsRemove(Command, short="Take approvals back", work="droidgate.cli.pins.run_pins:remove_pins"):
    """Take approvals back: the next call of these capabilities asks again."""

    patterns: list[str] = PATTERNS
    as_json: bool = AS_JSON
