"""A model's calls, as the three vendors' APIs answer them (docs/reference/formats/function-calling.md)."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Final

from droidgate_function_calling.format import ANTHROPIC, GEMINI, OPENAI, OPENAI_CHAT
from droidgate_mappings.formats.format import ModelCall
from droidgate_mappings.model.errors import InputError
from droidgate_mappings.model.json_values import Json
from droidgate_mappings.tables.loading import DialectTable
from droidgate_mappings.text.json_text import parse_json

_Object = Mapping[str, Json]
_GEMINI_NAMES: Final = ("functionCall", "function_call")
_UNFINISHED: Final = ("willContinue", "will_continue", "partialArgs", "partial_args")


def read_call(dialect: DialectTable, call: Json) -> ModelCall:
    """Read one call of a function.

    Args:
        dialect: The dialect of the list that the model was given.
        call: OpenAI: an item `function_call` of the Responses API, or a member of `tool_calls` of Chat
            Completions. Anthropic: a block `tool_use`. Gemini: a part with `functionCall`, or its value.

    Raises:
        InputError: it is not such a call, it is unfinished, or its arguments are not a JSON object.
    """
    return _READERS[dialect.id](_object(call, ""))


def _read_openai(call: _Object) -> ModelCall:
    _check_type(call, "function_call")
    status = call.get("status")
    if status not in (None, "completed"):
        raise InputError(f"the call is {status!r}", place="/status", hint="wait for the whole call")
    return ModelCall(_text(call, "name", ""), _parse(call, ""), _optional_text(call, "call_id", ""))


def _read_openai_chat(call: _Object) -> ModelCall:
    _check_type(call, "function")
    function = _object(call.get("function"), "/function")
    return ModelCall(
        _text(function, "name", "/function"), _parse(function, "/function"), _optional_text(call, "id", "")
    )


def _read_anthropic(call: _Object) -> ModelCall:
    _check_type(call, "tool_use")
    arguments = _plain(_object(call.get("input"), "/input"), "/input")
    return ModelCall(_text(call, "name", ""), arguments, _optional_text(call, "id", ""))


def _read_gemini(call: _Object) -> ModelCall:
    wrapper = next((name for name in _GEMINI_NAMES if call.get(name) is not None), None)
    place = "" if wrapper is None else f"/{wrapper}"
    function = call if wrapper is None else _object(call[wrapper], place)
    for name in _UNFINISHED:
        if function.get(name):
            message = "the call is a part of one"
            raise InputError(message, place=f"{place}/{name}", hint="wait for the whole call")
    stated = function.get("args")
    arguments = {} if stated is None else _plain(_object(stated, f"{place}/args"), f"{place}/args")
    return ModelCall(_text(function, "name", place), arguments, _optional_text(function, "id", place))


_READERS: Final[Mapping[str, Callable[[_Object], ModelCall]]] = {
    OPENAI: _read_openai,
    OPENAI_CHAT: _read_openai_chat,
    ANTHROPIC: _read_anthropic,
    GEMINI: _read_gemini,
}


def _check_type(call: _Object, expected: str) -> None:
    stated = call.get("type")
    if stated != expected:
        message = f"the type of the call is {json.dumps(stated, default=str)[:80]}, not {expected!r}"
        raise InputError(message, place="/type", hint="name the API that the model was called through")


def _object(value: Json, place: str) -> _Object:
    if not isinstance(value, Mapping) or not all(isinstance(name, str) for name in value):
        raise InputError("it is not a JSON object", place=place or None)
    return value


def _text(call: _Object, name: str, place: str) -> str:
    value = call.get(name)
    if not isinstance(value, str):
        raise InputError(f"{name!r} is not a string", place=f"{place}/{name}")
    return value


def _optional_text(call: _Object, name: str, place: str) -> str | None:
    return None if call.get(name) is None else _text(call, name, place)


def _parse(function: _Object, place: str) -> dict[str, Json]:
    """Return the arguments that OpenAI's APIs state as a JSON text."""
    place = f"{place}/arguments"
    text = function.get("arguments")
    if not isinstance(text, str):
        raise InputError("'arguments' is not a string", place=place)
    return dict(_object(parse_json(text, path=place), place))


def _plain(value: _Object, place: str) -> dict[str, Json]:
    """Return arguments that are JSON and nothing else, within the limits of a JSON text."""
    try:
        text = json.dumps(value, allow_nan=False)
    except (TypeError, ValueError, RecursionError) as error:
        message = "the arguments are not JSON"
        raise InputError(message, place=place, hint="give the call as the API answered it") from error
    return dict(_object(parse_json(text, path=place), place))
