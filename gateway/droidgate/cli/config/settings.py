"""The options whose defaults a file or the environment can set.

A file may be part of a checked-out folder, so its author may be a stranger. It can set only how the command
that a user typed reads, checks and prints. No setting names a file, a key, a device, an app or an agent,
grants or starts anything, or raises a limit of time or memory.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final, Literal

from droidgate.cli.shared_options import AndroidRelease, ConversionThreshold, DiffThreshold, LintThreshold
from droidgate_mappings.model.errors import UsageError
from droidgate_mappings.model.json_values import Json

Kind = Literal["flag", "text", "format", "formats"]

VARIABLES: Final = "DROIDGATE_"


@dataclass(frozen=True, slots=True)
class Setting:
    """One setting.

    Attributes:
        command: The command whose option it is, `shim build` for example; empty for each command that has it.
        key: The option without its hyphens, such as `fail-on`.
        kind: What its value is: true or false, a text, a format with or without its dialect, or a list of
            format ids.
        about: What it does.
        choices: The texts that it can be; empty for any text.
    """

    command: str
    key: str
    kind: Kind
    about: str
    choices: tuple[str, ...] = ()

    @property
    def path(self) -> tuple[str, ...]:
        """The tables that it is in, and its key."""
        return (*self.command.split(), self.key)

    @property
    def name(self) -> str:
        """How it is written with its tables: `shim.build.fail-on`."""
        return ".".join(self.path)

    @property
    def variable(self) -> str:
        """The environment variable that sets it; a list is separated by blanks."""
        return VARIABLES + "_".join(self.path).replace("-", "_").upper()

    def problem_of(self, value: object) -> str | None:
        """Return what a value should be, or None if it is valid."""
        if self.kind == "flag":
            return None if isinstance(value, bool) else "true or false"
        if self.kind == "formats":
            is_list = isinstance(value, list) and all(isinstance(item, str) for item in value)
            return None if is_list else 'a list of texts, such as ["mmcp"]'
        if not isinstance(value, str):
            return "a text in quotes"
        if self.choices and value not in self.choices:
            return f"one of {', '.join(self.choices)}"
        return None

    def value_in_environment(self) -> bool | str | list[str] | None:
        """Return the value that its variable sets; None where it is not set, or empty.

        Raises:
            UsageError: it is not what it should be.
        """
        text = os.environ.get(self.variable)
        if not text:
            return None
        value: bool | str | list[str] | None = text
        if self.kind == "flag":
            value = _FLAGS.get(text.lower())
        elif self.kind == "formats":
            value = text.split()
        expected = self.problem_of(value)
        if expected is not None:
            raise UsageError(
                f'{self.variable} is "{text[:60]}"; expected {expected}', hint="unset or change the variable"
            )
        return value

    @property
    def schema(self) -> dict[str, Json]:
        """The JSON Schema of its value."""
        schema: dict[str, Json] = {"description": self.about}
        if self.kind == "flag":
            return {**schema, "type": "boolean"}
        if self.kind == "formats":
            return {**schema, "type": "array", "items": {"type": "string"}}
        return {**schema, "type": "string", **({"enum": list(self.choices)} if self.choices else {})}


_FLAGS: Final = {"1": True, "true": True, "0": False, "false": False}


def _texts(choices: type[StrEnum]) -> tuple[str, ...]:
    return tuple(item.value for item in choices)


_STRICT: Final = "Read by the specification: every leniency is an error"
_FORMAT: Final = "Read as these formats only"
_FAIL_ON: Final = "Exit with 1 from this level on"
_TO: Final = "The target, where --to does not name one"

SETTINGS: Final = (
    Setting("", "strict", "flag", _STRICT),
    Setting("", "format", "formats", _FORMAT),
    *(Setting(command, "to", "format", _TO) for command in ("convert", "migrate")),
    Setting("lint", "fail-on", "text", _FAIL_ON, _texts(LintThreshold)),
    Setting("diff", "fail-on", "text", _FAIL_ON, _texts(DiffThreshold)),
    *(
        Setting(command, "fail-on", "text", _FAIL_ON, _texts(ConversionThreshold))
        for command in ("convert", "migrate", "shim build", "shim install", "shim sync")
    ),
    Setting("migrate", "language", "text", "Language of the handlers", ("java", "kotlin", "none")),
    Setting("discover", "format", "formats", "Look for these formats only"),
    Setting("discover", "all", "flag", "Read every app's manifest"),
    Setting("coverage", "no-match", "flag", "Leave out what overlaps and the use cases"),
    Setting("demo", "details", "flag", "Print each loss and all declarations"),
    Setting("serve", "search", "flag", "Serve three tools that find, describe and call the others"),
    Setting("phone start", "sdk", "text", "Android release of the virtual phone", _texts(AndroidRelease)),
)
_WITH_GENERAL: Final = frozenset({"inspect", "convert", "migrate", "lint", "diff"})
"""Commands whose options are set by settings without a command."""


def settings_of(command: str) -> tuple[Setting, ...]:
    """Return the settings of a command's options, those of the command alone first."""
    return tuple(
        sorted(
            (
                setting
                for setting in SETTINGS
                if setting.command == command or (not setting.command and command in _WITH_GENERAL)
            ),
            key=lambda setting: not setting.command,
        )
    )


