"""What a scan looks at: paths, folders, lists of paths, remote files, phones and other catalogs, spelled out.

Nothing is opened here but folders and lists. What cannot be looked at is an item too, with its reason: one
bad line of a list is one row of the catalog. A source that was named itself and is not there is an error.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal

from droidgate.computer.missing_files import hint_of_missing
from droidgate.coverage.remote_files import UnknownSchemeError, find_remote, is_remote, without_password
from droidgate.sources.archives import is_packed_folder
from droidgate.sources.catalogs.catalog_files import CATALOG_FILE, catalog_folder
from droidgate.sources.folders import ARCHIVE_ENDINGS, scan_folder
from droidgate.sources.source_schemes import DEVICE_SCHEME, GIT_SCHEME
from droidgate_mappings.formats.format import load_formats
from droidgate_mappings.model.errors import InputError, UsageError
from droidgate_mappings.records import dataclass, field, replace
from droidgate_mappings.text.shown_paths import join_shown, printable

if TYPE_CHECKING:
    from droidgate.sources.packed_folders import UnpackedFolder

LIST_MARK: Final = "@"

ItemKind = Literal[
    "apk", "app", "module", "code", "descriptor", "file", "remote", "installed", "refused", "declaration"
]


@dataclass(frozen=True, slots=True)
class Item:
    """One thing to scan, as plain values that travel to other processes.

    Attributes:
        source: How it is called in the catalog.
        kind: `apk` (or a container of them), `app` (base and splits), `module` of a build, `code` (all files
            of source code of a folder that are in no module), `descriptor`, `file` (any of these but a
            module, recognised by its content), `remote`, `installed` (an app of a phone), `refused`,
            `declaration` (a provider of a catalog).
        location: Where it is: an absolute path or a URL; the folder of a module or of code; the JSON of
            a declaration; empty for `installed` and `refused`.
        parts: Splits, or files of code: name and path.
        reason: Why it is refused.
        root: The folder that was named, which no file of a module or descriptor may be outside of; empty
            where the file itself was named.
        layout: Where the parts of a module are below `root` (`ModuleLayout.as_json`).
    """

    source: str
    kind: ItemKind
    location: str = ""
    parts: tuple[tuple[str, str], ...] = ()
    reason: str | None = None
    root: str = ""
    layout: dict[str, Any] = field(default_factory=dict)

    def as_json(self) -> dict[str, Any]:
        """Return it as JSON values."""
        return asdict(self)

    @classmethod
    def from_json(cls, value: dict[str, Any]) -> Item:
        """Undo `as_json`."""
        return cls(**{**value, "parts": tuple((name, path) for name, path in value["parts"])})


def state_of(item: Item) -> list[int] | None:
    """Return size and time of change of each file on this machine: of an app, of its splits too.

    None of a module, of code, and of what is not here.
    """
    if item.kind in {"module", "code", "remote", "refused"} or not item.location:
        return None
    try:
        paths = (item.location, *(path for _, path in item.parts))
        statuses = [os.stat(path) for path in paths]  # noqa: PTH116 - a million times
    except (OSError, ValueError):
        return None
    return [number for status in statuses for number in (status.st_size, status.st_mtime_ns)]


@dataclass(slots=True)
class Inputs:
    """Everything that a scan was given.

    Attributes:
        items: What is scanned, sorted by name.
        phones: Phones as they were written (`adb:SERIAL`), each once.
        catalogs: Folders of other catalogs, each once, by what goes before the names of their sources.
        unpacked: Archives that were looked into, whose files are on disk as long as this is held.
    """

    items: list[Item] = field(default_factory=list)
    phones: list[str] = field(default_factory=list)
    catalogs: dict[str, str] = field(default_factory=dict)
    unpacked: list[UnpackedFolder] = field(default_factory=list)


def list_inputs(sources: Iterable[str], *, leave_out: str | Path | None = None) -> Inputs:
    """Return the inputs that sources name.

    Args:
        sources: Paths, `@LIST` for a file with one source a line, URLs that fsspec reads, `adb:[SERIAL]`.
        leave_out: A folder whose files are not inputs: that of the catalog, which a source may have inside.

    Returns:
        The inputs. Each file is there once, however often it is named. A path is called as it is written,
        without `./` and the like; an absolute one, which says where on this machine it is, by its last part,
        and one in a list by what it has beyond the folder that all absolute paths of the list have in common.

    Raises:
        UsageError: a source is empty, its scheme is not known (in a list that is a refused item), or needs a
            package that is not installed.
        InputError: a source is not there (in a list it is an item that cannot be read), or a list cannot be
            read.
    """
    return _Listing(leave_out).run(sources)


class _Listing:
    def __init__(self, leave_out: str | Path | None) -> None:
        self._inputs = Inputs()
        self._by_name: dict[str, Item] = {}
        self._times: dict[str, int] = {}
        self._locations: set[tuple[str, str]] = set()
        self._catalogs: dict[str, str] = {}
        self._left_out = None if leave_out is None else f"{os.path.abspath(leave_out)}/"  # noqa: PTH100

    def run(self, sources: Iterable[str]) -> Inputs:
        source_names = list(sources)
        for item in source_names:
            if item and not (item.startswith((LIST_MARK, DEVICE_SCHEME, GIT_SCHEME)) or is_remote(item)):
                _check_that_it_is_there(item)
        for item in source_names:
            if item.startswith(LIST_MARK):
                self._add_list(item.removeprefix(LIST_MARK))
            else:
                self._add(item, _catalog_name(item))
        self._inputs.items = [self._by_name[name] for name in sorted(self._by_name)]
        self._inputs.phones = list(dict.fromkeys(self._inputs.phones))
        self._name_catalogs()
        return self._inputs

    def _name_catalogs(self) -> None:
        """Name each catalog by its folder's last part, so that no source of it has another one's name."""
        used_names = {name.partition("/")[0] for name in self._by_name}
        for resolved, source in self._catalogs.items():
            name = first = printable(resolved.rpartition("/")[2] or "root")
            number = 1
            while name in used_names:
                number += 1
                name = f"{first} ({number})"
            used_names.add(name)
            self._inputs.catalogs[name] = source

    def _add_list(self, path: str) -> None:
        lines = list(_lines_of(path))
        absolute = [line for line in lines if os.path.isabs(line)]  # noqa: PTH117 - a text, no path yet
        common = os.path.commonpath(map(os.path.dirname, absolute)) if absolute else ""
        for line in lines:
            if line.startswith(LIST_MARK):
                self._put(Item(printable(line), "refused", reason="a list in a list is not followed"))
                continue
            try:
                self._add(line, _catalog_name(line, below=common))
            except UnknownSchemeError as error:
                self._put(Item(printable(without_password(line)), "refused", reason=error.message))

    def _add(self, source: str, name: str) -> None:
        if not source:
            raise UsageError("the path is empty", hint="a folder is `.`")
        if source.startswith(DEVICE_SCHEME):
            self._inputs.phones.append(source)
        elif is_remote(source):
            self._add_remote(source)
        elif _is_there(Path.is_file, Path(source, CATALOG_FILE)):
            self._catalogs.setdefault(os.path.realpath(source), source)
        elif (catalog := catalog_folder(source)) is not None:
            self._catalogs.setdefault(os.path.realpath(catalog), str(catalog))
        elif _is_there(Path.is_dir, Path(source)):
            self._add_folder(source, name)
        elif is_packed_folder(source):
            self._add_packed(source, name)
        else:
            self._put(_file_item(source, name))

    def _add_remote(self, source: str) -> None:
        try:
            for url in find_remote(source):
                self._put(Item(without_password(url), "remote", url))
        except InputError as error:
            self._put(Item(printable(without_password(source)), "refused", reason=error.message))

    def _add_folder(self, folder: str, name: str, unpacked: UnpackedFolder | None = None) -> None:
        root = os.path.abspath(folder)  # noqa: PTH100 - Path.absolute keeps `..`
        scan = scan_folder(root, "", load_formats().values())
        for layout in scan.layouts:
            place = f"{root}/{layout.folder}".rstrip("/")
            source = join_shown(name, layout.folder) or "."
            self._put(Item(source, "module", place, root=root, layout=layout.as_json()))
        for path, inner in scan.archives:
            self._put(Item(join_shown(name, inner), "apk", path))
        for path, inner in scan.loose_files:
            self._put(Item(join_shown(name, inner), "descriptor", path, root=root))
        self._add_code(root, name, scan.loose_code)
        for problem in scan.problems:
            place = join_shown(name, problem.place or "")
            self._put(Item(place, "refused", reason=problem.message))

        for path, inner in scan.packed:
            place = join_shown(name, inner)
            if unpacked is not None:
                self._put(Item(place, "refused", reason="it is an archive in an archive"))
            elif is_packed_folder(path) and not self._is_left_out(path):
                self._add_packed(path, place)

    def _add_packed(self, path: str, name: str) -> None:
        from droidgate.sources.packed_folders import unpack

        location = ("", os.path.abspath(path))  # noqa: PTH100
        if location in self._locations:
            return
        self._locations.add(location)
        try:
            unpacked = unpack(path, name)
        except InputError as error:
            self._put(Item(name, "refused", reason=error.message))
            return
        self._inputs.unpacked.append(unpacked)
        for problem in unpacked.problems:
            self._put(Item(problem.place or name, "refused", reason=problem.message))
        self._add_folder(unpacked.folder, name, unpacked)

    def _add_code(self, root: str, name: str, files: Iterable[tuple[str, str]]) -> None:
        """Add the source code of a folder as one input: a file of it may use types of another one."""
        parts = tuple(
            (inner, path)
            for path, inner in files
            if ("", path) not in self._locations and not self._is_left_out(path)
        )
        if parts:
            self._locations.update(("", path) for _, path in parts)
            endings = dict.fromkeys(f"*{os.path.splitext(inner)[1]}" for inner, _ in parts)  # noqa: PTH122
            self._put(Item(join_shown(name, ",".join(endings)), "code", root, parts, root=root))

    def _is_left_out(self, path: str) -> bool:
        return self._left_out is not None and path.startswith(self._left_out)

    def _put(self, item: Item) -> None:
        location = (item.kind if item.kind in {"module", "code"} else "", item.location)
        if item.location and location in self._locations:
            return
        if item.kind not in {"module", "code"} and self._is_left_out(item.location):
            return
        self._locations.add(location)
        name = item.source
        while item.source in self._by_name:
            self._times[name] = self._times.get(name, 1) + 1
            item = replace(item, source=f"{name} ({self._times[name]})")
        self._by_name[item.source] = item


def _catalog_name(source: str, *, below: str = "") -> str:
    """Return how a path is called in a catalog."""
    if is_remote(source) or source.startswith((DEVICE_SCHEME, GIT_SCHEME)):
        return source
    if not os.path.isabs(source):  # noqa: PTH117
        return printable(os.path.normpath(source))
    if below:
        return printable(os.path.relpath(source, below))
    return printable(Path(source).name or "root")


def _check_that_it_is_there(source: str) -> None:
    """Refuse a source that the user named and that nobody can look at, before anything is read.

    Raises:
        InputError: the source does not exist.
    """
    try:
        os.stat(source)  # noqa: PTH116 - Path drops what makes a name odd
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        guess = hint_of_missing(Path(source)) if isinstance(error, FileNotFoundError) else ""
        guess += " " if guess.endswith("?") else "; " if guess else ""
        hint = f"{guess}a source is an APK, a folder, a descriptor, @LIST, a URL, adb:, git: or a catalog"
        raise InputError(f"cannot be read: {reason}", place=printable(source), hint=hint) from None


def _file_item(source: str, name: str) -> Item:
    try:
        location = os.path.abspath(source)  # noqa: PTH100
    except ValueError as error:
        return Item(name, "refused", reason=f"cannot be read: {error}")
    kind: ItemKind = "apk" if source.lower().endswith(ARCHIVE_ENDINGS) else "file"
    return Item(name, kind, location)


def _is_there(is_such: Callable[[Path], bool], path: Path) -> bool:
    """Return whether something is there that can be looked at; `Path` itself raises on a name too long."""
    try:
        return is_such(path)
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
        hint = "@LIST is a file with one source a line; ./@NAME is a source whose name begins so"
        raise InputError(f"the list cannot be read: {reason}", place=printable(path), hint=hint) from None
