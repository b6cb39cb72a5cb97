"""What the PDF tool does, once its parameters are known to fit their schemas (`PdfTools.java`).

The app's own reader of PDF files is not rewritten here: pypdf reads them. Both give the text of a page in the
order in which the page draws it; where they part is told in the docs.
"""

from __future__ import annotations

import io
import posixpath
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final, TypeVar

import pypdf
from pypdf.generic import DictionaryObject, IndirectObject

from droidgate.model.json_values import Json
from droidgate_phone.app_api.behaviour import Context
from droidgate_phone.apps.pdf_images import PictureError, picture_file
from droidgate_phone.java_text import java_length, text_of_units, units_of

SHARED_STORAGE: Final = "/storage/emulated/0"
"""What Android calls shared storage by its real name; `/sdcard` leads there."""

_SHORT_NAMES: Final = ("/sdcard", "/mnt/sdcard", "/storage/self/primary")
_MOST_BYTES: Final = 16 * 1024 * 1024
_MOST_PAGES: Final = 10_000
_MOST_RATIO: Final = 50
_FREE_BYTES: Final = 1024 * 1024
_LONGEST_TEXT: Final = 100_000
_SNIPPET: Final = 40
_HEAD: Final = 1024

_Found = TypeVar("_Found")


class ToolError(Exception):
    """A call that cannot be served, with a reason that the assistant can act on."""


class PdfTools:
    """The tools, acting on the phone's shared storage."""

    def __init__(self, context: Context) -> None:
        self._context = context

    def run(self, tool: str, arguments: Mapping[str, Json]) -> dict[str, Json]:
        """Run a tool and return its result.

        Raises:
            ToolError: it cannot be served.
        """
        tools: dict[str, Callable[[Mapping[str, Json]], dict[str, Json]]] = {
            "page_count": self._page_count,
            "extract_text": self._extract_text,
            "extract_images": self._extract_images,
            "search_text": self._search_text,
            "merge": self._merge,
        }
        return tools[tool](arguments)

    def _page_count(self, arguments: Mapping[str, Json]) -> dict[str, Json]:
        return {"page_count": len(self._open(arguments["path"]).pages)}

    def _extract_text(self, arguments: Mapping[str, Json]) -> dict[str, Json]:
        file = self._open(arguments["path"])
        count = len(file.pages)
        first, last = int(arguments.get("first_page", 1)), int(arguments.get("last_page", count))
        if first > count or last > count:
            raise ToolError(f"the file has only {count} pages")
        if first > last:
            raise ToolError('"first_page" must not be after "last_page"')
        texts = _Texts(file)
        text, length = [], 0
        for page in range(first, last + 1):
            if length > _LONGEST_TEXT:
                break
            separator = _separator(arguments.get("separator", "blank_line"), page, is_first=page == first)
            text.append(separator + texts.of_page(page))
            length += java_length(text[-1])
        joined = "".join(text)
        if length > _LONGEST_TEXT:
            joined = text_of_units(units_of(joined)[:_LONGEST_TEXT])
        return {"text": joined, "first_page": first, "last_page": last, "truncated": length > _LONGEST_TEXT}

    def _search_text(self, arguments: Mapping[str, Json]) -> dict[str, Json]:
        file = self._open(arguments["path"])
        most = int(arguments.get("max_results", 20))
        flags = re.NOFLAG if arguments.get("match_case", False) else re.IGNORECASE
        query = re.compile(re.escape(units_of(arguments["query"])), flags)
        texts = _Texts(file)
        found: list[Json] = []
        for page in range(1, len(file.pages) + 1):
            text = units_of(re.sub("[ \t\n\v\f\r]+", " ", texts.of_page(page)))
            for match in query.finditer(text):
                if len(found) == most:
                    return {"results": found}
                snippet = text[max(0, match.start() - _SNIPPET) : match.end() + _SNIPPET]
                found.append({"page": page, "snippet": text_of_units(snippet)})
        return {"results": found}

    def _extract_images(self, arguments: Mapping[str, Json]) -> dict[str, Json]:
        path = arguments["path"]
        name = re.sub(r"(?i)\.pdf$", "", posixpath.basename(path))
        base = f"{self._folder('images')}/{re.sub('[^A-Za-z0-9_-]', '_', name)}"
        all_as_png, most = arguments["format"] == "png", int(arguments.get("max_images", 20))
        saved: list[Json] = []
        skipped: list[Json] = []
        for page, picture in _pictures_of(self._open(path)):
            if len(saved) == most:
                break
            try:
                extension, data, width, height = picture_file(picture, all_as_png=all_as_png)
            except PictureError as error:
                skipped.append({"page": page, "reason": str(error)})
                continue
            target = f"{base}-{len(saved) + 1}{extension}"
            self._context.write_shared_file(target, data)
            saved.append({"path": target, "page": page, "width": width, "height": height})
        return {"images": saved, "skipped": skipped}

    def _merge(self, arguments: Mapping[str, Json]) -> dict[str, Json]:
        with pypdf.PdfWriter() as writer:
            size = 0
            for path in arguments["paths"]:
                content = self._content_of(path)
                size += len(content)
                if size > _MOST_BYTES:
                    raise ToolError(f"the files are larger than {_MOST_BYTES} bytes together")
                _reading(writer.append, _parsed(content))
            writer.add_metadata({"/Producer": "PDF tool", **_information(arguments.get("metadata", {}))})
            written = io.BytesIO()
            _reading(writer.write, written)
            pages = len(writer.pages)
        target = f"{self._folder('merged')}/{arguments['output_name']}.pdf"
        self._context.write_shared_file(target, written.getvalue())
        return {"path": target, "page_count": pages, "bytes": len(written.getvalue())}

    def _open(self, path: str) -> pypdf.PdfReader:
        return _parsed(self._content_of(path))

    def _content_of(self, path: str) -> bytes:
        if "\0" in path:
            raise ToolError(f'"{path}" is not a path')
        real = real_path(path)
        if not real.startswith(SHARED_STORAGE + "/"):
            raise ToolError(f'"{path}" does not lie in shared storage')
        content = self._context.read_shared_file(real)
        if content is None:
            raise ToolError(f'"{path}" is not a file that this app may read')
        if len(content) > _MOST_BYTES:
            raise ToolError(f'"{path}" is larger than {_MOST_BYTES} bytes')
        return content

    def _folder(self, name: str) -> str:
        return f"{SHARED_STORAGE}/Android/data/{self._context.package}/files/{name}"


