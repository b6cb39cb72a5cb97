"""Runs of the program for tests: inside this process, as a process of its own, on a terminal of its own."""

import functools
import io
import json
import os
import pty
import re
import select
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import jsonschema
import pytest

from droidgate.cli import run
from droidgate.cli.output.json_output import schema_of
from droidgate.cli.published_schemas import PUBLISHED

SECONDS = 240
WHOLE_PROGRAM = [sys.executable, "-m", "droidgate"]


class Terminal(io.StringIO):
    """A stream that says that it is a terminal."""

    def isatty(self) -> bool:
        return True


@dataclass(frozen=True)
class Run:
    """How a run ended and what it printed."""

    code: int
    out: str
    err: str

    def document(self, name: str) -> Any:
        """Return the JSON that was printed, which has to fit a published schema."""
        printed = json.loads(self.out)
        jsonschema.validate(printed, schema_of(PUBLISHED[name]))
        return printed


class Runner:
    """Runs the program inside this process."""

    def __init__(self, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
        self._capsys = capsys
        self._monkeypatch = monkeypatch

    def __call__(self, *arguments: str | Path, stdin: bytes = b"") -> Run:
        """Return how the run ended."""
        self._capsys.readouterr()
        self._monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin)))
        code = run([str(argument) for argument in arguments])
        captured = self._capsys.readouterr()
        return Run(code, captured.out, captured.err)

    def document(self, *arguments: str | Path, code: int = 0) -> Any:
        """Return the document of a run that has to end with a code."""
        run = self(*arguments, "--json")
        assert run.code == code, run.err
        words = [str(argument) for argument in arguments[:2]]
        return run.document("-".join(words) if "-".join(words) in PUBLISHED else words[0])


def run_process(
    *arguments: str | Path, stdin: bytes = b"", cwd: Path | None = None, **environment: str
) -> Run:
    """Run the program as a process of its own, whose imports are made already if it needs no environment."""
    if environment:
        return run_whole_process(*arguments, stdin=stdin, cwd=cwd, **environment)
    return _preloaded_program().run([str(argument) for argument in arguments], stdin, cwd or Path.cwd())


def run_in_environment(arguments: Sequence[str], cwd: Path, environment: Mapping[str, str]) -> Run:
    """Run the program as a process of its own with these variables alone; its imports are made already."""
    return _preloaded_program().run(list(arguments), b"", cwd, environment)


def run_whole_process(
    *arguments: str | Path, stdin: bytes = b"", cwd: Path | None = None, **environment: str
) -> Run:
    """Run the program as a process whose output is piped, from its first import on."""
    command = [*WHOLE_PROGRAM, *(str(argument) for argument in arguments)]
    options: dict[str, Any] = {"cwd": cwd, "env": os.environ | environment, "timeout": SECONDS}
    done = subprocess.run(command, input=stdin, capture_output=True, check=False, **options)
    return Run(done.returncode, done.stdout.decode(), done.stderr.decode())


class _PreloadedProgram:
    """A process that forks one run of the program after the other, and ends with this process."""

    def __init__(self) -> None:
        theirs, ours = os.pipe()
        command = [sys.executable, str(Path(__file__).with_name("preloaded_program.py")), str(theirs)]
        self._process = subprocess.Popen(command, pass_fds=[theirs], stdout=subprocess.PIPE, text=True)
        os.close(theirs)
        self._orders = os.fdopen(ours, "w")
        self._turn = threading.Lock()

    def run(
        self, arguments: list[str], stdin: bytes, cwd: Path, environment: Mapping[str, str] = os.environ
    ) -> Run:
        assert self._process.stdout is not None
        with self._turn, tempfile.TemporaryDirectory() as folder:
            files = {name: Path(folder, name) for name in ("stdin", "stdout", "stderr")}
            for path in files.values():
                path.write_bytes(stdin if path.name == "stdin" else b"")
            order = {"arguments": arguments, "cwd": str(cwd), "environment": dict(environment)}
            order |= {name: str(path) for name, path in files.items()}
            self._orders.write(f"{json.dumps(order)}\n")
            self._orders.flush()
            timer = threading.Timer(SECONDS, os.kill, (int(self._process.stdout.readline()), signal.SIGKILL))
            timer.start()
            code = int(self._process.stdout.readline())
            timer.cancel()
            return Run(code, files["stdout"].read_bytes().decode(), files["stderr"].read_bytes().decode())


_preloaded_program = functools.cache(_PreloadedProgram)


_WAITING_LINE: Final = re.compile(r"\r\x1b\[K(?:[^\r]+ \(\d+ s\))?")


def run_on_terminal(
    *arguments: str | Path,
    cwd: Path | None = None,
    typed: bytes = b"",
    answers: Mapping[bytes, Callable[[], bytes]] | None = None,
    waiting_lines: bool = False,
    **environment: str,
) -> str:
    """Run the program on a terminal of 100 columns, where something was typed; return what it got.

    Args:
        arguments: Of the program.
        cwd: The working folder.
        typed: What was typed before.
        answers: Text that the program prints -> what types the answer, each time that it is printed.
        waiting_lines: Return also the lines that say what a slow run is doing.
        environment: Variables.
    """
    ours, theirs = pty.openpty()
    os.write(ours, typed)
    settings = {"TERM": "xterm-256color", "COLUMNS": "100", "LINES": "50", **environment}
    inherited = {name: value for name, value in os.environ.items() if name not in {"NO_COLOR", "FORCE_COLOR"}}
    command = [*WHOLE_PROGRAM, *(str(argument) for argument in arguments)]
    with subprocess.Popen(
        command, stdin=theirs, stdout=theirs, stderr=theirs, cwd=cwd, env=inherited | settings
    ) as process:
        os.close(theirs)
        got = _read_until_closed(ours, answers or {})
        process.wait(timeout=120)
    os.close(ours)
    return got.decode() if waiting_lines else _WAITING_LINE.sub("", got.decode())


def _read_until_closed(descriptor: int, answers: Mapping[bytes, Callable[[], bytes]]) -> bytes:
    got = b""
    answered = 0
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        ready, _, _ = select.select([descriptor], [], [], 1)
        if not ready:
            continue
        try:
            part = os.read(descriptor, 65536)
        except OSError:  # Linux says so when the other end is closed
            return got
        if not part:
            return got
        got += part
        for text, answer in answers.items():
            while (at := got.find(text, answered)) >= 0:
                answered = at + len(text)
                os.write(descriptor, answer())
    raise TimeoutError
