"""The generated Mobile-MCP half without Android answers as specification 3 and reference 6 say."""

import json
from collections.abc import Callable
from typing import Any

import pytest

from adapters.handlers.jvm import as_line, compile_runner
from droidgate_mappings.model.capability import Capability, Provider
from droidgate_mappings.model.types import ArrayType, ObjectType
from model_types import boolean, float64, int64, optional, record, required, string

CLOCK_IN = Provider(
    protocol="mobile-mcp",
    dialect="1.0",
    package="dev.made.app",
    component=".ClockService",
    name="Clock",
    description="Clock-ins",
    capabilities=(
        Capability(id="clock_in_today", description="Today", version="1"),
        Capability(
            id="query_clock_in",
            description="Was I there",
            version="1",
            input=record(
                {"date": required(string()), "days": optional(int64()), "exact": optional(boolean())}
            ),
            output=record({"date": required(string()), "has_clocked_in": required(boolean())}),
        ),
        Capability(
            id="weigh",
            description="Everything else",
            version="1",
            input=record(
                {"number": optional(float64()), "list": optional(ArrayType()), "map": optional(ObjectType())}
            ),
        ),
    ),
)
BEHAVIOUR: dict[str, Any] = {
    "clockInToday": {},
    "queryClockIn": {"returns": {"date": "2026-02-14", "has_clocked_in": True}},
    "weigh": {"returns": {"sum": 1.5}},
}

Ask = Callable[..., list[dict[str, Any]]]


