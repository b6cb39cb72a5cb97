"""`am` and `cmd activity` (AOSP's ActivityManagerShellCommand), and `am instrument` (AOSP's
com.android.commands.am.Instrument).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Final

from droidgate_phone.commands import Command, CommandCall
from droidgate_phone.commands.argument_reader import ArgumentReader
from droidgate_phone.commands.command_registry import FAILED, refuse
from droidgate_phone.commands.intent_arguments import parse_intent
from droidgate_phone.commands.service_commands import (
    ALL_USERS,
    OWNER,
    Verb,
    is_known_user,
    read_user,
    run_guarded,
)
from droidgate_phone.java.app_values import BroadcastResult
from droidgate_phone.java.intents import ComponentName, Intent
from droidgate_phone.system.activity_records import ActivityRecord
from droidgate_phone.system.activity_stack import FLAG_NEW_TASK, ActivityNotFoundError, StartOutcome
from droidgate_phone.system.callers import caller_of_uid
from droidgate_phone.system.intent_text import show_bundle, show_intent
from droidgate_phone.system.processes import AndroidNotModelledError
from droidgate_phone.system.service_records import ServiceRefusedError

_STEP_SECONDS: Final = 0.2
"""How often a wait checks whether the process that started the command has ended."""
_INSTRUMENT_NOT_MODELLED: Final = frozenset(
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
            prefix = "" if option in _INSTRUMENT_NOT_MODELLED else "the option "
            return refuse(call, f"{prefix}am instrument {option}")
    text = reader.require()
    name = ComponentName.parse(text)
    ended = None
    if name is not None:
        ended = call.system.instrumentations.start(name, arguments, connected=waits)
    if ended is None or name is None:
        return _print_missing(call, text, name)
    if waits:
        from droidgate_phone.shell import pause

        while not ended.is_set():
            pause(_STEP_SECONDS)
        call.write("INSTRUMENTATION_RESULT: shortMsg=Process crashed.\nINSTRUMENTATION_CODE: 0\n")
    return 0


def _print_missing(call: CommandCall, text: str, name: ComponentName | None) -> int:
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


_FLAG_FROM_SHELL: Final = 0x00400000
_FIRST_WITH_STATUS: Final = 31
_FIRST_WITH_NESTED_KEYS: Final = 36
_FIRST_WITH_LAUNCH_STATE: Final = 29


@dataclass(slots=True)
class _Start:
    intent: Intent
    wait: bool = False
    stop: bool = False
    user: int = OWNER


_START_FLAGS: Final = {"-W": "wait", "-S": "stop"}
_NOT_MODELLED: Final = frozenset(
    {
        "-D", "-N", "--streaming", "--task-overlay", "--lock-task", "--allow-background-activity-starts",
        "--async", "--debug-link", "--suspend", "--track-allocation", "--splashscreen-show-icon",
        "--dismiss-keyguard", "--dismiss-keyguard-if-insecure", "--sampling", "--profiler-output-version",
        "-R", "--display", "--task-display-area-feature-id", "--windowingMode", "--activityType", "--task",
        "--allow-fgs-start-reason", "-P", "--start-profiler", "--clock-type", "--attach-agent",
        "--attach-agent-bind", "--receiver-permission",
    }
)  # fmt: skip


def read_start(reader: ArgumentReader) -> _Start:
    """Return what the arguments of `start-activity` and its like ask for (`makeIntent`).

    Raises:
        AndroidNotModelledError: an option is not modelled.
        ArgumentError: as Android would throw.
    """
    start = _Start(Intent())

    def take(option: str, arguments: ArgumentReader) -> bool:
        if option in _START_FLAGS:
            setattr(start, _START_FLAGS[option], True)
        elif option == "--user":
            start.user = read_user(arguments)
        elif option in _NOT_MODELLED:
            raise AndroidNotModelledError(f"am with {option}")
        else:
            return False
        return True

    start.intent = parse_intent(reader, take)
    return start


def _run_start(call: CommandCall, reader: ArgumentReader) -> int:
    start = read_start(reader)
    if start.user == ALL_USERS:
        call.write_error("Error: Can't start service with user 'all'\n")
        return 1
    if start.stop and not _stop_target(call, start.intent):
        return 1
    call.write(f"Starting: {show_intent(start.intent)}\n")
    intent = replace(start.intent, flags=start.intent.flags | FLAG_NEW_TASK)
    begun = call.system.clock.now()
    try:
        outcome, record = call.system.stack.start(caller_of_uid(call.uid), intent)
    except ActivityNotFoundError as error:
        return _print_not_found(call, error, intent, wait=start.wait)
    write = call.write if start.wait else call.write_error
    write(_WARNINGS.get(outcome, ""))
    if start.wait:
        _print_wait(call, record, outcome, begun)
    return 0


def _stop_target(call: CommandCall, intent: Intent) -> bool:
    if intent.component is not None:
        name = intent.component.package
    else:
        matches = call.system.resolver.query("activity", intent, caller_uid=call.uid)
        if len(matches) != 1:
            problem = (
                "does not match any activities" if not matches else "matches multiple activities; can't stop"
            )
            call.write_error(f"Error: Intent {problem}: {show_intent(intent)}\n")
            return False
        name = matches[0].package.name
    call.write(f"Stopping: {name}\n")
    call.system.force_stop(name)
    return True


_WARNINGS: Final[Mapping[StartOutcome, str]] = {
    "delivered-to-top": (
        "Warning: Activity not started, intent has been delivered to currently running top-most instance.\n"
    ),
    "to-front": "Warning: Activity not started, its current task has been brought to the front\n",
}


def _print_not_found(call: CommandCall, error: ActivityNotFoundError, intent: Intent, *, wait: bool) -> int:
    write = call.write if wait else call.write_error
    if error.component is None:
        # The shell has looked for intents in the extras (EXTENDED_FLAG_NESTED_INTENT_KEYS_COLLECTED).
        extended = 4 if call.system.release.at_least(_FIRST_WITH_NESTED_KEYS) else 0
        shown = show_intent(intent, extended_flags=extended)
        write(f"Error: Activity not started, unable to resolve {shown}\n")
    else:
        component_name = _full_short(error.component)
        write(f"Error type 3\nError: Activity class {component_name} does not exist.\n")
    return 1 if call.system.release.at_least(_FIRST_WITH_STATUS) else 0


def _full_short(name: ComponentName) -> str:
    """Return `ComponentName.toShortString`, which shortens nothing."""
    return f"{{{name.flatten()}}}"


def _print_wait(
    call: CommandCall, record: ActivityRecord | None, outcome: StartOutcome, begun: float
) -> None:
    clock, sdk = call.system.clock, call.system.release.sdk
    up = record is None or call.system.stack.wait_created(record)
    milliseconds = max(0, round((clock.now() - begun) * 1000))
    call.write(f"Status: {'ok' if up else 'timeout'}\n")
    if sdk >= _FIRST_WITH_LAUNCH_STATE:
        call.write(f"LaunchState: {'COLD' if outcome == 'started' else 'UNKNOWN (0)'}\n")
    if record is not None:
        call.write(f"Activity: {record.match.name.flatten_short()}\n")
    if sdk < _FIRST_WITH_LAUNCH_STATE:
        call.write(f"ThisTime: {milliseconds}\n")
    call.write(f"TotalTime: {milliseconds}\nWaitTime: {milliseconds}\nComplete\n")


def _run_start_service(call: CommandCall, reader: ArgumentReader, *, foreground: bool = False) -> int:
    start = read_start(reader)
    if start.user == ALL_USERS:
        call.write_error("Error: Can't start activity with user 'all'\n")
        return FAILED
    call.write(f"Starting service: {show_intent(start.intent)}\n")
    name: ComponentName | None = None
    try:
        if is_known_user(start.user):
            name = call.system.services.start(caller_of_uid(call.uid), start.intent, foreground=foreground)
    except ServiceRefusedError as refused:
        call.write_error(f"Error: {refused.text}\n")
        return FAILED
    if name is None:
        call.write_error("Error: Not found; no service started.\n")
        return FAILED
    return 0


_run_start_foreground: Final = partial(_run_start_service, foreground=True)


def _run_stop_service(call: CommandCall, reader: ArgumentReader) -> int:
    start = read_start(reader)
    if start.user == ALL_USERS:
        call.write_error("Error: Can't stop activity with user 'all'\n")
        return FAILED
    call.write(f"Stopping service: {show_intent(start.intent)}\n")
    try:
        stopped = call.system.services.stop(caller_of_uid(call.uid), start.intent)
    except ServiceRefusedError:
        call.write_error("Error stopping service\n")
        return FAILED
    # Android returns -1 in every case.
    call.write_error("Service stopped\n" if stopped else "Service not stopped: was not running.\n")
    return FAILED


def _run_broadcast(call: CommandCall, reader: ArgumentReader) -> int:
    start = read_start(reader)
    intent = replace(start.intent, flags=start.intent.flags | _FLAG_FROM_SHELL)
    call.write(f"Broadcasting: {show_intent(intent)}\n")
    if not is_known_user(start.user):
        return 0
    caller = caller_of_uid(call.uid)
    _print_broadcast(call, call.system.broadcasts.send_and_wait(caller, intent))
    return 0


def _print_broadcast(call: CommandCall, result: BroadcastResult) -> None:
    line = f"Broadcast completed: result={result.code}"
    if result.data is not None:
        line += f', data="{result.data}"'
    if result.extras.values:
        line += f", extras: {show_bundle(result.extras, parcelled=True)}"
    call.write(line + "\n")


def _read_package(call: CommandCall, reader: ArgumentReader) -> tuple[str, int] | None:
    """Return a package and a user; None where an option is not known, which is printed."""
    user = ALL_USERS
    while (option := reader.next_option()) is not None:
        if option != "--user":
            call.write_error(f"Error: Unknown option: {option}\n")
            return None
        user = read_user(reader)
    return reader.require(), user


def _run_force_stop(call: CommandCall, reader: ArgumentReader) -> int:
    read = _read_package(call, reader)
    if read is None:
        return FAILED
    name, user = read
    if is_known_user(user):
        call.system.force_stop(name)
    return 0


def _run_kill(call: CommandCall, reader: ArgumentReader) -> int:
    """End an app's processes, unless the user notices them."""
    read = _read_package(call, reader)
    if read is None:
        return FAILED
    name, user = read
    package = call.system.packages.find(name) if is_known_user(user) else None
    if package is not None and not call.system.uid_states.is_active(package.uid):
        call.system.end_processes(name, "kill background")
    return 0


