"""The generated Mobile-MCP half without Android answers as specification 3 and reference 6 say."""

import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import pytest

from adapters.handlers.jvm import as_line, compile_runner
from droidgate_mappings.model.capability import Capability, Provider
from droidgate_mappings.model.types import ArrayType, ObjectType
from model_types import boolean, float64, int64, optional, record, required, string
from titled_rows import titled

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

QUERY = "query_clock_in"
TODAY = {"id": "clock_in_today"}


@dataclass(frozen=True)
class Service:
    """The service's half without Android, spoken to in a dialect."""

    dialect: str
    runner: Callable[[dict[str, Any], Iterable[str]], list[dict[str, Any]]]

    def request(self, capability: Any, *, request_id: Any = "7f3c", version: Any = "1.0") -> str:
        inner = {"id": request_id, "capability": capability}
        if self.dialect == "prototype":
            return json.dumps(inner)
        return json.dumps({"mobile-mcp-request": {"version": version, "request": inner}})

    def send(
        self, *texts: str | None, behaviour: dict[str, Any] = BEHAVIOUR
    ) -> list[tuple[dict[str, Any], dict[str, Any]]]:
        """Return the response to each text, and what the runner says of it."""
        answers = self.runner(behaviour, map(as_line, texts))
        return [(self._response(answer["text"]), answer) for answer in answers]

    def ask(
        self, *capabilities: Any, behaviour: dict[str, Any] = BEHAVIOUR
    ) -> list[tuple[dict[str, Any], dict[str, Any]]]:
        """Return the same for a request of each capability."""
        return self.send(*map(self.request, capabilities), behaviour=behaviour)

    def _response(self, text: str) -> dict[str, Any]:
        """Return what is inside the wrapper, which is as the specification has it."""
        document = json.loads(text)
        if self.dialect == "prototype":
            assert "mobile-mcp-response" not in document
            return dict(document)
        assert list(document) == ["mobile-mcp-response"]
        wrapper = document["mobile-mcp-response"]
        assert wrapper.keys() == {"version", "response"}
        assert wrapper["version"] == "1.0"
        return dict(wrapper["response"])


