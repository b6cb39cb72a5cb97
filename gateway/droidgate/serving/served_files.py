"""Files of calls through the server: those that an argument names, and those that a result names.

An MCP client has no path on the phone. The server's owner shares folders, and an argument
`droidgate://files/NAME` is a plain file directly in one of them; nothing else of this computer can be named.
A file is read through a descriptor that follows no symbolic link, into a private copy that the call sends.

Which kind of file an app returned is decided by its first bytes, never by its name.
"""

from __future__ import annotations

import base64
import binascii
import os
import shutil
import stat
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final
from urllib.parse import unquote

from droidgate.calls.screen.extension_tools import make_picture
from droidgate.computer.private_files import NO_LINK
from droidgate.serving.tools import ServedFile
from droidgate_mappings.model.errors import DroidgateError, UsageError
from droidgate_mappings.model.json_values import Json, pointer_token
from droidgate_mappings.records import dataclass
from droidgate_mappings.values.failures import Failure, call_error

SCHEME: Final = "droidgate://files/"
MAX_SENT_BYTES: Final = 64 * 1024 * 1024

_MOST_LISTED: Final = 20
_MOST_SCANNED: Final = 10_000
_NO_WAITING: Final = getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
_MOST_IMAGES: Final = 20
_SHORTEST_IMAGE: Final = 32
_LONGEST_IMAGE: Final = 512 * 1024

_LONGEST_SIDE: Final = 1_024
"""Pixels of a screen's picture: as of `take_screenshot`."""

_UNKNOWN: Final = "application/octet-stream"
_TEXT: Final = "text/plain"
_KINDS: Final = (
    (b"\x89PNG\r\n\x1a\n", 0, b"", "image/png"),
    (b"\xff\xd8\xff", 0, b"", "image/jpeg"),
    (b"GIF87a", 0, b"", "image/gif"),
    (b"GIF89a", 0, b"", "image/gif"),
    (b"RIFF", 8, b"WEBP", "image/webp"),
    (b"RIFF", 8, b"WAVE", "audio/wav"),
    (b"OggS", 0, b"", "audio/ogg"),
    (b"ID3", 0, b"", "audio/mpeg"),
    (b"%PDF-", 0, b"", "application/pdf"),
    (b"PK\x03\x04", 0, b"", "application/zip"),
)
"""Start of a file, a place in it and what is there, and its media type. No type that a client may run."""


@dataclass(frozen=True, slots=True)
class SharedFolders:
    """The folders whose files a client may send to apps.

    Attributes:
        folders: Each absolute, without symbolic links.
    """

    folders: tuple[Path, ...] = ()

    @classmethod
    def of(cls, folders: Sequence[str | os.PathLike[str]]) -> SharedFolders:
        """Return the folders that the server's owner names.

        Raises:
            UsageError: a folder is missing.
        """
        resolved = []
        for folder in folders:
            path = Path(os.path.realpath(folder))
            if not path.is_dir():
                raise UsageError(f"--files: {str(folder)!r} is not a folder", hint="name an existing folder")
            resolved.append(path)
        return cls(tuple(resolved))

    @contextmanager
    def copies(self, arguments: Mapping[str, Json]) -> Iterator[tuple[dict[str, Json], dict[str, Path]]]:
        """Yield the arguments that do not name files, and for the others a private copy of the file.

        Raises:
            CallError: an argument names a file that the client may not send; nothing was copied.
        """
        names = {name: value for name, value in arguments.items() if _is_named(value)}
        rest = {name: value for name, value in arguments.items() if name not in names}
        for name, value in rest.items():
            if names_files(value):
                raise _file_error(name, "a file can only be an argument of its own, not a part of one")
        if not names:
            yield rest, {}
            return
        with tempfile.TemporaryDirectory(prefix="droidgate-") as folder:
            copies = {}
            for number, (name, value) in enumerate(names.items()):
                source = self._find(name, unquote(str(value).removeprefix(SCHEME)))
                place = Path(folder) / str(number)
                place.mkdir()
                copies[name] = place / source.name
                _copy(name, source, copies[name])
            yield rest, copies

    def _find(self, argument: str, name: str) -> Path:
        """Return a file by its name among those that are there, so that no name leads elsewhere."""
        if not self.folders:
            raise _file_error(
                argument, "this server shares no files", "start it with `droidgate serve --files FOLDER`"
            )
        files = [file for folder in self.folders for file in _files_in(folder)]
        matches = [file for file in files if file.name == name]
        if len(matches) == 1:
            return matches[0]
        if matches:
            raise _file_error(argument, f'several shared folders have a file "{name}"')
        listed = ", ".join(sorted({file.name for file in files})[:_MOST_LISTED])
        raise _file_error(argument, f'no shared file is called "{name}"; there are: {listed or "none"}')


