"""What the vectors of `device_shim/vectors` cannot show of the Python engine.

That is several calls in a row, questions to the user while something changes, and messages.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given, strategies as st

from adapters.appfunctions_wire.wire_types import DEFINITIONS, input_types_with_values
from device_shim.shim_engine.engine_samples import (
    AGENT,
    ANY_APP,
    CLOCK,
    OTHER,
    TABLE,
    as_approved,
    engine,
    only,
    response_of,
    s1,
    submit,
    target_of,
)
from droidgate_appfunctions.wire import AppFunctionWireError
from droidgate_appfunctions.wire_documents import KIND_OF_SCALAR, read_document, write_document
from droidgate_mappings.model.errors import InputError
from droidgate_mappings.model.types import ObjectType
from droidgate_mappings.values.failures import CallError, Failure
from droidgate_shim.engine.authority import NO_GRANT, CallLimits, Carrier, Policy, parse_policy, read_policy
from droidgate_shim.engine.backends import BroadcastAnswer, ExtrasCall, ResponseAnswer
from droidgate_shim.engine.engine import ASKING_MS, Answer, Ask, Engine, Send
from droidgate_shim.engine.rates import Rates
from droidgate_shim.engine.routes import Target, parse_route_table, read_route_table
from droidgate_shim.engine.strict_json import exact_numbers, parse_strict, write_strict
from strategies import damaged

NO = Failure("denied", "the user refused this call")
DEADLINE_MS = 30_000
APPROVED = target_of("aa", 3, "d1")


def message_of(answer: Answer) -> str:
    return str(response_of(answer)["message"])


# Route tables and policies


def test_a_table_is_read_with_what_may_be_missing() -> None:
    table = parse_route_table(json.dumps(TABLE))
    route = table.routes["weather"].route
    assert list(table.routes) == ["fill", "weather", "note", "clock"]
    assert (route.deadline_ms, route.names, route.output, route.effects) == (30_000, {}, None, None)
    assert table.routes["fill"].fields == frozenset({"ok", "written"})


@pytest.mark.parametrize(("path", "value", "message"), [
    ("format", 2, "format"),
    ("routes", {}, "routes"),
    ("routes 1 id", "fill", "duplicate id 'fill'"),
    ("routes 0 more", 1, "routes.0.more"),
    ("routes 0 backend kind", "aidl", "routes.0.backend"),
    ("routes 0 backend component", "a.pdf", "routes.0.backend.mmcp-activity.component"),
    ("routes 0 input", {"kind": "ref", "name": "Gone"}, "'Gone' that is referred to is not defined"),
    ("routes 0 input kind", "date", "routes.0.input"),
    ("definitions", {"A": {"kind": "ref", "name": "B"}}, "'B' that is referred to is not defined"),
    ("routes 0 names", {"gone": "file"}, "'gone' is not declared"),
    ("routes 0 names", {"path": "pages"}, "two parameters are 'pages' at the backend"),
    ("routes 0 deadline_ms", 0, "deadline_ms"),
    ("routes 0 deadline_ms", "5", "deadline_ms"),
    ("routes 0 outputs", {"kind": "list"}, "outputs"),
    ("routes 0 target", None, "routes.0.target"),
    ("routes 3 backend dialect", "MM-3", "'MM-3' is not served"),
], ids=str)  # fmt: skip
def test_a_wrong_table_is_refused_with_its_place(path: str, value: Any, message: str) -> None:
    table = copy.deepcopy(TABLE)
    *steps, last = path.split()
    node: Any = table
    for step in steps:
        node = node[int(step) if step.isdigit() else step]
    node[last] = value
    with pytest.raises(InputError) as raised:
        read_route_table(table)
    assert message in str(raised.value)
    assert str(raised.value).startswith("routes.json")


@pytest.mark.parametrize(("read", "document"), [
    (read_route_table, None),
    (read_route_table, []),
    (read_route_table, 5),
    (read_route_table, "text"),
    (read_route_table, {"routes": []}),
    (read_policy, None),
    (read_policy, {"grant": []}),
    (read_policy, {"grants": [{"caller": True, "capability": "*"}]}),
    (read_policy, {"limits": {"open": -1}}),
], ids=lambda value: getattr(value, "__name__", str(value)))  # fmt: skip
def test_what_is_not_a_table_or_a_policy_is_refused(
    read: Callable[[object], object], document: object
) -> None:
    with pytest.raises(InputError):
        read(document)


def test_a_policy_may_be_empty_and_then_nobody_may_call() -> None:
    policy = parse_policy("{}")
    assert policy.limits == CallLimits(open=32, open_per_caller=8, burst=30, per_minute=120)
    assert not policy.is_granted(None, "bind", AGENT)


# Calls


def test_a_capability_that_is_not_there_looks_like_one_that_is_not_granted() -> None:
    shim = engine({"grants": [{"caller": OTHER, "capability": "*"}]})
    first, second = (
        message_of(only(Answer, submit(shim, 0, "bind", AGENT, s1("u-1", name, {}), None)))
        for name in ("fill", "gone")
    )
    assert first == second


@pytest.mark.parametrize("keywords", [{}, {"additionalProperties": True}], ids=["closed", "open"])
@pytest.mark.parametrize("order", [("path", "file"), ("file", "path")], ids=" before ".join)
def test_an_undeclared_argument_cannot_pass_as_a_renamed_one(
    keywords: dict[str, bool], order: tuple[str, ...]
) -> None:
    table = copy.deepcopy(TABLE)
    table["routes"][0]["input"]["keywords"] = keywords
    shim = Engine(read_route_table(table), read_policy(ANY_APP), as_approved)
    arguments = dict.fromkeys(order, "/etc")
    refused = only(Answer, submit(shim, 0, "bind", AGENT, s1("u-1", "fill", arguments), None))
    assert refused.token == "invalid_argument"
    assert '"path"' in message_of(refused)


def clock_response(request_id: str, text: str) -> dict[str, str]:
    capability = {"id": "clock_in", "output": {"text": text}}
    response = {"id": request_id, "capability": capability, "status": "success"}
    document = {"mobile-mcp-response": {"version": "1.0", "response": response}}
    return {"mobile-mcp-response": json.dumps(document)}


def test_a_tool_that_answers_one_agent_s_request_to_another_gives_the_other_nothing() -> None:
    output = {"kind": "object", "properties": {"text": {"type": {"kind": "string"}}}}
    clock = {**CLOCK, "outputs": {"kind": "fields"}, "output": output}
    ids = iter(["n-1", "n-2"])
    table = read_route_table({"format": 1, "routes": [clock]})
    shim = Engine(table, read_policy(ANY_APP), as_approved, new_id=lambda: next(ids))
    first = only(Send, submit(shim, 0, "bind", AGENT, s1("u-1", "clock", {}), "first"))
    second = only(Send, submit(shim, 0, "bind", OTHER, s1("u-1", "clock", {}), "second"))
    for extra in ({}, {"mcp_request_id": "n-2"}):
        foreign = {**clock_response("n-1", "first's secret"), **extra}
        assert shim.answered(1, second.call, ResponseAnswer(foreign)) == []
    for sent, request_id, text in ((second, "n-2", "second's"), (first, "n-1", "first's secret")):
        own = only(Answer, shim.answered(2, sent.call, ResponseAnswer(clock_response(request_id, text))))
        assert (own.reply_to, response_of(own)["capability"]["output"]) == (sent.reply_to, {"text": text})


def test_a_call_that_cannot_be_brought_to_its_app_fails_with_what_its_edge_says() -> None:
    shim = engine()
    sent = only(Send, submit(shim, 0, "bind", AGENT, s1("1", "fill", {"path": "/a"}), None))
    answer = only(Answer, shim.fail(1, sent.call, Failure("needs_user", "open the app")))
    assert message_of(answer) == "needs_user: open the app"
    assert shim.fail(2, sent.call, Failure("needs_user")) == []


@pytest.mark.parametrize("carrier", ["bind", "start"])
def test_a_request_may_be_admitted_long_before_it_is_taken(carrier: Any) -> None:
    shim = engine({**ANY_APP, "limits": {"burst": 1}})
    request = s1("1", "weather", {})
    assert shim.admit(0, carrier, AGENT, request, "me") == []
    assert only(Answer, shim.admit(1, carrier, AGENT, s1("2", "weather", {}), "me")).token == "busy"
    only(Send, shim.receive(5_000, carrier, AGENT, request, "me"))


# Rates: step 1 of section 3


def test_a_caller_may_send_thirty_at_once_and_then_two_each_second() -> None:
    # shim-engine.md 3, step 1: 120 a minute after a burst of 30.
    rates = Rates(CallLimits(burst=30, per_minute=120))

    def take(count: int, now: int, carrier: Carrier = "bind", caller: int = 1) -> int:
        return sum(rates.take(now, carrier, caller) is None for _ in range(count))

    assert take(31, 0) == 30
    assert take(31, 0, caller=2) == take(31, 0, "start") == 30
    assert take(1, 499) == 0
    assert take(2, 500) == 1
    assert take(1, 999) == 0
    assert take(4, 2_000) == 3
    assert take(31, 17_000) == 30
    assert len(rates) == 1
    rates.forget_full(32_000)
    assert len(rates) == 0


def test_a_refusal_names_when_to_retry() -> None:
    rates = Rates(CallLimits(burst=1, per_minute=30))
    assert rates.take(0, "bind", 1) is None
    refused = rates.take(0, "bind", 1)
    assert refused == Failure("busy", "this app sent too many requests; retry in 2 s")
    assert Rates(CallLimits(burst=0, per_minute=30)).take(0, "bind", 1) == Failure(
        "busy", "this app sent too many requests"
    )


# Questions to the user: steps 8 of section 3, and 7


def ask(shim: Engine, *, caller: int = AGENT, now: int = 0) -> Ask:
    return only(
        Ask, submit(shim, now, "bind", caller, s1("1", "weather", {"place": "Ulm"}), "me", is_asking=True)
    )


def test_a_question_names_the_call_and_a_yes_sends_it_with_a_new_deadline() -> None:
    shim = engine({})
    question = ask(shim)
    assert (question.capability, question.arguments) == ("weather", {"place": "Ulm"})
    assert (question.reply_to, question.deadline) == ("me", ASKING_MS)
    assert shim.next_deadline() == ASKING_MS
    sent = only(Send, shim.decided(ASKING_MS - 1, question.call, None))
    assert isinstance(sent.outgoing, ExtrasCall)
    assert json.loads(sent.outgoing.extras["params"]) == {"place": "Ulm"}
    assert (sent.reply_to, sent.deadline) == ("me", ASKING_MS - 1 + DEADLINE_MS)
    assert shim.next_deadline() == sent.deadline
    assert shim.decided(ASKING_MS, question.call, None) == []
    assert only(Answer, shim.answered(ASKING_MS + 1_000, sent.call, BroadcastAnswer(-1, "Sun"))).token is None


def test_nobody_who_answers_for_two_minutes_is_needs_user() -> None:
    shim = engine({})
    question = ask(shim)
    assert shim.expire(ASKING_MS - 1) == []
    assert message_of(only(Answer, shim.expire(ASKING_MS))) == (
        "needs_user: nobody answered the question about this call on the phone in time; "
        "retry when somebody is there"
    )
    assert shim.decided(ASKING_MS + 1, question.call, None) == []


def test_a_late_yes_is_not_one_for_the_next_call_of_the_id() -> None:
    shim = engine({})
    first = ask(shim)
    only(Answer, shim.cancel(1, first.reply_to))
    second = ask(shim, now=2)
    assert shim.decided(3, first.call, None) == []
    assert only(Send, shim.decided(4, second.call, None)).call == second.call


def test_a_decision_about_a_call_that_needs_none_changes_nothing() -> None:
    shim = engine()
    sent = only(Send, submit(shim, 0, "bind", AGENT, s1("1", "weather", {}), "me", is_asking=True))
    assert shim.decided(1, sent.call, NO) == []
    assert only(Answer, shim.answered(2, sent.call, BroadcastAnswer(-1, "Sun"))).token is None


@pytest.mark.parametrize(("installed", "policy", "token"), [
    pytest.param(None, Policy(), "unavailable", id="the app is gone"),
    pytest.param(target_of("bb", 3, "d1"), Policy(), "unavailable", id="the app has another signer"),
    pytest.param(target_of("aa", 4, "d2"), Policy(), "needs_approval", id="the app has another version"),
    pytest.param(APPROVED, Policy(switched_off=frozenset({"weather"})), "disabled",
        id="the capability is switched off"),
])  # fmt: skip
def test_what_changes_while_the_user_is_asked_is_checked_again(
    installed: Target | None, policy: Policy, token: str
) -> None:
    found: list[Target | None] = [APPROVED]

    def find(_target: Target) -> Target | None:
        return found[-1]

    shim = Engine(read_route_table(TABLE), read_policy({}), find)
    question = ask(shim)
    found.append(installed)
    shim.use_policy(policy)
    assert only(Answer, shim.decided(1, question.call, None)).token == token
    assert shim.open_count() == 0


def test_a_call_with_a_question_counts_as_open() -> None:
    shim = engine({"limits": {"open_per_caller": 1}})
    ask(shim)
    for request_id, why in (("1", "id is open"), ("2", "1 requests open")):
        request = s1(request_id, "weather", {})
        assert why in message_of(only(Answer, submit(shim, 1, "bind", AGENT, request, 2, is_asking=True)))
    other = ask(shim, caller=OTHER)
    assert only(Answer, shim.fail(2, other.call, Failure("canceled", "gone"))).token == "canceled"


@pytest.mark.parametrize("granted", [(), ("weather",)], ids=["a call", "all further calls"])
def test_a_yes_to_all_further_calls_ends_with_its_grant_and_one_to_a_call_does_not(
    granted: tuple[str, ...],
) -> None:
    shim = engine({})
    question = ask(shim)
    grants: dict[int | str, frozenset[str]] = {AGENT: frozenset(granted)}
    shim.use_policy(Policy(grants))
    permission = only(Send, shim.decided(1, question.call, NO_GRANT if granted else None)).permission
    permission.check(Policy(grants), APPROVED)
    if granted:
        with pytest.raises(CallError, match="denied"):
            permission.check(Policy(), APPROVED)
    else:
        permission.check(Policy(), APPROVED)
    with pytest.raises(CallError, match="disabled"):
        permission.check(Policy(grants, frozenset({"weather"})), APPROVED)


# Values and documents of app functions


def test_a_value_nested_too_deep_is_refused_both_ways() -> None:
    value: Any = 1
    document: Any = 1
    for _ in range(70):
        value = {"a": value}
        kind = "long" if document == 1 else "document"
        document = {"schemaType": "", "properties": {"a": {"kind": kind, "values": [document]}}}
    with pytest.raises(AppFunctionWireError):
        write_document(value, ObjectType(), {})
    with pytest.raises(AppFunctionWireError):
        read_document(document, None, {})


@given(input_types_with_values())
def test_what_is_written_holds_only_known_kinds_and_reads_back_as_given(case: tuple[Any, Any]) -> None:
    declared, values = case
    try:
        document = write_document(values, declared, DEFINITIONS)
    except AppFunctionWireError:
        return
    kinds = {property_["kind"] for property_ in document["properties"].values()}
    assert kinds <= {*KIND_OF_SCALAR.values(), "document"}
    assert set(document["properties"]) <= set(values)


# JSON


def test_floats_of_another_parser_become_the_digits_they_mean() -> None:
    assert exact_numbers({"a": [0.1, 1, True]}) == {"a": [Decimal("0.1"), 1, True]}


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(1 << 63), (1 << 63) - 1) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=20,
)
PIECES = [*'{}[]",:\\0-. \n\0é', "\\ud83d", "1e9", "-0.0", "1E+99", "null", '"a":', "NaN"]


@given(damaged(VALUES.map(json.dumps), st.sampled_from(PIECES) | st.text(max_size=4)))
def test_any_text_is_read_as_the_standard_parser_does_or_refused(text: str) -> None:
    try:
        value = parse_strict(text)
    except InputError:
        return
    assert value == json.loads(text, parse_float=Decimal)


@given(VALUES)
def test_what_is_written_is_read_again(value: object) -> None:
    text = json.dumps(value)
    if "\\ud" in text and not text.isascii():
        return
    try:
        read = parse_strict(text)
    except InputError:
        return
    assert parse_strict(write_strict(read)) == read == value
