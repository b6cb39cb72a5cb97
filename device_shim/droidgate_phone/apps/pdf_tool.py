"""The PDF tool: an mMCP activity that checks the parameters of one call against their schemas, runs it and
returns the result (`ToolActivity.java`, `SchemaCheck.java`, `PdfTools.java`).
"""

from __future__ import annotations

import io
import json
import math
import posixpath
import re
from collections.abc import Callable, Mapping
from typing import Final

from PIL.Image import Image

from droidgate_mappings.model.json_values import Json
from droidgate_phone.apps.pdf_document import (
    MOST_PICTURE_PIXELS,
    PdfError,
    PdfPage,
    draw_page,
    picture_page,
    read_pdf,
    write_pdf,
)
from droidgate_phone.java.app_values import View
from droidgate_phone.java.intents import Bundle, Intent
from droidgate_phone.java.java_text import java_length, java_trim, text_of_units, units_of
from droidgate_phone.java.org_json import JsonError, parse_object, write_json
from droidgate_phone.system.behaviour import Activity, App, Context

SHARED_STORAGE: Final = "/storage/emulated/0"
"""What Android calls shared storage by its real name; `/sdcard` leads there."""

_SHORT_NAMES: Final = ("/sdcard", "/mnt/sdcard", "/storage/self/primary")
_MOST_BYTES: Final = 16 * 1024 * 1024
_MOST_PICTURES: Final = 20
_MOST_PIXELS: Final = 16_000_000
_SHARPNESS: Final = 2
"""Pixels per point in merged files: 144 dpi, and less for large pages."""
_LONGEST_TEXT: Final = 100_000
_SNIPPET: Final = 40


class PdfToolError(Exception):
    """A call that cannot be served, with a reason that the assistant can act on."""


