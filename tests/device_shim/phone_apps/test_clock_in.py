"""The clock-in app answers requests, bound and started, and keeps its record."""

import json
from typing import Any

import pytest

from device_shim.phone_apps.small_phone import SmallPhone
from droidgate_phone.apps.clock_in import ClockInApp
from droidgate_phone.java.app_values import Message
from droidgate_phone.java.intents import Bundle, Extra, Intent

PACKAGE = "dev.droidgate.sample.clockin"
SERVICE = f"{PACKAGE}.ClockInService"
TODAY = "2026-02-14"


@pytest.fixture
def phone() -> SmallPhone:
    phone = SmallPhone()
    phone.install(ClockInApp)
    return phone


def request(capability: str, arguments: dict[str, Any] | None = None, **more: Any) -> str:
    call = {"id": capability, **({} if arguments is None else {"args": arguments}), **more}
    return json.dumps({"mobile-mcp-request": {"version": "1.0", "request": {"id": "r1", "capability": call}}})


def ask(phone: SmallPhone, text: str | None, *, key: str = "mobile-mcp-request") -> Any:
    """Bind, send one message, and return the text in the response of its answer."""
    answers: list[Message] = []
    phone.messengers["me"] = answers.append
    handle = phone.service(PACKAGE, SERVICE).on_bind(Intent())
    assert handle is not None
    handle(Message(1, Bundle({} if text is None else {key: Extra("string", text)}), "me"))
    (answer,) = answers
    assert answer.what == 2
    (value,) = answer.data.values.values()
    document = json.loads(str(value.value))["mobile-mcp-response"]
    assert document["version"] == "1.0"
    return document["response"]


def test_a_day_that_is_clocked_in_is_found_again_by_a_new_process(phone: SmallPhone) -> None:
    assert ask(phone, request("query_clock_in"))["capability"]["output"] == [
        {"name": "date", "type": "string", "value": TODAY},
        {"name": "has_clocked_in", "type": "boolean", "value": False},
    ]
    assert ask(phone, request("clock_in_today")) == {
        "id": "r1",
        "capability": {"id": "clock_in_today"},
        "status": "success",
        "message": "Clocked in for today, 2026-02-14.",
    }
    again = ask(phone, request("clock_in_today"))
    assert again["message"] == "Today, 2026-02-14, was on record already."
    assert ask(phone, request("query_clock_in"))["capability"]["output"][1]["value"] is True


@pytest.mark.parametrize(
    ("date", "message"),
    [
        ("2026-02-13", "Added a clock-in for 2026-02-13."),
        ("2026-02-15", 'invalid_argument: "date" must lie between 2000-01-01 and 2026-02-14'),
        ("1999-12-31", 'invalid_argument: "date" must lie between 2000-01-01 and 2026-02-14'),
        ("2026-02-30", 'invalid_argument: "date" names a day that does not exist'),
        ("13.2.2026", 'invalid_argument: "date" must look like YYYY-MM-DD'),
        ("2024-02-29", "Added a clock-in for 2024-02-29."),
    ],
)
def test_a_missed_day_is_added_where_it_is_a_day_of_the_past(
    phone: SmallPhone, date: str, message: str
) -> None:
    assert ask(phone, request("make_up_clock_in", {"date": date}))["message"] == message


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (None, "invalid_argument: the request is missing"),
        ("{", "invalid_argument: the request is not a JSON object"),
        ("{}", 'invalid_argument: "mobile-mcp-request" must be an object'),
        (request("nothing"), 'unknown_capability: there is no "nothing" here'),
        (request("make_up_clock_in", {}), 'invalid_argument: "date" is missing'),
        (request("make_up_clock_in", {"date": 5}), 'invalid_argument: "date" must be a string'),
        (request("clock_in_today", {"x": ""}), 'invalid_argument: "x" is not a parameter of this capability'),
        (
            request("clock_in_today", input={}),
            'invalid_argument: arguments belong under "args", not under "input"',
        ),
        (
            request("clock_in_today").replace("1.0", "2.0"),
            "unsupported_version: this tool speaks version 1.0",
        ),
        (" " * 65_537, "invalid_argument: the request is longer than 65536 characters"),
    ],
)
def test_a_request_that_does_not_fit_is_refused_with_a_token(
    phone: SmallPhone, text: str | None, message: str
) -> None:
    response = ask(phone, text)
    assert (response["status"], response["message"]) == ("failure", message)
    assert phone.files.get(PACKAGE, {}) == {}


def test_the_answer_is_called_as_the_request_was(phone: SmallPhone) -> None:
    answers: list[Message] = []
    phone.messengers["me"] = answers.append
    handle = phone.service(PACKAGE, SERVICE).on_bind(Intent())
    assert handle is not None
    handle(Message(1, Bundle.of_strings({"request": request("clock_in_today")}), "me"))
    handle(Message(1, Bundle.of_strings({"mobile-mcp-request": request("clock_in_today")}), "me"))
    handle(Message(2, Bundle.of_strings({"request": request("clock_in_today")}), "me"))
    handle(Message(1, Bundle.of_strings({"request": request("clock_in_today")})))
    assert [list(answer.data.values) for answer in answers] == [["response"], ["mobile-mcp-response"]]


def test_a_started_request_is_answered_through_its_pending_intent_only(phone: SmallPhone) -> None:
    sent: list[Intent] = []
    phone.pending["callback"] = sent.append
    service = phone.service(PACKAGE, SERVICE)
    asked = {"mobile-mcp-request": Extra("string", request("clock_in_today"))}
    service.on_start_command(Intent(extras=Bundle(asked)))
    service.on_start_command(Intent(extras=Bundle({**asked, "mcp_callback": Extra("string", "callback")})))
    assert sent == []
    assert phone.files.get(PACKAGE, {}) == {}
    with_callback = {**asked, "mcp_callback": Extra("pending-intent", "callback")}
    service.on_start_command(Intent(extras=Bundle(with_callback)))
    (answer,) = sent
    assert "Clocked in for today" in str(answer.extras.get_string("mobile-mcp-response"))


def test_an_assistant_that_left_is_not_a_problem(phone: SmallPhone) -> None:
    service = phone.service(PACKAGE, SERVICE)
    handle = service.on_bind(Intent())
    assert handle is not None
    handle(Message(1, Bundle.of_strings({"request": request("clock_in_today")}), "nobody"))
    extras = Bundle({"mcp_callback": Extra("pending-intent", "withdrawn")})
    service.on_start_command(Intent(extras=extras))


def test_screen_and_tools_share_one_record(phone: SmallPhone) -> None:
    activity = phone.activity(PACKAGE, f"{PACKAGE}.MainActivity")

    def shown() -> dict[str, str]:
        view = activity.view()
        assert view is not None
        return {node.id: node.text for node in view.walk() if node.id}

    assert shown()["state"] == "not_clocked_in"
    activity.on_click("clock_in_now")
    assert shown()["state"] == "clocked_in"
    assert ask(phone, request("query_clock_in"))["capability"]["output"][1]["value"] is True
    activity.on_text("missed_day", "2030-01-01")
    activity.on_click("add_missed_day")
    assert shown()["problem"] == '"date" must lie between 2000-01-01 and 2026-02-14'
    activity.on_text("missed_day", "2026-02-01")
    activity.on_click("add_missed_day")
    view = activity.view()
    assert view is not None
    (days,) = (node for node in view.walk() if node.id == "days")
    assert [child.text for child in days.children] == ["2026-02-14", "2026-02-01"]
