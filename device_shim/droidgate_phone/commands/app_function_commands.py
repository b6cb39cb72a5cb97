"""`cmd app_function`, in the generations of 16 QPR2 and 17, with their help (AOSP's
AppFunctionManagerServiceShellCommand; reference appfunctions 6).

What it prints goes to standard output, errors too; only what escapes it goes to standard error.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

from droidgate_phone.commands import CommandCall
from droidgate_phone.commands.argument_reader import ArgumentError, ArgumentReader
from droidgate_phone.commands.command_registry import FAILED, refuse
from droidgate_phone.commands.service_commands import print_exception, read_user, unknown_command
from droidgate_phone.common.uids import ROOT_UID, SHELL_UID
from droidgate_phone.java.app_values import AndroidError, AppFunctionError
from droidgate_phone.java.java_text import java_long
from droidgate_phone.java.org_json import JsonError, parse_object, write_json
from droidgate_phone.system.app_function_service import FunctionState, SearchResult, TimedOutError
from droidgate_phone.system.callers import SHELL, CallerIdentity
from droidgate_phone.system.generic_documents import (
    Properties,
    as_read_by_name,
    properties_from_json,
)
from droidgate_phone.system.processes import AndroidNotModelledError

_PACKAGE: Final = "    --package <PACKAGE_NAME>: The target package name."
_FUNCTION: Final = "    --function <FUNCTION_ID>: The ID of the app function"
_TO_USER: Final = "Defaults to the current user."


_OLD: Final = 3
_NEWEST: Final = 5
"""The generations of 16 QPR2 and of 17."""


def _user(what: str) -> str:
    return f"    --user <USER_ID> (optional): The user ID {what}. {_TO_USER}"


def _execute_help(usage: str, *more: str) -> tuple[str, ...]:
    head = (
        "  execute-app-function --package <PACKAGE_NAME> --function <FUNCTION_ID> --parameters "
        "<PARAMETERS_JSON>"
    )
    return (
        f"{head} [--user <USER_ID>][--timeout-duration <SECONDS>] [--brief-yaml]{usage}",
        (
            "    Executes an app function for the given package with the provided parameters  and returns "
            "the result as a JSON string"
        ),
        _PACKAGE,
        f"{_FUNCTION} to execute.",
        "    --parameters <PARAMETERS_JSON>: JSON string containing the parameters for the function.",
        _user("to execute the function under"),
        (
            "    --timeout-duration <SECONDS> (optional): The timeout for the function execution in seconds. "
            "Defaults to 30 seconds."
        ),
        "    --brief-yaml (optional): Prints a concise yaml output.",
        *more,
    )


_LIST: Final = (
    "  list-app-functions [--user <USER_ID>]",
    "    Lists all app functions for a specified user in JSON.",
    _user("to list functions for"),
)
_BOTH: Final = frozenset({_OLD, _NEWEST})
_HELP: Final[tuple[tuple[frozenset[int], tuple[str, ...]], ...]] = (
    (_BOTH, ("  help", "    Prints this help text.")),
    (frozenset({_OLD}), _LIST),
    (
        frozenset({_NEWEST}),
        (
            *_LIST,
            (
                "    --package <PACKAGE_NAME> (optional): Package name to list functions for. Defaults to "
                "all packages."
            ),
        ),
    ),
    (frozenset({_OLD}), _execute_help("")),
    (
        frozenset({_NEWEST}),
        _execute_help(
            " [--pending-intent-path <PATH>]",
            (
                "    --pending-intent-path <PATH> (optional): The key in the response extras to extract and "
                "send a PendingIntent from. Can be nested using '.' as separator."
            ),
        ),
    ),
    (
        _BOTH,
        (
            (
                "  set-enabled --package <PACKAGE_NAME> --function <FUNCTION_ID> --state <enable|disable> "
                "[--user <USER_ID>]"
            ),
            "    Enables or disables an app function for the specified package.",
            _PACKAGE,
            f"{_FUNCTION}.",
            "    --state <enable|disable|default>: The desired enabled state.",
            _user("under which to set the function state"),
        ),
    ),
    (
        frozenset({_NEWEST}),
        (
            "  is-enabled --package <PACKAGE_NAME> --function <FUNCTION_ID> [--user <USER_ID>]",
            "    Checks if an app function is enabled for the specified package.",
            _PACKAGE,
            f"{_FUNCTION}.",
            _user("under which to check the function state"),
        ),
    ),
    (frozenset({_NEWEST}), ("  purge-allowlist-cache", "    Purges the allowlist cache.")),
)


def help_text(generation: int) -> str:
    """Return the help of a generation: each part's lines, with an empty line behind."""
    blocks = ("\n".join(lines) + "\n\n" for generations, lines in _HELP if generation in generations)
    return "AppFunctionManagerService commands:\n" + "".join(blocks)


