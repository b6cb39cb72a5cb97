"""A call through the engine, typed by hand from docs/shim-engine.md 3, 4, 6 and 7."""

import copy
import json
from typing import Any

import pytest

from device_shim.shim_engine.engine_samples import (
    AGENT,
    ANY_APP,
    CLOCK,
    OTHER,
    TABLE,
    as_approved,
    engine,
    only_answer,
    only_send,
    response_of,
    s1,
    target_of,
)
from droidgate_mappings.values.failures import Failure
from droidgate_shim.engine.authority import Carrier, read_policy
from droidgate_shim.engine.backends import (
    ActivityAnswer,
    AppFunctionCall,
    BackendAnswer,
    BroadcastAnswer,
    ExtrasCall,
    FunctionAnswer,
    ResponseAnswer,
)
from droidgate_shim.engine.carried import MAX_CARRIED_UNITS, carried_units
from droidgate_shim.engine.engine import Answer, Drop, Engine
from droidgate_shim.engine.responses import answer_journal_entry
from droidgate_shim.engine.routes import Target, read_route_table


def test_a_call_goes_out_by_the_tools_names_and_comes_back_in_the_dialect_asked() -> None:
    shim = engine()
    sent = only_send(shim.submit(0, "bind", AGENT, s1("u-1", "fill", {"path": "/a", "pages": "2"}), "me"))
    assert isinstance(sent.outgoing, ExtrasCall)
    assert sent.outgoing.extras["tool_name"] == "fill_form"
    assert json.loads(sent.outgoing.extras["parameters"]) == {"file": "/a", "pages": 2}
    assert sent.deadline == 5_000
    answer = only_answer(shim.answered(9, sent.call, ActivityAnswer(-1, {"result": '{"ok":true,"extra":1}'})))
    assert answer.reply_to == "me"
    assert answer.token is None
    assert response_of(answer) == {
        "id": "u-1",
        "status": "success",
        "capability": {"id": "fill", "output": {"ok": True}},
    }


def test_the_first_edition_is_answered_with_a_list_in_declared_order() -> None:
    shim = engine()
    request = {"id": "u-1", "capability": {"id": "fill", "args": {"path": "/a"}}}
    document = {"mobile-mcp-request": {"version": "1.0", "request": request}}
    sent = only_send(shim.submit(0, "start", 0, {"mobile-mcp-request": json.dumps(document)}, None))
    answer = only_answer(
        shim.answered(1, sent.call, ActivityAnswer(-1, {"result": '{"written":3,"ok":true}'}))
    )
    assert response_of(answer)["capability"]["output"] == [
        {"name": "ok", "type": "boolean", "value": True},
        {"name": "written", "type": "integer", "value": 3},
    ]


def test_the_prototype_is_answered_without_a_wrapper_and_with_a_separate_id() -> None:
    shim = engine()
    request = {"id": "u-1", "capability": {"id": "weather", "input": '{"place":"Ulm"}'}}
    sent = only_send(shim.submit(0, "start", 0, {"request": json.dumps(request)}, None))
    assert isinstance(sent.outgoing, ExtrasCall)
    assert sent.outgoing.extras == {"tool": "get_weather", "params": '{"place":"Ulm"}'}
    answer = only_answer(shim.answered(1, sent.call, BroadcastAnswer(0, "Rain")))
    assert answer.extras["mcp_request_id"] == "u-1"
    assert json.loads(answer.extras["response"]) == {
        "id": "u-1",
        "status": "success",
        "capability": {"id": "weather", "output": {"result": "Rain"}},
    }


def test_an_app_function_gets_a_document_and_its_errors_keep_their_number() -> None:
    shim = engine()
    sent = only_send(shim.submit(0, "bind", AGENT, s1("u-1", "note", {"title": "Milk"}), None))
    assert sent.outgoing == AppFunctionCall(
        "N#create", {"schemaType": "", "properties": {"title": {"kind": "string", "values": ["Milk"]}}}
    )
    returned = {"androidAppfunctionsReturnValue": {"kind": "long", "values": [7]}}
    good = FunctionAnswer({"schemaType": "", "properties": returned})
    assert response_of(only_answer(shim.answered(1, sent.call, good)))["capability"]["output"] == {"id": 7}
    sent = only_send(shim.submit(2, "bind", AGENT, s1("u-1", "note", {}), None))
    bad = only_answer(shim.answered(3, sent.call, FunctionAnswer(code=1501, message="too many")))
    assert response_of(bad)["message"] == "invalid_argument: 1501 too many"


