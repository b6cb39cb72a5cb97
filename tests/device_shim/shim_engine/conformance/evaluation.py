"""One vector's input to its outcome (shim-engine.md 9)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from pydantic import TypeAdapter, ValidationError

from device_shim.shim_engine.engine_samples import submit
from droidgate_appfunctions.wire import AppFunctionWireError
from droidgate_appfunctions.wire_documents import read_document, write_document
from droidgate_mappings.model.errors import InputError
from droidgate_mappings.model.json_values import Json
from droidgate_mappings.model.types import Type
from droidgate_mappings.values.coercion import UnfitValueError, ValueFitter
from droidgate_mappings.values.failures import CallError, Failure
from droidgate_mappings.values.patterns import UnsupportedPatternError, compile_pattern
from droidgate_shim.deadlines import DEFAULT_DEADLINE_MS
from droidgate_shim.engine.authority import NO_GRANT, CallLimits, read_policy
from droidgate_shim.engine.backends import (
    ActivityAnswer,
    BackendAnswer,
    BroadcastAnswer,
    FunctionAnswer,
    ResponseAnswer,
    write_outgoing,
)
from droidgate_shim.engine.engine import Answer, Ask, Drop, Effect, Engine, Send
from droidgate_shim.engine.open_calls import CallKey, OpenCalls
from droidgate_shim.engine.rates import Rates
from droidgate_shim.engine.routes import Target, read_route_table
from droidgate_shim.engine.strict_json import exact_numbers, parse_strict, write_strict

Outcome = dict[str, Json]

_TYPE: Final[TypeAdapter[Type]] = TypeAdapter(Type)
_DEFINITIONS: Final[TypeAdapter[dict[str, Type]]] = TypeAdapter(dict[str, Type])
_ANY_ID: Final = "*"
_MALFORMED: Final = "malformed"


def evaluate(case: Mapping[str, Any]) -> Outcome:
    """Return the outcome of a vector; what is not a vector gives `{"error": "internal", ...}`.

    Args:
        case: The vector as parsed JSON; numbers may be floats, which mean their shortest digits.
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
    return {"value": value, "coercions": [coercion.pointer for coercion in fitter.coercions]}


def _write_document(case: Outcome) -> Outcome:
    declared, definitions = _types(case)
    try:
        return {"document": write_document(case["value"], declared, definitions)}
    except AppFunctionWireError as error:
        return {"error": error.token}


def _read_document(case: Outcome) -> Outcome:
    definitions = _DEFINITIONS.validate_python(case.get("definitions", {}))
    given = case.get("type")
    declared = None if given is None else _TYPE.validate_python(given)
    try:
        return {"value": read_document(case["document"], declared, definitions)}
    except AppFunctionWireError as error:
        return {"error": error.token}


def _types(case: Outcome) -> tuple[Type, dict[str, Type]]:
    definitions = _DEFINITIONS.validate_python(case.get("definitions", {}))
    return _TYPE.validate_python(case["type"]), definitions


def _call(case: Outcome) -> Outcome:
    engine = _engine(case)
    asking: Any = case.get("asking")
    effects = submit(
        engine,
        0,
        case["carrier"],
        case["caller"],
        case["extras"],
        None,
        approved=bool(case.get("approved")),
        is_asking=asking is not None,
    )
    asked = next((effect for effect in effects if isinstance(effect, Ask)), None)
    if asked is None:
        return _carried_out(engine, effects, case)
    if asking == "silent":
        effects = engine.expire(asked.deadline)
    elif asking == "cancel":
        effects = engine.cancel(1, None)
    elif asking == "give-up":
        effects = engine.give_up(1, None)
    else:
        decisions = {"yes": None, "always": NO_GRANT}
        is_yes = isinstance(asking, str)
        refusal = decisions[asking] if is_yes else Failure(asking["token"], asking["text"])
        effects = engine.decided(1, asked.call, refusal)
    question: Outcome = {"capability": asked.capability, "arguments": dict(asked.arguments)}
    return {**_carried_out(engine, effects, case), "asked": question}


