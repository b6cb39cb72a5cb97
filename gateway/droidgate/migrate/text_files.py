"""Text files that keep their encoding: what is read and written back has the same bytes."""

from __future__ import annotations

import codecs
import os
import re
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from droidgate.model.errors import InputError, WriteError

_MARKS: Final = ((codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be"))
_DECLARED: Final = re.compile(rb"(?:\xef\xbb\xbf)?<\?xml[^>]*?encoding\s*=\s*[\"']([A-Za-z0-9._-]+)[\"']")


@dataclass(frozen=True, slots=True)
class TextFile:
    """A file's text, byte order mark and line ends included, and the encoding that gives its bytes back."""

    text: str
    encoding: str = "utf-8"


def read_text_file(path: Path) -> TextFile:
    """Read a text file in the encoding that its first bytes tell; UTF-8 where they tell none.

    Raises:
        InputError: it cannot be read, or its bytes are not of that encoding.
    """
    try:
        data = path.read_bytes()
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror}", place=str(path)) from None
    encoding = _encoding_of(data)
    try:
        text = data.decode(encoding)
    except (UnicodeDecodeError, LookupError):
        message = f"it is not in the encoding it seems to have ({encoding})"
        raise InputError(message, place=str(path), hint="Save the file as UTF-8") from None
    return TextFile(text, encoding)


def _encoding_of(data: bytes) -> str:
    for mark, encoding in _MARKS:
        if data.startswith(mark):
            return encoding
    declared = _DECLARED.match(data)
    return declared[1].decode("ascii").lower() if declared is not None else "utf-8"


def replace_file(path: Path, text: str, encoding: str) -> None:
    """Write a file as a whole or not at all; its permissions stay. Folders are made.

    A character that the encoding does not have becomes a character reference of XML.

    Raises:
        WriteError: it cannot be written.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        mode = path.stat().st_mode & 0o777 if path.exists() else 0o666 & ~_umask()
        handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
        with os.fdopen(handle, "wb") as file:
            file.write(text.encode(encoding, "xmlcharrefreplace"))
        Path(temporary).chmod(mode)
        Path(temporary).replace(path)
    except OSError as error:
        raise WriteError(f"cannot be written: {error.strerror}", place=str(path)) from None


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
