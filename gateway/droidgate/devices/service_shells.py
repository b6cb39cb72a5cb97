"""Commands of system services: what `cmd SERVICE help` says of them, what `cmd app_function` can do in each
of its generations (reference appfunctions 6), and listings that formats ask for.

A generation is read from the command's help, not from the API level.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Final, TypeVar

from droidgate.devices.device import Device
from droidgate.devices.device_errors import CommandFailedError, DeviceOutputError, command_failed, excerpt
from droidgate.devices.quoting import MAX_ARGUMENT_BYTES, check_user, is_package
from droidgate_mappings.formats.installed import ListedFunction, ListingError, StateQuery, SystemListing
from droidgate_mappings.records import dataclass, replace

_OPTION_NAME: Final = re.compile(r"--[a-z][a-z0-9]*(?:-[a-z0-9]+)*", re.ASCII)
_PART: Final = rf"(?:{_OPTION_NAME.pattern}(?: <[A-Za-z0-9_|]+>)?|<[A-Za-z0-9_|]+>|\.\.\.)"
_COMMAND: Final = re.compile(
    rf"  (?P<name>[a-z][a-z0-9]*(?:-[a-z0-9]+)*)(?P<usage>(?: (?:{_PART}|(?:\[{_PART}\])+))*)", re.ASCII
)
_OPTION: Final = re.compile(
    rf"    (?P<name>{_OPTION_NAME.pattern})(?: <[A-Za-z0-9_|]+>)?(?: \(optional\))?: [ -~]+", re.ASCII
)
_TEXT: Final = re.compile(r"    [A-Z][ -~]*", re.ASCII)
_NO_SHELL: Final = "No shell command implementation."
SECONDS_FOR_LISTING: Final = 60.0
_MOST_QUERIES: Final = 32
"""States that are asked for one by one; that of further functions is not known."""

_Value = TypeVar("_Value")


@dataclass(frozen=True, slots=True)
class ServiceShell:
    """What `cmd SERVICE` of a device can do.

    Attributes:
        commands: Each command with the options that its help names; none where there is no such service.
        reason: Why there are none, in Android's words; empty where there are.
    """

    commands: Mapping[str, frozenset[str]]
    reason: str = ""


def service_shell(device: Device, listing: SystemListing) -> ServiceShell:
    """Return what the service of a listing can do on a device.

    Raises:
        DeviceError: the device fails, or its output is not help text.
    """
    result = device.run(["cmd", listing.service, "help"])
    return read_help(listing.service, listing.title, result.text, result.exit_status, result.error_text)


@dataclass(frozen=True, slots=True)
class SystemList:
    """What a system lists.

    Attributes:
        functions: By package.
        commands: The device commands whose output it is read from.
        faults: Why something that is listed of a package cannot be read, by package.
    """

    functions: Mapping[str, tuple[ListedFunction, ...]]
    commands: tuple[Sequence[str], ...]
    faults: Mapping[str, str]


def run_listing(
    device: Device, listing: SystemListing, user: int, commands: Collection[str] = ()
) -> SystemList:
    """Return what the system lists for a user.

    Args:
        device: The device.
        listing: What is asked for.
        user: Android user number.
        commands: All commands of the service.

    Raises:
        CommandFailedError, DeviceOutputError: as `read_output`.
        DeviceError: the device fails.
    """
    words = ["cmd", listing.service, listing.command]
    command, arguments = " ".join(words), [*words, "--user", check_user(user)]
    result = device.run(arguments, deadline=SECONDS_FOR_LISTING)
    read = read_output(command, listing.read, result.text, result.exit_status, result.error_text)
    listed = {package: functions for package, functions in read.functions.items() if is_package(package)}
    strange = dict.fromkeys(read.functions.keys() - listed.keys(), "it is not the name of a package")
    faults = {**read.faults, **strange}
    query = listing.state
    if query is None or query.command not in commands:
        return SystemList(listed, (arguments,), faults)
    queries = _state_queries(query, listed, user)
    states = {key: query.read(device.run(query_command).text) for key, query_command in queries.items()}
    functions = {
        package: tuple(
            replace(function, enabled=states.get((package, function.id), function.enabled))
            for function in functions
        )
        for package, functions in listed.items()
    }
    return SystemList(functions, (arguments, *queries.values()), faults)


def _state_queries(
    query: StateQuery, listed: Mapping[str, tuple[ListedFunction, ...]], user: int
) -> dict[tuple[str, str], Sequence[str]]:
    """Return the commands that print the states that a listing does not say itself, by package and id.

    An app with many functions leaves some queries to the others.
    """
    unknown = sorted(
        (rank, package, name)
        for package, functions in listed.items()
        for rank, name in enumerate(function.id for function in functions if function.enabled is None)
        if len(name.encode()) <= MAX_ARGUMENT_BYTES
    )
    return {(package, name): query.write(package, name, user) for _, package, name in unknown[:_MOST_QUERIES]}


def read_output(
    command: str, read: Callable[[str, str], _Value], text: str, exit_status: int = 0, error_text: str = ""
) -> _Value:
    """Return a command's output as a format's reader understands it.

    Args:
        command: The command, shortened.
        read: Reads standard output and standard error. Raises `ListingError`.
        text: Standard output.
        exit_status: The command's.
        error_text: Standard error.

    Raises:
        CommandFailedError: Android says an error, whatever the exit status is.
        DeviceOutputError: the output is not what the reader expects.
    """
    try:
        value = read(text, error_text)
    except ListingError as error:
        if error.is_failure:
            message = f"{command}: {excerpt(error.reason)}"
            raise CommandFailedError(message, exit_status=exit_status) from None
        if exit_status == 0:
            quoted = text if error.text is None else error.text
            raise DeviceOutputError(command, error.reason, text=quoted) from None
    else:
        if exit_status == 0:
            return value
    raise command_failed(command, exit_status, text, error_text)


def read_help(
    service: str, title: str, text: str, exit_status: int = 0, error_text: str = ""
) -> ServiceShell:
    """Read what `cmd SERVICE help` printed, on either stream.

    Args:
        service: The service.
        title: The first line of its help.
        text: Standard output.
        exit_status: The command's.
        error_text: Standard error.

    Raises:
        CommandFailedError: it failed in another way than by not being there.
        DeviceOutputError: it is not help text.
    """
    command = f"cmd {service} help"
    for stream in (text, error_text):
        for line in stream.split("\n"):
            if line.removeprefix("cmd: ").startswith(f"Can't find service: {service}"):
                return ServiceShell({}, f"Can't find service: {service}")
        if stream.strip() == _NO_SHELL:
            return ServiceShell({}, _NO_SHELL)
    help_text = text if title in text else error_text
    lines = help_text.replace("\r\n", "\n").split("\n")
    if lines[0] != title:
        if exit_status != 0:
            raise command_failed(command, exit_status, text, error_text)
        raise DeviceOutputError(command, "it is not help text", text=text or error_text)
    return ServiceShell(_read_commands(command, lines[1:]))


def _read_commands(help_command: str, lines: list[str]) -> dict[str, frozenset[str]]:
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
            raise DeviceOutputError(help_command, "the line is not help", line=number, text=line)
    if "help" not in commands or lines[-1:] != [""]:
        raise DeviceOutputError(help_command, "the help is cut off", text=lines[-1] if lines else "")
    return commands


SERVICE: Final = "app_function"
TITLE: Final = "AppFunctionManagerService commands:"


@dataclass(frozen=True, slots=True)
class AppFunctionShell(ServiceShell):
    """What `cmd app_function` of a device can do."""

    @property
    def executes(self) -> bool:
        """Functions can be called."""
        return "execute-app-function" in self.commands

    @property
    def lists(self) -> bool:
        """Functions can be listed."""
        return "list-app-functions" in self.commands

    @property
    def reports_enabled(self) -> bool:
        """The enabled state of a function can be asked for."""
        return "is-enabled" in self.commands


def app_function_shell(device: Device) -> AppFunctionShell:
    """Return what `cmd app_function` of a device can do.

    Raises:
        DeviceError: the device fails, or its output is not help text.
    """
    result = device.run(["cmd", SERVICE, "help"])
    shell = read_help(SERVICE, TITLE, result.text, result.exit_status, result.error_text)
    return AppFunctionShell(shell.commands, shell.reason)
