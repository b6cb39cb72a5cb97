"""Faults that the phone shows on request."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Final

from droidgate_mappings.model.errors import UsageError

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
            fault_names = ", ".join(text.partition(":")[0] for text in DOCUMENTATION.values())
            raise UsageError(
                f"unknown fault {item!r}", hint=f"use one of {fault_names}; `--fault list` explains them"
            )
    return Faults(**chosen)