def _files_in(folder: Path) -> Iterator[Path]:
    """Yield the plain files of a folder; hidden ones and symbolic links are not shared."""
    try:
        with os.scandir(folder) as entries:
            for _, entry in zip(range(_MOST_SCANNED), entries, strict=False):
                if not entry.name.startswith(".") and entry.is_file(follow_symlinks=False):
                    yield folder / entry.name
    except OSError:
        return


def _copy(argument: str, source: Path, copy: Path) -> None:
    try:
        descriptor = os.open(source, os.O_RDONLY | _NO_WAITING | NO_LINK)
        with os.fdopen(descriptor, "rb") as opened, copy.open("xb") as sink:
            status = os.fstat(descriptor)
            if not stat.S_ISREG(status.st_mode):
                raise _file_error(argument, f'"{source.name}" is not a plain file')
            if status.st_size > MAX_SENT_BYTES:
                text = f'"{source.name}" has {status.st_size:,} bytes, more than {MAX_SENT_BYTES:,}'
                raise _file_error(argument, text)
            shutil.copyfileobj(opened, sink)
    except OSError as error:
        raise _file_error(argument, f'"{source.name}" cannot be read: {error.strerror}') from None


def _is_named(value: Json) -> bool:
    return isinstance(value, str) and value.startswith(SCHEME)


def names_files(value: Json) -> bool:
    """Return whether an argument names a file that the user shares, or has a part that does."""
    if isinstance(value, Mapping):
        return any(map(names_files, value.values()))
    if isinstance(value, list):
        return any(map(names_files, value))
    return _is_named(value)


def _file_error(argument: str, text: str, hint: str | None = None) -> DroidgateError:
    pointer = f"/{pointer_token(argument)}"
    return call_error(Failure("invalid_argument", f"{pointer}: {text}"), pointer=pointer, hint=hint)


def media_type_of(data: bytes) -> str:
    """Return the media type of a file by its bytes; what is not known is plain text or bytes."""
    for start, place, marker, media_type in _KINDS:
        if data.startswith(start) and data[place : place + len(marker)] == marker:
            return media_type
    try:
        text = data.decode()
    except UnicodeDecodeError:
        return _UNKNOWN
    return _UNKNOWN if "\0" in text else _TEXT


def take_images(value: Json) -> tuple[Json, tuple[ServedFile, ...]]:
    """Return a result with a few words in place of the images that it holds, and these.

    An image is base64 or a `data:` URI; at most 20 of up to 512 KiB are found.
    """
    images: list[ServedFile] = []
    return _without_images(value, images), tuple(images)


def _without_images(value: Json, images: list[ServedFile]) -> Json:
    if isinstance(value, Mapping):
        return {name: _without_images(member, images) for name, member in value.items()}
    if isinstance(value, list):
        return [_without_images(item, images) for item in value]
    is_short = not isinstance(value, str) or not _SHORTEST_IMAGE < len(value) <= _LONGEST_IMAGE * 4 // 3
    image = None if is_short or len(images) >= _MOST_IMAGES else _image_of(str(value))
    if image is None:
        return value
    images.append(image)
    return f"[image {len(images)} of this result: {image.mime_type}, {len(image.data):,} bytes]"


def screen_picture(uri: str) -> tuple[Json, tuple[ServedFile, ...]]:
    """Return what a model has to know of a picture of a screen, and the picture, small enough to be shown.

    Args:
        uri: The picture as the phone sent it, a `data:` URI.

    Raises:
        InputError: the picture cannot be read.
    """
    data = base64.b64decode(uri.partition(",")[2])
    picture = make_picture(data, max_size=_LONGEST_SIDE, file_format="jpeg")
    size, of_screen = (f"{width} x {height}" for width, height in (picture.size, picture.screen_size))
    text = f"The picture has {size} pixels, the screen {of_screen}: tap and swipe take pixels of the screen."
    return text, (ServedFile("screen", "image/jpeg", picture.data),)


def _image_of(text: str) -> ServedFile | None:
    encoded = text.partition(";base64,")[2] if text.startswith("data:image/") else text
    try:
        # The start decides in most cases, before the whole is decoded.
        if not media_type_of(base64.b64decode(encoded[:_SHORTEST_IMAGE], validate=True)).startswith("image/"):
            return None
        data = base64.b64decode(encoded, validate=True)
    except (binascii.Error, ValueError):
        return None
    return ServedFile("image", media_type_of(data), data)