_EXCEPTION: Final = "android.app.appfunctions.AppFunctionException"
_DEFAULT_SECONDS: Final = 30
_STATES: Final[Mapping[str, FunctionState]] = {
    "enable": "enabled",
    "disable": "disabled",
    "default": "default",
}
_REFUSED: Final = frozenset({"read-app-description", "set-test-page-size", "reset-test-page-size"})
"""What only 17 has, and the phone has not."""


class _UnknownOptionError(Exception):
    """An option that the verb does not have."""


@dataclass(slots=True)
class _Arguments:
    package: str | None = None
    function: str | None = None
    parameters: str | None = None
    state: FunctionState | None = None
    seconds: float | None = None


def run_app_function(call: CommandCall) -> int:
    """`cmd app_function ARGUMENTS`."""
    arguments = call.arguments
    generation = call.system.release.function_shell
    if not generation:
        call.write_error("No shell command implementation.\n")
        return 0
    if not arguments or arguments[0] in ("help", "-h"):
        call.write(help_text(generation))
        return FAILED
    verb, reader = arguments[0], ArgumentReader(arguments, 1)
    if verb in _REFUSED and generation >= _NEWEST:
        return refuse(call, f"cmd app_function {verb}")
    if verb not in _VERBS or generation < _VERBS[verb][1]:
        return unknown_command(call, verb)
    try:
        return _VERBS[verb][0](call, reader, generation)
    except _UnknownOptionError as error:
        call.write(f"Unknown option: {error}\n")
    except ArgumentError as error:
        call.write(f"Exception: {error.exception}: {error.message}\n")
    except JsonError as error:
        call.write(f"Exception: org.json.JSONException: {error}\n")
    except ValueError as error:
        call.write(f"Exception: java.lang.IllegalArgumentException: {error}\n")
    except AndroidNotModelledError as error:
        return refuse(call, error.what)
    except AndroidError as error:
        call.write(f"Exception: {error}\n")
    return FAILED


def _read(call: CommandCall, reader: ArgumentReader, options: frozenset[str]) -> _Arguments:
    """Read the options that a verb has.

    Raises:
        _UnknownOptionError: the verb does not have the option.
        AndroidNotModelledError: the phone does not have it.
        ArgumentError: a value is missing.
    """
    read = _Arguments()
    while (option := reader.next_option()) is not None:
        if option not in options:
            raise _UnknownOptionError(option)
        if option == "--user":
            read_user(reader)
        elif option == "--timeout-duration":
            read.seconds = _read_seconds(call, reader)
        elif option in ("--brief-yaml", "--pending-intent-path"):
            raise AndroidNotModelledError(f"cmd app_function execute-app-function {option}")
        elif option == "--state":
            read.state = _STATES.get(reader.require())
        else:
            setattr(read, _TEXT_OPTIONS[option], reader.require())
    return read


_TEXT_OPTIONS: Final = {
    "--package": "package",
    "--function": "function",
    "--parameters": "parameters",
}


def _read_seconds(call: CommandCall, reader: ArgumentReader) -> float | None:
    seconds = java_long(reader.require())
    if seconds is None:
        # Android shows the argument behind the bad one, which it takes by that.
        after = reader.next()
        argument_text = "null" if after is None else after
        call.write(f"Invalid timeout duration: {argument_text}. Using default of {_DEFAULT_SECONDS}s.\n")
        return None
    return float(seconds)


def _require(call: CommandCall, read: _Arguments, *names: str) -> bool:
    for name in names:
        if getattr(read, name) is None:
            if name == "state":
                accepted = "The accepted values are: `enable`, `disable`, `default`."
                call.write(f"Error: --state must be specified. {accepted}\n")
            else:
                call.write(f"Error: --{name} must be specified.\n")
            return False
    return True


def _list(call: CommandCall, reader: ArgumentReader, generation: int) -> int:
    options = {"--user"} | ({"--package"} if generation >= _NEWEST else set())
    read = _read(call, reader, frozenset(options))
    listing = call.system.app_functions.listing(read.package)
    results = {
        package: [_search_result(call, package, document) for document in documents]
        for package, documents in listing.items()
    }
    call.write(write_json(results, 2) + "\n")
    return 0