def test_a_mobile_mcp_tool_is_asked_in_its_dialect_and_timings_are_no_answer() -> None:
    shim = engine()
    sent = only_send(shim.submit(0, "bind", AGENT, s1("u-1", "clock", {"date": "today"}), None))
    assert isinstance(sent.outgoing, ExtrasCall)
    assert json.loads(sent.outgoing.extras["mobile-mcp-request"]) == {
        "mobile-mcp-request": {
            "version": "1.0",
            "request": {"id": "n-1", "capability": {"id": "clock_in", "input": {"date": "today"}}},
        }
    }
    assert shim.answered(1, sent.call, ResponseAnswer({"trace_only": True})) == []
    response = {"id": "n-1", "status": "failure", "message": "Missing args."}
    answer = only_answer(shim.answered(2, sent.call, ResponseAnswer({"response": json.dumps(response)})))
    assert answer.token == "invalid_argument"


@pytest.mark.parametrize(
    ("answer", "token"),
    [
        # docs/shim-engine.md 4
        (ActivityAnswer(-1, {"result": "Error: Missing path"}), "invalid_argument"),
        (ActivityAnswer(-1, {"result": "Error: disk full"}), "backend_failure"),
        (ActivityAnswer(-1, {"result": "Unknown tool"}), "unknown_capability"),
        (ActivityAnswer(0, {"error": "denied: not you"}), "denied"),
        (ActivityAnswer(0, None), "canceled"),
        (ActivityAnswer(7, None), "backend_failure"),
        (ActivityAnswer(-1, {"result": "5"}), "malformed_response"),
        (ActivityAnswer(-1, {"result": '{"written": 1}'}), "malformed_response"),
        (ActivityAnswer(-1, {"result": None}), "malformed_response"),
        (BroadcastAnswer(-1, "{}"), "malformed_response"),
    ],
)
def test_a_backends_failure_becomes_a_token(answer: BackendAnswer, token: str) -> None:
    shim = engine()
    sent = only_send(shim.submit(0, "bind", AGENT, s1("u-1", "fill", {"path": "/a"}), None))
    failed = only_answer(shim.answered(1, sent.call, answer))
    assert failed.token == token
    assert response_of(failed)["message"].partition(":")[0] == token


@pytest.mark.parametrize(
    ("policy", "installed", "arguments", "token"),
    [
        # docs/shim-engine.md 3: the steps are taken in their order, so the first that fails is the answer.
        ({}, None, {}, "denied"),
        ({**ANY_APP, "switched_off": ["fill"]}, None, {}, "disabled"),
        (ANY_APP, None, {}, "invalid_argument"),
        (ANY_APP, None, {"path": "/a", "pages": 0}, "invalid_argument"),
        (ANY_APP, None, {"path": "/a"}, "unavailable"),
        (ANY_APP, target_of("bb", 3, "d1"), {"path": "/a"}, "unavailable"),
        (ANY_APP, target_of("aa", 3, "d2"), {"path": "/a"}, "needs_approval"),
        ({**ANY_APP, "limits": {"open": 0}}, None, {"path": "/a"}, "busy"),
        ({**ANY_APP, "limits": {"burst": 0}}, None, {"path": "/a"}, "busy"),
    ],
)
def test_a_request_that_goes_no_further_is_answered_at_once(
    policy: dict[str, Any], installed: Target | None, arguments: dict[str, Any], token: str
) -> None:
    shim = engine(policy, pdf=installed)
    answer = only_answer(shim.submit(0, "bind", AGENT, s1("u-1", "fill", arguments), "me"))
    assert (answer.token, answer.reply_to) == (token, "me")
    assert response_of(answer)["status"] == "failure"
    assert shim.open_count() == 0


def test_another_version_of_the_same_descriptor_is_called() -> None:
    shim = engine(pdf=target_of("aa", 4, "d1"))
    only_send(shim.submit(0, "bind", AGENT, s1("u-1", "fill", {"path": "/a"}), None))


def test_a_capability_that_is_not_there_looks_like_one_that_is_not_granted() -> None:
    shim = engine({"grants": [{"caller": OTHER, "capability": "*"}]})
    texts = [
        response_of(only_answer(shim.submit(0, "bind", AGENT, s1("u-1", name, {}), None)))["message"]
        for name in ("fill", "gone")
    ]
    assert texts[0] == texts[1]
    assert texts[0].startswith("denied")
    answer = only_answer(shim.submit(0, "bind", OTHER, s1("u-1", "gone", {}), None))
    assert answer.token == "unknown_capability"


