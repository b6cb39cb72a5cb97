"""The tally app keeps points for whoever is bound, apart from all others, and for nobody who is not."""

import json
from collections.abc import Callable
from typing import Any

import pytest

from device_shim.phone_apps.small_phone import SmallPhone
from droidgate_phone.apps.tally import TallyApp
from droidgate_phone.java.app_values import Message
from droidgate_phone.java.intents import Bundle, Extra, Intent

PACKAGE = "dev.droidgate.sample.tally"
SERVICE = f"{PACKAGE}.TallyService"
Handle = Callable[[Message], None]


@pytest.fixture
def phone() -> SmallPhone:
    phone = SmallPhone()
    phone.install(TallyApp)
    return phone


def request(capability: str, arguments: dict[str, Any]) -> str:
    call = {"id": capability, "args": arguments}
    return json.dumps({"mobile-mcp-request": {"version": "1.0", "request": {"id": "r1", "capability": call}}})


def ask(phone: SmallPhone, handle: Handle, capability: str, uid: int = 10_100, **arguments: Any) -> Any:
    """Send one message as a uid and return the text in the response of its answer."""
    answers: list[Message] = []
    phone.messengers["me"] = answers.append
    extras = Bundle.of_strings({"request": request(capability, arguments)})
    handle(Message(1, extras, "me", sending_uid=uid))
    (answer,) = answers
    return json.loads(answer.data.get_string("response") or "")["mobile-mcp-response"]["response"]


def total(phone: SmallPhone, handle: Handle, uid: int = 10_100) -> int:
    output = ask(phone, handle, "read_total", uid, player="Ada")["capability"]["output"]
    assert output[0] == {"name": "player", "type": "string", "value": "Ada"}
    found: int = output[1]["value"]
    return found


def test_points_add_up_from_call_to_call_until_somebody_starts_over(phone: SmallPhone) -> None:
    handle = phone.service(PACKAGE, SERVICE).on_bind(Intent())
    assert handle is not None
    assert total(phone, handle) == 0
    assert ask(phone, handle, "add_points", player="Ada", points=5) == {
        "id": "r1",
        "capability": {
            "id": "add_points",
            "output": [
                {"name": "player", "type": "string", "value": "Ada"},
                {"name": "total", "type": "integer", "value": 5},
            ],
        },
        "status": "success",
        "message": "Ada has 5.",
    }
    ask(phone, handle, "add_points", player="Bob", points=1)
    ask(phone, handle, "add_points", player="Ada", points=-7)
    assert total(phone, handle) == -2
    over = ask(phone, handle, "start_over")
    assert (over["message"], over["capability"]) == ("Every total is 0 again.", {"id": "start_over"})
    assert total(phone, handle) == 0


def test_each_uid_and_each_binder_has_points_of_its_own(phone: SmallPhone) -> None:
    service = phone.service(PACKAGE, SERVICE)
    first, second = service.on_bind(Intent(identifier="1")), service.on_bind(Intent(identifier="2"))
    assert first is not None
    assert second is not None
    ask(phone, first, "add_points", player="Ada", points=1)
    ask(phone, first, "add_points", uid=10_200, player="Ada", points=20)
    ask(phone, second, "add_points", player="Ada", points=300)
    assert (total(phone, first), total(phone, first, 10_200), total(phone, second)) == (1, 20, 300)


def test_points_go_when_nobody_is_bound_any_more_and_the_binder_begins_anew(phone: SmallPhone) -> None:
    service = phone.service(PACKAGE, SERVICE)
    first, second = service.on_bind(Intent(identifier="1")), service.on_bind(Intent(identifier="2"))
    assert first is not None
    assert second is not None
    for handle in (first, second):
        ask(phone, handle, "add_points", player="Ada", points=5)
    assert service.on_unbind(Intent(identifier="1")) is True
    assert (total(phone, first), total(phone, second)) == (0, 5)
    ask(phone, first, "add_points", player="Ada", points=2)
    assert total(phone, first) == 2


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"player": "Ada"}, '"points" is missing'),
        ({"player": "Ada", "points": True}, '"points" must be an integer'),
        ({"player": "Ada", "points": 1.5}, '"points" must be an integer'),
        ({"player": 1, "points": 1}, '"player" must be a string'),
        ({"player": "", "points": 1}, '"player" must have 1 to 100 characters'),
        ({"player": "x" * 101, "points": 1}, '"player" must have 1 to 100 characters'),
        ({"player": "Ada", "points": 2**63 - 1}, '"points" would make a total that no 64-bit number holds'),
    ],
)
def test_points_that_cannot_be_added_are_refused_and_change_nothing(
    phone: SmallPhone, arguments: dict[str, Any], message: str
) -> None:
    handle = phone.service(PACKAGE, SERVICE).on_bind(Intent())
    assert handle is not None
    ask(phone, handle, "add_points", player="Ada", points=1)
    refused = ask(phone, handle, "add_points", **arguments)
    assert (refused["status"], refused["message"]) == ("failure", f"invalid_argument: {message}")
    assert total(phone, handle) == 1


def test_a_hundred_players_have_points_and_no_more(phone: SmallPhone) -> None:
    handle = phone.service(PACKAGE, SERVICE).on_bind(Intent())
    assert handle is not None
    answers = [ask(phone, handle, "add_points", player=f"p{number}", points=1) for number in range(101)]
    assert {answer["status"] for answer in answers[:100]} == {"success"}
    assert answers[100]["message"] == 'invalid_argument: "player" would be one more than 100 players'
    assert ask(phone, handle, "add_points", player="p0", points=1)["message"] == "p0 has 2."


def test_a_start_is_answered_that_it_has_to_bind(phone: SmallPhone) -> None:
    sent: list[Intent] = []
    phone.pending["callback"] = sent.append
    extras = Bundle.of_strings(
        {"mobile-mcp-request": request("add_points", {"player": "Ada", "points": 1})}
    ).with_extra("mcp_callback", Extra("pending-intent", "callback"))
    phone.service(PACKAGE, SERVICE).on_start_command(Intent(extras=extras))
    (answer,) = sent
    document = json.loads(answer.extras.get_string("mobile-mcp-response") or "")
    response = document["mobile-mcp-response"]["response"]
    assert (response["status"], response["message"]) == (
        "failure",
        "unavailable: points are kept only for an assistant that binds this service",
    )
