"""find: walk a tree and name what fits."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from droidgate_phone.commands import CommandCall
from droidgate_phone.commands.toybox_options import (
    NotModelled,
    UsageFault,
    absolute,
    complain,
    number,
)
from droidgate_phone.files import FileStatus, VirtualFileError
from droidgate_phone.shell.errors import NOT_MODELLED_STATUS
from droidgate_phone.shell.patterns import Pattern

_TYPES = {"d": "is_directory", "f": "is_file", "l": "is_link"}
_KNOWN = frozenset(
    [
        "-amin",
        "-atime",
        "-cmin",
        "-ctime",
        "-mmin",
        "-mtime",
        "-newer",
        "-perm",
        "-user",
        "-group",
        "-size",
        "-inum",
        "-links",
        "-exec",
        "-execdir",
        "-ok",
        "-okdir",
        "-prune",
        "-regex",
        "-samefile",
        "-quit",
        "-xdev",
        "-depth",
        "-delete",
        "-context",
        "-follow",
        "-nouser",
        "-nogroup",
        "-printf",
    ]
)


@dataclass(frozen=True, slots=True)
class _Item:
    path: str
    status: FileStatus


_Test = Callable[[_Item], bool]


def find(call: CommandCall) -> int:
    """Run `find`."""
    arguments = list(call.arguments)
    places: list[str] = []
    while arguments and not arguments[0].startswith("-") and arguments[0] not in {"!", "("}:
        places.append(arguments.pop(0))
    try:
        search = _Search(call, arguments)
    except UsageFault as fault:
        call.write_error(f"find: {fault}\n")
        return fault.status
    except NotModelled as refused:
        call.write_error(f"droidgate phone: {refused} is not modelled\n")
        return NOT_MODELLED_STATUS
    for place in places or ["."]:
        search.run(place)
    return search.status


class _Search:
    """One run: the tests of its arguments, joined by `and`; with `-o`, alternatives of such."""

    def __init__(self, call: CommandCall, arguments: list[str]) -> None:
        self._call = call
        self._end = "\n"
        self._least, self._most = 0, 1 << 30
        self._alternatives: list[list[_Test]] = [[]]
        self.status = 0
        self._read(arguments)

    def _read(self, arguments: list[str]) -> None:
        negated = False
        while arguments:
            word = arguments.pop(0)
            if word in {"!", "-not"}:
                negated = not negated
                continue
            test = self._test(word, arguments)
            if test is not None:
                self._alternatives[-1].append(_negation(test) if negated else test)
            negated = False

    def _test(self, word: str, arguments: list[str]) -> _Test | None:
        if word in {"-a", "-and", "-print"}:
            return None
        if word == "-print0":
            self._end = "\0"
            return None
        if word in {"-o", "-or"}:
            self._alternatives.append([])
            return None
        if word == "-empty":
            return self._is_empty
        if word in {"(", ")"} or word in _KNOWN:
            raise NotModelled(f"find {word}")
        if word not in {"-name", "-iname", "-path", "-ipath", "-type", "-maxdepth", "-mindepth"}:
            raise UsageFault(f"bad arg '{word}'")
        if not arguments:
            raise UsageFault(f"'{word}' needs 1 arg")
        return self._test_with_value(word, arguments.pop(0))

    def _test_with_value(self, word: str, value: str) -> _Test | None:
        if word == "-maxdepth":
            self._most = number(value)
            return None
        if word == "-mindepth":
            self._least = number(value)
            return None
        if word == "-type":
            if value not in _TYPES:
                raise NotModelled(f"find -type {value}")
            return lambda item: bool(getattr(item.status, _TYPES[value]))
        folded = word in {"-iname", "-ipath"}
        pattern = Pattern([(value.casefold() if folded else value, True)])
        whole = word.endswith("path")

        def fits(item: _Item) -> bool:
            text = item.path if whole else item.path.rstrip("/").rpartition("/")[2] or item.path
            return pattern.matches(text.casefold() if folded else text)

        return fits

    def _is_empty(self, item: _Item) -> bool:
        if item.status.is_directory:
            return not self._names(item.path)
        return item.status.is_file and not item.status.size

    def _names(self, path: str) -> list[str]:
        return self._call.system.files.list(absolute(self._call, path), uid=self._call.uid)

    def run(self, place: str) -> None:
        """Write the paths in a tree that fit."""
        for item in self._walk(place, 0):
            if any(all(test(item) for test in tests) for tests in self._alternatives):
                self._call.write(item.path + self._end)

    def _walk(self, path: str, depth: int) -> Iterator[_Item]:
        try:
            status = self._call.system.files.lstat(absolute(self._call, path), uid=self._call.uid)
            if depth >= self._least:
                yield _Item(path, status)
            names = self._names(path) if status.is_directory and depth < self._most else []
        except VirtualFileError as error:
            self.status = complain(self._call, path, error)
            return
        for name in names:
            yield from self._walk(f"{path.rstrip('/')}/{name}", depth + 1)


def _negation(test: _Test) -> _Test:
    return lambda item: not test(item)
