"""A second process that reads texts.

It is started as `python -m droidgate.coverage.match.reading_process FOLDER`. A lot of texts goes there as a
file, and what they come to comes back as one; the pipes carry numbers of lots only. A pipe holds little: who
writes a lot into one waits for the other to read it.
"""

from __future__ import annotations

import marshal
import os
import subprocess
import sys
import tempfile
from collections import deque
from pathlib import Path
from typing import IO, Any, cast

from droidgate.coverage.match.features import Parts, parts_of
from droidgate.coverage.match.match_words import Vocabulary


class ReadingProcess:
    """The process, seen from the one that gives it texts.

    Attributes:
        batches: What it has got and not given back, oldest first: number of the first text, and the texts.
        is_alive: It can be given more.
    """

    def __init__(self) -> None:
        """Start it.

        Raises:
            OSError: it cannot be started.
        """
        self.batches: deque[tuple[int, list[str]]] = deque()
        self.is_alive = True
        self._temporary = tempfile.TemporaryDirectory(prefix="droidgate-")
        self._folder = Path(self._temporary.name)
        try:
            self._process = subprocess.Popen(  # noqa: S603 - our own module
                [
                    sys.executable,
                    "-P",
                    "-m",
                    "droidgate.coverage.match.reading_process",
                    self._temporary.name,
                ],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                env=os.environ | {"PYTHONPATH": os.pathsep.join(item for item in sys.path if item)},
            )
        except OSError:
            self._temporary.cleanup()
            raise
        self._orders = cast("IO[bytes]", self._process.stdin)
        self._answers = cast("IO[bytes]", self._process.stdout)

    def give(self, first: int, batch: list[str]) -> None:
        """Let it read a batch."""
        self.batches.append((first, batch))
        try:
            _write(self._folder / f"{first}.given", batch)
            self._orders.write(b"%d\n" % first)
            self._orders.flush()
        except OSError:
            self.is_alive = False
            # For a batch that it was not given, `take` would wait for ever.
            self._process.kill()

    def has_read(self) -> bool:
        """Return whether `take` would not wait."""
        return not self.is_alive or (self._folder / f"{self.batches[0][0]}.read").exists()

    def take(self) -> tuple[tuple[int, list[str]], list[Parts] | None]:
        """Return the oldest batch with the parts of its features; None in their place where it has died."""
        batch = self.batches.popleft()
        if self._answers.readline() != b"%d\n" % batch[0]:
            self.is_alive = False
            return batch, None
        read: list[Parts] = _read(self._folder / f"{batch[0]}.read")
        return batch, read

    def end(self) -> None:
        """Let it go."""
        self._process.kill()
        self._process.communicate()
        self._temporary.cleanup()


def main() -> None:
    """Read batches until there are no more."""
    folder = Path(sys.argv[1])
    vocabulary = Vocabulary()
    for order in sys.stdin.buffer:
        name = order.decode().strip()
        batch: list[str] = _read(folder / f"{name}.given")
        kept: dict[object, object] = {}
        # What is the same object is written once.
        read = [tuple(kept.setdefault(part, part) for part in parts_of(text, vocabulary)) for text in batch]
        _write(folder / f"{name}.new", read)
        (folder / f"{name}.new").rename(folder / f"{name}.read")
        sys.stdout.buffer.write(order)
        sys.stdout.buffer.flush()


def _write(path: Path, value: Any) -> None:
    path.write_bytes(marshal.dumps(value))


def _read(path: Path) -> Any:
    value = marshal.loads(path.read_bytes())  # noqa: S302 - of our own process, in a folder of ours alone
    path.unlink()
    return value


if __name__ == "__main__":
    main()
