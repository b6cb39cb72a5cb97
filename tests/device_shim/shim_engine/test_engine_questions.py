"""The question to the user, of docs/shim-engine.md 3 (step 8) and 7: what vectors cannot change."""

import json
from typing import Any

import pytest

from device_shim.shim_engine.engine_samples import (
    AGENT,
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
from droidgate_mappings.values.failures import CallError, Failure
from droidgate_shim.engine.authority import Policy, read_policy
from droidgate_shim.engine.backends import BroadcastAnswer, ExtrasCall
from droidgate_shim.engine.engine import Ask, Effect, Engine
from droidgate_shim.engine.responses import answer_journal_entry
from droidgate_shim.engine.routes import Target, read_route_table

NO = Failure("denied", "the user refused this call")
DEADLINE_MS = 30_000


def only_ask(effects: list[Effect]) -> Ask:
    (ask,) = effects
    assert isinstance(ask, Ask)
    return ask


def ask(shim: Engine, request_id: str = "1", now: int = 0, reply_to: object = "me") -> Ask:
    request = s1(request_id, "weather", {"place": "Ulm"})
    return only_ask(shim.submit(now, "bind", AGENT, request, reply_to, asks=True))


def test_a_question_names_the_call_and_a_yes_sends_it_with_a_new_deadline() -> None:
    shim = engine({})
    question = ask(shim)
    assert (question.capability, question.arguments) == ("weather", {"place": "Ulm"})
    assert (question.reply_to, question.deadline) == ("me", DEADLINE_MS)
    assert shim.next_deadline() == DEADLINE_MS
    sent = only_send(shim.decided(29_999, question.call, None))
    assert isinstance(sent.outgoing, ExtrasCall)
    assert json.loads(sent.outgoing.extras["params"]) == {"place": "Ulm"}
    assert (sent.reply_to, sent.deadline) == ("me", 29_999 + DEADLINE_MS)
    assert shim.next_deadline() == sent.deadline
    assert shim.decided(30_000, question.call, None) == []
    assert only_answer(shim.answered(31_000, sent.call, BroadcastAnswer(-1, "Sun"))).token is None


def test_a_no_ends_the_call_with_its_failure() -> None:
    shim = engine({})
    answer = only_answer(shim.decided(5, ask(shim).call, NO))
    assert response_of(answer)["message"] == "denied: the user refused this call"
    assert shim.open_count() == 0


def test_nobody_who_answers_until_the_deadline_is_needs_user() -> None:
    shim = engine({})
    question = ask(shim)
    assert shim.expire(DEADLINE_MS - 1) == []
    answer = only_answer(shim.expire(DEADLINE_MS))
    assert response_of(answer)["message"] == (
        "needs_user: nobody answered the question about this call on the phone; retry when somebody is there"
    )
    assert shim.decided(DEADLINE_MS + 1, question.call, None) == []


def test_a_late_yes_is_not_one_for_the_next_call_of_the_id() -> None:
    shim = engine({})
    first = ask(shim)
    only_answer(shim.cancel(1, first.reply_to))
    second = ask(shim, now=2)
    assert shim.decided(3, first.call, None) == []
    assert only_send(shim.decided(4, second.call, None)).call == second.call


def test_a_decision_about_a_call_that_needs_none_changes_nothing() -> None:
    shim = engine()
    sent = only_send(shim.submit(0, "bind", AGENT, s1("1", "weather", {}), "me", asks=True))
    assert shim.decided(1, sent.call, NO) == []
    assert only_answer(shim.answered(2, sent.call, BroadcastAnswer(-1, "Sun"))).token is None


def test_what_changes_while_the_user_is_asked_is_checked_again() -> None:
    installed: dict[str, Any] = {"weather": target_of("aa", 3, "d1")}

    def find(target: Target) -> Target | None:
        return installed["weather"] if target.package == "a.weather" else as_approved(target)

    shim = Engine(read_route_table(TABLE), read_policy({}), find)
    for changed, token in (
        (None, "unavailable"),
        (target_of("bb", 3, "d1"), "unavailable"),
        (target_of("aa", 4, "d2"), "needs_approval"),
    ):
        installed["weather"] = target_of("aa", 3, "d1")
        question = ask(shim)
        installed["weather"] = changed
        assert only_answer(shim.decided(1, question.call, None)).token == token
    installed["weather"] = target_of("aa", 3, "d1")
    question = ask(shim)
    shim.use_policy(Policy(switched_off=frozenset({"weather"})))
    assert only_answer(shim.decided(1, question.call, None)).token == "disabled"
    assert shim.open_count() == 0


def test_a_call_with_a_question_counts_as_open() -> None:
    shim = engine({"limits": {"open_per_caller": 1}})
    ask(shim)
    request = s1("1", "weather", {})
    assert (
        "id is open"
        in response_of(only_answer(shim.submit(1, "bind", AGENT, request, 2, asks=True)))["message"]
    )
    request = s1("2", "weather", {})
    assert "1 requests open" in response_of(only_answer(shim.submit(1, "bind", AGENT, request, 2)))["message"]
    (entry,) = shim.journal()
    assert json.loads(answer_journal_entry(entry)["mobile-mcp-response"])["mobile-mcp-response"]["response"][
        "message"
    ].startswith("interrupted")
    assert only_answer(shim.fail(2, ask_of(shim), Failure("canceled", "gone"))).token == "canceled"


def ask_of(shim: Engine) -> Any:
    """Return the handle of a call of another caller that is asked about."""
    return only_ask(shim.submit(2, "bind", OTHER, s1("1", "weather", {}), None, asks=True)).call


def test_the_death_of_the_app_behind_ends_no_question() -> None:
    shim = engine({})
    question = ask(shim)
    assert shim.died(1, "a.weather") == []
    sent = only_send(shim.decided(2, question.call, None))
    assert only_answer(shim.died(3, "a.weather")).token == "interrupted"
    assert shim.answered(4, sent.call, BroadcastAnswer(-1, "Sun")) == []


def test_no_backend_answers_a_call_that_has_not_gone_out() -> None:
    shim = engine({})
    question = ask(shim)
    assert shim.answered(1, question.call, BroadcastAnswer(-1, "Sun")) == []
    only_send(shim.decided(2, question.call, None))


@pytest.mark.parametrize("carrier", ["bind", "start"])
def test_a_request_may_be_admitted_long_before_it_is_taken(carrier: Any) -> None:
    shim = engine({"grants": [{"caller": "any-app", "capability": "*"}], "limits": {"burst": 1}})
    request = s1("1", "weather", {})
    assert shim.admit(0, carrier, AGENT, request, "me") == []
    assert only_answer(shim.admit(1, carrier, AGENT, s1("2", "weather", {}), "me")).token == "busy"
    only_send(shim.receive(5_000, carrier, AGENT, request, "me"))


@pytest.mark.parametrize("granted", [(), ("weather",)])
def test_a_yes_to_all_further_calls_ends_with_its_grant_and_one_to_a_call_does_not(
    granted: tuple[str, ...],
) -> None:
    shim = engine({})
    question = ask(shim)
    grants: dict[int | str, frozenset[str]] = {AGENT: frozenset(granted)}
    shim.use_policy(Policy(grants))
    permission = only_send(shim.decided(1, question.call, None)).permission
    installed = as_approved(permission.route.target)
    permission.check(Policy(grants), installed)
    if granted:
        with pytest.raises(CallError, match="denied"):
            permission.check(Policy(), installed)
    else:
        permission.check(Policy(), installed)
    with pytest.raises(CallError, match="disabled"):
        permission.check(Policy(grants, frozenset({"weather"})), installed)
