"""Results of calls as `tools/call` returns them: capped, and with what a model can do about a failure.

A text of more than 64 KiB is cut; the whole of it is one or more resources that the result links to.
Structured content is never cut, because what is left would not fit the tool's output schema; above 512 KiB
the result is an error that says that the call succeeded and links to its value. Files that a result names are
resources, small images are in the result. Clients have limits, too: the SDK's takes no message of more than
1 MiB from a stream.
"""

from __future__ import annotations

import base64
import hashlib
import secrets
from collections import OrderedDict
from collections.abc import Iterable, Mapping
from typing import Any, Final

from mcp.shared.exceptions import MCPError

from droidgate.serving.tools import ResourceContent, ServedFile, ToolOutcome
from droidgate_mappings.model.json_values import Json, canonical_json
from droidgate_mappings.tables.failure_tokens import load_failure_tokens
from droidgate_mappings.text_safety import one_line
from droidgate_mcp.format import HANDSHAKE, MODERN
from droidgate_mcp.wire import write_error, write_result

MAX_TEXT: Final = 64 * 1024
"""Bytes of one text in a result."""

MAX_STRUCTURED: Final = 512 * 1024
"""Bytes of structured content in a result."""

MAX_PART: Final = 128 * 1024
"""Characters of one resource; each may take six bytes in JSON."""

MAX_IMAGES: Final = 256 * 1024
"""Bytes of all images in a result, before base64; further ones are resources."""

MAX_BLOB: Final = 512 * 1024
"""Bytes of one resource that is not a text."""

_LONGEST_NAME: Final = 128
_MAX_KEPT: Final = 64 * 1024 * 1024
_SCHEME: Final = "droidgate://results/"


class KeptResults:
    """Whole results that were too long to be returned, as resources; the oldest go first above 64 MiB."""

    def __init__(self) -> None:
        self._contents: OrderedDict[str, ResourceContent] = OrderedDict()
        self._size = 0

    def keep(self, content: str | bytes, mime_type: str) -> list[str]:
        """Keep a text or a file and return the URIs of its parts, which nobody can guess."""
        name = _SCHEME + secrets.token_urlsafe(16)
        length = MAX_PART if isinstance(content, str) else MAX_BLOB
        parts = [content[start : start + length] for start in range(0, len(content) or 1, length)]
        uris = [f"{name}/{number}" for number in range(1, len(parts) + 1)]
        for uri, part in zip(uris, parts, strict=True):
            self._contents[uri] = ResourceContent(uri, mime_type, part)
        self._size += len(content)
        while self._size > _MAX_KEPT and len(self._contents) > len(parts):
            _, oldest = self._contents.popitem(last=False)
            self._size -= len(oldest.content)
        return uris

    def get(self, uri: str) -> ResourceContent | None:
        """Return a kept result, or None where the URI is not that of one, or it is gone."""
        return self._contents.get(uri)


def write_outcome(outcome: ToolOutcome, revision: str, results: KeptResults) -> dict[str, Any]:
    """Return the result of `tools/call`.

    Raises:
        MCPError: the call failed with a token that the protocol has an error code for.
    """
    result = outcome.result
    if result.failure is not None and load_failure_tokens()[result.failure.token].mcp_error != "result":
        error = write_error(result.failure)
        raise MCPError(code=int(str(error["code"])), message=str(error["message"]))
    shape = MODERN if revision == MODERN else HANDSHAKE
    declared = outcome.declared
    if result.failure is None and declared is not None and declared.misses(result.value):
        # Without structured content the SDK's client raises, and a model repeats the call.
        return _unfit_result("the app returned no result, although it declares one", shape)
    written: dict[str, Any] = write_result(result, shape, declared)
    structured = written.get("structuredContent")
    if structured is not None:
        text = canonical_json(structured)
        size = len(text.encode("utf-8", "surrogatepass"))
        if size > MAX_STRUCTURED:
            problem = f"its result has {size} bytes, more than the {MAX_STRUCTURED} that are returned"
            links = _links(text, results, "application/json")
            return _unfit_result(problem, shape, "read the linked resources; ", links)
    content: list[dict[str, Any]] = []
    for block in written["content"]:
        content += _cap_block(block, results, "text/plain" if structured is None else "application/json")
    content += _attach_files(outcome.files, results)
    return {**written, "content": content}


def _cap_block(block: Mapping[str, Any], results: KeptResults, mime_type: str) -> list[dict[str, Any]]:
    text = block.get("text")
    if block.get("type") != "text" or not isinstance(text, str):
        return [dict(block)]
    data = text.encode("utf-8", "replace")
    if len(data) <= MAX_TEXT:
        return [dict(block)]
    start = data[:MAX_TEXT].decode("utf-8", "ignore")
    note = (
        f"\n[truncated: {len(start.encode())} of {len(data)} bytes, "
        f"SHA-256 {hashlib.sha256(data).hexdigest()}; the whole text is in the linked resources]"
    )
    return [{**block, "text": start + note}, *_links(text, results, mime_type)]


def _attach_files(files: Iterable[ServedFile], results: KeptResults) -> list[dict[str, Any]]:
    """Return small images as they are, and links to all other files."""
    blocks: list[dict[str, Any]] = []
    room = MAX_IMAGES
    for file in files:
        if file.mime_type.startswith("image/") and len(file.data) <= room:
            room -= len(file.data)
            data = base64.b64encode(file.data).decode("ascii")
            blocks.append({"type": "image", "data": data, "mimeType": file.mime_type})
        else:
            name = one_line(file.name)[-_LONGEST_NAME:] or "file"
            blocks += _links(file.data, results, file.mime_type, name)
    return blocks


def _links(
    content: str | bytes, results: KeptResults, mime_type: str, name: str = "whole result"
) -> list[dict[str, Any]]:
    uris = results.keep(content, mime_type)
    parts = [f"{name}, part {number} of {len(uris)}" for number in range(1, len(uris) + 1)]
    return [
        {"type": "resource_link", "uri": uri, "name": part, "mimeType": mime_type}
        for uri, part in zip(
            uris, parts if len(uris) > 1 or isinstance(content, str) else [name], strict=True
        )
    ]


def _unfit_result(
    problem: str, revision: str, fix: str = "", links: Iterable[dict[str, Any]] = ()
) -> dict[str, Any]:
    """Return the result of a call that succeeded, and whose value cannot be structured content."""
    message = f"the call succeeded; {problem}\nhint: {fix}do not repeat the call, it may have had an effect"
    written: dict[str, Json] = {"resultType": "complete"} if revision == MODERN else {}
    content: list[Json] = [{"type": "text", "text": message}, *links]
    return {**written, "content": content, "isError": True}
