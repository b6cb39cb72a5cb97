"""`settings`, `device_config` and `appops`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from droidgate_phone.commands import Command, CommandCall
from droidgate_phone.commands.argument_reader import ArgumentReader
from droidgate_phone.commands.command_registry import FAILED, refuse
from droidgate_phone.commands.service_commands import read_user, run_guarded
from droidgate_phone.system.system_properties import SETTINGS, SettingsProvider

_MODES: Final = frozenset({"allow", "deny", "ignore", "default", "foreground"})
_OPERATIONS: Final = frozenset({"SYSTEM_ALERT_WINDOW", "RUN_IN_BACKGROUND", "RUN_ANY_IN_BACKGROUND"})


def _without_user(words: tuple[str, ...]) -> list[str]:
    """Return the words without `--user N`, which changes nothing on a phone with one user."""
    rest = list(words)
    while "--user" in rest:
        at = rest.index("--user")
        reader = ArgumentReader(rest[at : at + 2])
        reader.next_option()
        read_user(reader)
        del rest[at : at + 2]
    return rest


def run_settings(call: CommandCall) -> int:
    """`settings get|put|delete|list NAMESPACE [KEY [VALUE]]`, and the same with `cmd`."""
    if not call.arguments:
        return refuse(call, "the help of settings")
    return run_guarded(call, call.arguments[0], lambda: _settings(call, _without_user(call.arguments)))


_REQUIRED_WORDS: Final = {"get": 2, "put": 3, "delete": 2, "list": 1}
"""Verbs of settings and of device configuration, and how many words follow at the least."""


def _settings(call: CommandCall, words: list[str]) -> int:
    verb, rest = words[0], words[1:]
    if verb not in _REQUIRED_WORDS:
        return refuse(call, f"settings {verb}")
    if rest and rest[0] not in SETTINGS:
        call.write_error(f"Invalid namespace '{rest[0]}'\n")
        return FAILED
    if verb == "delete" and len(rest) >= _REQUIRED_WORDS[verb]:
        call.write(f"Deleted {call.system.settings.delete(rest[0], rest[1]):d} rows\n")
        return 0
    return _get_or_put(call, call.system.settings, verb, rest, "Not enough arguments")


def run_device_config(call: CommandCall) -> int:
    """`device_config get|put|delete|list NAMESPACE [KEY [VALUE]]`, and the same with `cmd`."""
    if not call.arguments:
        return refuse(call, "the help of device_config")
    verb, *rest = call.arguments
    if verb not in _REQUIRED_WORDS:
        return refuse(call, f"device_config {verb}")
    if verb == "delete" and len(rest) >= _REQUIRED_WORDS[verb]:
        deleted = call.system.device_config.delete(rest[0], rest[1])
        done = "Successfully deleted" if deleted else "Failed to delete"
        call.write(f"{done} {rest[1]} from {rest[0]}\n")
        return 0
    return _get_or_put(call, call.system.device_config, verb, rest, "Bad arguments")


def _get_or_put(call: CommandCall, values: SettingsProvider, verb: str, rest: list[str], too_few: str) -> int:
    if len(rest) < _REQUIRED_WORDS[verb]:
        call.write_error(f"{too_few}\n")
        return FAILED
    if verb == "list":
        call.write("".join(f"{key}={value}\n" for key, value in values.all(rest[0]).items()))
    elif verb == "put":
        values.put(rest[0], rest[1], rest[2])
    else:
        value = values.get(rest[0], rest[1])
        call.write(f"{'null' if value is None else value}\n")
    return 0


def run_app_ops(call: CommandCall) -> int:
    """`appops set|get PACKAGE [OPERATION [MODE]]`, and the same with `cmd`."""
    if not call.arguments:
        return refuse(call, "the help of appops")
    return run_guarded(call, call.arguments[0], lambda: _app_ops(call, _without_user(call.arguments)))


def _app_ops(call: CommandCall, words: list[str]) -> int:
    verb, rest = words[0], words[1:]
    if verb not in ("get", "set") or not rest or rest[0].startswith("-"):
        return refuse(call, " ".join(["appops", *words]))
    package, system = rest[0], call.system
    if system.packages.find(package) is None:
        call.write_error(f"Error: No UID for {package} in user 0\n")
        return FAILED
    if any(item not in _OPERATIONS for item in rest[1:2]):
        return refuse(call, f"the app operation {rest[1]}")
    if verb == "set":
        if len(rest) < len(("package", "operation", "mode")):
            call.write_error("Error: Operation or mode not specified.\n")
            return FAILED
        if rest[2] not in _MODES:
            call.write_error(f"Error: Mode {rest[2]} is not valid\n")
            return FAILED
        system.app_ops.set_mode(package, rest[1], rest[2])
        return 0
    modes = {
        name: mode for name, mode in system.app_ops.of_package(package).items() if rest[1:] in ([], [name])
    }
    if not modes:
        call.write("No operations.\nDefault mode: default\n" if rest[1:] else "No operations.\n")
    call.write("".join(f"{name}: {mode}\n" for name, mode in modes.items()))
    return 0


COMMANDS: Final[Mapping[str, Command]] = {
    "settings": run_settings,
    "device_config": run_device_config,
    "appops": run_app_ops,
}
