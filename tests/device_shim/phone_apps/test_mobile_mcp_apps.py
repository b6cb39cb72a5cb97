"""The apps that speak Mobile-MCP.

Clock-in answers requests, bound and started, and keeps its record. Tally keeps points for whoever is bound,
apart from all others, and for nobody who is not.
"""

import json
from collections.abc import Callable
from typing import Any

import pytest

from device_shim.phone_apps.small_phone import SmallPhone
from droidgate_phone.apps.clock_in import ClockInApp
from droidgate_phone.apps.tally import TallyApp
from droidgate_phone.java.app_values import Message
from droidgate_phone.java.intents import Bundle, Extra, Intent
from droidgate_phone.system.behaviour import Service

CLOCK_IN, TALLY = "dev.droidgate.sample.clockin", "dev.droidgate.sample.tally"
TODAY = "2026-02-14"
Handle = Callable[[Message], None]


@pytest.fixture
def phone() -> SmallPhone:
    phone = SmallPhone()
    phone.install(ClockInApp, TallyApp)
    return phone


def clock_in(phone: SmallPhone) -> Service:
    return phone.service(CLOCK_IN, f"{CLOCK_IN}.ClockInService")


def tally(phone: SmallPhone) -> Service:
    return phone.service(TALLY, f"{TALLY}.TallyService")


def bind(service: Service, identifier: str | None = None) -> Handle:
    handle = service.on_bind(Intent(identifier=identifier))
    assert handle is not None
    return handle


def request(capability: str, arguments: dict[str, Any] | None = None, **more: Any) -> str:
    call = {"id": capability, **({} if arguments is None else {"args": arguments}), **more}
    return json.dumps({"mobile-mcp-request": {"version": "1.0", "request": {"id": "r1", "capability": call}}})


def response_in(text: str | None) -> Any:
    document = json.loads(text or "")["mobile-mcp-response"]
    assert document["version"] == "1.0"
    return document["response"]


def ask(phone: SmallPhone, handle: Handle, text: str | None, uid: int = 10_100) -> Any:
    """Send one message as a uid and return the text in the response of its answer."""
    answers: list[Message] = []
    phone.messengers["me"] = answers.append
    extras = Bundle({} if text is None else {"mobile-mcp-request": Extra("string", text)})
    handle(Message(1, extras, "me", sending_uid=uid))
    (answer,) = answers
    assert answer.what == 2
    (value,) = answer.data.values.values()
    return response_in(str(value.value))


def start(service: Service, text: str, callback: Extra | None = None) -> None:
    extras = Bundle.of_strings({"mobile-mcp-request": text})
    service.on_start_command(
        Intent(extras=extras.with_extra("mcp_callback", callback) if callback else extras)
    )


def ask_clock_in(phone: SmallPhone, text: str | None) -> Any:
    """Ask a new process of the app."""
    return ask(phone, bind(clock_in(phone)), text)


def is_clocked_in(phone: SmallPhone) -> bool:
    output = ask_clock_in(phone, request("query_clock_in"))["capability"]["output"]
    assert output[0] == {"name": "date", "type": "string", "value": TODAY}
    value: bool = output[1]["value"]
    assert output[1] == {"name": "has_clocked_in", "type": "boolean", "value": value}
    return value


def add(phone: SmallPhone, handle: Handle, points: Any, player: Any = "Ada", uid: int = 10_100) -> Any:
    return ask(phone, handle, request("add_points", {"player": player, "points": points}), uid)


def total(phone: SmallPhone, handle: Handle, uid: int = 10_100) -> int:
    output = ask(phone, handle, request("read_total", {"player": "Ada"}), uid)["capability"]["output"]
    assert output[0] == {"name": "player", "type": "string", "value": "Ada"}
    value: int = output[1]["value"]
    return value


