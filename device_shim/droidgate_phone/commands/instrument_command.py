"""`am instrument` (AOSP's com.android.commands.am.Instrument)."""

from __future__ import annotations

from typing import Final

from droidgate_phone.commands import CommandCall
from droidgate_phone.commands.argument_reader import ArgumentReader
from droidgate_phone.commands.refusal import refuse
from droidgate_phone.commands.service_shell import read_user
from droidgate_phone.intents import ComponentName

_STEP_SECONDS: Final = 0.2
"""How often a wait checks whether the process that started the command has ended."""
_NOT_MODELLED: Final = frozenset(
    {"-p", "--no-hidden-api-checks", "--no-test-api-access", "--no-isolated-storage", "--abi", "-f", "-m"}
)


def run_instrument(call: CommandCall, reader: ArgumentReader) -> int:
    """Start an instrumentation; with `-w` wait for its end.

    Without `-w` it has no connection to the shell, and so can borrow nothing of it.
    """
    waits, arguments = False, dict[str, str]()
    while (option := reader.next_option()) is not None:
        if option == "-w":
            waits = True
        elif option == "-e":
            key = reader.require()
            arguments[key] = reader.require()
        elif option == "--user":
            read_user(reader)
        elif option == "--no-window-animation":
            continue
        elif option == "-r":
            # The raw form differs in results only, and these instrumentations report none.
            continue
        else:
            known = "" if option in _NOT_MODELLED else "the option "
            return refuse(call, f"{known}am instrument {option}")
    text = reader.require()
    name = ComponentName.parse(text)
    ended = None
    if name is not None:
        ended = call.system.instrumentations.start(name, arguments, connected=waits)
    if ended is None or name is None:
        return _tell_missing(call, text, name)
    if waits:
        from droidgate_phone.shell import pause  # noqa: PLC0415 - the shell imports the commands

        while not ended.is_set():
            pause(_STEP_SECONDS)
        call.write("INSTRUMENTATION_RESULT: shortMsg=Process crashed.\nINSTRUMENTATION_CODE: 0\n")
    return 0


def _tell_missing(call: CommandCall, text: str, name: ComponentName | None) -> int:
    if name is None:
        call.write_error(f"Error: Bad component name: {text}\n")
        return 1
    call.write(
        "INSTRUMENTATION_STATUS: Error=Unable to find instrumentation info for: "
        f"ComponentInfo{{{name.flatten()}}}\n"
        "INSTRUMENTATION_STATUS: id=ActivityManagerService\n"
        "INSTRUMENTATION_STATUS_CODE: -1\n"
    )
    call.write_error(f"android.util.AndroidException: INSTRUMENTATION_FAILED: {name.flatten()}\n")
    return 1
