"""Small systematic changes to the Java core's sources, and whether the vectors notice them."""

import base64
import json
import re
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from random import Random
from types import TracebackType
from typing import IO, Self, cast

from device_shim.shim_engine.comparison import equal, omissions
from device_shim.shim_engine.conformance.vector_files import load_vectors
from device_shim.shim_engine.jvm_core import ENGINE_SOURCES, RUNNER_SOURCES
from droidgate_mappings.model.json_values import one_line_json
from requirements_of_tests import require

SERVER = Path(__file__).parent / "MutantServer.java"
SECONDS = 30
"""After this long a changed core counts as noticed: it runs for ever."""

_TOKEN = re.compile(
    r"""
    (?P<comment>//[^\n]*|/\*.*?\*/)
    | (?P<text>"(?:\\.|[^"\\])*")
    | (?P<character>'(?:\\.|[^'\\])+')
    | (?P<number>\b[0-9][0-9A-Za-z_.]*)
    | (?P<word>[A-Za-z_$][A-Za-z0-9_$]*)
    | (?P<sign>==|!=|<=|>=|&&|\|\||\+\+|--|->|[-+*/%]=|[-+!<>])
    """,
    re.DOTALL | re.VERBOSE,
)
_SWAPPED = {
    "==": "!=",
    "!=": "==",
    "<=": "<",
    ">=": ">",
    "<": "<=",
    ">": ">=",
    "&&": "||",
    "||": "&&",
    "+": "-",
    "-": "+",
    "true": "false",
    "false": "true",
}
_STATEMENT = re.compile(r"(?m)^ +(?:[a-z]\w*(?:\.\w+)*\([^;{}]*\)|throw [^;{}]*|continue|break);$")
_NOT_ASKED = re.compile(r"super\(|spend\(|checkBudget\(|depth \+ 1|MAX_(?:SCALE|STATES|STEPS|DEPTH)")
"""Lines that bound time and memory, or make an exception: no outcome changes with them."""
_ELSEWHERE = frozenset({"Frontend.java", "Journal.java"})
"""Files that the app's edges use, and no operation of the vectors."""
_CONDITION = re.compile(r"\b(?:if|while) \(")


@dataclass(frozen=True)
class Mutant:
    """One change: the file, where in it, and what replaces it."""

    path: Path
    start: int
    end: int
    instead: str

    def source(self) -> str:
        """Return the file's changed source."""
        text = self.path.read_text(encoding="utf-8")
        return text[: self.start] + self.instead + text[self.end :]

    @property
    def key(self) -> tuple[str, str, str]:
        """File, text of the line, and change: what stays when other lines are added."""
        text = self.path.read_text(encoding="utf-8")
        begin = text.rfind("\n", 0, self.start) + 1
        line = text[begin:].partition("\n")[0]
        column = self.start - begin - (len(line) - len(line.lstrip()))
        was = text[self.start : self.end].strip()
        return self.path.name, line.strip(), f"{was!r} to {self.instead!r} at {column}"

    def __str__(self) -> str:
        line = self.path.read_text(encoding="utf-8").count("\n", 0, self.start) + 1
        name, text, change = self.key
        return f"{name}:{line}: {change} in {text}"


def mutants_of(path: Path) -> list[Mutant]:
    """Return every change of a file that the vectors ask for."""
    if path.name in _ELSEWHERE:
        return []
    text = path.read_text(encoding="utf-8")
    return [
        Mutant(path, *change)
        for change in _changes(text)
        if not _NOT_ASKED.search(text[text.rfind("\n", 0, change[0]) + 1 : text.find("\n", change[0])])
    ]


def _changes(text: str) -> Iterator[tuple[int, int, str]]:
    silent: list[tuple[int, int]] = []
    for found in _TOKEN.finditer(text):
        if found.lastgroup in {"comment", "text", "character"}:
            silent.append(found.span())
        instead = _instead(text, found)
        if instead is not None:
            yield *found.span(), instead
    for form in (_STATEMENT, _CONDITION):
        for found in form.finditer(text):
            if any(start <= found.start() < end for start, end in silent):
                continue
            if form is _STATEMENT:
                yield *found.span(), ";"
            else:
                closing = _closing(text, found.end())
                yield found.end(), closing, f"!({text[found.end() : closing]})"


