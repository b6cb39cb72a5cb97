"""Small systematic changes to the Java core's sources, and whether the vectors notice them."""

import json
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from random import Random

from droidgate.model.json_values import one_line_json
from droidgate_shim.conformance.vector_files import load_vectors
from requirements_of_tests import require
from shim_engine.comparison import equal
from shim_engine.jvm_core import ENGINE_SOURCES, RUNNER, compile_core

SECONDS = 60.0
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
_NOT_ASKED = re.compile(r"super\(|spend\(|checkBudget\(|depth \+ 1|MAX_(?:SCALE|STEPS|DEPTH)")
"""Lines that bound time and memory, or make an exception: no outcome changes with them."""
_CONDITION = re.compile(r"\b(?:if|while) \(")


@dataclass(frozen=True)
class Mutant:
    """One change: the file, where in it, and what stands there instead."""

    path: Path
    start: int
    end: int
    instead: str

    def source(self) -> str:
        """Return the file's changed source."""
        text = self.path.read_text(encoding="utf-8")
        return text[: self.start] + self.instead + text[self.end :]

    def __str__(self) -> str:
        text = self.path.read_text(encoding="utf-8")
        line = text.count("\n", 0, self.start) + 1
        was = text[self.start : self.end].strip()
        return f"{self.path.name}:{line}: {was!r} to {self.instead!r}"


def mutants_of(path: Path) -> list[Mutant]:
    """Return every change of a file that the vectors ask for."""
    if path.name == "Journal.java":
        return []
    text = path.read_text(encoding="utf-8")
    return [
        Mutant(path, *one)
        for one in _changes(text)
        if not _NOT_ASKED.search(text[text.rfind("\n", 0, one[0]) + 1 : text.find("\n", one[0])])
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
            # What has a blank in it is for people.
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


def survivors(mutants: Sequence[Mutant], *, at_once: int = 2) -> tuple[list[Mutant], int]:
    """Return those that no vector notices, and how many could be compiled at all."""
    asked = Asked()
    assert asked.is_noticed({}) is False
    with ThreadPoolExecutor(at_once) as pool:
        noticed = list(pool.map(lambda one: asked.is_noticed({one.path: one.source()}), mutants))
    left = [one for one, seen in zip(mutants, noticed, strict=True) if seen is False]
    return left, sum(one is not None for one in noticed)


class Asked:
    """The vectors as lines, and the lines that were found to answer them rightly."""

    def __init__(self) -> None:
        vectors = load_vectors()
        self.lines = "".join(f"{one_line_json(dict(one.case))}\n" for one in vectors)
        self.expected = [one.expect for one in vectors]
        self.right: list[str] = [""] * len(vectors)

    def is_noticed(self, changed: Mapping[Path, str]) -> bool | None:
        """Tell whether the vectors tell a changed core from the right one; None where it cannot be
        compiled.
        """
        with tempfile.TemporaryDirectory() as folder:
            sources, classes = Path(folder, "sources"), Path(folder, "classes")
            shutil.copytree(ENGINE_SOURCES, sources)
            for path, source in changed.items():
                (sources / path.relative_to(ENGINE_SOURCES)).write_text(source, encoding="utf-8")
            try:
                compile_core(classes, sources)
            except AssertionError:
                return None
            told = self._run(classes)
        return told is None or not self._are_right(told)

    def _run(self, classes: Path) -> list[str] | None:
        """Return the answers; None where they do not come."""
        command: list[str | Path] = [
            require("java"),
            "-XX:TieredStopAtLevel=1",
            "-Xss512k",
            "-cp",
            classes,
            RUNNER,
        ]
        try:
            run = subprocess.run(
                command, input=self.lines.encode(), capture_output=True, check=False, timeout=SECONDS
            )
        except subprocess.TimeoutExpired:
            return None
        return run.stdout.decode(errors="replace").split("\n")[:-1]

    def _are_right(self, told: list[str]) -> bool:
        if len(told) != len(self.expected):
            return False
        for index, line in enumerate(told):
            if line == self.right[index]:
                continue
            try:
                if not equal(json.loads(line, parse_float=Decimal), self.expected[index]):
                    return False
            except (ValueError, RecursionError):
                return False
            self.right[index] = line
        return True
