"""Intents that open screens, filled from what the builder wrote (shim-engine.md 4)."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Final
from urllib.parse import quote

from droidgate_mappings.model.json_values import Json
from droidgate_mappings.values.failures import CallError, Failure
from droidgate_shim.engine.routes import AppActionBackend
from droidgate_shim.engine.strict_json import write_strict

_QUERY: Final = re.compile("[?#]")


def write_start(backend: AppActionBackend, arguments: Mapping[str, Json]) -> str:
    """Return the text of the first intent whose parameters are given.

    Args:
        backend: What can be started.
        arguments: Parameter of the app -> value.

    Raises:
        CallError: with the token `invalid_argument`: none is, or the arguments move its link's path.
    """
    texts = {name: _text_of(value, backend.values.get(name, {})) for name, value in arguments.items()}
    for start in backend.starts:
        if all(name in texts and _is_listed(texts[name], values) for name, values in start.needs.items()):
            intent = _filled(start.intent, texts)
            if _has_dot_segment(intent):
                raise _refusal("the link's path has a segment '.' or '..'")
            return intent
    raise _refusal("each fulfilment requires what is not given")


def _text_of(value: Json, ids: Mapping[str, str]) -> str:
    text = value if isinstance(value, str) else write_strict(value)
    return ids.get(text, ids.get(text.lower(), text))


def _is_listed(text: str, values: Sequence[str] | None) -> bool:
    return values is None or text in values


def _filled(parts: Sequence[str | tuple[str, str, str]], texts: Mapping[str, str]) -> str:
    """Fill in the variables: each a name, what precedes its value, and what does behind another one."""
    written: list[str] = []
    is_first = True
    for part in parts:
        if isinstance(part, str):
            written.append(part)
            is_first = True
        elif part[0] in texts:
            written += [part[1] if is_first else part[2], quote(texts[part[0]], safe="")]
            is_first = False
    return "".join(written)


def _has_dot_segment(intent: str) -> bool:
    """Return whether the path of a link has a segment `.` or `..`, which servers and apps resolve."""
    path = _QUERY.split(intent, maxsplit=1)[0].lower()
    return any(segment.replace("%2e", ".") in {".", ".."} for segment in path.split("/")[1:])


def _refusal(message: str) -> CallError:
    return CallError(Failure("invalid_argument", message))
