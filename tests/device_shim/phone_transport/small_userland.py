"""A userland of a few words, so that the wire can be tried without Android behind it."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from dataclasses import dataclass, field

from droidgate_phone.common.streams import CommandStreams
from droidgate_phone.files.file_layout import lay_out
from droidgate_phone.files.phone_files import VirtualFiles
from droidgate_phone.transport.adb_services import Banner, Userland
from droidgate_phone.transport.packets import features_of


@dataclass
class SmallUserland:
    """Commands: `echo TEXT`, `both`, `cat`, `count`, `give N`, `flood`, `exit N`, `term`; others are shown.

    The empty command is a shell, which shows each of its lines.
    """

    files: VirtualFiles = field(default_factory=VirtualFiles)
    sdk: int = 36
    ended: list[str] = field(default_factory=list)
    broken: threading.Event = field(default_factory=threading.Event)

    def __post_init__(self) -> None:
        lay_out(self.files, programs=())

    def userland(self) -> Userland:
        banner = Banner("virtual", "Virtual Phone", "virtual", features_of(self.sdk))
        return Userland(self._run, self.files, lambda: banner)

    def _run(self, command: str, streams: CommandStreams, environment: Mapping[str, str]) -> int:
        try:
            return self._dispatch(command, streams, environment)
        except BrokenPipeError:
            self.broken.set()
            raise
        finally:
            self.ended.append(command)

    def _dispatch(self, command: str, streams: CommandStreams, environment: Mapping[str, str]) -> int:
        word, _, rest = command.partition(" ")
        if not command:
            while line := streams.input.read(4096):
                streams.output.write(b"[" + line.removesuffix(b"\n") + b"]\n")
            return 0
        if word == "exit":
            return int(rest)
        if word == "both":
            streams.output.write(b"out\n")
            streams.error.write(b"err\n")
        elif word == "cat":
            while piece := streams.input.read(65536):
                streams.output.write(piece)
        elif word == "count":
            streams.output.write(b"%d\n" % len(streams.input.read()))
        elif word == "give":
            streams.output.write(bytes(range(256)) * (int(rest) // 256))
        elif word == "flood":
            while True:
                streams.output.write(b"x" * 65536)
        elif word == "term":
            streams.output.write(environment["TERM"].encode())
        elif word == "echo":
            streams.output.write(rest.encode("utf-8", "surrogateescape") + b"\n")
        else:
            streams.output.write(f"[{command}]\n".encode("utf-8", "surrogateescape"))
        return 0
