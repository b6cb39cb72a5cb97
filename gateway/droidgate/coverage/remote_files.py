"""Remote files through fsspec: whatever it has a file system for (`s3://`, `gs://`, `https://`...).

Of a large file only the pieces are fetched that a reader asks for, where the place gives pieces.
"""

from __future__ import annotations

import re
from contextvars import ContextVar
from functools import cache
from importlib import import_module
from typing import Any, Final

from droidgate.computer.optional_packages import need
from droidgate.sources.folders import ARCHIVE_ENDINGS
from droidgate_android.apk.apk_files import check_range
from droidgate_android.apk.bundle_files import TemporarySource
from droidgate_android.apk.byte_source import ByteSource
from droidgate_mappings.model.errors import BudgetError, DroidgateError, InputError, UsageError
from droidgate_mappings.records import dataclass
from droidgate_mappings.text.shown_paths import printable

MAX_REMOTE_BYTES: Final = 4 << 30
"""No remote file that is read is larger."""

LISTING_SECONDS: Final = 600.0
"""A place that takes longer to be listed is given up."""

MAX_ANSWER_BYTES: Final = 64 << 20
"""A web server that answers with more at once, such as a listing without end, is given up."""

MAX_LISTED: Final = 256 << 20
"""A listing on a web server with more characters in its answers and the URLs of its names is given up."""

_PLAIN: Final = "identity"

_SILENT_SECONDS: Final = 30
"""How long a web server may say nothing."""

_READ_WHOLE: Final = 1 << 20
"""A file that is no larger is fetched at once."""

_PIECE: Final = 256 << 10
_PIECES_KEPT: Final = 64

_URL: Final = re.compile(r"[a-z][a-z0-9+.-]*(?:::|://)", re.IGNORECASE)
_PASSWORD: Final = re.compile(r"(?<=://)[^/?#]*@")
_BLOCK: Final = 1 << 20
_WEB: Final = frozenset({"http", "https"})
_OF_THIS_PROCESS: Final = ("memory:",)


_NO_TAG: Final = re.compile(r"<[aA]\s(?![^<>]*>)")
_MANY_BLANKS: Final = re.compile(r"\s{3,}")


class UnknownSchemeError(UsageError):
    """A URL whose scheme nobody knows."""


def is_remote(source: str) -> bool:
    """Return whether a source is a URL."""
    return _URL.match(source) is not None


def is_only_here(url: str) -> bool:
    """Return whether other processes cannot read a URL."""
    return url.startswith(_OF_THIS_PROCESS)


def without_password(url: str) -> str:
    """Return a URL without the name and password of a user before its host."""
    return _PASSWORD.sub("", url)


def find_remote(url: str) -> list[str]:
    """Return the URLs of the APKs and containers at or below a URL, sorted; of a single file, itself.

    Raises:
        UnknownSchemeError: the scheme is not known.
        UsageError: the package behind it is not installed.
        InputError: the place cannot be listed.
    """
    system, path = _open_system(url)
    if path.lower().endswith(ARCHIVE_ENDINGS):
        return [url]
    try:
        if not url.endswith("/") and _ask(system, "isfile", path):
            return [url]
        _listed.set(_Listed())
        names = [name for name in _ask(system, "find", path) if name.lower().endswith(ARCHIVE_ENDINGS)]
    except Exception as error:  # noqa: BLE001 - each file system has errors of its own
        raise _remote_error("cannot be listed", error, url) from None
    if not names:
        raise InputError("it has no APK at or below it", place=printable(url))
    return sorted(str(system.unstrip_protocol(name)) for name in names)