def _search_result(call: CommandCall, package: str, document: SearchResult) -> dict[str, object]:
    result: dict[str, object] = {document.type: document.properties}
    if document.runtime is not None:
        name = call.system.app_functions.runtime_type(package)
        result[name] = {name: document.runtime}
    return result


def _execute(call: CommandCall, reader: ArgumentReader, generation: int) -> int:
    options = {
        "--package", "--function", "--parameters", "--user", "--timeout-duration", "--brief-yaml",
    }  # fmt: skip
    if generation >= _NEWEST:
        options |= {"--pending-intent-path"}
    read = _read(call, reader, frozenset(options))
    if not _require(call, read, "package", "function", "parameters"):
        return FAILED
    parameters = properties_from_json(parse_object(read.parameters or ""))
    caller = _caller(call)
    if caller is None:
        print_exception(
            call, "execute-app-function", "java.lang.IllegalAccessError", "Only allow shell or root"
        )
        return FAILED
    seconds = float(_DEFAULT_SECONDS) if read.seconds is None else read.seconds
    try:
        result = call.system.app_functions.execute(
            caller, read.package or "", read.function or "", parameters, seconds=seconds
        )
    except TimedOutError:
        call.write("Timed out\n")
        return FAILED
    except AppFunctionError as error:
        code = f" (code {error.code})" if generation >= _NEWEST else ""
        error_text = f"{_EXCEPTION}: {error.message}{code}"
        call.write(f"Error executing app function: {error_text}. See logcat for more details. \n")
        return FAILED
    return _print_result(call, result)


def _caller(call: CommandCall) -> CallerIdentity | None:
    if call.uid == SHELL_UID:
        return SHELL
    return CallerIdentity(ROOT_UID, "root") if call.uid == ROOT_UID else None


def _print_result(call: CommandCall, result: Properties) -> int:
    try:
        call.write(write_json(as_read_by_name(result), 2) + "\n")
    except JsonError:
        call.write("Failed to convert the function response to JSON.\n")
        return FAILED
    return 0


def _set_enabled(call: CommandCall, reader: ArgumentReader, generation: int) -> int:
    del generation
    read = _read(call, reader, frozenset({"--package", "--function", "--state", "--user"}))
    if not _require(call, read, "package", "function", "state"):
        return FAILED
    package, function = read.package or "", read.function or ""
    try:
        call.system.app_functions.set_enabled(package, function, read.state or "default")
    except AppFunctionError as error:
        return _print_unknown(call, "setting", error)
    call.write("App function enabled state updated successfully.\n")
    return 0


def _print_unknown(call: CommandCall, doing: str, error: AppFunctionError) -> int:
    exception_text = f"android.os.ParcelableException: java.lang.IllegalArgumentException: {error.message}"
    call.write(f"Error {doing} app function state: {exception_text}\n")
    return 0


def _is_enabled(call: CommandCall, reader: ArgumentReader, generation: int) -> int:
    del generation
    read = _read(call, reader, frozenset({"--package", "--function", "--user"}))
    if not _require(call, read, "package", "function"):
        return FAILED
    try:
        enabled = call.system.app_functions.is_enabled(read.package or "", read.function or "")
    except AppFunctionError as error:
        return _print_unknown(call, "checking", error)
    call.write("true\n" if enabled else "false\n")
    return 0


def _purge(call: CommandCall, reader: ArgumentReader, generation: int) -> int:
    del reader, generation
    call.write("Purge allowlist cache\n")
    return 0


def _access(call: CommandCall, reader: ArgumentReader, generation: int) -> int:
    """Fail an access command: the flags that guard them are off on the phone."""
    del call, reader, generation
    return FAILED


_Run = Callable[[CommandCall, ArgumentReader, int], int]
_VERBS: Final[Mapping[str, tuple[_Run, int]]] = {
    "list-app-functions": (_list, _OLD),
    "execute-app-function": (_execute, _OLD),
    "set-enabled": (_set_enabled, _OLD),
    "is-enabled": (_is_enabled, _NEWEST),
    "purge-allowlist-cache": (_purge, _NEWEST),
    "grant-app-function-access": (_access, _OLD),
    "revoke-app-function-access": (_access, _OLD),
    "list-valid-agents": (_access, _OLD),
    "list-valid-targets": (_access, _OLD),
    "set-additional-allowlisted-agents": (_access, _OLD),
    "clear-additional-allowlisted-agents": (_access, _OLD),
}
"""What each verb does, and the first generation that has it."""
