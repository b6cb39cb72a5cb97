"""What the tests of the phone's shell share: a phone with files only, and real shells to compare it with."""

from __future__ import annotations

import io
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from droidgate_phone.commands.command_registry import command_names
from droidgate_phone.common.clocks import Clock
from droidgate_phone.files.file_layout import lay_out
from droidgate_phone.files.phone_files import VirtualFiles
from droidgate_phone.shell import ShellBudget, run_shell
from droidgate_phone.shell.shell_run import Streams

SCRATCH = "/data/local/tmp"
TEST_BUDGET = ShellBudget(seconds=120, steps=100_000, output=1 << 24)


@dataclass
class Outcome:
    """Status, standard output and standard error of a command line."""

    status: int
    output: bytes
    error: bytes

    @property
    def text(self) -> str:
        return self.output.decode("utf-8", "surrogateescape")

    @property
    def complaint(self) -> str:
        return self.error.decode("utf-8", "surrogateescape")


class Sink:
    """Keeps what is written; breaks like a closed socket after `limit` bytes."""

    def __init__(self, limit: int | None = None) -> None:
        self.data = bytearray()
        self._limit = limit

    def write(self, data: bytes) -> None:
        if self._limit is not None and len(self.data) + len(data) > self._limit:
            raise BrokenPipeError
        self.data += data


@dataclass(frozen=True)
class Process:
    """What runs, as `ps` shows it."""

    pid: int
    uid: int
    name: str


class Phone:
    """A phone whose files stay between command lines, with as much as the shell and its commands need."""

    def __init__(self) -> None:
        self.files = VirtualFiles()
        self.running: list[Process] = []
        processes = SimpleNamespace(all=lambda: self.running)
        self._system: Any = SimpleNamespace(files=self.files, clock=Clock(), processes=processes)
        lay_out(self.files, programs=command_names())

    def run(
        self,
        command: str,
        stdin: bytes = b"",
        *,
        uid: int = 2000,
        environment: Mapping[str, str] | None = None,
        budget: ShellBudget = TEST_BUDGET,
        output: Sink | None = None,
    ) -> Outcome:
        output, error = output or Sink(), Sink()
        streams = Streams(io.BytesIO(stdin), output, error)
        status = run_shell(self._system, command, streams, uid=uid, environment=environment, budget=budget)
        return Outcome(status, bytes(output.data), bytes(error.data))

    def run_in_scratch(self, command: str, stdin: bytes = b"") -> Outcome:
        """Run a command line in /data/local/tmp with few variables."""
        environment = {"HOME": "/", "PATH": "/system/bin", "LC_ALL": "C.UTF-8"}
        return self.run(f"cd {SCRATCH}\n{command}", stdin, environment=environment)


def run_in_real_shell(
    shell: Path,
    command: str,
    folder: Path,
    stdin: bytes = b"",
    *,
    options: tuple[str, ...] = (),
    programs: str = "/usr/bin:/bin",
) -> Outcome:
    """Run a command line in a shell of the host, in a folder of its own, as `sh` of Android is started."""
    run = subprocess.run(
        ["/system/bin/sh", *options, "-c", f"cd {folder}\n{command}"],
        executable=shell,
        input=stdin,
        capture_output=True,
        check=False,
        timeout=120,
        cwd=folder,
        env={"HOME": "/", "PATH": programs, "LC_ALL": "C.UTF-8"},
    )
    return Outcome(run.returncode, run.stdout, run.stderr)
