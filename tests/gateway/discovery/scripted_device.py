"""A handle whose answers are given, for what phones do wrong; what they do rightly has the virtual phone."""

import contextlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from droidgate.devices.adb_client import AdbServer
from droidgate.devices.device import CommandResult, Device, Identity
from droidgate.devices.device_errors import TransferError
from droidgate.devices.sync import FileStatus
from droidgate_mappings.model.errors import DeviceError

Answer = str | CommandResult | DeviceError


@dataclass
class ScriptedFiles:
    """Answers status requests of a sync session."""

    device: "ScriptedDevice"

    def status(self, path: str) -> FileStatus | None:
        self.device.asked_statuses.append(path)
        data = self.device.files_of.get(path)
        return None if data is None else FileStatus(0o100644, len(data), self.device.modified)


@dataclass
class Script:
    """Commands, by how they begin, to answers."""

    answers: dict[tuple[str, ...], Answer] = field(default_factory=dict)

    def answer(self, arguments: Sequence[str]) -> Answer | None:
        for length in range(len(arguments), 0, -1):
            found = self.answers.get(tuple(arguments[:length]))
            if found is not None:
                return found
        return None


class ScriptedDevice(Device):
    """A device of one script."""

    def __init__(self, answers: Mapping[str, Answer], files: Mapping[str, bytes] | None = None) -> None:
        super().__init__(AdbServer(), "scripted")
        self.script = Script({tuple(command.split()): answer for command, answer in answers.items()})
        self.files_of = dict(files or {})
        self.modified = 1000
        self.build = "build-1"
        self.commands: list[list[str]] = []
        self.asked_statuses: list[str] = []
        self.bytes_sent = 0

    @property
    def identity(self) -> Identity:
        return Identity("SERIAL-NUMBER", self.build)

    def run(self, arguments: Sequence[str], **_: Any) -> CommandResult:
        self.commands.append(list(arguments))
        answer = self.script.answer(arguments)
        if answer is None:
            return CommandResult(b"", f"/system/bin/sh: {arguments[0]}: not found\n".encode(), 127)
        if isinstance(answer, DeviceError):
            raise answer
        return CommandResult(answer.encode(), b"", 0) if isinstance(answer, str) else answer

    @contextlib.contextmanager
    def files(self, **_: Any) -> Iterator[Any]:
        yield ScriptedFiles(self)

    def status(self, path: str) -> FileStatus | None:
        return ScriptedFiles(self).status(path)

    def read_file_range(self, path: str, offset: int, length: int, **_: Any) -> bytes:
        if path not in self.files_of:
            raise TransferError(f"cannot read {path}: Permission denied", place=self.serial)
        data = self.files_of[path][offset : offset + length]
        self.bytes_sent += len(data)
        return data
