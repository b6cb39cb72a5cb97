"""`droidgate call`."""

from __future__ import annotations

from pathlib import Path

from droidgate.cli.command_classes import Command, argument, flag, option
from droidgate.cli.completing import complete_declared
from droidgate.cli.shared_options import ARGUMENTS, AS_JSON, SERIAL, SIGNED_BY, VALUES
from droidgate_shim.deadlines import LONGEST_SECONDS, SHORTEST_SECONDS


class Call(Command, work="droidgate.cli.calls.run_call:call"):
    """Call a capability that an app of a phone declares, whatever its protocol.

    App functions, receivers of broadcasts and App Actions are called by Android's own shell, everything else
    through a shim (`droidgate shim install`). Arguments and result are checked against what the capability
    declares. An App Action opens a screen; what the app does with it is not reported.

    A capability that you have not approved is asked about on the terminal; answer `a` to approve it until its
    declaration changes. Each call is recorded in the audit log, without the values of its arguments; a trace
    has the values of arguments and result.

    A batch asks nothing: approve its capabilities first (`droidgate pins approve`), or say --yes. An app gets
    one call at a time. A call whose end is not known is never made again.

    Commands are those of UFO's MobileAgent, in either of its two forms. They run in order on one phone; after
    one without an answer, the others are skipped. The record of each is printed, a JSON object a line.
    """

    _shows_steps = False
    _headings = {
        "One call": ("arguments", "files", "pull", "explain", "trace", "force", "as_json"),
        "One call or a batch": ("package", "protocol", "signed_by"),
        "A batch of calls": ("batch", "results", "parallel"),
        "Commands of MobileAgent": ("commands",),
    }

    capability: str | None = argument(
        "CAPABILITY",
        "Its id, the end of its id, APP.ID, PACKAGE/ID, PACKAGE/COMPONENT/ID, or APP_ID",
        autocompletion=complete_declared,
    )
    values: list[str] | None = VALUES
    arguments: str = ARGUMENTS
    files: list[str] | None = option(
        "--file NAME=@FILE", "Put a file where the app can read it; the argument is its path. May be repeated"
    )
    pull: Path | None = option("--pull DIR", "Fetch the files that the result names")
    serial: str | None = SERIAL
    deadline: float = option(
        "--deadline SECONDS", "Seconds that it may take", 30.0, min=SHORTEST_SECONDS, max=LONGEST_SECONDS
    )
    approved: bool = flag("--yes -y", "Call it without asking; what the policy denies is not called")
    explain: bool = flag("--explain", "Show the route and the device commands, and call nothing")
    trace: Path | None = option(
        "--trace FILE", "Write each step with its values into a new file, a JSON object a line"
    )
    force: bool = flag("--force", "Replace the file of --trace")
    package: str | None = option("--app PACKAGE", "Only capabilities of this app")
    protocol: str | None = option("--format FORMAT", "Only capabilities of this format")
    signed_by: str | None = SIGNED_BY
    batch: Path | None = option(
        "--batch FILE",
        "Make the calls of a file, in place of one: a JSON object a line, with `capability`, "
        "`arguments`, `id`, `device`",
    )
    commands: Path | None = option(
        "--commands FILE",
        "Run a list of MobileAgent's commands on the phone's screen, in place of one call: JSON, or "
        "one command a line",
    )
    results: Path | None = option(
        "--results FILE",
        "Where the results of a batch go; next to its file by default. A second run goes on with it",
    )
    parallel: int = option("--parallel", "How many calls of a batch are made at once", 4, min=1, max=32)
    as_json: bool = AS_JSON