def test_an_undeclared_argument_cannot_pass_as_a_renamed_one() -> None:
    for keywords in ({}, {"additionalProperties": True}):
        table = copy.deepcopy(TABLE)
        table["routes"][0]["input"]["keywords"] = keywords
        shim = Engine(read_route_table(table), read_policy(ANY_APP), as_approved)
        for arguments in ({"path": "/mine", "file": "/etc"}, {"file": "/etc", "path": "/mine"}):
            refused = only_answer(shim.submit(0, "bind", AGENT, s1(str(arguments), "fill", arguments), None))
            assert refused.token == "invalid_argument"
            assert '"path"' in response_of(refused)["message"]


def test_a_tool_that_answers_one_agent_s_request_to_another_gives_the_other_nothing() -> None:
    ids = iter(["n-1", "n-2"])
    shim = Engine(read_route_table(CLOCKS), read_policy(ANY_APP), as_approved, new_id=lambda: next(ids))
    first = only_send(shim.submit(0, "bind", AGENT, s1("u-1", "clock", {}), "first"))
    second = only_send(shim.submit(0, "bind", OTHER, s1("u-1", "clock", {}), "second"))
    for extra in ({}, {"mcp_request_id": "n-2"}):
        foreign = {**clock_response("n-1", "first's secret"), **extra}
        assert shim.answered(1, second.call, ResponseAnswer(foreign)) == []
    own = only_answer(shim.answered(2, second.call, ResponseAnswer(clock_response("n-2", "second's"))))
    assert (own.reply_to, response_of(own)["capability"]["output"]) == ("second", {"text": "second's"})
    own = only_answer(shim.answered(3, first.call, ResponseAnswer(clock_response("n-1", "first's secret"))))
    assert (own.reply_to, response_of(own)["capability"]["output"]) == ("first", {"text": "first's secret"})


def clock_response(request_id: str, text: str) -> dict[str, str]:
    capability = {"id": "clock_in", "output": {"text": text}}
    response = {"id": request_id, "capability": capability, "status": "success"}
    document = {"mobile-mcp-response": {"version": "1.0", "response": response}}
    return {"mobile-mcp-response": json.dumps(document)}


CLOCKS = {
    "format": 1,
    "routes": [
        {
            **CLOCK,
            "outputs": {"kind": "fields"},
            "output": {"kind": "object", "properties": {"text": {"type": {"kind": "string"}}}},
        }
    ],
}


def test_an_open_id_is_busy_and_a_closed_one_is_free() -> None:
    shim = engine()
    request = s1("u-1", "fill", {"path": "/a"})
    sent = only_send(shim.submit(0, "bind", AGENT, request, "first"))
    second = only_answer(shim.submit(1, "bind", AGENT, request, "second"))
    assert (second.token, second.reply_to) == ("busy", "second")
    only_send(shim.submit(2, "bind", OTHER, request, "other"))
    only_answer(shim.answered(3, sent.call, ActivityAnswer(-1, {"result": '{"ok":true}'})))
    again = only_send(shim.submit(4, "bind", AGENT, request, "again"))
    # The first call's answer is late now, and is not the second one's.
    assert shim.answered(5, sent.call, ActivityAnswer(-1, {"result": '{"ok":false}'})) == []
    assert only_answer(shim.cancel(6, "again")).reply_to == "again"
    assert shim.answered(7, again.call, ActivityAnswer(0)) == []


def test_a_deadline_ends_a_call_and_is_reported_before_what_comes_later() -> None:
    shim = engine()
    sent = only_send(shim.submit(0, "bind", AGENT, s1("u-1", "fill", {"path": "/a"}), "first"))
    assert shim.next_deadline() == 5_000
    assert shim.expire(4_999) == []
    effects = shim.submit(5_000, "bind", AGENT, s1("u-1", "weather", {}), "second")
    assert isinstance(effects[0], Answer)
    assert (effects[0].reply_to, effects[0].token) == ("first", "timeout")
    only_send(effects[1:])
    assert shim.answered(5_001, sent.call, ActivityAnswer(-1, {"result": "{}"})) == []
    assert shim.next_deadline() == 35_000


