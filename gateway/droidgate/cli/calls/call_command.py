"""`droidgate call`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from droidgate.cli.completing import complete_declared
from droidgate.cli.options import AsJson, Serial
from droidgate_mappings.model.errors import UsageError


def register(app: typer.Typer) -> None:
    """Add the command to the program."""
    app.command("call", short_help="Call a capability of a phone's app")(_call)


def _call(  # noqa: PLR0913
    capability: Annotated[
        str | None,
        typer.Argument(
            metavar="[CAPABILITY]",
            help="Its id, the end of its id, APP.ID, or PACKAGE/ID",
            autocompletion=complete_declared,
        ),
    ] = None,
    *,
    arguments: Annotated[
        str,
        typer.Option(
            "--args", metavar="JSON", help="The arguments, as a JSON object; - reads it from standard input"
        ),
    ] = "{}",
    pairs: Annotated[
        list[str] | None, typer.Option("--arg", metavar="NAME=VALUE", help="One argument; may be repeated")
    ] = None,
    files: Annotated[
        list[str] | None,
        typer.Option(
            "--file",
            metavar="NAME=@FILE",
            help="Put a file where the app can read it; the argument is its path. May be repeated",
        ),
    ] = None,
    pull: Annotated[
        Path | None, typer.Option("--pull", metavar="DIR", help="Fetch the files that the result names")
    ] = None,
    serial: Serial = None,
    package: Annotated[
        str | None, typer.Option("--app", metavar="PACKAGE", help="Only capabilities of this app")
    ] = None,
    protocol: Annotated[
        str | None, typer.Option("--protocol", metavar="FORMAT", help="Only capabilities of this format")
    ] = None,
    deadline: Annotated[
        float, typer.Option("--deadline", metavar="SECONDS", min=1, max=150, help="How long it may take")
    ] = 30.0,
    approved: Annotated[
        bool, typer.Option("--yes", help="Call it without asking; what the policy denies is not called")
    ] = False,
    explain: Annotated[
        bool, typer.Option("--explain", help="Show the route and the device commands, and call nothing")
    ] = False,
    trace: Annotated[
        Path | None,
        typer.Option(
            "--trace",
            metavar="FILE",
            help="Write each step with its values into a new file, a JSON object a line",
        ),
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace the file of --trace")] = False,
    signed_by: Annotated[
        str | None,
        typer.Option(
            "--signed-by",
            metavar="SHA256",
            help="Trust a shim that another key than yours signed: its certificate's digest",
        ),
    ] = None,
    batch: Annotated[
        Path | None,
        typer.Option(
            "--batch",
            metavar="FILE",
            help="Make the calls of a file, in place of one: a JSON object a line, with `capability`, "
            "`arguments`, `id`, `device`",
        ),
    ] = None,
    commands: Annotated[
        Path | None,
        typer.Option(
            "--commands",
            metavar="FILE",
            help="Run a list of MobileAgent's commands on the phone's screen, in place of one call: JSON, or "
            "one command a line",
        ),
    ] = None,
    keep_going: Annotated[
        bool, typer.Option("--keep-going", help="Run the commands that follow a failed one, too")
    ] = False,
    results: Annotated[
        Path | None,
        typer.Option(
            "--results",
            metavar="FILE",
            help="Where the results of a batch go; next to its file by default. A second run goes on with it",
        ),
    ] = None,
    parallel: Annotated[
        int, typer.Option("--parallel", min=1, max=32, help="How many calls of a batch are made at once")
    ] = 4,
    as_json: AsJson = False,
) -> int:
    """Call a capability that an app of a phone declares, whatever its protocol.

    App functions and the receivers of broadcasts are called by Android's own shell, everything else through a
    shim (`droidgate shim install`). Arguments and result are checked against what the capability declares.

    A capability that you have not approved is asked about on the terminal; answer `a` to approve it until its
    declaration changes. Each call is recorded in the audit log, without the values of its arguments; a trace
    has the values of arguments and result.

    A batch asks nothing: approve its capabilities first (`droidgate pins approve`), or say --yes. An app gets
    one call at a time. A call whose end is not known is never made again.

    Commands are those of UFO's MobileAgent, in either of its two forms. They run in order on one phone; after
    one without an answer, the others are skipped. The record of each is printed, a JSON object a line.
    """
    from droidgate.calls.call_requests import CallRequest
    from droidgate.cli.calls.one_call import CallOptions, call_and_report, explain_and_report
    from droidgate.cli.calls.typed_arguments import read_arguments, read_files

    if commands is not None:
        from droidgate.cli.calls.calling_commands import call_commands

        of_other_calls = (capability, pairs, files, pull, explain, trace, as_json, arguments != "{}")
        if any(of_other_calls) or any((batch, results, package, protocol, signed_by)):
            message = "--commands excludes every option but --serial, --deadline, --yes and --keep-going"
            raise UsageError(message, hint="write each command with its arguments into the file")
        return call_commands(
            commands, serial, deadline=deadline, approved=approved, stops_early=not keep_going
        )
    if keep_going:
        raise UsageError("--keep-going is for --commands", hint="name a file of commands")
    if batch is not None:
        from droidgate.cli.calls.calling_batch import BatchOptions, call_batch

        of_one_call = (capability, pairs, files, pull, explain, trace, as_json, arguments != "{}")
        if any(of_one_call):
            message = (
                "--batch excludes CAPABILITY, --args, --arg, --file, --pull, --explain, --trace and --json"
            )
            raise UsageError(message, hint="write each call with its arguments into the file")
        of_batch = BatchOptions(
            results, parallel, serial, package, protocol, deadline, approved=approved, signed_by=signed_by
        )
        return call_batch(batch, of_batch)
    if explain and trace is not None:
        raise UsageError("--explain excludes --trace", hint="nothing is called, so there is nothing to trace")
    if capability is None:
        raise UsageError("missing argument CAPABILITY", hint="name a capability, or a file with --batch")
    given = read_arguments(arguments, pairs or ())
    sent = read_files(files or (), given)
    options = CallOptions(serial, signed_by, approved, as_json, pull, trace, force)
    request = CallRequest(capability, given, package, protocol, deadline, files=sent)
    return explain_and_report(request, options) if explain else call_and_report(request, options)
