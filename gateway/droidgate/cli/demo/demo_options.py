"""`droidgate demo`."""

from __future__ import annotations

from droidgate.cli.command_classes import Command, flag


class Demo(
    Command,
    work="droidgate.cli.demo.run_demo:demonstrate",
):
    """See it work: sample apps on a virtual phone are installed, discovered, converted, migrated,
    given shims, and called, also by an MCP client.

    Exits with 0 only when every step did what it should.
    """

    details: bool = flag("--details", "Print each loss, all declarations, and what each format can carry")
