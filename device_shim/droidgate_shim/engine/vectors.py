"""One vector's input to its outcome (docs/shim-engine.md 9)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from pydantic import TypeAdapter, ValidationError

from droidgate.calls.failures import CallError, Failure
from droidgate.calls.patterns import UnsupportedPatternError, compile_pattern
from droidgate.calls.requests import RequestKey
from droidgate.calls.values import UnfitValueError, ValueFitter
from droidgate.model.errors import InputError
from droidgate.model.json_values import Json
from droidgate.model.types import Type
from droidgate_appfunctions.wire import WireError
from droidgate_appfunctions.wire_documents import read_document, write_document
from droidgate_shim.engine.authority import Limits, read_policy
from droidgate_shim.engine.backends import (
    ActivityAnswer,
    BackendAnswer,
    BroadcastAnswer,
    ExtrasCall,
    FunctionAnswer,
    Outgoing,
    ResponseAnswer,
)
from droidgate_shim.engine.engine import Answer, Drop, Effect, Engine, Installed, Send
from droidgate_shim.engine.lifecycle import Ended, Lifecycle
from droidgate_shim.engine.routes import DEFAULT_DEADLINE_MS, Target, read_route_table
from droidgate_shim.engine.strict_json import exact_numbers, parse_strict, write_strict

Outcome = dict[str, Json]

_TYPE: Final[TypeAdapter[Type]] = TypeAdapter(Type)
_DEFINITIONS: Final[TypeAdapter[dict[str, Type]]] = TypeAdapter(dict[str, Type])
_ANY_ID: Final = "*"
_MALFORMED: Final = "malformed"


def evaluate(case: Mapping[str, Any]) -> Outcome | None:
    """Return the outcome of a vector; one that is no vector gives `{"error": "internal", ...}`.

    Args:
        case: The vector as parsed JSON; numbers may be floats, which stand for their shortest digits.
    """
    try:
        given = exact_numbers(dict(case))
        return _OPERATIONS[given["op"]](given)
    except (InputError, ValidationError) as error:
        return {"error": _MALFORMED, "message": str(error)}
    except (KeyError, TypeError, ValueError, AttributeError, RecursionError) as error:
        return {"error": "internal", "message": f"{type(error).__name__}: {error}"}


def _parse(case: Outcome) -> Outcome:
    try:
        return {"canonical": write_strict(parse_strict(case["text"]))}
    except InputError:
        return {"error": _MALFORMED}


def _match(case: Outcome) -> Outcome:
    try:
        return {"matches": compile_pattern(case["pattern"]).matches(case["text"])}
    except UnsupportedPatternError:
        return {"error": "unsupported"}


def _fit(case: Outcome) -> Outcome:
    declared, definitions = _types(case)
    fitter = ValueFitter(definitions, exact=bool(case.get("exact")), parse=parse_strict)
    try:
        value = fitter.fit(case["value"], declared)
    except UnfitValueError as error:
        return {"error": "unfit", "pointer": error.pointer}
    return {"value": value, "bends": [one.pointer for one in fitter.bends]}


def _write_document(case: Outcome) -> Outcome:
    declared, definitions = _types(case)
    try:
        return {"document": write_document(case["value"], declared, definitions)}
    except WireError as error:
        return {"error": error.token}


def _read_document(case: Outcome) -> Outcome:
    definitions = _DEFINITIONS.validate_python(case.get("definitions", {}))
    told = case.get("type")
    declared = None if told is None else _TYPE.validate_python(told)
    try:
        return {"value": read_document(case["document"], declared, definitions)}
    except WireError as error:
        return {"error": error.token}


def _types(case: Outcome) -> tuple[Type, dict[str, Type]]:
    definitions = _DEFINITIONS.validate_python(case.get("definitions", {}))
    return _TYPE.validate_python(case["type"]), definitions


def _call(case: Outcome) -> Outcome:
    engine = _engine(case)
    refused = case.get("refused")
    effects = engine.request(
        0,
        case["carrier"],
        case["caller"],
        case["extras"],
        None,
        approved=bool(case.get("approved")),
        refusal=None if refused is None else Failure(refused["token"], refused["text"]),
    )
    sent = next((one for one in effects if isinstance(one, Send)), None)
    if sent is None:
        return {"outgoing": None, **_told(effects)}
    given = case.get("backend", {"silent": True})
    effects = []
    for answer in given if isinstance(given, list) else [given]:
        if answer.get("died"):
            effects += engine.died(1, sent.target.package)
        elif not answer.get("silent"):
            effects += engine.result(1, sent.call, _answer(answer))
    if not any(isinstance(one, Answer) for one in effects):
        effects = engine.advance(sent.deadline)
    return {"outgoing": _outgoing(sent.outgoing), **_told(effects)}


def _preview(case: Outcome) -> Outcome | None:
    told = _engine(case).preview(case["carrier"], case["caller"], case["extras"])
    return None if told is None else {"capability": told.capability, "arguments": dict(told.arguments)}


def _engine(case: Outcome) -> Engine:
    table, policy = read_route_table(case["routes"]), read_policy(case.get("policy", {}))
    return Engine(table, policy, _targets(case.get("targets")), new_id=lambda: _ANY_ID)


def _targets(installed: Mapping[str, Any] | None) -> Callable[[Target], Installed | None]:
    def find(target: Target) -> Installed | None:
        if installed is None:
            return Installed(target.signer, target.version_code, target.digest)
        held = installed.get(target.package)
        return None if held is None else Installed(held["signer"], held["version_code"], held["digest"])

    return find


def _answer(given: Outcome) -> BackendAnswer:
    if "error" in given:
        return FunctionAnswer(code=given["error"]["code"], message=given["error"].get("message") or "")
    if "document" in given:
        return FunctionAnswer(given["document"])
    if "code" not in given:
        return ResponseAnswer(given["extras"])
    if "data" in given:
        return BroadcastAnswer(given["code"], given["data"])
    return ActivityAnswer(given["code"], given.get("extras"))


def _outgoing(outgoing: Outgoing) -> Outcome:
    if isinstance(outgoing, ExtrasCall):
        return {"extras": dict(outgoing.extras)}
    return {"function": outgoing.function, "document": outgoing.document}


def _told(effects: list[Effect]) -> Outcome:
    for one in effects:
        if isinstance(one, Answer):
            return {"extras": dict(one.extras), "token": one.token}
        if isinstance(one, Drop):
            return {"extras": None, "token": one.failure.token}
    return {"extras": None, "token": None}


def _life(case: Outcome) -> Outcome:
    life: Lifecycle[None] = Lifecycle(Limits.model_validate(case.get("limits", {})))
    effects: list[Json] = []
    for event in case["events"]:
        now, kind = event["at"], event["event"]
        effects.extend(map(_life_answer, life.advance(now)))
        key = RequestKey(event.get("caller", 0), event.get("id", ""))
        if kind == "request":
            effects.append(_begin(life, now, key, event.get("deadline_ms", DEFAULT_DEADLINE_MS)))
        elif kind == "died":
            effects.extend(map(_life_answer, life.end_where(now, "interrupted", lambda _: True)))
        elif kind in _ENDS:
            ended = life.end(now, key, _ENDS[kind])
            effects.extend([] if ended is None else [_life_answer(ended)])
        elif kind != "time":
            raise ValueError(kind)
    return {"effects": effects}


_ENDS: Final = {"result": None, "cancel": "canceled"}


def _begin(life: Lifecycle[None], now: int, key: RequestKey, deadline_ms: int) -> Outcome:
    told: Outcome = {"at": now, "effect": "start", "caller": key.caller, "id": key.request_id}
    try:
        life.begin(now, key, deadline_ms, None)
    except CallError as error:
        token, text = error.failure.token, error.failure.text
        return {**told, "effect": "answer", "token": token, "message": text}
    return told


def _life_answer(ended: Ended[None]) -> Outcome:
    key = ended.key
    return {
        "at": ended.at,
        "effect": "answer",
        "caller": key.caller,
        "id": key.request_id,
        "token": ended.token,
    }


_OPERATIONS: Final[Mapping[str, Callable[[Outcome], Outcome | None]]] = {
    "parse": _parse,
    "pattern": _match,
    "fit": _fit,
    "write-document": _write_document,
    "read-document": _read_document,
    "call": _call,
    "preview": _preview,
    "life": _life,
}
