"""What happened on the phone: every adb service, Intent and result, in order.

Also here: faults that the phone shows on request.
"""

from __future__ import annotations

import json
import re
import threading
from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, Final, TextIO

from droidgate_mappings.model.errors import UsageError
from droidgate_mappings.model.json_values import Json

DOCUMENTATION: Final = {
    "drop-after": "drop-after=BYTES: the connection ends after so many bytes from the phone",
    "stall-after": "stall-after=BYTES: the phone sends nothing any more after so many bytes",
    "offline": "offline: the phone never answers the handshake",
    "unauthorized": "unauthorized: the phone asks for authorisation and never grants it",
    "garbage": "garbage: every fourth packet from the phone has a broken header",
    "slow": "slow=BYTES: the phone sends so many bytes a second",
    "max-payload": "max-payload=BYTES: the phone takes packets of so many bytes only",
    "crash": "crash=PACKAGE: the app dies when it is called",
    "silent": "silent=PACKAGE: the app never answers",
}


@dataclass(frozen=True, slots=True)
class Faults:
    """Which faults are on; nothing by default.

    Attributes:
        drop_after: Bytes from the phone after which each connection ends.
        stall_after: Bytes from the phone after which a connection is silent.
        offline: The handshake is never answered.
        unauthorized: Authorisation is never granted.
        garbage: Every fourth packet header is broken.
        bytes_per_second: How quickly the phone sends.
        maximum_payload: Largest packet it takes, in bytes.
        crashing: Packages that die when they are called.
        silent: Packages that never answer.
    """

    drop_after: int | None = None
    stall_after: int | None = None
    offline: bool = False
    unauthorized: bool = False
    garbage: bool = False
    bytes_per_second: int | None = None
    maximum_payload: int | None = None
    crashing: frozenset[str] = frozenset()
    silent: frozenset[str] = frozenset()


_NUMBERS: Final = {
    "drop-after": "drop_after",
    "stall-after": "stall_after",
    "slow": "bytes_per_second",
    "max-payload": "maximum_payload",
}
_SWITCHES: Final = frozenset({"offline", "unauthorized", "garbage"})
_PACKAGES: Final = {"crash": "crashing", "silent": "silent"}


def parse_faults(texts: Iterable[str]) -> Faults:
    """Return the faults of `name` and `name=value` texts.

    Raises:
        UsageError: an unknown fault, or a value that does not fit it.
    """
    chosen: dict[str, Any] = {}
    for item in texts:
        name, _, value = item.partition("=")
        if name in _SWITCHES and not value:
            chosen[name] = True
        elif name in _NUMBERS and re.fullmatch("0*[1-9][0-9]{,17}", value):
            chosen[_NUMBERS[name]] = int(value)
        elif name in _PACKAGES and value:
            chosen[_PACKAGES[name]] = chosen.get(_PACKAGES[name], frozenset()) | {value}
        else:
            known = ", ".join(text.partition(":")[0] for text in DOCUMENTATION.values())
            raise UsageError(
                f"unknown fault {item!r}", hint=f"use one of {known}; `--fault list` explains them"
            )
    return Faults(**chosen)


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
            return [other for other in self.events if other["event"] == event]