def open_remote(url: str) -> ByteSource:
    """Open a remote file: a large one piece by piece, where that can be had, else fetched as a whole.

    Raises:
        InputError: it cannot be read.
        BudgetError: it is larger than `MAX_REMOTE_BYTES`.
    """
    system, path = _open_system(url)
    try:
        file = system.open(path, "rb", **_IN_PIECES)
    except Exception as error:  # noqa: BLE001 - each file system has errors of its own
        raise _remote_error("cannot be read", error, url) from None
    size = getattr(file, "size", None)
    if isinstance(size, int) and size > _READ_WHOLE and _gives_pieces(file, size):
        if size > MAX_REMOTE_BYTES:
            raise _too_large(url)
        return _InPieces(file, size, url)
    try:
        file.close()
    except Exception as error:  # noqa: BLE001
        raise _remote_error("cannot be read", error, url) from None
    return _fetch(system, path, url)


def _gives_pieces(file: Any, size: int) -> bool:
    """Return whether the last byte can be had without the others."""
    try:
        file.seek(size - 1)
        return len(file.read(2)) == 1
    except Exception:  # noqa: BLE001 - each file system has errors of its own
        return False


_IN_PIECES: Final = {
    "block_size": _PIECE,
    "cache_type": "blockcache",
    "cache_options": {"maxblocks": _PIECES_KEPT},
}


class _InPieces:
    """A remote file as a `ByteSource`: fsspec fetches the pieces that are asked for, and keeps some."""

    def __init__(self, file: Any, size: int, url: str) -> None:
        self._file = file
        self.size = size
        self._url = url

    name = ""
    """Errors name no place: it is that of the input."""

    def read(self, offset: int, length: int) -> bytes:
        """Return exactly `length` bytes from `offset` on.

        Raises:
            InputError: the range is not inside, or cannot be read.
        """
        check_range(self, offset, length)
        try:
            self._file.seek(offset)
            data: bytes = self._file.read(length)
        except Exception as error:  # noqa: BLE001 - each file system has errors of its own
            raise _remote_error("cannot be read", error, self._url) from None
        if len(data) != length:
            raise InputError("the file ends before its size")
        return data

    def close(self) -> None:
        """Let go of the file."""
        self._file.close()


def _fetch(system: Any, path: str, url: str) -> ByteSource:
    source = TemporarySource(name="")
    try:
        with system.open(path, "rb", block_size=0) as file:
            while source.size <= MAX_REMOTE_BYTES and (piece := file.read(_BLOCK)):
                source.write(piece)
    except Exception as error:  # noqa: BLE001 - each file system has errors of its own
        source.close()
        raise _remote_error("cannot be read", error, url) from None
    if source.size > MAX_REMOTE_BYTES:
        source.close()
        raise _too_large(url)
    return source


def _too_large(url: str) -> BudgetError:
    place = printable(without_password(url))
    return BudgetError(f"it has more than {MAX_REMOTE_BYTES} bytes", place=place)


def _remote_error(subject: str, error: Exception, url: str) -> InputError:
    reason = without_password(_reason(error))
    return InputError(f"{subject}: {reason}", place=printable(without_password(url)))


def _ask(system: Any, question: str, path: str) -> Any:
    """Ask a file system about a place, within `LISTING_SECONDS` where it can be stopped."""
    asyn = need("fsspec.asyn", "coverage")
    if isinstance(system, asyn.AsyncFileSystem):
        return asyn.sync(system.loop, getattr(system, f"_{question}"), path, timeout=LISTING_SECONDS)
    return getattr(system, question)(path)


def _options_of(scheme: str) -> dict[str, Any]:
    """Return options of a file system: a web server may take its time, but not fall silent."""
    if scheme not in _WEB:
        return {}
    aiohttp = import_module("aiohttp")
    timeout = aiohttp.ClientTimeout(total=None, sock_connect=_SILENT_SECONDS, sock_read=_SILENT_SECONDS)
    # An answer that is packed once more could unpack to a thousand times what comes over the line.
    headers = {"Accept-Encoding": _PLAIN}
    return {"client_kwargs": {"timeout": timeout, "response_class": _bounded_answers(), "headers": headers}}


