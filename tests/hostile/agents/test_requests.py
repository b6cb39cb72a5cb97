"""Hostile requests and answers: nothing raises, and each request is answered or dropped as it should be."""

import json
from random import Random
from typing import Any

import pytest
from hypothesis import given, strategies as st

from device_shim.shim_engine.engine_samples import ANY_APP, engine, s1, submit
from droidgate_mappings.tables.failure_tokens import load_failure_tokens
from droidgate_shim.engine.backends import (
    ActivityAnswer,
    BackendAnswer,
    BroadcastAnswer,
    FunctionAnswer,
    ResponseAnswer,
)
from droidgate_shim.engine.engine import Answer, Drop, Send
from droidgate_shim.engine.strict_json import fits_units, parse_strict

EXTRAS = ("mobile-mcp-request", "request", "mcp_command_json")
WIDE = {**ANY_APP, "limits": {"open": 10**6, "open_per_caller": 10**6, "burst": 10**6}}

PARTS = (
    "{", "}", "[", "]", ":", ",", '"', "\\", "\\u", "\\ud800", "null", "true", "NaN", "-", "1e999", "0.1",
    "9" * 40,
    '"mobile-mcp-request"', '"request"', '"version"', '"1.0"', '"2.0"', '"id"', '"u"', '"capability"',
    '"fill"',
    '"args"', '"input"', '"{}"', '"path"', "\ud83d", "\x00", "\ufeff", "[" * 70, '{"a":' * 70,
)  # fmt: skip

MEMBERS = (
    "id", "capability", "args", "input", "name", "value", "version", "request", "output", "status",
)  # fmt: skip
VALUES: st.SearchStrategy[Any] = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.sampled_from(
        ("", "1.0", "fill", "note", "true", "[1]", "{", "Error: x", "denied: x", "Unknown tool")
    )
    | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.sampled_from(MEMBERS) | st.text(max_size=3), inner, max_size=5)
    ),
    max_leaves=15,
)


def _envelope(request_id: Any, capability: Any, key: str, arguments: Any, version: Any, wrapper: Any) -> Any:
    request = {"id": request_id, "capability": {"id": capability, key: arguments}}
    return {"mobile-mcp-request": {"version": version, "request": request}} if wrapper else request


ENVELOPES = st.builds(
    _envelope,
    VALUES,
    st.sampled_from(("fill", "weather", "note", "clock", "gone")) | VALUES,
    st.sampled_from(("args", "input")),
    VALUES,
    st.just("1.0") | VALUES,
    st.booleans(),
)


def _check(extras: dict[str, Any], carrier: Any = "start") -> None:
    shim = engine(WIDE)
    (effect,) = submit(shim, 0, carrier, 10_101, extras, "me")
    if not any(name in extras for name in EXTRAS):
        assert isinstance(effect, Drop)
        return
    if isinstance(effect, Send):
        (effect,) = shim.expire(effect.deadline)
    assert isinstance(effect, Answer)
    assert effect.reply_to == "me"
    assert effect.token in load_failure_tokens()
    assert shim.open_count() == 0
    for text in effect.extras.values():
        assert fits_units(text)
    texts = [text for name, text in effect.extras.items() if name != "mcp_request_id"]
    assert len(texts) == 1
    parse_strict(texts[0])


@given(st.sampled_from(EXTRAS), ENVELOPES | VALUES, st.sampled_from(("start", "bind")))
def test_any_json_is_answered(name: str, document: Any, carrier: str) -> None:
    _check({name: json.dumps(document)}, carrier)


@given(st.dictionaries(st.sampled_from((*EXTRAS, "mcp_request_id", "tool")), VALUES))
def test_any_extras_are_answered_or_dropped(extras: dict[str, Any]) -> None:
    _check(extras)


def test_torn_texts_are_answered() -> None:
    random = Random(9)
    whole = s1("u-1", "fill", {"path": "/a", "pages": [1, {"b": 2.5}]})["mobile-mcp-request"]
    for _ in range(2_000):
        if random.random() < 0.5:
            text = "".join(random.choices(PARTS, k=random.randrange(1, 30)))
        else:
            at = random.randrange(len(whole))
            text = whole[:at] + random.choice(PARTS) + whole[at + random.randrange(3) :]
        _check({random.choice(EXTRAS): text}, random.choice(("start", "bind")))


PROPERTIES = st.fixed_dictionaries(
    {},
    optional={
        "kind": st.sampled_from(("string", "long", "double", "boolean", "bytes", "document", "what"))
        | VALUES,
        "values": st.lists(VALUES, max_size=3) | VALUES,
    },
)
DOCUMENTS = VALUES | st.fixed_dictionaries(
    {},
    optional={
        "schemaType": VALUES,
        "properties": VALUES
        | st.dictionaries(
            st.sampled_from(("androidAppfunctionsReturnValue", "a", "schemaType")), PROPERTIES | VALUES
        ),
    },
)
BUNDLES = st.dictionaries(
    st.sampled_from(("result", "error", "response", "mobile-mcp-response", "trace_only", "mcp_request_id")),
    VALUES | VALUES.map(json.dumps),
)
ANSWERS: st.SearchStrategy[BackendAnswer] = (
    st.builds(ActivityAnswer, st.sampled_from((-1, 0, 1, 7)), st.none() | BUNDLES)
    | st.builds(
        BroadcastAnswer, st.sampled_from((-1, 0, 1, 7)), st.none() | st.text() | VALUES.map(json.dumps)
    )
    | st.builds(FunctionAnswer, DOCUMENTS, st.none() | st.integers(), st.text(max_size=5))
    | st.builds(ResponseAnswer, BUNDLES)
)


@pytest.mark.parametrize("capability", ["fill", "weather", "note", "clock"])
@given(answer=ANSWERS)
def test_any_answer_of_an_app_ends_the_call_or_is_none(capability: str, answer: BackendAnswer) -> None:
    shim = engine()
    arguments = {"path": "/a"} if capability == "fill" else {}
    (sent,) = submit(shim, 0, "bind", 10_101, s1("u-1", capability, arguments), "me")
    assert isinstance(sent, Send)
    effects = shim.answered(1, sent.call, answer) or shim.expire(sent.deadline)
    (effect,) = effects
    assert isinstance(effect, Answer)
    assert effect.token is None or effect.token in load_failure_tokens()
    parse_strict(effect.extras["mobile-mcp-response"])
    assert shim.open_count() == 0
