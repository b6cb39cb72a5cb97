"""The file with a user's defaults: where it is found, and how it is read.

It is untrusted: it may be in any folder that somebody has checked out.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from droidgate.cli.config.settings import SETTINGS, Setting
from droidgate_mappings.model.errors import UsageError
from droidgate_mappings.records import dataclass
from droidgate_mappings.text.nearest_names import closest_name
from droidgate_mappings.text.toml_text import line_of, load_toml
from droidgate_mappings.text_safety import one_line

FILE: Final = "droidgate.toml"
PROJECT_FILE: Final = "pyproject.toml"
MOST_BYTES: Final = 64 * 1024

_TABLE: Final = ("tool", "droidgate")
_HINT: Final = f"the settings are {', '.join(setting.name for setting in SETTINGS)}"
_LINE: Final = re.compile(r"\(at line (\d{1,9}), column \d{1,9}\)")


def find_configuration() -> Mapping[str, Any]:
    """Return what the closest file sets, in the working folder or above it, by the names of settings.

    The search ends at the root of a repository and at the home folder; both are looked at.

    Raises:
        UsageError: the file cannot be read, or sets what it cannot set.
    """
    try:
        start = Path.cwd()
    except OSError:
        # The working folder is gone.
        return {}
    for parent in _folders(start):
        for name in (FILE, PROJECT_FILE):
            data = _read(parent / name)
            if data is not None and (name == FILE or b"tool.droidgate" in data):
                return _parse(parent / name, data)
    return {}


def _folders(start: Path) -> Iterator[Path]:
    # Without a home folder the tilde stays.
    home = os.path.realpath(os.path.expanduser("~"))  # noqa: PTH111
    for folder in (start, *start.parents):
        yield folder
        if os.path.lexists(folder / ".git") or os.path.realpath(folder) == home:
            return


def _read(path: Path) -> bytes | None:
    """Return the content of a file; None where there is none, or a project's file cannot be read."""
    is_own = path.name == FILE
    try:
        # Without O_NONBLOCK, opening a pipe waits for a writer.
        descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0))
        with os.fdopen(descriptor, "rb") as opened:
            if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                raise UsageError(
                    "it is not a regular file", place=_shown_path(path), hint="remove or rename it"
                )
            data = opened.read(MOST_BYTES + 1)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        if is_own:
            raise UsageError(error.strerror or str(error), place=_shown_path(path), hint=_HINT) from None
        return None
    if len(data) > MOST_BYTES and (is_own or b"tool.droidgate" in data):
        raise UsageError(
            f"it is larger than {MOST_BYTES // 1024} KiB",
            place=_shown_path(path),
            hint=f"move droidgate's settings into a {FILE} of their own",
        )
    return data


def _parse(path: Path, data: bytes) -> Mapping[str, Any]:
    prefix = () if path.name == FILE else _TABLE
    text, document = _load(path, data)
    table: object = document
    for name in prefix:
        table = table.get(name, {}) if isinstance(table, dict) else table
    if not isinstance(table, dict):
        raise UsageError("tool.droidgate is not a table", place=_shown_path(path), hint=_HINT)
    values: dict[str, Any] = {}
    for key, value in _leaves(table, ()):
        place = _Place(path, text, (*prefix, *key))
        setting = _setting_of(key, place)
        expected = setting.problem_of(value)
        if expected is not None:
            raise place.error(
                f"{one_line(setting.name)} is {one_line(_value_text(value))}; expected {expected}", _HINT
            )
        _check_formats(setting, value, place)
        values[setting.name] = value
    return values


def _load(path: Path, data: bytes) -> tuple[str, dict[str, Any]]:
    place, reason = _shown_path(path), "it is not UTF-8"
    try:
        text = data.decode()
        return text, load_toml(text)
    except UnicodeDecodeError:
        pass
    except RecursionError:
        reason = "it is nested too deeply"
    except ValueError as error:
        # Also numbers with more digits than Python reads.
        line = _LINE.search(str(error))
        place = f"{place}:{line[1]}" if line else place
        reason = f"it is not TOML: {one_line(_LINE.sub('', str(error)).strip())}"
    raise UsageError(reason, place=place, hint=_HINT)


def _leaves(table: Mapping[str, Any], path: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Yield each key with its value; a table without settings counts as a value."""
    for name, value in table.items():
        below = (*path, name)
        if isinstance(value, dict) and any(_is_inside(setting, below) for setting in SETTINGS):
            yield from _leaves(value, below)
        else:
            yield below, value


def _is_inside(setting: Setting, table: tuple[str, ...]) -> bool:
    return len(setting.path) > len(table) and setting.path[: len(table)] == table


def _setting_of(key: tuple[str, ...], place: _Place) -> Setting:
    for setting in SETTINGS:
        if setting.path == key:
            return setting
    name = ".".join(key)
    if any(_is_inside(setting, key) for setting in SETTINGS):
        raise place.error(f"{one_line(name)} is not a table", f"write [{name}] on a line of its own")
    names = {".".join(setting.path[: size + 1]) for setting in SETTINGS for size in range(len(setting.path))}
    closest = closest_name(name[:200], sorted(names))
    question = f"did you mean {closest}? " if closest is not None else ""
    raise place.error(f"unknown setting {one_line(_value_text(name))}", f"{question}{_HINT}")


def _check_formats(setting: Setting, value: Any, place: _Place) -> None:
    if setting.kind not in {"format", "formats"}:
        return
    from droidgate_mappings.formats.format import find_format

    for name in [value] if isinstance(value, str) else value:
        try:
            find_format(name)
        except UsageError as error:
            raise place.error(error.message, error.command_hint or _HINT) from None


def _shown_path(path: Path) -> str:
    return os.path.relpath(path)


def _value_text(value: object) -> str:
    text = f'"{value}"' if isinstance(value, str) else str(value).lower()
    most = 60
    return text if len(text) <= most else f"{text[:most]}..."


@dataclass(frozen=True, slots=True)
class _Place:
    """Where a key is: the file, its text, and the tables with the key."""

    path: Path
    text: str
    key: tuple[str, ...]

    @property
    def line(self) -> int:
        """The line of the key, from 1; 0 where it cannot be found."""
        return line_of(self.text, self.key) or 0

    def error(self, message: str, hint: str) -> UsageError:
        """Return an error at the line of the key."""
        line = self.line
        path = _shown_path(self.path)
        return UsageError(message, place=f"{path}:{line}" if line else path, hint=hint)