@dataclass(slots=True)
class _Listed:
    """How much of a listing there is so far."""

    characters: int = 0

    def add(self, characters: int) -> None:
        self.characters += characters
        if self.characters > MAX_LISTED:
            raise BudgetError(f"it lists more than {MAX_LISTED} characters")


_listed: ContextVar[_Listed | None] = ContextVar("_listed", default=None)
"""Of the listing that is asked for; fsspec's own thread has the context of the one that asks."""


def _quickly_searched(text: str) -> str:
    """Return a page on which fsspec's regular expression for links is fast.

    It looks for `<a`, blanks, anything but `>`, blanks, `href`, from each `<a` on: each split of many blanks,
    and each way to the next `>`, is tried.
    """
    return _NO_TAG.sub("< ", _MANY_BLANKS.sub(" ", text))


@cache
def _bounded_answers() -> type:
    """Return aiohttp's class of answers with bounds on what is held of one at once and of a listing in all.

    `aiohttp.ClientResponse.read` holds the whole body, however long the server makes it; pieces of a file
    that is fetched as a whole do not go through it. fsspec asks for the text of listings only.
    """
    aiohttp = import_module("aiohttp")

    class BoundedAnswer(aiohttp.ClientResponse):  # type: ignore[misc, name-defined]
        async def start(self, connection: Any) -> Any:
            started = await super().start(connection)
            coding = self.headers.get("Content-Encoding", "").strip().lower()
            if coding not in {"", _PLAIN}:
                self.close()
                message = (
                    f"the server packs its answers ({printable(coding[:20])}) although it is asked not to"
                )
                raise InputError(message)
            return started

        async def read(self) -> bytes:
            if self._body is None:  # type: ignore[has-type]
                content = bytearray()
                async for piece in self.content.iter_chunked(_BLOCK):
                    content += piece
                    if len(content) > MAX_ANSWER_BYTES:
                        self.close()
                        raise BudgetError(f"the server's answer has more than {MAX_ANSWER_BYTES} bytes")
                self._body = bytes(content)
            body: bytes = await super().read()
            return body

        async def text(self, *arguments: Any, **options: Any) -> str:
            text = _quickly_searched(await super().text(*arguments, **options))
            if listed := _listed.get():
                names = sum(map(text.count, ("href", "HREF", "http")))
                listed.add(len(text) + names * len(str(self.url)))
            return text

    return BoundedAnswer


def _open_system(url: str) -> tuple[Any, str]:
    fsspec = need("fsspec", "coverage")
    scheme = url.partition(":")[0]
    try:
        system, path = fsspec.core.url_to_fs(url, **_options_of(scheme.lower()))
    except ImportError as error:
        package = _package_behind(scheme) or str(error)
        message = f"{scheme}: needs a package that is not installed: {package}"
        raise UsageError(message, hint=f"pip install {package}") from None
    except ValueError:
        message = f"{scheme}: is not a scheme that fsspec knows"
        raise UnknownSchemeError(message, hint="local paths are written without a scheme") from None
    return system, path


def _package_behind(scheme: str) -> str | None:
    implementation = need("fsspec.registry", "coverage").known_implementations.get(scheme, {})
    module = str(implementation.get("class", "")).partition(".")[0]
    return "aiohttp" if scheme in _WEB else module or None


def _reason(error: BaseException) -> str:
    error = error.__cause__ or error  # fsspec calls whatever kept it from looking at a file "not found"
    if isinstance(error, FileNotFoundError):
        return error.strerror or "No such file"  # where fsspec says it of a URL, the URL is all it says
    if isinstance(error, TimeoutError):
        return "it takes too long"
    status = getattr(error, "status", None)
    if isinstance(status, int):
        return f"the server answers {status} {getattr(error, 'message', '')}".rstrip()
    lines = str(error).strip().splitlines()
    if lines and isinstance(error, (OSError, DroidgateError)):
        return lines[0]
    return f"{type(error).__name__}: {lines[0]}" if lines else type(error).__name__