@pytest.fixture(scope="module", params=["1.0", "1.0-input", "prototype"])
def service(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Service:
    dialect = str(request.param)
    folder = tmp_path_factory.mktemp("mobile_mcp")
    runner = compile_runner("MobileMcpRunner", CLOCK_IN, f"mobile-mcp+{dialect}", "ClockService", folder)
    return Service(dialect, runner)


@pytest.mark.slow
def test_a_request_in_the_words_of_its_dialect_is_answered_in_the_same_words(service: Service) -> None:
    arguments: Any = {"date": "2026-02-14"}
    output: Any = {"date": "2026-02-14", "has_clocked_in": True}
    if service.dialect == "1.0":
        output = [
            {"name": "date", "type": "string", "value": "2026-02-14"},
            {"name": "has_clocked_in", "type": "boolean", "value": True},
        ]
    if service.dialect == "prototype":
        arguments = json.dumps(arguments)
    key = "args" if service.dialect == "1.0" else "input"
    [(seen, answer)] = service.ask({"id": QUERY, key: arguments})
    assert seen["capability"] == {"id": QUERY, "output": output}
    assert seen["id"] == answer["id"] == "7f3c"
    assert seen["status"] == "success"
    assert answer["calls"] == [["queryClockIn", ["String 2026-02-14", "null", "null"]]]


def test_the_edition_that_is_asked_is_answered(service: Service) -> None:
    asked = {"id": QUERY, "args": {"date": "d"}}, {"id": QUERY, "input": {"date": "d"}}, TODAY
    first, second, none = (seen for seen, _ in service.ask(*asked))
    assert isinstance(first["capability"]["output"], list)
    assert isinstance(second["capability"]["output"], dict)
    assert (none["capability"], none["status"]) == (TODAY, "success")


DATED = {"name": "date", "type": "string", "value": "d"}
FORMS: list[dict[str, Any]] = [
    {"args": {"date": "d", "days": 3, "exact": True}},
    {"input": {"date": "d", "days": "3", "exact": "true"}},
    {"args": '{"date":"d","days":3,"exact":true}'},
    {"args": [DATED, {"name": "days", "value": 3}, {"name": "exact", "value": "true"}]},
    {"args": {"date": "d", "days": 3.0, "exact": True}, "input": {"exact": True, "days": 3.0, "date": "d"}},
]


def test_arguments_are_read_in_every_form_that_is_seen(service: Service) -> None:
    for seen, answer in service.ask(*({"id": QUERY, **form} for form in FORMS)):
        assert seen["status"] == "success", seen
        assert answer["calls"] == [["queryClockIn", ["String d", "Long 3", "Boolean true"]]]


def test_declared_lists_and_objects_may_come_as_text(service: Service) -> None:
    texts = {"number": "2.5", "list": "[1,2]", "map": '{"a":1}'}
    [(_, answer)] = service.ask({"id": "weigh", "args": texts})
    assert answer["calls"] == [["weigh", ["Double 2.5", "JSONArray [1,2]", 'JSONObject {"a":1}']]]


WRONG_ARGUMENTS: tuple[Any, ...] = (
    {}, {"date": 5}, {"date": None}, {"date": "d", "days": "many"}, {"date": "d", "days": 1.5}, 5, "5", "{",
    {"date": "d", "exact": 1}, {"date": "d", "more": 1}, [{"name": "date"}] * 2,
)  # fmt: skip
WRONG_CAPABILITIES: tuple[Any, ...] = ({"id": 5}, {"id": ""}, {}, [], None, "clock_in_today")
MISFITS: tuple[tuple[Any, str], ...] = (
    ({"id": QUERY}, "invalid_argument"),
    *(({"id": QUERY, "args": item}, "invalid_argument") for item in WRONG_ARGUMENTS),
    ({"id": QUERY, "args": {"date": "d"}, "input": {"date": "e"}}, "invalid_argument"),
    ({"id": "query clock in", "args": {}}, "unknown_capability"),
    ({"id": "toString"}, "unknown_capability"),
    *((item, "invalid_argument") for item in WRONG_CAPABILITIES),
)


def test_a_request_that_does_not_fit_fails_with_its_token_and_calls_nothing(service: Service) -> None:
    answers = service.ask(*(capability for capability, _ in MISFITS))
    for (capability, token), (seen, answer) in zip(MISFITS, answers, strict=True):
        assert seen["status"] == "failure", capability
        assert seen["message"].startswith(f"{token}: "), capability
        assert seen["id"] == "7f3c"
        assert "output" not in seen["capability"]
        assert answer["calls"] == []


def test_the_version_is_checked_where_the_dialect_has_one(service: Service) -> None:
    versions = ("2.0", "1", 1.0, None, "", {"a": 1})
    for seen, answer in service.send(*(service.request(TODAY, version=item) for item in versions)):
        assert seen["id"] == "7f3c"
        if service.dialect == "prototype":
            assert seen["status"] == "success"
        else:
            assert seen["message"].startswith("unsupported_version: ")
            assert answer["calls"] == []


def test_the_id_of_a_request_is_returned_unchanged(service: Service) -> None:
    ids: tuple[Any, ...] = ("x" * 300, 'q"\\/\n', "日本 \U0001f600", 12, 9223372036854775807)
    answers = service.send(*(service.request(TODAY, request_id=item) for item in ids))
    assert [seen["id"] for seen, _ in answers] == list(ids)
    assert {seen["status"] for seen, _ in answers} == {"success"}


def test_a_request_without_a_usable_id_is_answered_with_an_empty_one(service: Service) -> None:
    unusable: tuple[Any, ...] = (None, "", True, 1.5, [], {})
    for seen, answer in service.send(*(service.request(TODAY, request_id=item) for item in unusable)):
        assert seen["id"] == ""
        assert seen["message"].startswith("invalid_argument: ")
        assert answer["calls"] == []


def test_hostile_texts_are_answered_and_never_thrown(service: Service) -> None:
    own = service.request(TODAY)
    texts: list[str | None] = [
        None, "", "null", "[]", "7", own[:-1], own + "x", "{" * 100_000, "[" * 190_000, own + " " * 200_000,
        '{"a":' * 5_000 + "1" + "}" * 5_000, own.replace('"id"', '"id": 1, "id"', 1), "\x00", "\ufeff" + own,
        own.replace("7f3c", "\\ud800"), own.replace("7f3c", "\ud800"), own.replace('"7f3c"', "'7f3c'"),
        own.replace('"7f3c"', "1e999"), own.replace('"7f3c"', "9223372036854775808"),
        own.replace("{", "{/**/", 1),
    ]  # fmt: skip
    for seen, answer in service.send(*texts):
        assert seen["status"] == "failure"
        assert seen["message"].startswith("invalid_argument: ")
        assert answer["calls"] == []


@titled(("behaviour", "message"), {
    "a failure has its own token": ({"clockInToday": {"throws": "denied"}}, "denied: as wanted"),
    "no handler is unavailable": ({}, "unavailable: "),
    "a null pointer is a failure of the app": ({"clockInToday": {"crashes": "null"}}, "backend_failure: "),
    "an endless recursion is a failure": ({"clockInToday": {"crashes": "deep"}}, "backend_failure: "),
})  # fmt: skip
def test_what_the_author_throws_is_reported_by_its_token(
    service: Service, behaviour: dict[str, Any], message: str
) -> None:
    [(seen, _)] = service.ask(TODAY, behaviour=behaviour)
    assert seen["message"].startswith(message)
    assert seen["message"] == message or message.endswith(": ")
    assert seen["id"] == "7f3c"


@titled("returned", {
    "a missing output": {"date": "d"}, "a number as a text": {"date": 1, "has_clocked_in": True},
    "a text as a boolean": {"has_clocked_in": "yes", "date": "d"}, "null": None,
})  # fmt: skip
def test_a_result_that_is_not_as_declared_is_a_failure(service: Service, returned: Any) -> None:
    behaviour = {"queryClockIn": {"returns": returned}}
    [(seen, _)] = service.ask({"id": QUERY, "args": {"date": "d"}}, behaviour=behaviour)
    assert seen["message"].startswith("malformed_response: ")


def test_a_result_that_nobody_declared_is_kept(service: Service) -> None:
    [(seen, _)] = service.ask({"id": "weigh", "args": {}})
    assert seen["capability"]["output"] == [{"name": "sum", "type": "number", "value": 1.5}]
