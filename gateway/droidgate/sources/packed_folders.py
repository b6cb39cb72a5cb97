"""Archives of folders (`.zip`, `.whl`, `.tgz`, `.tar.gz`, `.tar`) and revisions of Git repositories (`git:`),
unpacked into a private folder to be read.

Whoever made one chose its names, sizes and links: only regular files are taken, each below the folder,
within a budget. An archive in an archive is not unpacked.
"""

from __future__ import annotations

import shutil
import stat
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from tempfile import mkdtemp
from typing import IO, Final
from weakref import finalize

from droidgate.sources.folders import ARCHIVE_ENDINGS, is_skipped_folder, read_bytes
from droidgate.sources.git_revisions import files_of
from droidgate.sources.source_schemes import GIT_SCHEME
from droidgate_android.apk.file_kinds import is_zip
from droidgate_android.projects.project_files import MAX_FILE_BYTES, read_start
from droidgate_mappings.model.errors import BudgetError, InputError
from droidgate_mappings.records import dataclass
from droidgate_mappings.text.shown_paths import join_shown, printable

MAX_BYTES: Final = 1 << 29
"""Bytes of all files that are taken out of one archive."""

MAX_FILES: Final = 100_000
MAX_TAR_BYTES: Final = 1 << 31
"""Bytes of a tar once it is decompressed, those of entries that are passed over included."""

_PIECE: Final = 1 << 20
_UTF_8_NAME: Final = 0x800
"""Bit 11 of an entry's flags (APPNOTE 4.4.4)."""
_ZIP_FILE_TYPES: Final = frozenset({0, stat.S_IFREG})
_BROKEN: Final = (
    zipfile.BadZipFile, tarfile.TarError, zlib.error, EOFError, OSError, RuntimeError, NotImplementedError,
    ValueError,
)  # fmt: skip
"""What the readers of Python raise for a broken archive, an encrypted one, an unknown compression, and a name
that no file can have."""


@dataclass(frozen=True, slots=True, weakref_slot=True)
class UnpackedFolder:
    """The files of an archive in a folder of their own, which is removed when nobody holds this any more.

    Attributes:
        shown: The archive as the user wrote it; the paths of its files begin with it.
        folder: The folder's path on disk.
        problems: What was left out.
    """

    shown: str
    folder: str
    problems: tuple[InputError, ...] = ()

    def __post_init__(self) -> None:
        finalize(self, shutil.rmtree, self.folder, ignore_errors=True)

    def read(self, path: str) -> bytes | None:
        """Return the content of a file by its shown path; None for a file that is not in the archive."""
        inner = path.removeprefix(join_shown(self.shown, "-")[:-1])
        if inner == path:
            return None
        try:
            return read_bytes(f"{self.folder}/{inner}", label=path, root=self.folder)
        except InputError:
            return None


def unpack(path: str, label: str | None = None) -> UnpackedFolder:
    """Unpack an archive, or the files of a revision.

    Args:
        path: The archive, or `git:REVISION[:PATH]`.
        label: How errors and the paths of its files name it, as `path` by default.

    Raises:
        InputError: it is broken or encrypted, or there is no such revision.
        BudgetError: it holds too much.
    """
    place = printable(path if label is None else label)
    folder = mkdtemp(prefix="droidgate-")
    left_out: list[str] = []
    try:
        _take_out(path, place, folder, left_out)
    except BaseException as error:
        shutil.rmtree(folder, ignore_errors=True)
        if isinstance(error, _BROKEN):
            raise InputError(f"the archive cannot be unpacked: {error}", place=place) from None
        raise
    message = "it is left out: its name leads out of the archive's folder, or is that of another entry"
    problems = tuple(InputError(message, place=join_shown(place, name)) for name in left_out)
    return UnpackedFolder(place, folder, problems)


def _take_out(path: str, place: str, folder: str, left_out: list[str]) -> None:
    remaining = MAX_BYTES
    for number, (name, size, open_member) in enumerate(_members_of(path, place), 1):
        if number > MAX_FILES:
            raise BudgetError(f"the archive holds more than {MAX_FILES} files", place=place)
        parts = name.replace("\\", "/").split("/")
        if any(is_skipped_folder(part) for part in parts[:-1] if part not in {".", ".."}):
            continue
        if ".." in parts or not parts[0] or ":" in parts[0]:
            left_out.append(name)
            continue
        if size > MAX_FILE_BYTES and not name.lower().endswith(ARCHIVE_ENDINGS):
            continue
        target = Path(folder, *parts)
        try:
            target.parent.mkdir(parents=True, exist_ok=True)
            file = target.open("xb")
        except (FileExistsError, NotADirectoryError, IsADirectoryError):
            left_out.append(name)
            continue
        with file, open_member() as member:
            while piece := member.read(min(_PIECE, remaining + 1)):
                remaining -= len(piece)
                if remaining < 0:
                    message = f"the archive unpacks to more than {MAX_BYTES} bytes"
                    raise BudgetError(message, place=place, hint="unpack it, and name a folder of it")
                file.write(piece)


def _members_of(path: str, place: str) -> Iterator[tuple[str, int, Callable[[], IO[bytes]]]]:
    """Yield name, size as stated, and opener of each regular file of an archive or a revision."""
    if path.startswith(GIT_SCHEME):
        yield from files_of(path)
        return
    if is_zip(read_start(path, 4)):
        with zipfile.ZipFile(path) as archive:
            for info in archive.infolist():
                if not info.is_dir() and stat.S_IFMT(info.external_attr >> 16) in _ZIP_FILE_TYPES:
                    yield _name_of(info), info.file_size, partial(archive.open, info)
        return
    with tarfile.open(path) as tar:
        for member in tar:
            if member.offset_data + member.size > MAX_TAR_BYTES:
                raise BudgetError(f"the archive has more than {MAX_TAR_BYTES} bytes", place=place)
            if member.isreg():
                yield member.name, member.size, partial(_open_in_tar, tar, member)


def _name_of(info: zipfile.ZipInfo) -> str:
    """Return the name of an entry; macOS and Info-ZIP write UTF-8 also where no flag of the entry says so."""
    try:
        return info.filename if info.flag_bits & _UTF_8_NAME else info.filename.encode("cp437").decode()
    except UnicodeError:
        return info.filename


def _open_in_tar(tar: tarfile.TarFile, member: tarfile.TarInfo) -> IO[bytes]:
    opened = tar.extractfile(member)
    if opened is None:
        raise tarfile.ExtractError("it is not a file")
    return opened
