"""`droidgate prove`."""

from __future__ import annotations

from pathlib import Path

from droidgate.cli.command_classes import ReportingCommand, argument, flag, option
from droidgate.cli.shared_options import AS_JSON, FORCE, SERIAL


class Prove(ReportingCommand, work="droidgate.cli.prove.run_prove:prove_and_report"):
    """Run the device checklist on a phone or emulator, then restore the phone.

    Installs two agents and a shim, calls the sample apps by each frontend and backend, presses the buttons of
    the question to the user, grants, revokes, stops. Each step is passed, failed, not applicable at this API
    level, or needs a hand: on a terminal you are asked. Writes proof.json and proof.md. Where the phone goes
    away, the next start restores it first.
    """

    proofs: list[Path] | None = argument("PROOF", "With --merge: files that earlier runs wrote")
    merge: bool = flag("--merge", "Merge proofs of several phones, in place of proving one")
    steps: list[str] | None = option(
        "--steps GLOB", "Only these steps, and what they need, such as 'call/*'; may be repeated"
    )
    apps: Path | None = option(
        "--apps FOLDER", "APKs of the sample apps, to install where they are not there"
    )
    output: Path = option("--output -o FOLDER", "Where proof.json and proof.md are written", Path("proof"))
    force: bool = FORCE
    serial: str | None = SERIAL
    as_json: bool = AS_JSON
