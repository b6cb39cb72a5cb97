"""What a user is asked before a call: each argument in a line of its own, and none behind another."""

from __future__ import annotations

import io
import re
from collections.abc import Mapping
from unittest.mock import patch

import pytest

from droidgate.calls.approvals import MAX_ARGUMENTS, ApprovalRequest, refuse_unshowable, shown_arguments
from droidgate.calls.pins import PinState
from droidgate.calls.policy import Decision
from droidgate.calls.subjects import CallEffect, CallSubject, Pin
from droidgate.cli.calls.asking import ask_on_terminal
from droidgate.serving.client_questions import question_of
from droidgate_mappings.model.capability import Capability
from droidgate_mappings.model.json_values import Json

SUBJECT = CallSubject("S", 0, "com.bank", "com.bank.A", "mmcp", "pay", CallEffect.WRITES, "cli")
MANY = {f"name_{number}": "x" * 500 for number in range(200)}
LONG = "x" * 5000


def request_of(arguments: Mapping[str, Json], *, is_asked_anew: bool = False) -> ApprovalRequest:
    pin = Pin(SUBJECT.key, "ab" * 32, "cd" * 32)
    decision, state = Decision("ask", "default", "why"), PinState("new")
    return ApprovalRequest(
        SUBJECT, Capability(id="pay"), arguments, pin, state, decision, is_asked_anew=is_asked_anew
    )


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def asked_on_terminal(
    arguments: Mapping[str, Json], typed: str = "n\n", *, width: int = 100, is_asked_anew: bool = False
) -> tuple[str, bool, bool]:
    """Return what the terminal showed, and whether the call was allowed, once or always."""
    shown = Terminal()
    with (
        patch("sys.stdin", Terminal(typed)),
        patch("sys.stderr", shown),
        patch.dict("os.environ", {"COLUMNS": str(width), "NO_COLOR": "1"}),
        patch("droidgate.cli.calls.asking._forget_typed"),
    ):
        answer = ask_on_terminal(request_of(arguments, is_asked_anew=is_asked_anew))
    return shown.getvalue(), answer.allowed, answer.remember


# Arguments, and the lines that show them; None where only the number of the lines matters.
SHOWN: list[tuple[dict[str, Json], list[str]]] = [
    ({"to": "me", "amount": 5}, ['to (2): "me"', "amount (1): 5"]),
    ({"a": None, "b": [1, {"c": True}], "d": ""}, ["a (4): null", 'b (14): [1,{"c":true}]', 'd (0): ""']),
    (
        {"aaa": LONG, "amount": 5, "to": "me"},
        [f'aaa (5,000): "{"x" * 200}"... (cut)', "amount (1): 5", 'to (2): "me"'],
    ),
    (
        {"order": {"pad": LONG, "amount": 5}},
        [f'order (5,021): {{"pad":"{"x" * 200}"...,"amount":5}} (cut)'],
    ),
    ({"list": [7] * 900}, [f"list (1,801): [{'7,' * 499}7... (cut)"]),
    ({"a": "x\n- amount (1): 5"}, ['a (17): "x\\n- amount (1): 5"']),
    ({'a (2): "b"\n- c': 1}, ['"a (2): \\"b\\"\\n- c" (1): 1']),
    ({"a": "x" + " " * 3 + "y\u3000z"}, ['a (7): "x \\u0020\\u0020y\\u3000z"']),
    ({"a": "\u202e\u2028\u200b\x85\x1b[2J"}, ['a (8): "\\u202e\\u2028\\u200b\\u0085\\u001b[2J"']),
    ({"\u202eto": 1, "": 2, "a b": 3}, ['"\\u202eto" (1): 1', '"" (1): 2', '"a b" (1): 3']),
    ({"n" * 300: 1}, [f'"{"n" * 80}"... (a name of 300 characters) (1): 1']),
    (
        {"deep": {"a": {"a": {"a": LONG}}}, "to": 1},
        [f'deep (5,020): {{"a":{{"a":{{"a":"{"x" * 200}"...}}}}}} (cut)', "to (1): 1"],
    ),
]  # fmt: skip


@pytest.mark.parametrize(("arguments", "lines"), SHOWN)
@pytest.mark.parametrize("width", [40, 100])
def test_each_argument_is_a_line_of_its_own_in_both_questions(
    arguments: dict[str, Json], lines: list[str], width: int
) -> None:
    is_cut = any("(cut)" in line or "a name of" in line for line in lines)
    question = question_of(request_of(arguments), "Client")
    after = question.message.partition("each with its length):\n")[2]
    assert after.split("\n") == [*(f"- {line}" for line in lines), "Text of the app: none"]
    choices = [choice["const"] for choice in question.schema["properties"]["approve"]["oneOf"]]
    assert choices == (["once"] if is_cut else ["once", "always"])

    text, allowed, remember = asked_on_terminal(arguments, "a\n", width=width)
    begun = [line for line in text.split("\n") if line.startswith("  - ")]
    assert len(begun) == len(lines)
    assert all(line.startswith((" " * 8, "  - ")) for line in text.partition("length\n")[2].split("\n")[:-1])
    assert re.sub(r"\s", "", "".join(f"-{line}" for line in lines)) in re.sub(r"\s", "", text)
    assert ("always" in text) is not is_cut
    assert (allowed, remember) == (not is_cut, not is_cut)


def test_a_long_answer_of_once_is_possible_where_something_was_cut() -> None:
    assert asked_on_terminal({"a": LONG}, "y\n")[1:] == (True, False)


def test_two_hundred_arguments_are_all_shown() -> None:
    message = question_of(request_of(MANY), "Client").message
    text = asked_on_terminal(MANY)[0]
    for name in MANY:
        assert f'\n- {name} (500): "xxxx' in message
        assert f"\n  - {name} (500):" in text
    assert len(message) < 60_000


def test_more_arguments_than_a_question_shows_are_refused() -> None:
    many: dict[str, Json] = {str(number): number for number in range(MAX_ARGUMENTS + 1)}
    refusal = refuse_unshowable(request_of(many))
    assert refusal is not None
    assert (refusal.allowed, refusal.message) == (
        False,
        "the call has 1,001 arguments, and a question shows 1,000",
    )
    many.popitem()
    assert refuse_unshowable(request_of(many)) is None
    assert len(shown_arguments(many).lines) == MAX_ARGUMENTS


def test_a_value_as_deep_as_an_argument_may_be_is_shown() -> None:
    value: Json = 1
    for _ in range(400):
        value = [value]
    (line,) = shown_arguments({"a": value}).lines
    assert line == f"a (801): {'[' * 400}1{']' * 400}"


def test_both_questions_say_that_the_app_was_replaced() -> None:
    words = "the app was replaced after you answered, so you are asked again"
    assert f"Attention: {words}.\n" in question_of(request_of({}, is_asked_anew=True), "C").message
    assert f"  attention: {words}\n" in asked_on_terminal({}, is_asked_anew=True)[0]


@pytest.mark.parametrize("client", ["x" * 500, "a\nArguments: none", "\u202ea"])
def test_a_client_cannot_write_more_than_its_name(client: str) -> None:
    first, second, *_ = question_of(request_of({}), client).message.split("\n")
    assert first.endswith(" wants to call pay")
    assert len(first) < 120
    assert second.startswith("of the app com.bank on S, signed by abababababababab.")