def _run_current_user(call: CommandCall, reader: ArgumentReader) -> int:
    del reader
    call.write("0\n")
    return 0


_VERBS: Final[Mapping[str, Verb]] = {
    "broadcast": _run_broadcast,
    "force-stop": _run_force_stop,
    "get-current-user": _run_current_user,
    "instrument": run_instrument,
    "kill": _run_kill,
    "start": _run_start,
    "start-activity": _run_start,
    "start-foreground-service": _run_start_foreground,
    "start-fg-service": _run_start_foreground,
    "startforegroundservice": _run_start_foreground,
    "startfgservice": _run_start_foreground,
    "start-service": _run_start_service,
    "startservice": _run_start_service,
    "stop-service": _run_stop_service,
    "stopservice": _run_stop_service,
}


def run_activity(call: CommandCall) -> int:
    """`am ARGUMENTS` and `cmd activity ARGUMENTS`."""
    if not call.arguments:
        return refuse(call, "the help of am")
    verb, reader = call.arguments[0], ArgumentReader(call.arguments, 1)
    if verb not in _VERBS:
        return refuse(call, f"am {verb}")
    return run_guarded(call, verb, lambda: _VERBS[verb](call, reader))


COMMANDS: Final[Mapping[str, Command]] = {"am": run_activity}