def _carried_out(engine: Engine, effects: list[Effect], case: Outcome) -> Outcome:
    sent = next((effect for effect in effects if isinstance(effect, Send)), None)
    if sent is None:
        return {"outgoing": None, **_outcome_of(effects)}
    backend = case.get("backend", {"silent": True})
    effects = []
    for answer in backend if isinstance(backend, list) else [backend]:
        if "failure" in answer:
            failure = Failure(answer["failure"]["token"], answer["failure"]["message"])
            effects += engine.fail(2, sent.call, failure)
        elif answer.get("canceled"):
            effects += engine.cancel(2, None)
        elif answer.get("given_up"):
            effects += engine.give_up(2, None)
        elif not answer.get("silent"):
            effects += engine.answered(2, sent.call, _answer(answer))
    if not any(isinstance(effect, Answer) for effect in effects):
        effects = engine.expire(sent.deadline)
    return {"outgoing": write_outgoing(sent.outgoing), **_outcome_of(effects)}


def _engine(case: Outcome) -> Engine:
    table, policy = read_route_table(case["routes"]), read_policy(case.get("policy", {}))
    return Engine(table, policy, _targets(case.get("targets")), new_id=lambda: _ANY_ID)


def _targets(installed: Mapping[str, Any] | None) -> Callable[[Target], Target | None]:
    def find(target: Target) -> Target | None:
        if installed is None:
            return target
        found = installed.get(target.package)
        return None if found is None else target.model_copy(update=dict(found))

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


def _outcome_of(effects: list[Effect]) -> Outcome:
    for effect in effects:
        if isinstance(effect, Answer):
            return {"extras": dict(effect.extras), "token": effect.token}
        if isinstance(effect, Drop):
            return {"extras": None, "token": effect.failure.token}
    return {"extras": None, "token": None}


def _life(case: Outcome) -> Outcome:
    limits = CallLimits.model_validate(case.get("limits", {}))
    rates, calls = Rates(limits), OpenCalls[None](limits)
    numbers: dict[CallKey, int] = {}
    effects: list[Json] = []

    def close(now: int, key: CallKey, token: str | None) -> None:
        number = numbers.pop(key, None)
        if number is not None:
            calls.close(number)
            effects.append(_life_answer(now, key, token))

    for event in case["events"]:
        now, kind = event["at"], event["event"]
        for expired in calls.expire(now):
            close(expired.deadline, expired.key, "timeout")
        key = CallKey(event.get("carrier", "bind"), event.get("caller", 0), event.get("id", ""))
        if kind == "request":
            failure = rates.take(now, key.carrier, key.caller)
            if failure is None:
                try:
                    deadline = now + event.get("deadline_ms", DEFAULT_DEADLINE_MS)
                    numbers[key] = calls.open(key, None, now, deadline)
                except CallError as error:
                    failure = error.failure
            effects.append(_life_start(now, key, failure))
        elif kind in _ENDS:
            close(now, key, _ENDS[kind])
        elif kind != "time":
            raise ValueError(kind)
    return {"effects": effects}


_ENDS: Final = {"result": None, "cancel": "canceled"}


def _life_start(now: int, key: CallKey, failure: Failure | None) -> Outcome:
    if failure is None:
        return {"at": now, "effect": "start", "caller": key.caller, "id": key.request_id}
    return {**_life_answer(now, key, failure.token), "message": failure.text}


def _life_answer(now: int, key: CallKey, token: str | None) -> Outcome:
    return {"at": now, "effect": "answer", "caller": key.caller, "id": key.request_id, "token": token}


_OPERATIONS: Final[Mapping[str, Callable[[Outcome], Outcome]]] = {
    "parse": _parse,
    "pattern": _match,
    "fit": _fit,
    "write-document": _write_document,
    "read-document": _read_document,
    "call": _call,
    "life": _life,
}
