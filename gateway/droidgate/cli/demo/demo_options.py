"""`droidgate demo`."""

from __future__ import annotations

from pathlib import Path

from droidgate.cli.command_classes import Command, flag, option


class Demo(
    Command,
    work="droidgate.cli.demo.run_demo:demonstrate",
):
    """See it work on the sample apps: inspect them, convert each into every format, and read everything back.

    Exits with 0 only when every step did what it should.
    """

    keep: Path | None = option("--keep FOLDER", "Keep what it writes in this folder")
    details: bool = flag("--details", "Print each loss, all declarations, and what each format can carry")
