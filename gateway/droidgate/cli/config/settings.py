"""The options whose defaults a file can set.

A file may be part of a checked-out folder, so its author may be a stranger. It can set only how the command
that a user typed reads, checks and prints. No setting names a file, a key, a device, an app or an agent,
grants or starts anything, or raises a limit of time or memory.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from enum import StrEnum
from typing import Any, Final, Literal

from droidgate.cli.shared_options import AndroidRelease, ConversionThreshold, DiffThreshold, LintThreshold
from droidgate_mappings.records import dataclass

Kind = Literal["flag", "text", "format", "formats"]


@dataclass(frozen=True, slots=True)
class Setting:
    """One setting.

    Attributes:
        command: The command whose option it is, `shim build` for example; empty for each command that has it.
        key: The option without its hyphens, such as `fail-on`.
        kind: What its value is: true or false, a text, a format with or without its dialect, or a list of
            format ids.
        choices: The texts that it can be; empty for any text.
    """

    command: str
    key: str
    kind: Kind
    choices: tuple[str, ...] = ()

    @property
    def path(self) -> tuple[str, ...]:
        """The tables that it is in, and its key."""
        return (*self.command.split(), self.key)

    @property
    def name(self) -> str:
        """How it is written with its tables: `shim.build.fail-on`."""
        return ".".join(self.path)

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


def _texts(choices: type[StrEnum]) -> tuple[str, ...]:
    return tuple(item.value for item in choices)


SETTINGS: Final = (
    Setting("", "strict", "flag"),
    Setting("", "format", "formats"),
    *(Setting(command, "to", "format") for command in ("convert", "migrate")),
    Setting("lint", "fail-on", "text", _texts(LintThreshold)),
    Setting("diff", "fail-on", "text", _texts(DiffThreshold)),
    *(
        Setting(command, "fail-on", "text", _texts(ConversionThreshold))
        for command in ("convert", "migrate", "shim build", "shim install", "shim sync")
    ),
    Setting("migrate", "language", "text", ("java", "kotlin", "none")),
    Setting("discover", "format", "formats"),
    Setting("discover", "all", "flag"),
    Setting("coverage", "no-match", "flag"),
    Setting("demo", "details", "flag"),
    Setting("serve", "search", "flag"),
    Setting("phone start", "sdk", "text", _texts(AndroidRelease)),
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

    The file is read when the first option is looked up that it can set, so help never needs it.

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
            values = self._values()
            if setting.name in values:
                return values[setting.name]
        return default


def bind_settings(command: Any, values: Callable[[], Mapping[str, Any]]) -> Defaults:
    """Return the defaults of a program's options.

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
