"""The bearer token of the HTTP server: made once, kept in a file that only its user can read."""

from __future__ import annotations

import hashlib
import hmac
import os
import re
import secrets
import stat
from pathlib import Path
from typing import Final

from droidgate.computer.private_files import exclusive_file
from droidgate_mappings.model.errors import InputError
from droidgate_mappings.user_folders import configuration_folder

_FILE_NAME: Final = "serve-token"
_BYTES: Final = 32
_SHORTEST: Final = 22
"""Characters of base64 that hold 128 bits."""
_LONGEST: Final = 4_096
_TOKEN: Final = re.compile(r"[A-Za-z0-9._~+/=-]+")
_WAY_OUT: Final = "remove it: a new token is made"


def token_file(name: str = _FILE_NAME) -> Path:
    """Return where a token of this user is kept; the file may not exist yet."""
    return configuration_folder() / name


def read_or_make_token(path: Path) -> str:
    """Return the token in a file; where there is none, make one of 256 random bits.

    Raises:
        InputError: the file is not the user's alone, or does not hold a token.
        WriteError: it cannot be opened or made.
    """
    with exclusive_file(path) as descriptor:
        mode = stat.S_IMODE(os.fstat(descriptor).st_mode)
        if os.name == "posix" and mode & 0o077:
            message = f"other users of this computer may read the token (mode {mode:04o})"
            raise InputError(message, place=str(path), hint=_WAY_OUT)
        token = os.read(descriptor, _LONGEST).decode("ascii", "replace").strip()
        if not token:
            token = secrets.token_urlsafe(_BYTES)
            os.write(descriptor, f"{token}\n".encode("ascii"))
            os.fsync(descriptor)
    if not is_token(token, strong=True):
        message = f"the file does not hold a token of at least {_SHORTEST} characters"
        raise InputError(message, place=str(path), hint=_WAY_OUT)
    return token


def is_token(text: str, *, strong: bool) -> bool:
    """Return whether a text can be a bearer token (RFC 6750, 2.1).

    Args:
        text: Any text.
        strong: It must also have at least the characters that 128 random bits take.
    """
    return _TOKEN.fullmatch(text) is not None and (len(text) >= _SHORTEST or not strong)


class TokenCheck:
    """Compares what a client sends with the token; the time does not depend on where they differ."""

    def __init__(self, token: str) -> None:
        self._digest = hashlib.sha256(token.encode("ascii")).digest()

    def accepts(self, authorization: bytes | None) -> bool:
        """Return whether an `Authorization` header has the token."""
        scheme, _, sent = (authorization or b"").partition(b" ")
        digest = hashlib.sha256(sent.strip(b" ")).digest()
        return hmac.compare_digest(digest, self._digest) and scheme.lower() == b"bearer"
