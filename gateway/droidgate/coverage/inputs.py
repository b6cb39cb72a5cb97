"""What a scan looks at: paths, folders, lists of paths, remote files, phones and other catalogs, spelled out.

Nothing is opened here but folders and lists. What cannot be looked at is an item too, with its reason: one
bad line of a list is one row of the catalog.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Final, Literal

from droidgate.coverage.remote import find_remote, is_remote
from droidgate.model.errors import InputError, UsageError
from droidgate.sources.folders import ARCHIVE_ENDINGS, scan_folder
from droidgate.sources.spelling import join_spelled, printable

LIST_MARK: Final = "@"
PHONE_SCHEME: Final = "adb:"
CATALOG_FILE: Final = "catalog.json"

ItemKind = Literal["apk", "app", "module", "descriptor", "file", "remote", "refused"]


@dataclass(frozen=True, slots=True)
class Item:
    """One thing to scan, as plain values that travel to other processes.

    Attributes:
        source: How it is called in the catalog.
        kind: `apk` (or a container of them), `app` (base and splits), `module` of a build, `descriptor`,
            `file` (any of these but a module, told by its content), `remote`, `refused`.
        location: Where it is: an absolute path or a URL; a module's folder; empty for `refused`.
        parts: Splits: name and path. A module's source sets: name and path below its folder.
        reason: Why it is refused.
    """

    source: str
    kind: ItemKind
    location: str = ""
    parts: tuple[tuple[str, str], ...] = ()
    reason: str | None = None

    def as_json(self) -> dict[str, Any]:
        """Return it as JSON values."""
        return asdict(self)

    @classmethod
    def from_json(cls, value: dict[str, Any]) -> Item:
        """Undo `as_json`."""
        return cls(**{**value, "parts": tuple((name, path) for name, path in value["parts"])})


@dataclass(slots=True)
class Inputs:
    """Everything that a scan was given.

    Attributes:
        items: What is scanned, sorted by name.
        phones: Phones as they were written (`adb:SERIAL`).
        catalogs: Folders of other catalogs.
    """

    items: list[Item] = field(default_factory=list)
    phones: list[str] = field(default_factory=list)
    catalogs: list[str] = field(default_factory=list)


def list_inputs(spelled: Iterable[str]) -> Inputs:
    """Return what sources stand for.

    Args:
        spelled: Paths, `@LIST` for a file with one source a line, URLs that fsspec reads, `adb:[SERIAL]`.

    Returns:
        The inputs. Each file is there once, however often it is named. A path is called as it is written; an
        absolute one, which says where on this machine it is, by its last part, and one in a list by what it
        has beyond the folder that all absolute paths of the list have in common.

    Raises:
        UsageError: a source is empty, or its scheme is not known or needs a package that is not installed.
        InputError: a list cannot be read.
    """
    return _Listing().run(spelled)


class _Listing:
    def __init__(self) -> None:
        self._inputs = Inputs()
        self._by_name: dict[str, Item] = {}
        self._locations: set[tuple[str, str]] = set()

    def run(self, spelled: Iterable[str]) -> Inputs:
        for one in spelled:
            if one.startswith(LIST_MARK):
                self._add_list(one.removeprefix(LIST_MARK))
            else:
                self._add(one, _called(one))
        self._inputs.items = [self._by_name[name] for name in sorted(self._by_name)]
        return self._inputs

    def _add_list(self, path: str) -> None:
        lines = list(_lines_of(path))
        absolute = [line for line in lines if os.path.isabs(line)]  # noqa: PTH117 - a text, no path yet
        common = os.path.commonpath(map(os.path.dirname, absolute)) if absolute else ""
        for line in lines:
            if line.startswith(LIST_MARK):
                self._put(Item(printable(line), "refused", reason="a list in a list is not followed"))
            else:
                is_below = line in absolute if len(absolute) < len(lines) else True
                self._add(line, _called(line, below=common if is_below and absolute else ""))

    def _add(self, spelled: str, name: str) -> None:
        if not spelled:
            raise UsageError("the path is empty", hint="A folder is `.`")
        if spelled.startswith(PHONE_SCHEME):
            self._inputs.phones.append(spelled)
        elif is_remote(spelled):
            self._add_remote(spelled)
        elif Path(spelled, CATALOG_FILE).is_file():
            self._inputs.catalogs.append(spelled)
        elif _is_folder(spelled):
            self._add_folder(spelled, name)
        else:
            self._put(_file_item(spelled, name))

    def _add_remote(self, spelled: str) -> None:
        try:
            for url in find_remote(spelled):
                self._put(Item(url, "remote", url))
        except InputError as error:
            self._put(Item(printable(spelled), "refused", reason=error.message))

    def _add_folder(self, spelled: str, name: str) -> None:
        root = os.path.abspath(spelled)  # noqa: PTH100 - Path.absolute keeps `..`
        scan = scan_folder(root, "")
        for module in scan.modules:
            sets = [(one, source_set.spelled) for one, source_set in module.source_sets.items()]
            self._put(_module_item(root, name, sets))
        for path, inner in scan.archives:
            self._put(Item(join_spelled(name, inner), "apk", path))
        for path, inner in scan.loose_files:
            self._put(Item(join_spelled(name, inner), "descriptor", path))
        for problem in scan.problems:
            place = join_spelled(name, problem.place or "")
            self._put(Item(place, "refused", reason=problem.message))

    def _put(self, item: Item) -> None:
        location = (item.kind if item.kind == "module" else "", item.location)
        if item.location and location in self._locations:
            return
        self._locations.add(location)
        name, number = item.source, 1
        while item.source in self._by_name:
            number += 1
            item = Item(f"{name} ({number})", item.kind, item.location, item.parts, item.reason)
        self._by_name[item.source] = item


def _called(spelled: str, *, below: str = "") -> str:
    """Return how a path is called in a catalog."""
    if is_remote(spelled) or spelled.startswith(PHONE_SCHEME):
        return spelled
    if not os.path.isabs(spelled):  # noqa: PTH117
        return printable(spelled)
    if below:
        return printable(os.path.relpath(spelled, below))
    return printable(Path(spelled).name or "root")


def _file_item(spelled: str, name: str) -> Item:
    try:
        location = os.path.abspath(spelled)  # noqa: PTH100
    except ValueError as error:
        return Item(name, "refused", reason=f"it cannot be read: {error}")
    kind: ItemKind = "apk" if spelled.lower().endswith(ARCHIVE_ENDINGS) else "file"
    return Item(name, kind, location)


def _module_item(root: str, name: str, sets: Sequence[tuple[str, str]]) -> Item:
    """Return the item of a module whose source sets are below `root` at the given paths."""
    parts = sets[0][1].split("/") if sets[0][1] else []
    is_usual = len(parts) > 1 and parts[-2] == "src"
    inner = "/".join(parts[:-2] if is_usual else parts)
    below = tuple((one, path.removeprefix(inner).lstrip("/")) for one, path in sets)
    return Item(join_spelled(name, inner) or ".", "module", f"{root}/{inner}".rstrip("/"), below)


def _is_folder(spelled: str) -> bool:
    try:
        return Path(spelled).is_dir()
    except (OSError, ValueError):
        return False


def _lines_of(path: str) -> Iterator[str]:
    try:
        with Path(path).open("rb") as file:
            for raw in file:
                line = raw.decode("utf-8", "surrogateescape").strip().removeprefix("\ufeff")
                if line and not line.startswith("#"):
                    yield line
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise InputError(f"the list cannot be read: {reason}", place=printable(path)) from None
