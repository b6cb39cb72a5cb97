"""The generated mMCP half without Android answers calls (specification 3; reference 3; rows M43 to M49)."""

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from adapters.handlers.jvm import as_line, compile_runner
from adapters.handlers.providers import handlers_for
from droidgate_mappings.model.capability import Capability, Provider
from model_types import array, boolean, int32, int64, optional, record, ref, required, string
from titled_rows import titled

TOOLS = Provider(
    protocol="mcp",
    package="dev.made.app",
    name="Tools",
    definitions={"Node": record({"value": required(int32()), "next": optional(ref("Node", nullable=True))})},
    capabilities=(
        Capability(
            id="extract_text",
            description="Read",
            input=record(
                {
                    "path": required(string(keywords={"minLength": 1, "maxLength": 20})),
                    "page": optional(int64(keywords={"minimum": 1, "exclusiveMaximum": 10})),
                    "mode": optional(string(enum=("fast", 'sl"ow'))),
                    "paths": optional(array(string(), keywords={"minItems": 2})),
                    "meta": optional(
                        record(
                            {"title": required(string()), "deep": optional(boolean())},
                            keywords={"additionalProperties": False},
                        )
                    ),
                    "tree": optional(ref("Node")),
                    "maybe": required(string(nullable=True)),
                }
            ),
        ),
        Capability(id="ping", description="Nothing"),
    ),
)
ARGUMENTS: dict[str, Any] = {"path": "a.pdf", "maybe": None}
FULL = {
    **ARGUMENTS,
    "page": 9,
    "mode": 'sl"ow',
    "paths": ["a", "b"],
    "meta": {"title": "t"},
    "tree": {"value": 1, "next": {"value": 2, "next": None}},
    "maybe": "yes",
}
Call = tuple[str | None, str | None]
Ask = Callable[[Sequence[Call], dict[str, Any]], list[dict[str, Any]]]


def _compiled(target: str, component: str, folder: Path) -> Ask:
    runner = compile_runner("MmcpRunner", TOOLS, target, component, folder)

    def run(calls: Sequence[Call], behaviour: dict[str, Any]) -> list[dict[str, Any]]:
        return runner(behaviour, [f"{as_line(tool)} {as_line(parameters)}" for tool, parameters in calls])

    return run


@pytest.fixture(scope="module")
def activity(tmp_path_factory: pytest.TempPathFactory) -> Ask:
    return _compiled("mmcp+1.0", "MmcpToolActivity", tmp_path_factory.mktemp("activity"))


@pytest.fixture(scope="module")
def broadcast(tmp_path_factory: pytest.TempPathFactory) -> Ask:
    return _compiled("mmcp+broadcast", "MmcpToolReceiver", tmp_path_factory.mktemp("broadcast"))


