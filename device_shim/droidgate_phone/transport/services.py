"""The services that a host can open on the phone.

Facts: AOSP `packages/modules/adb` docs/dev/services.md, daemon/services.cpp, daemon/shell_service.cpp.
"""

from __future__ import annotations

import functools
import shlex
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

from droidgate_phone.event_log import EventLog
from droidgate_phone.transport.endpoints import Endpoint
from droidgate_phone.transport.file_transfer import serve_files
from droidgate_phone.transport.shell_streams import PacketStreams, RawStreams
from droidgate_phone.transport.terminal import Terminal
from droidgate_phone.transport.userland import Banner, Userland

Service = Callable[[Endpoint], None]
"""Serves a stream to its end; the caller closes the stream."""

_SHELL_PREFIX: Final = "shell"
_ANSWERS: Final[Mapping[str, str]] = {
    "root:": "adbd cannot run as root in production builds\n",
    "unroot:": "adbd not running as root\n",
    "remount:": 'Not running as root. Try "adb root" first.\n',
}
"""What a user build answers, by the service's name or its beginning."""

_NOT_MODELLED: Final = ("reboot:", "tcpip:", "usb:", "disable-verity:", "enable-verity:")
_REVERSE: Final = "reverse:"


def service_text(name: bytes) -> str:
    """Return a service's name for messages and logs; NULs and bytes that are not text become escapes."""
    return name.decode("utf-8", "backslashreplace").replace("\0", "\\0")


@dataclass(frozen=True, slots=True)
class ShellRequest:
    """What `shell[,OPTION...]:COMMAND` asks for."""

    command: str
    has_packets: bool
    has_terminal: bool
    terminal_type: str


def read_shell_request(name: str) -> ShellRequest | None:
    """Return what a shell service's name asks for, or None where it has no colon.

    Unknown options are passed over, as adbd does.
    """
    options, colon, command = name.removeprefix(_SHELL_PREFIX).partition(":")
    if not colon:
        return None
    has_packets, has_terminal, terminal_type = False, not command, "dumb"
    for option in options.split(","):
        if option == "v2":
            has_packets = True
        elif option in {"raw", "pty"}:
            has_terminal = option == "pty"
        elif option.startswith("TERM="):
            terminal_type = option.removeprefix("TERM=")
    return ShellRequest(command, has_packets, has_terminal, terminal_type)


class Services:
    """Finds services by name and logs each that is asked for.

    Args:
        userland: The phone behind them.
        log: Where events go.
    """

    def __init__(self, userland: Userland, log: EventLog) -> None:
        self._userland = userland
        self._log = log

    def banner(self) -> Banner:
        """Return what the phone reports about itself."""
        return self._userland.banner()

    def find(self, name: bytes) -> Service | None:
        """Return the service of a name, or None where this phone does not have it."""
        shown = service_text(name)
        service = self._find(name.decode("utf-8", "surrogateescape"))
        if service is None:
            self._log.record("refused-service", service=shown, reason="the virtual phone does not model it")
            return None
        self._log.record("service", service=shown)
        return service

    def _find(self, name: str) -> Service | None:
        if name.startswith((f"{_SHELL_PREFIX}:", f"{_SHELL_PREFIX},")):
            request = read_shell_request(name)
            return None if request is None else functools.partial(self._serve_shell, request)
        if name.startswith("exec:"):
            request = ShellRequest(name.removeprefix("exec:"), False, False, "dumb")
            return functools.partial(self._serve_shell, request)
        if name.startswith(("abb:", "abb_exec:")):
            return self._find_direct_command(name)
        if name == "sync:":
            return functools.partial(serve_files, self._userland.files)
        return self._find_answer(name)

    def _find_direct_command(self, name: str) -> Service | None:
        """Return the service of `abb`, which calls a system service as `cmd` does, but without a shell."""
        kind, _, arguments = name.partition(":")
        if kind not in self.banner().features:
            return None
        command = shlex.join(["cmd", *arguments.split("\0")])
        return functools.partial(self._serve_shell, ShellRequest(command, kind == "abb", False, "dumb"))

    def _find_answer(self, name: str) -> Service | None:
        for beginning, text in _ANSWERS.items():
            if name.startswith(beginning):
                return functools.partial(_answer, text)
        if name.startswith(_NOT_MODELLED):
            return functools.partial(_answer, f"the virtual phone does not model {name.partition(':')[0]}\n")
        if name == f"{_REVERSE}list-forward":
            return functools.partial(_answer, "0000")
        if name.startswith(_REVERSE):
            reason = "the virtual phone does not model reverse connections"
            return functools.partial(_answer, f"FAIL{len(reason):04x}{reason}")
        return None

    def _serve_shell(self, request: ShellRequest, endpoint: Endpoint) -> None:
        environment = {"TERM": request.terminal_type}
        has_terminal = request.has_terminal
        streams: PacketStreams | RawStreams
        if request.has_packets:
            streams = PacketStreams(endpoint, has_error=not has_terminal, can_close_input=not has_terminal)
        else:
            streams = RawStreams(endpoint, has_terminal=has_terminal)
        try:
            if has_terminal:
                status = Terminal(streams).run(self._userland, request.command, environment)
            else:
                status = self._userland.run(request.command, streams, environment)
            streams.exit(status)
        except BrokenPipeError:
            self._log.record("abandoned", command=service_text(request.command.encode("utf-8", "replace")))
            return
        command = service_text(request.command.encode("utf-8", "surrogateescape"))
        self._log.record("exit", command=command, status=status)


def _answer(text: str, endpoint: Endpoint) -> None:
    endpoint.write(text.encode())
