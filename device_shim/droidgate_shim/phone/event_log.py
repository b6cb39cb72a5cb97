"""What happened on the phone: every adb service, Intent and result, in order."""

from __future__ import annotations

import json
import threading
from dataclasses import dataclass, field
from typing import TextIO

from droidgate.model.json_values import Json


@dataclass(slots=True)
class EventLog:
    """Records events in memory, and as one JSON object a line in a file.

    Attributes:
        file: Where lines go, None for memory only.
        events: Everything so far: `event` is its kind, further keys belong to the kind.
    """

    file: TextIO | None = None
    events: list[dict[str, Json]] = field(default_factory=list)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def record(self, event: str, **facts: Json) -> None:
        """Add an event; may be called from any thread."""
        entry: dict[str, Json] = {"event": event, **facts}
        with self._lock:
            self.events.append(entry)
            if self.file is not None:
                self.file.write(json.dumps(entry, ensure_ascii=False) + "\n")
                self.file.flush()

    def of_kind(self, event: str) -> list[dict[str, Json]]:
        """Return the events of a kind."""
        with self._lock:
            return [one for one in self.events if one["event"] == event]