def real_path(path: str) -> str:
    """Return `File.getCanonicalPath()`: without dots, and by the real name of shared storage."""
    plain = "/" + posixpath.normpath("/" + path).lstrip("/")
    for short in _SHORT_NAMES:
        if plain == short or plain.startswith(short + "/"):
            return SHARED_STORAGE + plain[len(short) :]
    return plain


def _parsed(content: bytes) -> pypdf.PdfReader:
    if b"%PDF-" not in content[:_HEAD]:
        raise ToolError("the file is not a PDF")
    file = _reading(pypdf.PdfReader, io.BytesIO(content))
    if file.is_encrypted:
        raise ToolError("the file is protected by a password")
    if _reading(len, file.pages) > _MOST_PAGES:
        raise ToolError(f"the file has more than {_MOST_PAGES} pages")
    return file


def _reading(read: Callable[..., _Found], *arguments: Any) -> _Found:
    """Return what is read; a damaged file leads the library to exceptions of every kind."""
    try:
        return read(*arguments)
    except ToolError:
        raise
    except Exception as error:
        raise ToolError(f"the file is damaged: {error}") from error


class _Texts:
    """Texts of a file's pages.

    Their content may unpack to a multiple of the file's size and no more: each byte of it costs the library
    microseconds, and thousands of pages may share one packed content.
    """

    def __init__(self, file: pypdf.PdfReader) -> None:
        self._file = file
        size = file.stream.seek(0, io.SEEK_END)
        self._left = max(_FREE_BYTES, _MOST_RATIO * size)

    def of_page(self, page: int) -> str:
        """Return the text of a page.

        Raises:
            ToolError: it cannot be read, or the pages so far unpack to too much.
        """
        try:
            found = self._file.pages[page - 1]
            self._count(_reading(found.get_contents))
            return str(_reading(found.extract_text)).strip()
        except ToolError as error:
            raise ToolError(f"page {page}: {error}") from error

    def _count(self, content: pypdf.generic.ContentStream | None) -> None:
        self._left -= 0 if content is None else len(_reading(content.get_data))
        if self._left < 0:
            raise ToolError(f"the file's content unpacks to more than {_MOST_RATIO} times its size")


def _separator(kind: str, page: int, *, is_first: bool) -> str:
    if kind == "page_heading":
        return ("" if is_first else "\n\n") + f"--- page {page} ---\n"
    if is_first:
        return ""
    return "\f" if kind == "form_feed" else "\n\n"


def _pictures_of(file: pypdf.PdfReader) -> Iterator[tuple[int, Mapping[str, Any]]]:
    """Yield the pictures that pages name in their resources, each once, with the page it is first seen on."""
    seen = set()
    for number, page in enumerate(file.pages, start=1):
        named = _reading(_named_objects, page)
        for name in named:
            reference = named.raw_get(name) if hasattr(named, "raw_get") else named[name]
            key = (reference.idnum, reference.generation) if isinstance(reference, IndirectObject) else name
            drawn = _reading(reference.get_object)
            if key not in seen and isinstance(drawn, Mapping) and drawn.get("/Subtype") == "/Image":
                yield number, drawn
            seen.add(key)


def _named_objects(page: pypdf.PageObject) -> Any:
    return (
        page.get("/Resources", DictionaryObject())
        .get_object()
        .get("/XObject", DictionaryObject())
        .get_object()
    )


def _information(metadata: Mapping[str, Json]) -> dict[str, str]:
    found = {f"/{name.title()}": metadata[name] for name in ("title", "author") if name in metadata}
    return found | ({"/Keywords": ", ".join(metadata["keywords"])} if "keywords" in metadata else {})
