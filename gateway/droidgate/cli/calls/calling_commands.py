"""What `droidgate call --commands` does."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from droidgate.calls.call_requests import CallRequest
from droidgate.calls.caller import Caller
from droidgate.calls.commands import read_command_file, run_commands
from droidgate.calls.subjects import EVERY_CAPABILITY
from droidgate.cli.calls.asking import ask_on_terminal
from droidgate.cli.calls.call_command import Call
from droidgate.cli.exit_codes import ExitCode
from droidgate.cli.output.json_output import print_json_line
from droidgate.cli.output.pages import amount, print_note
from droidgate.devices.device import connect_device
from droidgate_mappings.model.json_values import Json
from droidgate_mobile_agent.command_tables import FORMAT_ID
from droidgate_mobile_agent.wire import AgentCommand


def call_commands(path: Path, options: Call) -> int:
    """Run the commands of a file and print the record of each, a JSON object a line.

    Raises:
        InputError: the file, the policy, the pins or the audit log cannot be used; no command is run then.
        DeviceError: the phone cannot be reached.
    """
    commands = read_command_file(path)
    caller = Caller(connect_device(options.serial), approver=ask_on_terminal)
    allowed = EVERY_CAPABILITY if options.approved else ()

    def call(command: AgentCommand) -> Json:
        name, arguments = command.command.id, command.arguments
        request = CallRequest(name, arguments, protocol=FORMAT_ID, deadline=options.deadline)
        return caller.call(request, allowed=allowed).value

    counts = Counter[str]()
    for result in run_commands(commands, call, stops_early=not options.keep_going):
        counts[result.status] += 1
        print_json_line(result.record())
    said = ", ".join(f"{number} {status}" for status, number in counts.items())
    print_note(f"{amount(len(commands), 'command')}: {said}")
    return ExitCode.OK if counts["success"] == counts.total() else ExitCode.CALL_FAILED