def test_the_death_of_an_app_ends_its_calls_once_and_no_others() -> None:
    shim = engine()
    first = only_send(shim.submit(0, "bind", AGENT, s1("1", "fill", {"path": "/a"}), 1))
    only_send(shim.submit(0, "bind", AGENT, s1("2", "weather", {}), 2))
    only_send(shim.submit(0, "bind", OTHER, s1("1", "fill", {"path": "/a"}), 3))
    answers = shim.died(1, "a.pdf")
    assert [(answer.reply_to, answer.token) for answer in answers if isinstance(answer, Answer)] == [
        (1, "interrupted"),
        (3, "interrupted"),
    ]
    assert shim.died(2, "a.pdf") == []
    assert shim.answered(3, first.call, ActivityAnswer(0)) == []
    assert shim.open_count() == 1


def test_a_call_that_cannot_be_brought_to_its_app_fails_with_what_its_edge_says() -> None:
    shim = engine()
    sent = only_send(shim.submit(0, "bind", AGENT, s1("1", "fill", {"path": "/a"}), None))
    answer = only_answer(shim.fail(1, sent.call, Failure("needs_user", "open the app")))
    assert response_of(answer)["message"] == "needs_user: open the app"
    assert shim.fail(2, sent.call, Failure("needs_user")) == []


def test_what_was_open_when_the_shim_died_is_answered_from_the_journal() -> None:
    shim = engine()
    only_send(shim.submit(0, "bind", AGENT, s1("u-1", "fill", {"path": "/a"}), None))
    request = {"id": 7, "capability": {"id": "weather", "args": "{}"}}
    only_send(shim.submit(0, "start", 0, {"request": json.dumps(request)}, None))
    first, second = map(answer_journal_entry, shim.journal())
    assert response_of(Answer(None, first, None))["message"].startswith("interrupted")
    assert response_of(Answer(None, first, None))["id"] == "u-1"
    assert json.loads(second["response"])["id"] == 7
    assert second["mcp_request_id"] == "7"


@pytest.mark.parametrize(
    ("carrier", "extras", "key", "token"),
    [
        # docs/shim-engine.md 3.1
        ("start", {"mobile-mcp-request": "{"}, "mobile-mcp-response", "invalid_argument"),
        ("start", {"mobile-mcp-request": 5}, "mobile-mcp-response", "invalid_argument"),
        ("start", {"request": '{"id":"1"}'}, "response", "invalid_argument"),
        ("bind", {"request": "[]"}, "response", "invalid_argument"),
        ("start", {"mcp_command_json": '{"capability":"fill"}'}, "result_json", "unsupported_version"),
        ("bind", {"mcp_command_json": "no"}, "result_json", "invalid_argument"),
        (
            "bind",
            {"mobile-mcp-request": '{"mobile-mcp-request":{"version":"2.0","request":{"id":"1"}}}'},
            "mobile-mcp-response",
            "unsupported_version",
        ),
    ],
)
def test_what_cannot_be_read_is_answered_in_the_form_of_its_extra(
    carrier: Carrier, extras: dict[str, Any], key: str, token: str
) -> None:
    answer = only_answer(engine().submit(0, carrier, AGENT, extras, "me"))
    assert (answer.reply_to, answer.token) == ("me", token)
    assert key in answer.extras


def test_what_is_in_no_form_is_dropped() -> None:
    (effect,) = engine().submit(0, "start", 0, {"tool_name": "x"}, "me")
    assert isinstance(effect, Drop)
    assert effect.failure.token == "invalid_argument"


def test_an_answer_and_a_call_that_are_too_long_are_refused() -> None:
    shim = engine()
    sent = only_send(shim.submit(0, "bind", AGENT, s1("1", "weather", {}), None))
    answer = only_answer(shim.answered(1, sent.call, BroadcastAnswer(-1, "x" * MAX_CARRIED_UNITS)))
    assert answer.token == "malformed_response"
    assert carried_units(answer.extras) < 1_000
    sent = only_send(shim.submit(0, "bind", AGENT, s1("1", "weather", {}), None))
    answer = only_answer(shim.answered(1, sent.call, BroadcastAnswer(-1, "x" * (MAX_CARRIED_UNITS - 200))))
    assert answer.token is None
    # Each of these is one unit in the request and six in the tool's parameters.
    controls = json.dumps({"place": "\ufffe" * 50_000}, ensure_ascii=False)
    request = f'{{"id":"1","capability":{{"id":"weather","input":{controls}}}}}'
    assert only_answer(shim.submit(2, "start", 0, {"request": request}, None)).token == "invalid_argument"


def test_grants_change_from_one_request_to_the_next() -> None:
    shim = engine({})
    request = s1("1", "weather", {})
    assert only_answer(shim.submit(0, "start", 0, request, None)).token == "denied"
    shim.use_policy(read_policy(ANY_APP))
    only_send(shim.submit(1, "start", 0, request, None))