@pytest.fixture(scope="module", params=["1.0", "1.0-input", "prototype"])
def dialect(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(scope="module")
def ask(dialect: str, tmp_path_factory: pytest.TempPathFactory) -> Ask:
    folder = tmp_path_factory.mktemp("mobile_mcp")
    runner = compile_runner("MobileMcpRunner", CLOCK_IN, f"mobile-mcp+{dialect}", "ClockService", folder)

    def run(*texts: str | None, behaviour: dict[str, Any] = BEHAVIOUR) -> list[dict[str, Any]]:
        return runner(behaviour, map(as_line, texts))

    return run


def request(dialect: str, capability: Any, *, request_id: Any = "7f3c", version: Any = "1.0") -> str:
    inner = {"id": request_id, "capability": capability}
    if dialect == "prototype":
        return json.dumps(inner)
    return json.dumps({"mobile-mcp-request": {"version": version, "request": inner}})


def response(dialect: str, text: str) -> dict[str, Any]:
    """Return what stands inside the wrapper, which is as the specification has it."""
    document = json.loads(text)
    if dialect == "prototype":
        assert "mobile-mcp-response" not in document
        return dict(document)
    assert list(document) == ["mobile-mcp-response"]
    wrapper = document["mobile-mcp-response"]
    assert wrapper.keys() == {"version", "response"}
    assert wrapper["version"] == "1.0"
    return dict(wrapper["response"])


@pytest.mark.slow
def test_a_request_in_the_dialects_own_words_is_answered_in_them(ask: Ask, dialect: str) -> None:
    key = "args" if dialect == "1.0" else "input"
    arguments: Any = {"date": "2026-02-14"}
    if dialect == "prototype":
        arguments = json.dumps(arguments)
    (answer,) = ask(request(dialect, {"id": "query_clock_in", key: arguments}))
    seen = response(dialect, answer["text"])
    if dialect == "1.0":
        output: Any = [
            {"name": "date", "type": "string", "value": "2026-02-14"},
            {"name": "has_clocked_in", "type": "boolean", "value": True},
        ]
    else:
        output = {"date": "2026-02-14", "has_clocked_in": True}
    assert seen["capability"] == {"id": "query_clock_in", "output": output}
    assert seen["id"] == answer["id"] == "7f3c"
    assert seen["status"] == "success"
    assert answer["calls"] == [["queryClockIn", ["String 2026-02-14", "null", "null"]]]


def test_the_edition_that_is_asked_is_answered(ask: Ask, dialect: str) -> None:
    first, second, none = ask(
        request(dialect, {"id": "query_clock_in", "args": {"date": "d"}}),
        request(dialect, {"id": "query_clock_in", "input": {"date": "d"}}),
        request(dialect, {"id": "clock_in_today"}),
    )
    assert isinstance(response(dialect, first["text"])["capability"]["output"], list)
    assert isinstance(response(dialect, second["text"])["capability"]["output"], dict)
    assert response(dialect, none["text"])["capability"] == {"id": "clock_in_today"}
    assert response(dialect, none["text"])["status"] == "success"


def test_arguments_are_read_in_every_form_that_is_seen(ask: Ask, dialect: str) -> None:
    listed = [{"name": "date", "type": "string", "value": "d"}, {"name": "days", "value": 3}]
    forms: list[dict[str, Any]] = [
        {"args": {"date": "d", "days": 3, "exact": True}},
        {"input": {"date": "d", "days": "3", "exact": "true"}},
        {"args": '{"date":"d","days":3,"exact":true}'},
        {"args": [*listed, {"name": "exact", "value": "true"}]},
        {
            "args": {"date": "d", "days": 3.0, "exact": True},
            "input": {"exact": True, "days": 3.0, "date": "d"},
        },
    ]
    answers = ask(*(request(dialect, {"id": "query_clock_in", **form}) for form in forms))
    for answer in answers:
        assert response(dialect, answer["text"])["status"] == "success", answer["text"]
        assert answer["calls"] == [["queryClockIn", ["String d", "Long 3", "Boolean true"]]]


def test_declared_lists_and_objects_may_come_as_text(ask: Ask, dialect: str) -> None:
    (answer,) = ask(
        request(dialect, {"id": "weigh", "args": {"number": "2.5", "list": "[1,2]", "map": '{"a":1}'}})
    )
    assert answer["calls"] == [["weigh", ["Double 2.5", "JSONArray [1,2]", 'JSONObject {"a":1}']]]


QUERY = "query_clock_in"
MISFITS: tuple[tuple[Any, str], ...] = (
    ({"id": QUERY}, "invalid_argument"),
    *(({"id": QUERY, "args": wrong}, "invalid_argument") for wrong in (
        {}, {"date": 5}, {"date": None}, {"date": "d", "days": "many"}, {"date": "d", "days": 1.5},
        {"date": "d", "exact": 1}, {"date": "d", "more": 1}, 5, "5", "{", [{"name": "date"}] * 2,
    )),
    ({"id": QUERY, "args": {"date": "d"}, "input": {"date": "e"}}, "invalid_argument"),
    ({"id": "query clock in", "args": {}}, "unknown_capability"), ({"id": "toString"}, "unknown_capability"),
    *((wrong, "invalid_argument") for wrong in ({"id": 5}, {"id": ""}, {}, [], None, "clock_in_today")),
)  # fmt: skip


def test_a_request_that_does_not_fit_fails_with_its_token_and_calls_nothing(ask: Ask, dialect: str) -> None:
    answers = ask(*(request(dialect, capability) for capability, _ in MISFITS))
    for (capability, token), answer in zip(MISFITS, answers, strict=True):
        seen = response(dialect, answer["text"])
        assert seen["status"] == "failure", capability
        assert seen["message"].startswith(f"{token}: "), capability
        assert seen["id"] == "7f3c"
        assert "output" not in seen["capability"]
        assert answer["calls"] == []


def test_the_version_is_checked_where_the_dialect_has_one(ask: Ask, dialect: str) -> None:
    versions = ("2.0", "1", 1.0, None, "", {"a": 1})
    answers = ask(*(request(dialect, {"id": "clock_in_today"}, version=item) for item in versions))
    for answer in answers:
        seen = response(dialect, answer["text"])
        assert seen["id"] == "7f3c"
        if dialect == "prototype":
            assert seen["status"] == "success"
        else:
            assert seen["message"].startswith("unsupported_version: ")
            assert answer["calls"] == []


def test_the_id_is_echoed_as_it_came(ask: Ask, dialect: str) -> None:
    ids: tuple[Any, ...] = ("x" * 300, 'q"\\/\n', "日本 \U0001f600", 12, 9223372036854775807)
    for given, answer in zip(
        ids, ask(*(request(dialect, {"id": "clock_in_today"}, request_id=id_) for id_ in ids)), strict=True
    ):
        assert response(dialect, answer["text"])["id"] == given
        assert response(dialect, answer["text"])["status"] == "success"


def test_a_request_without_a_usable_id_is_answered_with_an_empty_one(ask: Ask, dialect: str) -> None:
    unusable: tuple[Any, ...] = (None, "", True, 1.5, [], {})
    for answer in ask(*(request(dialect, {"id": "clock_in_today"}, request_id=item) for item in unusable)):
        seen = response(dialect, answer["text"])
        assert seen["id"] == ""
        assert seen["message"].startswith("invalid_argument: ")
        assert answer["calls"] == []


def test_hostile_texts_are_answered_and_never_thrown(ask: Ask, dialect: str) -> None:
    own = request(dialect, {"id": "clock_in_today"})
    texts: list[str | None] = [
        None, "", "null", "[]", "7", own[:-1], own + "x", "{" * 100_000, "[" * 190_000, own + " " * 200_000,
        '{"a":' * 5_000 + "1" + "}" * 5_000, own.replace('"id"', '"id": 1, "id"', 1), "\x00", "\ufeff" + own,
        own.replace("7f3c", "\\ud800"), own.replace("7f3c", "\ud800"), own.replace('"7f3c"', "'7f3c'"),
        own.replace('"7f3c"', "1e999"), own.replace('"7f3c"', "9223372036854775808"),
        own.replace("{", "{/**/", 1),
    ]  # fmt: skip
    for answer in ask(*texts):
        seen = response(dialect, answer["text"])
        assert seen["status"] == "failure"
        assert seen["message"].startswith("invalid_argument: ")
        assert answer["calls"] == []


@pytest.mark.parametrize(("behaviour", "message"), [
    ({"clockInToday": {"throws": "denied"}}, "denied: as wanted"), ({}, "unavailable: "),
    ({"clockInToday": {"crashes": "null"}}, "backend_failure: "),
    ({"clockInToday": {"crashes": "deep"}}, "backend_failure: "),
])  # fmt: skip
def test_what_the_author_throws_is_reported_by_its_token(
    ask: Ask, dialect: str, behaviour: dict[str, Any], message: str
) -> None:
    (answer,) = ask(request(dialect, {"id": "clock_in_today"}), behaviour=behaviour)
    seen = response(dialect, answer["text"])
    assert seen["message"].startswith(message)
    assert seen["message"] == message or message.endswith(": ")
    assert seen["id"] == "7f3c"


@pytest.mark.parametrize(
    "returned",
    [{"date": "d"}, {"date": 1, "has_clocked_in": True}, {"has_clocked_in": "yes", "date": "d"}, None],
)
def test_a_result_that_is_not_as_declared_is_a_failure(ask: Ask, dialect: str, returned: Any) -> None:
    (answer,) = ask(
        request(dialect, {"id": "query_clock_in", "args": {"date": "d"}}),
        behaviour={"queryClockIn": {"returns": returned}},
    )
    assert response(dialect, answer["text"])["message"].startswith("malformed_response: ")


def test_a_result_that_nobody_declared_is_kept(ask: Ask, dialect: str) -> None:
    (answer,) = ask(request(dialect, {"id": "weigh", "args": {}}))
    assert response(dialect, answer["text"])["capability"]["output"] == [
        {"name": "sum", "type": "number", "value": 1.5}
    ]
