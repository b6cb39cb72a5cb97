"""`cmd app_function`, in each of its generations, with their help (AOSP's
AppFunctionManagerServiceShellCommand; reference appfunctions 6).

What it prints goes to standard output, errors too; only what escapes it goes to standard error.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

from droidgate_mappings.formats.application import Component
from droidgate_mappings.model.errors import InputError
from droidgate_mappings.text.xml_text import parse_xml
from droidgate_phone.commands import CommandCall
from droidgate_phone.commands.argument_reader import ArgumentError, ArgumentReader
from droidgate_phone.commands.command_registry import FAILED, refuse
from droidgate_phone.commands.service_commands import print_exception, read_user, unknown_command
from droidgate_phone.common.uids import ROOT_UID, SHELL_UID
from droidgate_phone.java.app_values import AndroidError, AppFunctionError
from droidgate_phone.java.java_text import java_int, java_long
from droidgate_phone.java.org_json import JsonError, parse_object, write_json
from droidgate_phone.system.app_function_service import FunctionState, SearchResult, TimedOutError
from droidgate_phone.system.callers import SHELL, CallerIdentity
from droidgate_phone.system.generic_documents import (
    RETURN_VALUE,
    Properties,
    as_read_by_name,
    properties_from_json,
    write_document_text,
    write_yaml,
)
from droidgate_phone.system.processes import AndroidNotModelledError

_PACKAGE: Final = "    --package <PACKAGE_NAME>: The target package name."
_FUNCTION: Final = "    --function <FUNCTION_ID>: The ID of the app function"
_TO_USER: Final = "Defaults to the current user."


@dataclass(frozen=True, slots=True)
class HelpPart:
    """What one verb's help says.

    Attributes:
        generations: The generations that have it.
        lines: Its lines, without the empty line behind.
        flagged: It is shown with the access flags on only.
    """

    generations: frozenset[int]
    lines: tuple[str, ...]
    flagged: bool = False


def _since(first: int, last: int = 5) -> frozenset[int]:
    return frozenset(range(first, last + 1))


def _user(what: str) -> str:
    return f"    --user <USER_ID> (optional): The user ID {what}. {_TO_USER}"


def _execute_help(generations: frozenset[int], usage: str, title: str, *more: str) -> HelpPart:
    head = (
        "  execute-app-function --package <PACKAGE_NAME> --function <FUNCTION_ID> --parameters "
        "<PARAMETERS_JSON>"
    )
    return HelpPart(
        generations,
        (
            f"{head} [--user <USER_ID>]{usage}",
            f"    {title}",
            _PACKAGE,
            f"{_FUNCTION} to execute.",
            "    --parameters <PARAMETERS_JSON>: JSON string containing the parameters for the function.",
            _user("to execute the function under"),
            *more,
        ),
    )


_JSON_TITLE: Final = (
    "Executes an app function for the given package with the provided parameters  and returns the result "
    "as a JSON string"
)
_TIMEOUT: Final = (
    "    --timeout-duration <SECONDS> (optional): The timeout for the function execution in seconds. "
    "Defaults to 30 seconds."
)
_YAML: Final = "    --brief-yaml (optional): Prints a concise yaml output."
_PENDING: Final = (
    "    --pending-intent-path <PATH> (optional): The key in the response extras to extract and send a "
    "PendingIntent from. Can be nested using '.' as separator."
)


def _access_help(verb: str, title: str, agent: str) -> HelpPart:
    return HelpPart(
        _since(2),
        (
            (
                f"  {verb} --agent-package <AGENT_PACKAGE_NAME> --target-package <TARGET_PACKAGE_NAME> "
                "[--agent-user <USER_ID>] [--target-user <USER_ID>]"
            ),
            f"    {title}",
            f"    --agent-package <AGENT_PACKAGE_NAME>: The agent package to {agent}.",
            "    --target-package <TARGET_PACKAGE_NAME>: The target package.",
            f"    --agent-user <USER_ID> (optional): The user ID for the agent package. {_TO_USER}",
            f"    --target-user <USER_ID> (optional): The user ID for the target package. {_TO_USER}",
        ),
        flagged=True,
    )


_LIST: Final = (
    "  list-app-functions [--user <USER_ID>]",
    "    Lists all app functions for a specified user in JSON.",
    _user("to list functions for"),
)
_PARTS: Final[tuple[HelpPart, ...]] = (
    HelpPart(_since(1), ("  help", "    Prints this help text.")),
    HelpPart(_since(2, 4), _LIST),
    HelpPart(
        _since(5),
        (
            *_LIST,
            (
                "    --package <PACKAGE_NAME> (optional): Package name to list functions for. Defaults to "
                "all packages."
            ),
        ),
    ),
    _execute_help(
        _since(1, 1), "", "Executes an app function for the given package with the provided parameters."
    ),
    _execute_help(_since(2, 2), "", _JSON_TITLE),
    _execute_help(
        _since(3, 4), "[--timeout-duration <SECONDS>] [--brief-yaml]", _JSON_TITLE, _TIMEOUT, _YAML
    ),
    _execute_help(
        _since(5),
        "[--timeout-duration <SECONDS>] [--brief-yaml] [--pending-intent-path <PATH>]",
        _JSON_TITLE,
        _TIMEOUT,
        _YAML,
        _PENDING,
    ),
    HelpPart(
        _since(1),
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
    HelpPart(
        _since(5),
        (
            "  is-enabled --package <PACKAGE_NAME> --function <FUNCTION_ID> [--user <USER_ID>]",
            "    Checks if an app function is enabled for the specified package.",
            _PACKAGE,
            f"{_FUNCTION}.",
            _user("under which to check the function state"),
        ),
    ),
    HelpPart(_since(4, 4), ("  enable-allowlist", "    Enables the allowlist.")),
    HelpPart(_since(4, 4), ("  disable-allowlist", "    Disables the allowlist.")),
    HelpPart(_since(4), ("  purge-allowlist-cache", "    Purges the allowlist cache.")),
    _access_help(
        "grant-app-function-access", "Grants an agent package access to an app's functions.", "grant access"
    ),
    _access_help(
        "revoke-app-function-access",
        "Revokes an agent package's access to an app's functions.",
        "revoke access from",
    ),
)


def help_text(generation: int) -> str:
    """Return the help of a generation; only generation 2 has the access commands without a flag."""
    parts = [
        item
        for item in _PARTS
        if generation in item.generations and (not item.flagged or generation == _WITHOUT_FLAGS)
    ]
    blocks = ("\n".join(part.lines) + "\n\n" for part in parts)
    return "AppFunctionManagerService commands:\n" + "".join(blocks)


_WITHOUT_FLAGS: Final = 2


_EXCEPTION: Final = "android.app.appfunctions.AppFunctionException"
_DEFAULT_SECONDS: Final = 30
_FIRST_SECONDS: Final = 10
_TEXT_GENERATION: Final = 1
_ARRAY_GENERATION: Final = 2
_OBJECT_GENERATION: Final = 3
_NEWEST: Final = 5
_STATES: Final[Mapping[str, FunctionState]] = {
    "enable": "enabled",
    "disable": "disabled",
    "default": "default",
}
_DESCRIPTION_NAMESPACES: Final = (
    "http://schemas.android.com/apk/res-auto",
    "http://schemas.android.com/apk/androidx.appfunctions",
)


class _UnknownOptionError(Exception):
    """An option that the verb does not have."""


@dataclass(slots=True)
class _Arguments:
    package: str | None = None
    function: str | None = None
    parameters: str | None = None
    state: FunctionState | None = None
    seconds: float | None = None
    brief: bool = False
    pending_intent: str | None = None


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
    if verb not in _VERBS or generation not in _VERBS[verb][1]:
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
        elif option == "--brief-yaml":
            read.brief = True
        elif option == "--state":
            read.state = _STATES.get(reader.require())
        else:
            setattr(read, _TEXT_OPTIONS[option], reader.require())
    return read


_TEXT_OPTIONS: Final = {
    "--package": "package",
    "--function": "function",
    "--parameters": "parameters",
    "--pending-intent-path": "pending_intent",
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
    options = {"--package", "--function", "--parameters", "--user"}
    if generation >= _OBJECT_GENERATION:
        options |= {"--timeout-duration", "--brief-yaml"}
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
    usual = _DEFAULT_SECONDS if generation >= _OBJECT_GENERATION else _FIRST_SECONDS
    seconds = float(usual) if read.seconds is None else read.seconds
    try:
        result = call.system.app_functions.execute(
            caller, read.package or "", read.function or "", parameters, seconds=seconds
        )
    except TimedOutError:
        call.write("Timed out\n")
        return 0 if generation == _TEXT_GENERATION else FAILED
    except AppFunctionError as error:
        return _print_error(call, error, generation)
    return _print_result(call, result, read, generation)


def _caller(call: CommandCall) -> CallerIdentity | None:
    if call.uid == SHELL_UID:
        return SHELL
    return CallerIdentity(ROOT_UID, "root") if call.uid == ROOT_UID else None


def _print_error(call: CommandCall, error: AppFunctionError, generation: int) -> int:
    code = f" (code {error.code})" if generation >= _NEWEST else ""
    error_text = f"{_EXCEPTION}: {error.message}{code}"
    if generation >= _OBJECT_GENERATION:
        call.write(f"Error executing app function: {error_text}. See logcat for more details. \n")
        return FAILED
    call.write(f"Error executing app function: {error.code} - {error_text}\n")
    return 0 if generation == _TEXT_GENERATION else FAILED


def _print_result(call: CommandCall, result: Properties, read: _Arguments, generation: int) -> int:
    try:
        if generation == _TEXT_GENERATION:
            created = int(call.system.clock.now() * 1000)
            text = write_document_text(result, created=created)
            call.write(f"App function executed successfully.\nFunction return:\n{text}\n")
        elif generation == _ARRAY_GENERATION:
            return _print_documents(call, result)
        elif read.brief:
            call.write(write_yaml(as_read_by_name(result)) + "\n")
        else:
            call.write(write_json(as_read_by_name(result), 2) + "\n")
    except JsonError:
        call.write("Failed to convert the function response to JSON.\n")
        return FAILED
    if read.pending_intent is not None:
        # The phone's functions return no extras, so no PendingIntent is ever found.
        call.write(f"No PendingIntent found at extras key: {read.pending_intent}\n")
    return 0


def _print_documents(call: CommandCall, result: Properties) -> int:
    returned = result.get(RETURN_VALUE, [])
    if returned and isinstance(returned[0], dict):
        call.write(write_json(returned, 2) + "\n")
        return 0
    # This generation does not say that it is done where no document is returned, and waits for its timeout.
    call.write("{}\n")
    clock = call.system.clock
    clock.wait(clock.signal(), _FIRST_SECONDS)
    call.write("Timed out\n")
    return FAILED


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


def _set_page_size(call: CommandCall, reader: ArgumentReader, generation: int) -> int:
    """Accept a size; a listing shows all pages of a search, so that no size changes it."""
    del generation
    size = -1
    while (option := reader.next_option()) is not None:
        if option != "--page-size":
            raise _UnknownOptionError(option)
        read = java_int(reader.next() or "")
        if read is None:
            call.write("Fail to parse page-size\n")
            return FAILED
        size = read
    if size <= 0:
        call.write(f"Invalid page size of {size}\n")
    call.write(f"Set test page size to {size}\n")
    return 0


def _reset_page_size(call: CommandCall, reader: ArgumentReader, generation: int) -> int:
    del call, reader, generation
    return 0


def _access(call: CommandCall, reader: ArgumentReader, generation: int) -> int:
    """Fail an access command: the flags that guard them from generation 3 on are off on the phone."""
    del reader
    if generation == _ARRAY_GENERATION:
        return refuse(call, "access grants of generation 2")
    return FAILED


def _describe(call: CommandCall, reader: ArgumentReader, generation: int) -> int:
    del generation
    name: str | None = None
    while (option := reader.next_option()) is not None:
        if option == "--package":
            name = reader.require()
        elif option == "--user":
            read_user(reader)
        else:
            call.write_error(f"Unknown option: {option}\n")
            return FAILED
    package = call.system.packages.find(name or "")
    whole: Component | None = None
    if package is not None:
        whole = next(package.application.of_kind("application"))
    property_ = whole.find_property("android.app.appfunctions.app_metadata") if whole is not None else None
    if package is None or property_ is None:
        package_name = "null" if name is None else name
        raise ArgumentError(package_name, "android.content.pm.PackageManager$NameNotFoundException")
    file = package.application.resources.read_file(property_.resource) if property_.resource else None
    if file is None:
        call.write_error(f"No app metadata found for package: {name}\n")
        return FAILED
    call.write((_description_of(file.text) or "null") + "\n")
    return 0


def _description_of(text: str) -> str | None:
    try:
        root = parse_xml(text, path="app_metadata")
    except InputError:
        return None
    for namespace in _DESCRIPTION_NAMESPACES:
        description = root.get(f"{{{namespace}}}description")
        if description is not None:
            return str(description)
    return None


_Run = Callable[[CommandCall, ArgumentReader, int], int]
_VERBS: Final[Mapping[str, tuple[_Run, frozenset[int]]]] = {
    "list-app-functions": (_list, _since(2)),
    "execute-app-function": (_execute, _since(1)),
    "set-enabled": (_set_enabled, _since(1)),
    "is-enabled": (_is_enabled, _since(5)),
    "purge-allowlist-cache": (_purge, _since(4)),
    "read-app-description": (_describe, _since(5)),
    "grant-app-function-access": (_access, _since(2)),
    "revoke-app-function-access": (_access, _since(2)),
    "list-valid-agents": (_access, _since(3)),
    "list-valid-targets": (_access, _since(3)),
    "set-additional-allowlisted-agents": (_access, _since(3)),
    "clear-additional-allowlisted-agents": (_access, _since(3)),
    "enable-allowlist": (_access, _since(4, 4)),
    "disable-allowlist": (_access, _since(4, 4)),
    "set-test-page-size": (_set_page_size, _since(4)),
    "reset-test-page-size": (_reset_page_size, _since(4)),
}