def test_the_answer_is_called_as_the_request_was(phone: SmallPhone) -> None:
    answers: list[Message] = []
    phone.messengers["me"] = answers.append
    handle, text = bind(clock_in(phone)), request("clock_in_today")
    handle(Message(1, Bundle.of_strings({"request": text}), "me"))
    handle(Message(1, Bundle.of_strings({"mobile-mcp-request": text}), "me"))
    handle(Message(2, Bundle.of_strings({"request": text}), "me"))
    handle(Message(1, Bundle.of_strings({"request": text})))
    assert [list(answer.data.values) for answer in answers] == [["response"], ["mobile-mcp-response"]]


def test_a_started_request_is_answered_through_its_pending_intent_only(phone: SmallPhone) -> None:
    sent: list[Intent] = []
    phone.pending["callback"] = sent.append
    text = request("clock_in_today")
    start(clock_in(phone), text)
    start(clock_in(phone), text, Extra("string", "callback"))
    assert (sent, phone.files.get(CLOCK_IN, {})) == ([], {})
    start(clock_in(phone), text, Extra("pending-intent", "callback"))
    (answer,) = sent
    assert "Clocked in for today" in str(answer.extras.get_string("mobile-mcp-response"))


def test_what_an_assistant_asked_before_it_left_is_recorded(phone: SmallPhone) -> None:
    text = request("clock_in_today")
    bind(clock_in(phone))(Message(1, Bundle.of_strings({"mobile-mcp-request": text}), "nobody"))
    assert is_clocked_in(phone)
    phone.files.clear()
    start(clock_in(phone), text, Extra("pending-intent", "withdrawn"))
    assert is_clocked_in(phone)


def test_screen_and_tools_share_one_record(phone: SmallPhone) -> None:
    activity = phone.activity(CLOCK_IN, f"{CLOCK_IN}.MainActivity")

    def shown() -> dict[str, str]:
        view = activity.view()
        assert view is not None
        days = [child.text for node in view.walk() if node.id == "days" for child in node.children]
        return {node.id: node.text for node in view.walk() if node.id} | {"days": " ".join(days)}

    assert shown()["state"] == "not_clocked_in"
    activity.on_click("clock_in_now")
    assert shown()["state"] == "clocked_in"
    assert is_clocked_in(phone) is True
    activity.on_text("missed_day", "2030-01-01")
    activity.on_click("add_missed_day")
    assert shown()["problem"] == '"date" must lie between 2000-01-01 and 2026-02-14'
    activity.on_text("missed_day", "2026-02-01")
    activity.on_click("add_missed_day")
    assert shown()["days"] == "2026-02-14 2026-02-01"


def test_each_uid_and_each_binder_has_points_of_its_own(phone: SmallPhone) -> None:
    service = tally(phone)
    first, second = bind(service, "1"), bind(service, "2")
    add(phone, first, 1)
    add(phone, first, 20, uid=10_200)
    add(phone, second, 300)
    assert (total(phone, first), total(phone, first, 10_200), total(phone, second)) == (1, 20, 300)


def test_points_go_when_nobody_is_bound_any_more_and_the_binder_begins_anew(phone: SmallPhone) -> None:
    service = tally(phone)
    first, second = bind(service, "1"), bind(service, "2")
    for handle in (first, second):
        add(phone, handle, 5)
    assert service.on_unbind(Intent(identifier="1")) is True
    assert (total(phone, first), total(phone, second)) == (0, 5)
    add(phone, first, 2)
    assert total(phone, first) == 2


def test_a_start_is_answered_that_it_has_to_bind(phone: SmallPhone) -> None:
    sent: list[Intent] = []
    phone.pending["callback"] = sent.append
    text = request("add_points", {"player": "Ada", "points": 1})
    start(tally(phone), text, Extra("pending-intent", "callback"))
    (answer,) = sent
    response = response_in(answer.extras.get_string("mobile-mcp-response"))
    error = "unavailable: points are kept only for an assistant that binds this service"
    assert (response["status"], response["message"]) == ("failure", error)
