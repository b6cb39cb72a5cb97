"""The commands of the device: programs that its shell starts by name."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from droidgate_phone.common.streams import CommandStreams
from droidgate_phone.common.uids import SHELL_UID

if TYPE_CHECKING:
    from droidgate_phone.system import AndroidSystem


@dataclass(frozen=True, slots=True)
class CommandCall:
    """One start of a command.

    Attributes:
        name: The name it was started by.
        arguments: The arguments after the name, as the shell split them.
        streams: Its standard streams.
        system: The phone that it runs on.
        environment: Variables.
        directory: Working directory, absolute.
        uid: Whose process it is; 2000 (shell) for whatever comes over adb.
    """

    name: str
    arguments: tuple[str, ...]
    streams: CommandStreams
    system: AndroidSystem
    environment: Mapping[str, str] = field(default_factory=dict)
    directory: str = "/"
    uid: int = SHELL_UID

    def write(self, text: str) -> None:
        """Write text to standard output."""
        self.streams.output.write(_encode(text))

    def write_error(self, text: str) -> None:
        """Write text to standard error."""
        self.streams.error.write(_encode(text))


_HALF_PAIR: Final = re.compile("[\ud800-\udc7f\udd00-\udfff]")


def _encode(text: str) -> bytes:
    """Encode text; half a pair of surrogates is a question mark, as Java prints it."""
    return _HALF_PAIR.sub("?", text).encode("utf-8", "surrogateescape")


Command = Callable[[CommandCall], int]
"""Runs to its end and returns the exit status, 0 to 255."""