class Defaults(dict[str, Any]):
    """Defaults for the commands of the program, by command and parameter, as typer asks for them.

    An environment variable wins over the file. The file is read when the first option is looked up that it
    can set, so help never needs it.

    Args:
        names: For each command the parameters that can be set, with their settings.
        values: Returns the values of the file by the names of their settings.
        command: The command, or the group, that this is about.
    """

    def __init__(
        self,
        names: Mapping[str, Mapping[str, tuple[Setting, ...]]],
        values: Callable[[], Mapping[str, Any]],
        command: str = "",
    ) -> None:
        super().__init__()
        self._names, self._values, self._command = names, values, command

    def get(self, name: str, default: Any = None) -> Any:
        """Return the defaults of a command below this one, or that of a parameter."""
        below = f"{self._command} {name}".strip()
        if any(command == below or command.startswith(f"{below} ") for command in self._names):
            return Defaults(self._names, self._values, below)
        for setting in self._names.get(self._command, {}).get(name, ()):
            value = setting.value_in_environment()
            if value is not None:
                return value
            values = self._values()
            if setting.name in values:
                return values[setting.name]
        return default


def bind_settings(command: Any, values: Callable[[], Mapping[str, Any]]) -> Defaults:
    """Return the defaults of a program's options, from the environment and a file.

    Args:
        command: The program, as typer makes it.
        values: Returns the values of the file by the names of their settings.
    """
    names: dict[str, dict[str, tuple[Setting, ...]]] = {}
    for path, item in commands_of(command):
        for parameter in item.params:
            keys = {option.lstrip("-") for option in parameter.opts if option.startswith("--")}
            settings = tuple(setting for setting in settings_of(path) if setting.key in keys)
            if settings:
                names.setdefault(path, {})[parameter.name] = settings
    return Defaults(names, values)


def commands_of(command: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """Yield each command of a program that is not a group, with what a user types after `droidgate`."""
    below = getattr(command, "commands", None)
    if below is None:
        yield path, command
        return
    for name, item in below.items():
        yield from commands_of(item, f"{path} {name}".strip())


def settings_schema() -> Json:
    """Return the JSON Schema of the file, which is that of the table `tool.droidgate`, too."""
    root: dict[str, Any] = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": "urn:droidgate:droidgate.toml:1",
        "title": "droidgate.toml",
        **_table("Defaults of droidgate's options"),
    }
    for setting in SETTINGS:
        table = root
        for name in setting.path[:-1]:
            table = table["properties"].setdefault(name, _table(f"droidgate {name}"))
        table["properties"][setting.key] = setting.schema
    return root


def _table(description: str) -> dict[str, Any]:
    return {
        "description": description,
        "type": "object",
        "additionalProperties": False,
        "properties": {},
    }
