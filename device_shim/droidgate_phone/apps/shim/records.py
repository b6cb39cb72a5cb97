"""What the shim keeps on disk in addition to grants: switches, history and the journal of open calls."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from droidgate_mappings.model.errors import InputError
from droidgate_mappings.model.json_values import Json
from droidgate_phone.app_api.behaviour import AppFiles
from droidgate_shim.engine.strict_json import BUILT, parse_strict, write_strict

MOST_CALLS: Final = 200
_SETTINGS: Final = "switches.json"
_HISTORY: Final = "history.json"
_JOURNAL: Final = "journal.json"


@dataclass(frozen=True, slots=True)
class CallRecord:
    """One call of the history: never its arguments or its result.

    Attributes:
        time: When it came, in ms since 1970.
        caller: The package that called, None for one that Android does not name.
        capability: What was asked for; empty where that could not be read.
        token: The failure's, None for a success.
        milliseconds: How long it took.
    """

    time: int
    caller: str | None
    capability: str
    token: str | None
    milliseconds: int

    def as_json(self) -> dict[str, Json]:
        """Return it as the host sees it."""
        return {
            "time": self.time,
            "caller": self.caller,
            "capability": self.capability,
            "token": self.token,
            "ms": self.milliseconds,
        }


class Settings:
    """Which capabilities are switched off, and whether the user is asked."""

    def __init__(self, files: AppFiles, built_off: frozenset[str]) -> None:
        self._files = files
        saved = _read(files, _SETTINGS)
        values: Mapping[str, Json] = saved if isinstance(saved, dict) else {}
        off = values.get("switched_off")
        self.switched_off = {str(item) for item in off} if isinstance(off, list) else set(built_off)
        self.asking = values.get("asking") is not False

    def switch(self, capability: str, *, on: bool) -> None:
        """Switch a capability on or off."""
        (self.switched_off.discard if on else self.switched_off.add)(capability)
        self._save()

    def ask(self, *, on: bool) -> None:
        """Have the user asked, or not."""
        self.asking = on
        self._save()

    def _save(self) -> None:
        values: dict[str, Json] = {"switched_off": sorted(self.switched_off), "asking": self.asking}
        self._files.write(_SETTINGS, write_strict(values).encode())


class History:
    """The last calls."""

    def __init__(self, files: AppFiles) -> None:
        self._files = files
        saved = _read(files, _HISTORY)
        self._calls: list[Json] = list(saved) if isinstance(saved, list) else []

    def add(self, record: CallRecord) -> None:
        """Remember a call; the oldest beyond 200 are forgotten."""
        self._calls = [*self._calls, record.as_json()][-MOST_CALLS:]
        self._save()

    def all(self) -> Sequence[Json]:
        """Return the calls, oldest first."""
        return tuple(self._calls)

    def clear(self) -> None:
        """Forget all."""
        self._calls = []
        self._save()

    def _save(self) -> None:
        self._files.write(_HISTORY, write_strict(self._calls).encode())


class Journal:
    """The calls that are open, so that those of a process that died can be answered."""

    def __init__(self, files: AppFiles) -> None:
        self._files = files
        saved = _read(files, _JOURNAL)
        self._left = [write_strict(item) for item in saved] if isinstance(saved, list) else []
        self._written: list[str] = []

    def take(self, entry: str) -> bool:
        """Take an entry of the previous process; return false if it does not exist."""
        if entry not in self._left:
            return False
        self._left.remove(entry)
        return True

    def forget_left(self) -> None:
        """Drop the entries that were not taken again."""
        self._left = []

    def keep(self, entries: Sequence[str]) -> None:
        """Keep the entries of the calls that are open now."""
        all_entries = [*self._left, *entries]
        if all_entries == self._written:
            return
        self._written = all_entries
        parsed = [parse_strict(item, path=_JOURNAL) for item in all_entries]
        self._files.write(_JOURNAL, write_strict(parsed).encode())


def _read(files: AppFiles, name: str) -> Json:
    content = files.read(name)
    if content is None:
        return None
    try:
        return parse_strict(content.decode(), path=name, limits=BUILT)
    except (InputError, UnicodeDecodeError):
        return None
