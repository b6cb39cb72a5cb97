"""A file with a list of MobileAgent's commands: how it is read, and what its commands come to, as in UFO."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from droidgate import convert, read
from droidgate.calls.batches import MAX_BYTES, MAX_COMMANDS, read_command_file, run_commands
from droidgate_mappings.model.errors import DeviceError, InputError
from droidgate_mappings.model.json_values import Json
from droidgate_mobile_agent.wire import AgentCommand, read_command
from titled_rows import titled

TAP = {"tool_name": "tap", "parameters": {"x": 480, "y": 240}, "tool_type": "action", "call_id": "a"}
SEE = {"tool_name": "capture_screenshot", "parameters": {}, "tool_type": "data_collection", "call_id": "b"}
BACK = {"action": {"function": "press_key", "arguments": {"key_code": "KEYCODE_BACK"}}}


def written(folder: Path, text: str | bytes) -> Path:
    path = folder / "commands"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def called(command: AgentCommand) -> tuple[str, object]:
    return command.command.id, command.arguments


def test_a_source_of_a_format_that_was_not_asked_for_is_a_file() -> None:
    with pytest.raises(InputError, match="cannot be read"):
        read("mobile-agent:", formats=["mcp"])


def test_the_list_that_droidgate_wrote_for_mcp_is_read_as_mcp(tmp_path: Path) -> None:
    (provider,) = read("mobile-agent:").providers
    file = tmp_path / "tools.json"
    file.write_text(convert((provider,), "mcp").files["tools.json"])
    assert [provider.protocol for provider in read(file).providers] == ["mcp"]


@titled("text", {
    "a list in one line": json.dumps([TAP, SEE, BACK]),
    "a list over lines": json.dumps([TAP, SEE, BACK], indent=2),
    "one command a line": "\n".join(map(json.dumps, [TAP, SEE, BACK])),
    "a byte order mark, blank lines and the line ends of Windows":
        "\ufeff" + "\r\n\r\n".join(map(json.dumps, [TAP, SEE, BACK])) + "\n",
})  # fmt: skip
def test_a_list_and_one_command_a_line_are_the_same(tmp_path: Path, text: str) -> None:
    assert [called(command) for command in read_command_file(written(tmp_path, text))] == [
        ("tap", {"x": 480, "y": 240}),
        ("capture_screenshot", {}),
        ("press_key", {"key_code": "KEYCODE_BACK"}),
    ]


@titled("indent", {"in one line": None, "over lines": 2})
def test_one_command_alone_is_a_list_of_one(tmp_path: Path, indent: int | None) -> None:
    (command,) = read_command_file(written(tmp_path, json.dumps(BACK, indent=indent)))
    assert called(command) == ("press_key", {"key_code": "KEYCODE_BACK"})


def of_command(command: str, message: str) -> tuple[str, str, str]:
    """Return a list with one command, its place in the file, and what is wrong with it."""
    return f"[{command}]", "commands:/0", message


@titled(("text", "place", "message"), {
    "an empty file": ("", "commands", "no commands"),
    "an empty list": ("[]", "commands", "no commands"),
    "a number in a list": of_command("1", "not a JSON object"),
    "a number": ("7", "commands", "not a JSON object"),
    "an unknown tool": of_command('{"tool_name": "taps"}', 'unknown tool "taps"'),
    "a number as name": of_command('{"tool_name": 5}', '"tool_name" is not a string'),
    "another word for the name": of_command('{"tool": "tap"}', 'unknown member "tool"'),
    "another type": of_command('{"tool_name": "tap", "tool_type": "data_collection"}', "not a tool of type"),
    "an object as type": of_command('{"tool_name": "tap", "tool_type": {}}', "not a tool of type"),
    "a list as parameters":
        of_command('{"tool_name": "tap", "parameters": []}', '"parameters" is not a JSON object'),
    "a number as id": of_command('{"tool_name": "tap", "call_id": 1}', '"call_id" is not a string'),
    "a text as action": of_command('{"action": "tap"}', '"action" is not a JSON object'),
    "an action without a function": of_command('{"action": {}}', '"function" is not a string'),
    "args, not arguments": of_command('{"action": {"function": "tap", "args": {}}}', 'unknown member "args"'),
    "a thought": of_command('{"action": {"function": "tap"}, "thought": "x"}', 'unknown member "thought"'),
    "1 as the arguments": of_command('{"action": {"function": "tap", "arguments": 1}}', "not a JSON object"),
    "a comma in line 2": ('{"tool_name": "wait"}\n{"tool_name": "wait",}', "commands:2:", "not JSON"),
    "an unknown tool in line 3":
        ('{"tool_name": "wait"}\n\n{"tool_name": "waits"}', "commands:3", 'unknown tool "waits"'),
    "a word in line 2": ('{"tool_name": "wait"}\nwait', "commands:2:1", "not JSON"),
    "a list without an end": ('[{"tool_name": "wait"}', "commands:1:", "not JSON"),
    "a duplicate key": ('[{"tool_name": "tap", "tool_name": "tap"}]', "commands:1", "duplicate key"),
    "a duplicate id": (json.dumps([TAP, TAP]), "commands", 'duplicate call_id "a"'),
    "a byte that is not UTF-8": (b"[\xff]", "commands", "byte 1 is not UTF-8"),
    "UTF-16": (b"\xff\xfe[\x00]\x00", "commands", "not UTF-8"),
    "too many levels": ("[" * 100, "commands:1:", ""),
    "too many commands": (json.dumps([BACK] * (MAX_COMMANDS + 1)), "commands", "more than 10,000 commands"),
    "too many bytes": (b" " * (MAX_BYTES + 1), "commands", "more than 16,777,216 bytes"),
})  # fmt: skip
def test_a_file_that_is_wrong_has_one_error_with_its_place(
    tmp_path: Path, text: str | bytes, place: str, message: str
) -> None:
    with pytest.raises(InputError) as caught:
        read_command_file(written(tmp_path, text))
    assert message in caught.value.message
    assert (caught.value.place or "").startswith(f"{tmp_path}/{place}")


@pytest.mark.parametrize(("path", "message"), [
    ("missing", None), ("", None), ("a\0b", None), ("/dev/zero", "not a regular file"),
    ("large", "more than 16,777,216 bytes"),
])  # fmt: skip
def test_a_file_that_cannot_be_read_is_one_error(tmp_path: Path, path: str, message: str | None) -> None:
    with (tmp_path / "large").open("wb") as file:
        file.truncate(MAX_BYTES + 1)
    with pytest.raises(InputError, match=message):
        read_command_file(f"{tmp_path}/{path}" if not path.startswith("/") else path)


def commands(*names: str) -> list[AgentCommand]:
    return [read_command({"tool_name": name, "call_id": str(n)}, "here") for n, name in enumerate(names)]


def records(answers: list[Json | Exception]) -> tuple[list[dict[str, Json]], int]:
    """Return the records of tools that answer so, and how many were called."""
    remaining: Iterator[Json | Exception] = iter(answers)
    calls = 0

    def call(_: AgentCommand) -> Json:
        nonlocal calls
        calls += 1
        answer = next(remaining)
        if isinstance(answer, Exception):
            raise answer
        return answer

    listed = commands(*["wait"] * len(answers))
    return [result.record() for result in run_commands(listed, call)], calls


def test_a_record_has_every_member_that_ufo_has() -> None:
    members = {"namespace": "MobileActionExecutor", "call_id": "0"}
    record = {"status": "success", "error": None, "result": {"success": True}, **members}
    assert records([{"success": True}])[0] == [record]
    (result,) = run_commands(commands("get_ui_tree"), lambda _: "x")
    assert result.record()["namespace"] == "MobileDataCollector"


GONE = DeviceError("the phone is gone")
SKIPPED = "Early exit due to previous failure."


@titled(("answers", "statuses", "errors", "calls"), {
    "a tool that fails does not end the list":
        ([{"success": False, "error": "x"}, {"success": True}], ["success"] * 2, [None] * 2, 2),
    "a call without an answer ends the list":
        ([{"success": True}, GONE, {}, {}], ["success", "failure", "skipped", "skipped"],
        [None, "the phone is gone", SKIPPED, SKIPPED], 2),
})  # fmt: skip
def test_what_follows_a_call_without_an_answer_is_skipped_and_not_called(
    answers: list[Json | Exception], statuses: list[str], errors: Json, calls: int
) -> None:
    results, called = records(answers)
    assert [record["status"] for record in results] == statuses
    assert [record["error"] for record in results] == errors
    assert called == calls


@titled(("answer", "result"), {
    "an empty list": ([], None), "an empty object": ({}, None), "an empty text": ("", None),
    "zero stays": (0, 0), "false stays": (False, False),
})  # fmt: skip
def test_empty_results_are_null_as_ufo_makes_them(answer: Json, result: Json) -> None:
    assert records([answer])[0][0]["result"] is result
