"""What happened on the phone: every adb service, Intent and result, in order."""

from __future__ import annotations

import json
import threading
from collections import deque
from dataclasses import dataclass, field
from typing import Final, TextIO

from droidgate_mappings.model.json_values import Json

MOST_TEXT: Final = 16 * 1024 * 1024
_EVENT_ITSELF: Final = 500


def _size(entry: dict[str, Json]) -> int:
    return _EVENT_ITSELF + sum(len(item) for item in entry.values() if isinstance(item, str))


@dataclass(slots=True)
class EventLog:
    """Records events in memory, and as one JSON object a line in a file.

    The file has all of them. Memory keeps the last ones, as many as hold `MOST_TEXT` characters, so that a
    phone that runs for days does not grow.

    Attributes:
        file: Where lines go, None for memory only.
        events: What memory keeps: `event` is its kind, further keys belong to the kind.
    """

    file: TextIO | None = None
    events: deque[dict[str, Json]] = field(default_factory=deque)
    _kept: int = 0
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def record(self, event: str, **facts: Json) -> None:
        """Add an event; may be called from any thread."""
        entry: dict[str, Json] = {"event": event, **facts}
        with self._lock:
            self.events.append(entry)
            self._kept += _size(entry)
            while self._kept > MOST_TEXT:
                self._kept -= _size(self.events.popleft())
            if self.file is not None:
                self.file.write(json.dumps(entry, ensure_ascii=False) + "\n")
                self.file.flush()

    def of_kind(self, event: str) -> list[dict[str, Json]]:
        """Return the events of a kind."""
        with self._lock:
            return [logged for logged in self.events if logged["event"] == event]