def _instead(text: str, found: re.Match[str]) -> str | None:
    token, start, end = found[0], found.start(), found.end()
    match found.lastgroup:
        case "text":
            # What has a blank in it is human-readable.
            return f'{token[:-1]}!"' if len(token) > 2 and " " not in token else None
        case "number":
            return str(int(token) + 1) if token.isdecimal() else None
        case "word":
            return _SWAPPED.get(token)
        case "sign" if token == "!":
            return "" if text[end : end + 1] not in {"=", " "} else None
        case "sign":
            between_blanks = text[start - 1 : start] == " " and text[end : end + 1] in {" ", "\n"}
            return _SWAPPED.get(token) if between_blanks else None
    return None


def _closing(text: str, at: int) -> int:
    depth = 1
    while depth:
        depth += {"(": 1, ")": -1}.get(text[at], 0)
        at += 1
    return at - 1


def sample(count: int, seed: int) -> list[Mutant]:
    """Return so many changes, drawn from all files together."""
    every = [mutant for path in sorted(ENGINE_SOURCES.rglob("*.java")) for mutant in mutants_of(path)]
    return Random(seed).sample(every, min(count, len(every)))


def survivors(mutants: Sequence[Mutant]) -> tuple[list[Mutant], list[Mutant]]:
    """Return those that could be compiled at all, and of these the ones that no vector notices."""
    with Asked() as asked:
        assert asked.is_noticed() is False
        noticed = [(mutant, asked.is_noticed(mutant.path, mutant.source())) for mutant in mutants]
    made = [item for item, seen in noticed if seen is not None]
    return made, [item for item, seen in noticed if seen is False]


class Asked:
    """Asks changed cores the vectors, and remembers the lines that were found to answer them rightly."""

    def __init__(self) -> None:
        vectors = load_vectors()
        self.expected = [(vector.expect, vector.says) for vector in vectors]
        self.right: list[str] = [""] * len(vectors)
        self._folder = tempfile.TemporaryDirectory()
        self._vectors = Path(self._folder.name, "vectors")
        lines = "".join(f"{one_line_json(dict(vector.case))}\n" for vector in vectors)
        self._vectors.write_text(lines, encoding="utf-8")
        self._server = self._start()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stop()
        self._folder.cleanup()

    def is_noticed(self, changed: Path | None = None, source: str = "") -> bool | None:
        """Return whether the vectors distinguish a core with a changed file from the right one; None where it
        cannot be compiled.
        """
        text = base64.b64encode(source.encode()).decode()
        self._in.write(f"{changed.name} {text}\n".encode() if changed is not None else b"\n")
        self._in.flush()
        answer = self._out.readline().strip()
        if answer == b"refused":
            return None
        if answer in {b"late", b""}:
            self._stop()
            self._server = self._start()
            return True
        outcomes = base64.b64decode(answer).decode(errors="replace").split("\n")[:-1]
        return not self._are_right(outcomes)

    def _start(self) -> subprocess.Popen[bytes]:
        command: list[str | Path] = [require("java"), "-Xmx400m", SERVER, self._vectors, str(SECONDS)]
        sources = [ENGINE_SOURCES, RUNNER_SOURCES]
        return subprocess.Popen([*command, *sources], stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def _stop(self) -> None:
        self._in.close()
        self._server.wait(timeout=2 * SECONDS)
        self._out.close()

    @property
    def _in(self) -> IO[bytes]:
        return cast("IO[bytes]", self._server.stdin)

    @property
    def _out(self) -> IO[bytes]:
        return cast("IO[bytes]", self._server.stdout)

    def _are_right(self, outcomes: list[str]) -> bool:
        if len(outcomes) != len(self.expected):
            return False
        for index, line in enumerate(outcomes):
            if line == self.right[index]:
                continue
            expect, says = self.expected[index]
            try:
                outcome = json.loads(line, parse_float=Decimal)
                if not equal(outcome, expect) or omissions(outcome, says):
                    return False
            except (ValueError, RecursionError):
                return False
            self.right[index] = line
        return True
