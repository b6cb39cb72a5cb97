"""Text files that keep their encoding: what is read and written back has the same bytes."""

from __future__ import annotations

import codecs
import os
import re
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from droidgate_android.projects.project_files import read_project_file
from droidgate_mappings.model.errors import InputError, WriteError
from droidgate_mappings.text.encodings import find_encoding

_MARKS: Final = ((codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be"))
_DECLARED: Final = re.compile(rb"(?:\xef\xbb\xbf)?<\?xml[^>]*?encoding\s*=\s*[\"']([A-Za-z0-9._-]+)[\"']")
_SAVE_AS_UTF_8: Final = "save the file as UTF-8"


@dataclass(frozen=True, slots=True)
class EditedFile:
    """A file's text, byte order mark and line ends included, and the encoding that gives its bytes back."""

    text: str
    encoding: str = "utf-8"


def read_text_file(path: Path, project: Path) -> EditedFile:
    """Read a text file of a project in the encoding that its first bytes declare; UTF-8 where they do not.

    Args:
        path: The file.
        project: The folder that it must be in, links followed.

    Raises:
        InputError: it is not a regular file of the project, cannot be read, declares an encoding that is not
            one of text, or its bytes are not of that encoding.
        BudgetError: it is larger than a project's file may be.
    """
    data = read_project_file(path, root=project)
    encoding = _encoding_of(data, path)
    try:
        text = data.decode(encoding)
    except UnicodeError:
        message = f"it is not in the encoding it seems to have ({encoding})"
        raise InputError(message, place=str(path), hint=_SAVE_AS_UTF_8) from None
    return EditedFile(text, encoding)


def _encoding_of(data: bytes, path: Path) -> str:
    for mark, encoding in _MARKS:
        if data.startswith(mark):
            return encoding
    declared = _DECLARED.match(data)
    if declared is None:
        return "utf-8"
    name = declared[1].decode("ascii")
    if find_encoding(name) is None:
        message = f'it declares the encoding "{name}", which is not read'
        raise InputError(message, place=str(path), hint=_SAVE_AS_UTF_8)
    return name.lower()


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
