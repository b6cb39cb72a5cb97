"""`settings` and `appops`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from droidgate_phone.commands import Command, CommandCall
from droidgate_phone.commands.argument_reader import ArgumentReader
from droidgate_phone.commands.command_registry import FAILED, refuse
from droidgate_phone.commands.service_commands import OWNER, read_user, run_guarded
from droidgate_phone.java.java_text import java_int
from droidgate_phone.system.system_properties import SETTINGS

_MODES: Final = ("allow", "ignore", "deny", "default", "foreground")
"""Modes of app operations, in the order of their numbers."""
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
"""Verbs of settings, and how many words follow at the least."""


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
    if len(rest) < _REQUIRED_WORDS[verb]:
        call.write_error("Not enough arguments\n")
        return FAILED
    values = call.system.settings
    if verb == "list":
        call.write("".join(f"{key}={value}\n" for key, value in values.all(rest[0]).items()))
    elif verb == "put":
        values.put(rest[0], rest[1], rest[2])
    else:
        value = values.get(rest[0], rest[1])
        call.write(f"{'null' if value is None else value}\n")
    return 0


def run_app_ops(call: CommandCall) -> int:
    """`appops set [--user USER] PACKAGE OPERATION MODE`, and the same with `cmd`."""
    if not call.arguments:
        return refuse(call, "the help of appops")
    return run_guarded(call, call.arguments[0], lambda: _app_ops(call))


def _app_ops(call: CommandCall) -> int:
    verb, reader = call.arguments[0], ArgumentReader(call.arguments, 1)
    if verb != "set":
        return refuse(call, f"appops {verb}")
    user, names = OWNER, list[str]()
    while len(names) < len(("package", "operation")) and (word := reader.next()) is not None:
        if word == "--user":
            user = read_user(reader)
        elif word in ("--uid", "--attribution"):
            return refuse(call, f"appops {verb} {word}")
        else:
            names.append(word)
    if not names[1:]:
        call.write_error(f"Error: {'Operation' if names else 'Package name'} not specified.\n")
        return FAILED
    if names[1] not in _OPERATIONS:
        return refuse(call, f"the app operation {names[1]}")
    if call.system.packages.find(names[0]) is None or user != OWNER:
        call.write_error(f"Error: No UID for {names[0]} in user {user}\n")
        return FAILED
    return _set_mode(call, names[0], names[1], reader.next())


def _set_mode(call: CommandCall, package: str, operation: str, mode: str | None) -> int:
    if mode is None:
        call.write_error("Error: Mode not specified.\n")
        return FAILED
    number = _MODES.index(mode) if mode in _MODES else java_int(mode)
    if number is None:
        call.write_error(f"Error: Mode {mode} is not valid\n")
        return FAILED
    if number < 0:
        return FAILED
    if number >= len(_MODES):
        return refuse(call, f"the mode {mode} of app operations")
    call.system.app_ops.set_mode(package, operation, _MODES[number])
    return 0


COMMANDS: Final[Mapping[str, Command]] = {
    "settings": run_settings,
    "appops": run_app_ops,
}