def extract(ask: Ask, *arguments: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the answers to calls of the tool that takes arguments."""
    calls = [("extract_text", json.dumps(item)) for item in arguments]
    return ask(calls, {"extractText": {"returns": {}}})


@pytest.mark.slow
def test_arguments_reach_the_author_typed(activity: Ask) -> None:
    least, full = extract(activity, ARGUMENTS, FULL)
    assert least["calls"] == [["extractText", ["String a.pdf", *["null"] * 6]]]
    assert full["calls"][0][1][:5] == [
        "String a.pdf", "Long 9", 'String sl"ow', "ArrayList [a, b]", 'JSONObject {"title":"t"}',
    ]  # fmt: skip
    assert full["calls"][0][1][6] == "String yes"


@titled(("returned", "expected"), {
    "an object is as it is": ({"a": [1, None]}, {"a": [1, None]}),
    "a text has a key": ("plain", {"text": "plain"}), "a number is a value": (5, {"value": 5}),
    "a list is a value": ([1], {"value": [1]}), "a boolean is a value": (True, {"value": True}),
    "null is an empty object": (None, {}),
})  # fmt: skip
def test_a_result_is_the_text_of_an_object(activity: Ask, returned: Any, expected: Any) -> None:
    (answer,) = activity([("ping", "{}")], {"ping": {"returns": returned}})
    assert json.loads(answer["result"]) == expected
    assert "error" not in answer


@pytest.mark.parametrize("parameters", ["{}", "", None, " {} "])
def test_a_call_without_parameters_may_be_written_in_several_ways(
    activity: Ask, parameters: str | None
) -> None:
    (answer,) = activity([("ping", parameters)], {"ping": {}})
    assert answer == {"result": "{}", "calls": [["ping", []]]}


WRONG: tuple[dict[str, Any], ...] = (
    {}, {"path": "a.pdf"}, {"path": None}, {"path": 5}, {"path": ""}, {"path": "x" * 21}, {"page": 0},
    {"page": 10}, {"page": "3"}, {"page": 1.5}, {"mode": "Fast"}, {"mode": 1}, {"paths": ["a"]},
    {"paths": ["a", 1]}, {"paths": ["a", None]}, {"paths": "a"}, {"meta": {}}, {"meta": {"title": 1}},
    {"meta": {"title": "t", "other": 1}}, {"meta": {"title": "t", "deep": "true"}}, {"meta": []},
    {"tree": {"value": 1, "next": {"value": "2"}}}, {"tree": {"value": 2147483648}}, {"tree": {"next": None}},
    {"unknown": 1},
)  # fmt: skip


def test_arguments_that_do_not_fit_are_refused_with_their_place(activity: Ask) -> None:
    incomplete = WRONG[:2]
    sent = [item if item in incomplete else {**ARGUMENTS, **item} for item in WRONG]
    for item, answer in zip(WRONG, extract(activity, *sent), strict=True):
        assert answer["error"].startswith("invalid_argument: "), item
        assert answer["calls"] == [], item
        if item not in incomplete:
            assert next(iter(item)) in answer["error"]


def test_length_is_counted_in_characters(activity: Ask) -> None:
    (answer,) = extract(activity, {**ARGUMENTS, "path": "\U0001f600" * 20})
    assert "error" not in answer


def test_hostile_calls_are_answered(activity: Ask) -> None:
    calls: list[Call] = [
        (None, None), ("", "{}"), (None, "{}"), ("ping", "{" * 100_000), ("ping", "[]"), ("ping", "5"),
        ("ping", "null"), ("extract_text", '{"path":"a","maybe":null,"path":"b"}'), ("ping", "{'a':1}"),
        ("ping", " " * 200_001), ("ping", '{"\ud800":1}'),
        ("extract_text", json.dumps({"tree": {"value": 1}})[:-1] + ',"next":{"value":1' + "}" * 9),
    ]  # fmt: skip
    for answer in activity(calls, {"ping": {}}):
        assert answer["error"].startswith("invalid_argument: ")
        assert answer["calls"] == []
    (unknown,) = activity([("Ping", "{}")], {"ping": {}})
    assert unknown["error"].startswith("unknown_capability: ")


def test_a_deep_value_of_a_recursive_type_is_checked_to_its_end(activity: Ask) -> None:
    def tree(levels: int, last: Any) -> Any:
        node: Any = {"value": last}
        for _ in range(levels):
            node = {"value": 1, "next": node}
        return node

    fits, fails = extract(activity, *({**ARGUMENTS, "tree": tree(60, last)} for last in (1, "1")))
    assert "error" not in fits
    assert fails["error"].startswith("invalid_argument: ")


def test_what_the_author_throws_is_reported(activity: Ask) -> None:
    (denied,) = activity([("ping", "{}")], {"ping": {"throws": "denied"}})
    (crashed,) = activity([("ping", "{}")], {"ping": {"crashes": "null"}})
    assert denied["error"] == "denied: as wanted"
    assert crashed["error"].startswith("backend_failure: ")


def test_a_result_too_large_for_an_intent_is_a_failure(activity: Ask) -> None:
    (answer,) = activity([("ping", "{}")], {"ping": {"returns": {"text": "x" * 100_000}}})
    assert "error" not in answer
    (answer,) = activity([("ping", "{}")], {"ping": {"returns": {"text": "\\" * 100_001}}})
    assert answer["error"].startswith("backend_failure: ")


@pytest.mark.slow
def test_a_broadcast_takes_every_value_as_text_and_answers_in_plain_text(broadcast: Ask) -> None:
    texts = dict.fromkeys(FULL, "1")
    (answer,) = broadcast([("extract_text", json.dumps(texts))], {"extractText": {"returns": "Done."}})
    assert answer["calls"] == [["extractText", ["String 1"] * len(FULL)]]
    assert answer["result"] == "Done."
    (missing,) = broadcast([("extract_text", '{"path":"1"}')], {})
    assert missing["error"].startswith("invalid_argument: ")
    for returned, text in (({"a": 1}, '{"a":1}'), (5, "5"), (True, "true"), (None, "")):
        (answer,) = broadcast([("ping", None)], {"ping": {"returns": returned}})
        assert answer["result"] == text


def test_discovery_answers_with_the_tools_in_the_form_that_goose_reads() -> None:
    _, code = handlers_for(TOOLS, "mmcp+broadcast")
    requests = next(artifact.text for artifact in code.artifacts if artifact.path.endswith("Requests.java"))
    assert 'static final String[] TOOLS = {\n        "extract_text",\n        "ping",\n    };' in requests
    for name in ("extract_text.description", "extract_text.parameters", "ping.parameters"):
        assert f'{{"{name}", text(' in requests
    assert '\\"path\\":\\"string\\"' in requests
