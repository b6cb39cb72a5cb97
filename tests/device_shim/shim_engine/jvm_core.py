"""The shim's engine in Java: compiled as the app compiles it, and asked over one pipe."""

import json
import subprocess
from collections.abc import Iterable, Iterator
from decimal import Decimal
from pathlib import Path
from threading import Thread
from types import TracebackType
from typing import IO, Any, Self, cast

from droidgate_mappings.model.json_values import Json, one_line_json
from requirements_of_tests import CHECKOUT, require, short_run

CORE = CHECKOUT / "device_shim" / "android" / "core"
ENGINE_SOURCES = CORE / "src" / "main" / "java"
RUNNER_SOURCES = CORE / "src" / "vectors" / "java"

RUNNER = "dev.droidgate.shim.core.VectorRunner"


def compile_core(out: Path) -> Path:
    """Compile the engine and its runner for Java 8 into a folder and return it; a warning fails.

    Raises:
        AssertionError: with what the compiler says.
    """
    sources = sorted([*ENGINE_SOURCES.rglob("*.java"), *RUNNER_SOURCES.rglob("*.java")])
    command: list[str | Path] = [*short_run("javac"), "--release", "8", "-Xlint:all,-options", "-Werror"]
    command += ["-proc:none", "-encoding", "UTF-8", "-d", out, *sources]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr[-4000:]
    return out


class CoreJvm:
    """A running engine: vectors in, outcomes out, in their order."""

    def __init__(self, classes: Path) -> None:
        # Threads of an app have stacks of about this size.
        command = [str(require("java")), "-Xss512k", "-Xmx256m", "-cp", str(classes), RUNNER]
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._in.close()
        self._process.wait(timeout=120)
        self._out.close()

    @property
    def _in(self) -> IO[bytes]:
        return cast("IO[bytes]", self._process.stdin)

    @property
    def _out(self) -> IO[bytes]:
        return cast("IO[bytes]", self._process.stdout)

    def ask(self, **vector: Json) -> Any:
        """Return the outcome of one vector."""
        return next(self.outcomes([vector]))

    def outcomes(self, vectors: Iterable[Json]) -> Iterator[Any]:
        """Yield the outcome of each vector; many may be under way at once."""
        return map(_read, self.answers(one_line_json(vector).encode() for vector in vectors))

    def answers(self, lines: Iterable[bytes]) -> Iterator[bytes]:
        """Yield the line that answers each line; the lines hold no line ends."""
        sent = list(lines)
        writer = Thread(target=self._write, args=(sent,), daemon=True)
        writer.start()
        for line in sent:
            answer = self._out.readline()
            assert answer.endswith(b"\n"), f"no answer to {line[:200]!r}"
            yield answer
        writer.join()

    def _write(self, lines: list[bytes]) -> None:
        for line in lines:
            self._in.write(line + b"\n")
        self._in.flush()


def _read(line: bytes) -> Any:
    return json.loads(line, parse_float=Decimal)
