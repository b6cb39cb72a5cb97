"""What the shim keeps on disk about the last calls (shim.md 3)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from droidgate_mappings.model.json_values import Json
from droidgate_phone.apps.shim.caller_grants import read_file
from droidgate_phone.system.behaviour import PrivateFiles
from droidgate_shim.engine.strict_json import write_strict

MOST_CALLS: Final = 200
_LONGEST_ID: Final = 200
_BUSY: Final = "busy"
_HISTORY: Final = "history.json"


class History:
    """The last calls: who asked for what and how it ended, never arguments or results."""

    def __init__(self, files: PrivateFiles) -> None:
        self._files = files
        saved = read_file(files, _HISTORY)
        self._calls: list[Json] = list(saved) if isinstance(saved, list) else []

    def add(
        self, began: float, caller: str | None, capability: str, token: str | None, seconds: float
    ) -> None:
        """Remember a call; the oldest beyond 200 are forgotten.

        What was refused as too much is none: a flood would push everything else out.

        Args:
            began: When it came, in seconds since 1970.
            caller: The package that called, None for one that Android does not name.
            capability: What was asked for; empty where that could not be read.
            token: The failure's, None for a success.
            seconds: How long it took.
        """
        if token == _BUSY:
            return
        origin: dict[str, Json] = {"time": round(began * 1000), "caller": caller}
        call = {**origin, "capability": capability[:_LONGEST_ID], "token": token, "ms": round(seconds * 1000)}
        self._calls = [*self._calls, call][-MOST_CALLS:]
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
