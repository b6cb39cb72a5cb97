"""AppFunctions from the shell: `cmd app_function` in each of its generations (reference appfunctions 6).

What a command can do is read from its help, not from the API level. The answer of `execute-app-function` is
handed on as it is: what it means is said in one place, the AppFunctions adapter's `shell_output`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from droidgate.app_search.listing import ListedDocument, ListingError, read_documents, without_notices
from droidgate.devices.device import CommandResult, Device
from droidgate.devices.errors import CommandFailedError, DeviceOutputError, UnsupportedDeviceError, excerpt
from droidgate.devices.outputs import command_failed
from droidgate.devices.quoting import check_package, check_user, is_package
from droidgate.model.errors import InputError
from droidgate.parsing.json_text import parse_json
from droidgate_mappings.app_functions import load_shell_texts

LIST_COMMAND: Final = "cmd app_function list-app-functions"

_HELP: Final = "cmd app_function help"
_ENABLED: Final = "cmd app_function is-enabled"
_TITLE: Final = "AppFunctionManagerService commands:"
_OPTION_NAME: Final = re.compile(r"--[a-z][a-z0-9]*(?:-[a-z0-9]+)*", re.ASCII)
_PART: Final = rf"(?:{_OPTION_NAME.pattern}(?: <[A-Za-z0-9_|]+>)?|<[A-Za-z0-9_|]+>|\.\.\.)"
_COMMAND: Final = re.compile(
    rf"  (?P<name>[a-z][a-z0-9]*(?:-[a-z0-9]+)*)(?P<usage>(?: (?:{_PART}|(?:\[{_PART}\])+))*)", re.ASCII
)
_OPTION: Final = re.compile(
    rf"    (?P<name>{_OPTION_NAME.pattern})(?: <[A-Za-z0-9_|]+>)?(?: \(optional\))?: [ -~]+", re.ASCII
)
_TEXT: Final = re.compile(r"    [A-Z][ -~]*", re.ASCII)
_MISSING: Final = re.compile(r"^(?:cmd: )?Can't find service: app_function", re.MULTILINE)
_NO_SHELL: Final = "No shell command implementation."
_SECONDS_FOR_LISTING: Final = 60.0


@dataclass(frozen=True, slots=True)
class AppFunctionShell:
    """What `cmd app_function` of a device can do.

    Attributes:
        commands: Each command with the options that its help names; none where there is no such service.
        reason: Why there are none, in Android's words; empty where there are.
    """

    commands: Mapping[str, frozenset[str]]
    reason: str = ""

    @property
    def executes(self) -> bool:
        """Functions can be called."""
        return "execute-app-function" in self.commands

    @property
    def lists(self) -> bool:
        """Functions can be listed."""
        return "list-app-functions" in self.commands

    @property
    def lists_one_package(self) -> bool:
        """The functions of one package can be listed."""
        return "--package" in self.commands.get("list-app-functions", frozenset())

    @property
    def reports_enabled(self) -> bool:
        """The enabled state of a function can be asked for."""
        return "is-enabled" in self.commands

    @property
    def takes_timeout(self) -> bool:
        """A call can be given a time limit."""
        return "--timeout-duration" in self.commands.get("execute-app-function", frozenset())


def app_function_shell(device: Device) -> AppFunctionShell:
    """Return what `cmd app_function` of a device can do.

    Raises:
        DeviceError: the device fails, or its output is no help text.
    """
    result = device.run(["cmd", "app_function", "help"])
    return read_help(result.text, result.exit_status, result.error_text)


def read_help(text: str, exit_status: int = 0, error_text: str = "") -> AppFunctionShell:
    """Read what `cmd app_function help` printed, on either stream.

    Raises:
        CommandFailedError: it failed in another way than by not being there.
        DeviceOutputError: it is no help text.
    """
    for stream in (text, error_text):
        missing = _MISSING.search(stream)
        if missing is not None:
            return AppFunctionShell({}, missing[0].removeprefix("cmd: "))
        if stream.strip() == _NO_SHELL:
            return AppFunctionShell({}, _NO_SHELL)
    said = text if _TITLE in text else error_text
    lines = said.replace("\r\n", "\n").split("\n")
    if lines[0] != _TITLE:
        if exit_status != 0:
            raise command_failed(_HELP, exit_status, text, error_text)
        raise DeviceOutputError(_HELP, "it is no help text", text=text or error_text)
    return AppFunctionShell(_read_commands(lines[1:]))


def _read_commands(lines: list[str]) -> dict[str, frozenset[str]]:
    commands: dict[str, frozenset[str]] = {}
    current = ""
    for number, line in enumerate(lines, 2):
        if not line:
            continue
        command, option = _COMMAND.fullmatch(line), _OPTION.fullmatch(line)
        if command is not None and command["name"] not in commands:
            current = command["name"]
            commands[current] = frozenset(_OPTION_NAME.findall(command["usage"]))
        elif option is not None and current:
            commands[current] |= {option["name"]}
        elif _TEXT.fullmatch(line) is None or not current:
            raise DeviceOutputError(_HELP, "the line is no help", line=number, text=line)
    if "help" not in commands or lines[-1:] != [""]:
        raise DeviceOutputError(_HELP, "the help is cut off", text=lines[-1] if lines else "")
    return commands


def list_app_functions(
    device: Device, shell: AppFunctionShell, *, user: int = 0, package: str | None = None
) -> list[ListedDocument]:
    """Return what is indexed of all packages, or of one.

    Args:
        device: The device.
        shell: What its shell can do.
        user: Whose packages.
        package: Only this one's; picked out here where the shell cannot.

    Raises:
        UnsupportedDeviceError: its shell cannot list.
        DeviceError: the device fails, or its output is no listing.
    """
    if not shell.lists:
        raise UnsupportedDeviceError(
            shell.reason or "cmd app_function cannot list here",
            place=device.serial,
            hint="Functions are read from the APKs instead",
        )
    arguments = ["cmd", "app_function", "list-app-functions", "--user", check_user(user)]
    if package is not None and shell.lists_one_package:
        arguments += ["--package", check_package(package)]
    result = device.run(arguments, deadline=_SECONDS_FOR_LISTING)
    documents = read_listing(result.text, result.exit_status, result.error_text)
    return (
        documents if package is None else [document for document in documents if document.package == package]
    )


def read_listing(text: str, exit_status: int = 0, error_text: str = "") -> list[ListedDocument]:
    """Read what `cmd app_function list-app-functions` printed (reference appfunctions 6.5).

    Raises:
        CommandFailedError: Android says an error, whatever the exit status is.
        DeviceOutputError: it is no listing.
    """
    plain = without_notices(text)
    if exit_status != 0 or not plain.startswith("{"):
        _refuse_failure(LIST_COMMAND, plain, exit_status, error_text)
    try:
        listing = parse_json(plain, path=LIST_COMMAND)
    except InputError as error:
        raise DeviceOutputError(LIST_COMMAND, f"{error.message} ({error.place})") from None
    try:
        documents = read_documents(listing)
    except ListingError as error:
        raise DeviceOutputError(
            LIST_COMMAND, error.reason, text=plain if error.text is None else error.text
        ) from None
    strange = next((document.package for document in documents if not is_package(document.package)), None)
    if strange is not None:
        raise DeviceOutputError(LIST_COMMAND, "an element is no document", text=strange)
    return documents


def is_enabled(device: Device, package: str, function: str, *, user: int = 0) -> bool:
    """Ask whether a function is enabled now; look at `AppFunctionShell.reports_enabled` first.

    Raises:
        DeviceError: the device fails, Android says an error, or the output is no answer.
    """
    arguments = ["cmd", "app_function", "is-enabled", "--package", check_package(package)]
    result = device.run([*arguments, "--function", function, "--user", check_user(user)])
    return read_enabled(result.text, result.exit_status, result.error_text)


def read_enabled(text: str, exit_status: int = 0, error_text: str = "") -> bool:
    """Read what `cmd app_function is-enabled` printed: `true` or `false`.

    Raises:
        CommandFailedError: Android says an error, mostly with exit status 0.
        DeviceOutputError: it is neither.
    """
    plain = without_notices(text)
    if exit_status == 0 and plain in {"true\n", "false\n"}:
        return plain == "true\n"
    _refuse_failure(_ENABLED, plain, exit_status, error_text)
    raise DeviceOutputError(_ENABLED, "it is no answer", text=plain)


def execute_command(
    package: str, function: str, parameters: str, *, user: int, seconds: int | None
) -> list[str]:
    """Return the command that calls a function.

    Args:
        package: Whose function.
        function: Its id, as declared.
        parameters: The parameters as JSON.
        user: For whom.
        seconds: Time limit on the device; None where the shell takes none.
    """
    arguments = ["cmd", "app_function", "execute-app-function", "--package", check_package(package)]
    arguments += ["--function", function, "--parameters", parameters, "--user", check_user(user)]
    return arguments if seconds is None else [*arguments, "--timeout-duration", str(seconds)]


def execute_app_function(
    device: Device,
    shell: AppFunctionShell,
    package: str,
    function: str,
    parameters: str,
    *,
    user: int = 0,
    seconds: int = 30,
) -> CommandResult:
    """Call a function as the shell and return what was printed, for the adapter's `read_shell_output`.

    Raises:
        UnsupportedDeviceError: its shell cannot call functions.
        DeviceError: the device fails.
    """
    if not shell.executes:
        raise UnsupportedDeviceError(
            shell.reason or "cmd app_function cannot call functions here", place=device.serial
        )
    limit = seconds if shell.takes_timeout else None
    arguments = execute_command(package, function, parameters, user=user, seconds=limit)
    return device.run(arguments, deadline=seconds + 10.0)


def _refuse_failure(command: str, text: str, exit_status: int, error_text: str) -> None:
    """Raise what Android says, or what is wrong with the answer."""
    for stream in (text, error_text):
        line = stream.strip().split("\n", 1)[0].strip()
        known = any(re.search(failure.pattern, line, re.MULTILINE) for failure in load_shell_texts().failures)
        if line and (known or line.startswith("Error checking app function state: ")):
            raise CommandFailedError(f"{command}: {excerpt(line)}", exit_status=exit_status)
    if exit_status != 0:
        raise command_failed(command, exit_status, text, error_text)
    raise DeviceOutputError(command, "it is no answer", text=text or error_text)
