"""When two outcomes of a vector are the same (shim-engine.md 9)."""

import json
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from decimal import Decimal

from droidgate_mappings.model.json_values import Json, canonical_json, json_equal
from droidgate_mappings.tables.failure_tokens import read_failure

_JSON_EXTRAS = frozenset(
    {"request", "response", "mobile-mcp-request", "mobile-mcp-response", "parameters", "params", "result"}
)
_JSON_MEMBERS = frozenset({"input", "args"})


def equal(left: Json, right: Json) -> bool:
    """Return whether two outcomes are equal."""
    return json_equal(normal(left), normal(right))


def difference(left: Json, right: Json, *, at: str = "") -> str | None:
    """Return the first place at which two outcomes differ and what is there, None where they are
    equal.
    """
    return _difference(normal(left), normal(right), at)


def normal(outcome: Json) -> Json:
    """Return an outcome with JSON texts read, and without the human-readable words."""
    if not isinstance(outcome, Mapping):
        return outcome
    if "error" in outcome:
        return {key: value for key, value in outcome.items() if key != "message"}
    readers = {"extras": _extras, "outgoing": _outgoing, "effects": _effects}
    return {key: readers[key](value) if key in readers else value for key, value in outcome.items()}


def omissions(outcome: Json, says: Iterable[str]) -> list[str]:
    """Return which texts the messages of an outcome's failures do not contain."""
    message = "\n".join(_messages(outcome))
    return [say for say in says if say not in message]


def _messages(outcome: Json) -> Iterator[str]:
    """Yield the message of each response and each effect, wherever it is."""
    if isinstance(outcome, str):
        with suppress(ValueError):
            member = json.loads(outcome)
            yield from () if isinstance(member, str) else _messages(member)
    elif isinstance(outcome, list):
        for item in outcome:
            yield from _messages(item)
    elif isinstance(outcome, Mapping):
        for key, member in outcome.items():
            yield from [member] if key == "message" and isinstance(member, str) else _messages(member)


def _effects(effects: Json) -> Json:
    """Return the effects of calls without the words of their failures."""
    return [{key: member for key, member in effect.items() if key != "message"} for effect in effects]


def _outgoing(outgoing: Json) -> Json:
    if not isinstance(outgoing, Mapping):
        return outgoing
    return {key: _extras(value) if key == "extras" else value for key, value in outgoing.items()}


def _extras(extras: Json) -> Json:
    if not isinstance(extras, Mapping):
        return extras
    return {
        key: _document(value) if key in _JSON_EXTRAS or key == "result_json" else value
        for key, value in extras.items()
    }


def _document(text: Json) -> Json:
    if not isinstance(text, str):
        return text
    try:
        return _without_words(json.loads(text, parse_float=Decimal))
    except ValueError:
        return text


def _without_words(value: Json) -> Json:
    """Cut the message of a response, and read the arguments that a request holds as text."""
    if not isinstance(value, dict):
        return value
    cut = {key: _without_words(member) if key in _WRAPPERS else member for key, member in value.items()}
    if cut.get("status") == "success":
        cut.pop("message", None)
    elif isinstance(cut.get("message"), str) and "status" in cut:
        cut["message"] = read_failure(cut["message"])[0] or cut["message"]
    capability = cut.get("capability")
    if isinstance(capability, dict):
        cut["capability"] = {
            key: _document(member) if key in _JSON_MEMBERS else member for key, member in capability.items()
        }
    return cut


_WRAPPERS = frozenset({"mobile-mcp-request", "mobile-mcp-response", "request", "response"})


def _difference(left: Json, right: Json, at: str) -> str | None:
    if json_equal(left, right):
        return None
    if isinstance(left, dict) and isinstance(right, dict):
        for key in sorted(left.keys() | right.keys()):
            if key not in left or key not in right:
                side = "left" if key in left else "right"
                return f"{at}/{key} stands only at the {side}"
            found = _difference(left[key], right[key], f"{at}/{key}")
            if found is not None:
                return found
    if isinstance(left, list) and isinstance(right, list) and len(left) == len(right):
        pairs = zip(left, right, strict=True)
        found_in = (_difference(item, other, f"{at}/{index}") for index, (item, other) in enumerate(pairs))
        return next((item for item in found_in if item is not None), None)
    return f"{at or 'the outcome'}: {_shown(left)} is not {_shown(right)}"


def _shown(value: Json) -> str:
    text = canonical_json(value)
    return text if len(text) <= 300 else f"{text[:300]}..."