class PdfTools:
    """The tools, acting on the phone's shared storage."""

    def __init__(self, context: Context) -> None:
        self._context = context

    def run(self, tool: str, arguments: Mapping[str, Json]) -> dict[str, Json]:
        """Run a tool and return its result.

        Raises:
            PdfToolError: it cannot be served.
        """
        tools: dict[str, Callable[[Mapping[str, Json]], dict[str, Json]]] = {
            "page_count": self._page_count,
            "extract_text": self._extract_text,
            "search_text": self._search_text,
            "render_pages": self._render_pages,
            "merge": self._merge,
        }
        return tools[tool](arguments)

    def _page_count(self, arguments: Mapping[str, Json]) -> dict[str, Json]:
        return {"page_count": len(self._open(arguments["path"]))}

    def _extract_text(self, arguments: Mapping[str, Json]) -> dict[str, Json]:
        pages = self._open(arguments["path"])
        first, last = _range_of(arguments, len(pages))
        text, length = [], 0
        for number in range(first, last + 1):
            if length > _LONGEST_TEXT:
                break
            separator = _separator(arguments.get("separator", "blank_line"), number, is_first=number == first)
            text.append(separator + _text_of(pages[number - 1]))
            length += java_length(text[-1])
        joined = "".join(text)
        if length > _LONGEST_TEXT:
            joined = text_of_units(units_of(joined)[:_LONGEST_TEXT])
        return {"text": joined, "first_page": first, "last_page": last, "truncated": length > _LONGEST_TEXT}

    def _search_text(self, arguments: Mapping[str, Json]) -> dict[str, Json]:
        pages = self._open(arguments["path"])
        most = int(arguments.get("max_results", 20))
        flags = re.NOFLAG if arguments.get("match_case", False) else re.IGNORECASE
        query = re.compile(re.escape(units_of(arguments["query"])), flags)
        results: list[Json] = []
        for number, page in enumerate(pages, start=1):
            text = units_of(re.sub("[ \t\n\v\f\r]+", " ", _text_of(page)))
            for match in query.finditer(text):
                if len(results) == most:
                    return {"results": results}
                snippet = text[max(0, match.start() - _SNIPPET) : match.end() + _SNIPPET]
                results.append({"page": number, "snippet": text_of_units(snippet)})
        return {"results": results}

    def _render_pages(self, arguments: Mapping[str, Json]) -> dict[str, Json]:
        path, is_png = arguments["path"], arguments["format"] == "png"
        name = re.sub(r"(?i)\.pdf$", "", posixpath.basename(path))
        base = f"{self._folder('images')}/{re.sub('[^A-Za-z0-9_-]', '_', name)}"
        pages = self._open(path)
        first, last = _range_of(arguments, len(pages))
        _check_count(last - first + 1)
        saved: list[Json] = []
        for number in range(first, last + 1):
            page = pages[number - 1]
            width = int(arguments.get("width", 1080))
            height = max(1, width * page.height // page.width)
            if width * height > _MOST_PIXELS:
                raise PdfToolError(f"page {number} would have more than {_MOST_PIXELS} pixels")
            written = io.BytesIO()
            _drawn(page, width, height).save(written, "PNG" if is_png else "JPEG", quality=90)
            target = f"{base}-{number}{'.png' if is_png else '.jpg'}"
            self._context.write_shared_file(target, written.getvalue())
            saved.append({"path": target, "page": number, "width": width, "height": height})
        return {"images": saved}

    def _merge(self, arguments: Mapping[str, Json]) -> dict[str, Json]:
        size = arguments.get("page_size")
        merged: list[PdfPage] = []
        for path in arguments["paths"]:
            pages = self._open(path)
            _check_count(len(merged) + len(pages))
            for page in pages:
                width, height = (
                    (page.width, page.height) if size is None else (int(size["width"]), int(size["height"]))
                )
                scale = min(_SHARPNESS, math.sqrt(MOST_PICTURE_PIXELS / width / height))
                drawn = _drawn(page, max(1, int(width * scale)), max(1, int(height * scale)))
                merged.append(picture_page(drawn, width, height))
        content = write_pdf(merged)
        target = f"{self._folder('merged')}/{arguments['output_name']}.pdf"
        self._context.write_shared_file(target, content)
        return {"path": target, "page_count": len(merged), "bytes": len(content)}

    def _open(self, path: str) -> list[PdfPage]:
        try:
            pages = read_pdf(self._content_of(path))
        except PdfError as error:
            raise PdfToolError(str(error)) from None
        return pages

    def _content_of(self, path: str) -> bytes:
        if "\0" in path:
            raise PdfToolError(f'"{path}" is not a path')
        real = real_path(path)
        if not real.startswith(SHARED_STORAGE + "/"):
            raise PdfToolError(f'"{path}" does not lie in shared storage')
        content = self._context.read_shared_file(real)
        if content is None:
            raise PdfToolError(f'"{path}" is not a file that this app may read')
        if len(content) > _MOST_BYTES:
            raise PdfToolError(f'"{path}" is larger than {_MOST_BYTES} bytes')
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


def _range_of(arguments: Mapping[str, Json], count: int) -> tuple[int, int]:
    first, last = int(arguments.get("first_page", 1)), int(arguments.get("last_page", count))
    if first > count or last > count:
        raise PdfToolError(f"the file has only {count} pages")
    if first > last:
        raise PdfToolError('"first_page" must not be after "last_page"')
    return first, last


def _check_count(pages: int) -> None:
    if pages > _MOST_PICTURES:
        raise PdfToolError(f"one call draws at most {_MOST_PICTURES} pages, not {pages}")


def _text_of(page: PdfPage) -> str:
    return java_trim("\n".join(page.lines))


def _drawn(page: PdfPage, width: int, height: int) -> Image:
    try:
        return draw_page(page, width, height)
    except PdfError as error:
        raise PdfToolError(str(error)) from None


def _separator(kind: str, page: int, *, is_first: bool) -> str:
    if kind == "page_heading":
        return ("" if is_first else "\n\n") + f"--- page {page} ---\n"
    if is_first:
        return ""
    return "\f" if kind == "form_feed" else "\n\n"


_LARGEST_INT: Final = 2**31 - 1
_SMALLEST_INT: Final = -(2**31)


def problem_with(schema: Mapping[str, Json], value: Json, where: str = "") -> str | None:
    """Return what is wrong with a value, None where nothing is.

    Raises:
        ValueError: the schema has a type that the tool does not know.
    """
    kind = str(schema.get("type", ""))
    if not _is_of_type(kind, value):
        return f"{_quoted_place(where)} must be of type {kind}"
    if "enum" in schema and value not in schema["enum"]:
        return f"{_quoted_place(where)} must be one of {write_json(schema['enum'])}"
    if kind == "object":
        return _problem_with_object(schema, value, where)
    if kind == "array":
        return _problem_with_array(schema, value, where)
    if kind == "string":
        return _problem_with_string(schema, value, where)
    return _problem_with_integer(schema, float(value), where) if kind == "integer" else None


def _is_of_type(kind: str, value: Json) -> bool:
    if kind == "integer":
        return isinstance(value, int | float) and not isinstance(value, bool) and value % 1 == 0
    classes: dict[str, type] = {"object": dict, "array": list, "string": str, "boolean": bool}
    if kind not in classes:
        message = f"type {kind}"
        raise ValueError(message)
    return isinstance(value, classes[kind])


def _problem_with_object(schema: Mapping[str, Json], value: Mapping[str, Json], where: str) -> str | None:
    for name in schema.get("required", []):
        if name not in value:
            return f"{_quoted_place(_inside(where, name))} is missing"
    properties = schema["properties"]
    for name, item in value.items():
        if name not in properties:
            return f"{_quoted_place(_inside(where, name))} is not a parameter of this tool"
        problem = problem_with(properties[name], item, _inside(where, name))
        if problem is not None:
            return problem
    return None


def _problem_with_array(schema: Mapping[str, Json], value: list[Json], where: str) -> str | None:
    if len(value) < schema.get("minItems", 0):
        return f"{_quoted_place(where)} needs at least {schema['minItems']} entries"
    if len(value) > schema.get("maxItems", _LARGEST_INT):
        return f"{_quoted_place(where)} takes at most {schema['maxItems']} entries"
    problems = (
        problem_with(schema["items"], item, f"{where}[{position}]") for position, item in enumerate(value)
    )
    return next((problem for problem in problems if problem is not None), None)


def _problem_with_string(schema: Mapping[str, Json], value: str, where: str) -> str | None:
    if len(value) < schema.get("minLength", 0):
        return f"{_quoted_place(where)} is too short"
    if len(value) > schema.get("maxLength", _LARGEST_INT):
        return f"{_quoted_place(where)} is longer than {schema['maxLength']} characters"
    if "pattern" in schema and not re.search(schema["pattern"], value):
        return f"{_quoted_place(where)} must match {schema['pattern']}"
    return None


def _problem_with_integer(schema: Mapping[str, Json], value: float, where: str) -> str | None:
    least, most = schema.get("minimum", _SMALLEST_INT), schema.get("maximum", _LARGEST_INT)
    if value < least:
        return f"{_quoted_place(where)} must be at least {least}"
    return f"{_quoted_place(where)} must be at most {most}" if value > most else None


def _inside(where: str, name: str) -> str:
    return f"{where}.{name}" if where else name


def _quoted_place(where: str) -> str:
    return f'"{where}"' if where else "the parameters"


ACTION_CALL: Final = "com.example.mMCP.ACTION_TOOL_CALL"
MANIFEST: Final = "mMCP_manifest"
EXTRA_TOOL: Final = "tool_name"
EXTRA_PARAMETERS: Final = "parameters"
EXTRA_RESULT: Final = "result"
EXTRA_ERROR: Final = "error"

_PACKAGE: Final = "dev.droidgate.sample.pdftool"
_CLASS: Final = f"{_PACKAGE}.ToolActivity"
_LONGEST_PARAMETERS: Final = 64 * 1024
_RESULT_OK: Final = -1
_RESULT_CANCELED: Final = 0


class ToolActivity(Activity):
    """Checks a call against its own meta-data and runs it."""

    def on_create(self, intent: Intent) -> None:
        """Serve the call and finish."""
        if intent.action != ACTION_CALL:
            self.set_result(_RESULT_CANCELED)
        else:
            self._serve(intent)
        self.finish()

    def view(self) -> View | None:
        """Return None: the activity is translucent."""
        return None

    def _serve(self, intent: Intent) -> None:
        try:
            answer = {EXTRA_RESULT: write_json(self._call(intent))}
            code = _RESULT_OK
        except PdfToolError as error:
            answer = {EXTRA_ERROR: str(error), EXTRA_RESULT: f"Error: {error}"}
            code = _RESULT_CANCELED
        self.set_result(code, Intent(extras=Bundle.of_strings(answer)))

    def _call(self, intent: Intent) -> dict[str, Json]:
        tool = intent.extras.get_string(EXTRA_TOOL)
        if not tool:
            raise PdfToolError("no tool is named")
        schema = self._schema_of(tool)
        arguments = _arguments_from(intent.extras.get_string(EXTRA_PARAMETERS))
        problem = problem_with(schema, arguments)
        if problem is not None:
            raise PdfToolError(problem)
        return PdfTools(self.context).run(tool, arguments)

    def _schema_of(self, tool: str) -> Mapping[str, Json]:
        """Return a tool's parameters from the very text that assistants read."""
        try:
            tools = json.loads(self.context.read_meta_data(_CLASS, MANIFEST) or "")["tools"]
            schema = next((declared["parameters"] for declared in tools if declared["name"] == tool), None)
        except (ValueError, LookupError, TypeError) as error:
            raise PdfToolError("the tool failed: JSONException") from error
        if schema is None:
            raise PdfToolError(f'unknown tool "{tool}"')
        return dict(schema)


def _arguments_from(parameters: str | None) -> dict[str, Json]:
    if not parameters:
        return {}
    if java_length(parameters) > _LONGEST_PARAMETERS:
        raise PdfToolError(f"the parameters are longer than {_LONGEST_PARAMETERS} characters")
    try:
        return parse_object(parameters)
    except JsonError:
        raise PdfToolError("the parameters are not a JSON object") from None


class PdfToolApp(App):
    """Behaviour of the PDF tool."""

    PACKAGE = _PACKAGE
    ACTIVITIES = {_CLASS: ToolActivity}
