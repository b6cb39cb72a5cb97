"""UFO's two command forms and its result records; what a list of commands comes to."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given, strategies as st

from droidgate.calls.commands import MAX_BYTES, MAX_COMMANDS, read_command_file, run_commands
from droidgate_mappings.model.errors import DeviceError, InputError
from droidgate_mappings.model.json_values import Json
from droidgate_mobile_agent.wire import AgentCommand, read_command

TAP = {"tool_name": "tap", "parameters": {"x": 480, "y": 240}, "tool_type": "action", "call_id": "a"}
SEE = {"tool_name": "capture_screenshot", "parameters": {}, "tool_type": "data_collection", "call_id": "b"}
BACK = {"action": {"function": "press_key", "arguments": {"key_code": "KEYCODE_BACK"}}}


def written(folder: Path, text: str | bytes) -> Path:
    path = folder / "commands"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def called(command: AgentCommand) -> tuple[str, object]:
    return command.command.id, command.arguments


@pytest.mark.parametrize("text", [
    json.dumps([TAP, SEE, BACK]),
    json.dumps([TAP, SEE, BACK], indent=2),
    "\n".join(map(json.dumps, [TAP, SEE, BACK])),
    "\ufeff" + "\r\n\r\n".join(map(json.dumps, [TAP, SEE, BACK])) + "\n",
])  # fmt: skip
def test_a_list_and_one_command_a_line_are_the_same(tmp_path: Path, text: str) -> None:
    assert [called(command) for command in read_command_file(written(tmp_path, text))] == [
        ("tap", {"x": 480, "y": 240}),
        ("capture_screenshot", {}),
        ("press_key", {"key_code": "KEYCODE_BACK"}),
    ]


@pytest.mark.parametrize("indent", [None, 2])
def test_one_command_alone_is_a_list_of_one(tmp_path: Path, indent: int | None) -> None:
    (command,) = read_command_file(written(tmp_path, json.dumps(BACK, indent=indent)))
    assert called(command) == ("press_key", {"key_code": "KEYCODE_BACK"})


def test_what_ufo_leaves_out_or_writes_as_null_has_its_default() -> None:
    command = read_command({"tool_name": "wait", "parameters": None, "call_id": None}, "here")
    other = read_command({"action": {"function": "wait"}}, "here")
    assert called(command) == called(other) == ("wait", {})
    assert command.call_id != other.call_id != ""


@pytest.mark.parametrize(("text", "place", "message"), [
    ("", "commands", "no commands"),
    ("[]", "commands", "no commands"),
    ("[1]", "commands:/0", "not a JSON object"),
    ("7", "commands", "not a JSON object"),
    ('"x"', "commands", "not a JSON object"),
    ('[{"tool_name": "taps"}]', "commands:/0", 'unknown tool "taps"'),
    ('[{"tool_name": 5}]', "commands:/0", '"tool_name" is not a string'),
    ('[{"tool": "tap"}]', "commands:/0", 'unknown member "tool"'),
    ('[{"tool_name": "tap", "tool_type": "data_collection"}]', "commands:/0", "not a tool of type"),
    ('[{"tool_name": "tap", "tool_type": {}}]', "commands:/0", "not a tool of type"),
    ('[{"tool_name": "tap", "parameters": []}]', "commands:/0", '"parameters" is not a JSON object'),
    ('[{"tool_name": "tap", "call_id": 1}]', "commands:/0", '"call_id" is not a string'),
    ('[{"action": "tap"}]', "commands:/0", '"action" is not a JSON object'),
    ('[{"action": {}}]', "commands:/0", '"function" is not a string'),
    ('[{"action": {"function": "tap", "args": {}}}]', "commands:/0", 'unknown member "args"'),
    ('[{"action": {"function": "tap"}, "thought": "x"}]', "commands:/0", 'unknown member "thought"'),
    ('[{"action": {"function": "tap", "arguments": 1}}]', "commands:/0", "not a JSON object"),
    ('{"tool_name": "wait"}\n{"tool_name": "wait",}', "commands:2:", "not JSON"),
    ('{"tool_name": "wait"}\n\n{"tool_name": "waits"}', "commands:3", 'unknown tool "waits"'),
    ('{"tool_name": "wait"}\nwait', "commands:2:1", "not JSON"),
    ('[{"tool_name": "wait"}', "commands:1:", "not JSON"),
    ('[{"tool_name": "tap", "tool_name": "tap"}]', "commands:1", "duplicate key"),
    (json.dumps([TAP, TAP]), "commands", 'duplicate call_id "a"'),
    (b"[\xff]", "commands", "byte 1 is not UTF-8"),
    (b"\xff\xfe[\x00]\x00", "commands", "not UTF-8"),
    ("[" * 100, "commands:1:", ""),
    (json.dumps([{"tool_name": "wait"}] * (MAX_COMMANDS + 1)), "commands", "more than 10,000 commands"),
    (b" " * (MAX_BYTES + 1), "commands", "more than 16,777,216 bytes"),
])  # fmt: skip
def test_a_file_that_is_wrong_has_one_error_with_its_place(
    tmp_path: Path, text: str | bytes, place: str, message: str
) -> None:
    with pytest.raises(InputError) as caught:
        read_command_file(written(tmp_path, text))
    assert message in caught.value.message
    assert (caught.value.place or "").startswith(f"{tmp_path}/{place}")


@pytest.mark.parametrize("path", ["missing", "", "a\0b"])
def test_a_file_that_cannot_be_read_is_one_error(tmp_path: Path, path: str) -> None:
    with pytest.raises(InputError):
        read_command_file(f"{tmp_path}/{path}")


def test_an_endless_file_is_refused() -> None:
    with pytest.raises(InputError, match="not a regular file"):
        read_command_file("/dev/zero")


def test_a_file_that_is_too_large_is_refused(tmp_path: Path) -> None:
    with (tmp_path / "large").open("wb") as file:
        file.truncate(MAX_BYTES + 1)
    with pytest.raises(InputError, match="more than 16,777,216 bytes"):
        read_command_file(tmp_path / "large")


JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=12), inner, max_size=4),
    max_leaves=12,
)
NEARLY = st.fixed_dictionaries(
    {"tool_name": st.sampled_from(["tap", "wait", "Tap"]) | JSON_VALUES},
    optional={
        "parameters": st.dictionaries(st.sampled_from(["x", "y", "seconds"]), st.integers(0, 9))
        | JSON_VALUES,
        "tool_type": st.sampled_from(["action", "data_collection"]) | JSON_VALUES,
        "call_id": JSON_VALUES,
        "action": st.fixed_dictionaries({}, optional={"function": JSON_VALUES, "arguments": JSON_VALUES}),
    },
)


WRITTEN = st.fixed_dictionaries(
    {
        "tool_name": st.just("tap"),
        "parameters": st.fixed_dictionaries(dict.fromkeys("xy", st.integers(0, 9))),
    },
    optional={"tool_type": st.just("action") | JSON_VALUES, "call_id": st.text(max_size=4)},
)


@given(value=WRITTEN | NEARLY | JSON_VALUES)
def test_any_value_is_a_command_or_an_input_error_with_a_hint(value: Json) -> None:
    found: AgentCommand | InputError
    try:
        found = read_command(value, "here")
    except InputError as error:
        found = error
    if isinstance(found, InputError):
        assert (found.place, bool(found.hint)) == ("here", True)
    else:
        assert found.command.id in {"tap", "wait"}
        assert isinstance(found.arguments, dict)


def commands(*names: str) -> list[AgentCommand]:
    return [read_command({"tool_name": name, "call_id": str(n)}, "here") for n, name in enumerate(names)]


def records(
    answers: list[Json | Exception], *, stops_early: bool = True
) -> tuple[list[dict[str, Json]], int]:
    """Return the records of tools that answer so, and how many were called."""
    left: Iterator[Json | Exception] = iter(answers)
    calls = 0

    def call(_: AgentCommand) -> Json:
        nonlocal calls
        calls += 1
        answer = next(left)
        if isinstance(answer, Exception):
            raise answer
        return answer

    listed = commands(*["wait"] * len(answers))
    return [result.record() for result in run_commands(listed, call, stops_early=stops_early)], calls


def test_a_record_has_every_member_that_ufo_has() -> None:
    assert records([{"success": True}])[0] == [
        {
            "status": "success",
            "error": None,
            "result": {"success": True},
            "namespace": "MobileActionExecutor",
            "call_id": "0",
        }
    ]
    (result,) = run_commands(commands("get_ui_tree"), lambda _: "x")
    assert result.record()["namespace"] == "MobileDataCollector"


def test_a_tool_that_says_that_it_failed_does_not_end_the_list() -> None:
    found, calls = records([{"success": False, "error": "x"}, {"success": True}])
    assert [record["status"] for record in found] == ["success", "success"]
    assert calls == 2


def test_what_follows_a_call_without_an_answer_is_skipped_and_not_called() -> None:
    found, calls = records([{"success": True}, DeviceError("the phone is gone"), {}, {}])
    assert [record["status"] for record in found] == ["success", "failure", "skipped", "skipped"]
    assert [record["error"] for record in found[1:]] == [
        "the phone is gone",
        *["Early exit due to previous failure."] * 2,
    ]
    assert calls == 2


def test_all_are_called_where_nothing_ends_the_list() -> None:
    found, calls = records([DeviceError("x"), {"success": True}], stops_early=False)
    assert [record["status"] for record in found] == ["failure", "success"]
    assert calls == 2


@pytest.mark.parametrize(("answer", "result"), [([], None), ({}, None), ("", None), (0, 0), (False, False)])
def test_empty_results_are_null_as_ufo_makes_them(answer: Json, result: Json) -> None:
    assert records([answer])[0][0]["result"] is result
