"""The bearer token of the HTTP server: made once, kept in a file that only its user can read."""

from __future__ import annotations

import hashlib
import hmac
import os
import secrets
import stat
from pathlib import Path
from typing import Final

from droidgate.model.errors import InputError
from droidgate.user_folders import configuration_folder

_FILE_NAME: Final = "serve-token"
_BYTES: Final = 32
_SHORTEST: Final = 22
"""Characters of base64 that hold 128 bits."""
_LONGEST: Final = 4_096


def token_file() -> Path:
    """Return where the token of this user is kept; the file may not exist yet."""
    return configuration_folder() / _FILE_NAME


def read_or_make_token(path: Path) -> str:
    """Return the token in a file; without the file, make one of 256 random bits.

    Raises:
        InputError: the file is somebody else's, others can read it, or it does not hold a token.
    """
    try:
        descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0))
    except FileNotFoundError:
        return _make_token(path)
    except OSError as error:
        raise InputError(
            f"the token file cannot be read: {error.strerror}", place=str(path), hint="Remove it"
        ) from None
    with os.fdopen(descriptor, encoding="ascii", errors="replace") as file:
        status = os.fstat(file.fileno())
        if os.name == "posix" and (status.st_mode & 0o077 or status.st_uid != os.getuid()):
            raise InputError(
                f"others can read the token file (mode {stat.S_IMODE(status.st_mode):04o})",
                place=str(path),
                hint="Remove it: a new token is made",
            )
        token = file.read(_LONGEST).strip()
    if len(token) < _SHORTEST or not token.isascii() or not token.isprintable() or " " in token:
        raise InputError(
            f"the token file does not hold a token of at least {_SHORTEST} characters",
            place=str(path),
            hint="Remove it: a new token is made",
        )
    return token


def _make_token(path: Path) -> str:
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    token = secrets.token_urlsafe(_BYTES)
    partial = path.with_name(f".{path.name}.{os.getpid()}")
    partial.unlink(missing_ok=True)
    descriptor = os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "w", encoding="ascii") as file:
        file.write(f"{token}\n")
    try:
        # Of two servers that start at once, one makes the file; the other reads it.
        os.link(partial, path)
    except FileExistsError:
        return read_or_make_token(path)
    finally:
        partial.unlink()
    return token


class TokenCheck:
    """Compares what a client sends with the token; the time does not depend on where they differ."""

    def __init__(self, token: str) -> None:
        self._digest = hashlib.sha256(token.encode("ascii")).digest()

    def accepts(self, authorization: bytes | None) -> bool:
        """Return whether an `Authorization` header has the token."""
        scheme, _, sent = (authorization or b"").partition(b" ")
        digest = hashlib.sha256(sent.strip(b" ")).digest()
        return hmac.compare_digest(digest, self._digest) and scheme.lower() == b"bearer"
