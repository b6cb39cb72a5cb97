"""Requests and responses of every wire dialect, typed from specification 3 and the prototype's messages."""

import json
from contextlib import suppress
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import example, given, strategies as st

from droidgate_mappings.formats.leniency import ReadingContext
from droidgate_mappings.model.errors import UsageError
from droidgate_mappings.model.json_values import Json, json_equal
from droidgate_mappings.tables.failure_tokens import load_failure_tokens
from droidgate_mobile_mcp.wire import (
    WIRE_DIALECTS,
    WIRE_OF_DIALECT,
    MalformedRequestError,
    MalformedResponseError,
    MobileMcpRequest,
    MobileMcpResponse,
    RequestError,
    UnsupportedVersionError,
    WireDialect,
    classify_failure,
    read_request,
    read_response,
    write_request,
    write_response,
)
from model_types import boolean, record, required, string
from strategies import FINITE, json_values
from titled_rows import titled

SERVED = [item for item in WIRE_DIALECTS.values() if item.served]
SPEC_EXTRA = "mobile-mcp-request"


def wrapped(version: Json = "1.0", request_id: Json = "u-1", **capability: Json) -> dict[str, str]:
    """The schema of section 3.1, `"args"` or `"input"` as given."""
    inner = {"id": request_id, "capability": {"id": "dim", **capability}}
    return {SPEC_EXTRA: json.dumps({"mobile-mcp-request": {"version": version, "request": inner}})}


def unwrapped(**capability: Json) -> dict[str, str]:
    return {"request": json.dumps({"id": "u-1", "capability": {"id": "dim", **capability}})}


@titled(("extras", "carrier", "dialect", "version"), {
    "arguments in a request of 1.0": (wrapped(args={"percent": 5, "slowly": True}), "start", "S0", "1.0"),
    "an input in a request of 1.0": (wrapped(input={"percent": 5, "slowly": True}), "start", "S1", "1.0"),
    "arguments of the prototype": (unwrapped(args='{"percent":5,"slowly":true}'), "start", "MM-4", None),
    "an input of the prototype": (unwrapped(input='{"percent":5,"slowly":true}'), "start", "MM-5", None),
    "an input in a message": (unwrapped(input='{"percent":5,"slowly":true}'), "bind", "MM-6", None),
    "arguments in a message": (unwrapped(args='{"percent":5,"slowly":true}'), "bind", "MM-6-args", None),
})  # fmt: skip
def test_a_request_of_section_3_1_and_of_the_prototype_is_read_strictly(
    extras: dict[str, str], carrier: str, dialect: str, version: str | None
) -> None:
    request = read_request(extras, ReadingContext(strict=True), carrier=carrier)  # type: ignore[arg-type]
    assert (request.dialect.id, request.wrapped, [request.extra_key]) == (dialect, bool(version), [*extras])
    assert (request.request_id, request.capability_id, request.version) == ("u-1", "dim", version)
    assert request.arguments == {"percent": 5, "slowly": True}


def test_a_request_without_arguments_is_of_the_usual_dialect() -> None:
    assert read_request(wrapped(), ReadingContext(strict=True)).dialect.id == "S0"
    assert read_request(unwrapped(), ReadingContext(strict=True)).dialect.id == "MM-5"


OLDER_REQUEST = {"mcp_command_json": '{"capability":"dim","percent":5}', "mcp_request_id": "u-2"}


@titled(("extras", "carrier", "dialect", "request_id"), {
    "arguments beside the capability": (OLDER_REQUEST, "start", "MM-2", "u-2"),
    "arguments in a member of their own":
        ({**OLDER_REQUEST, "mcp_command_json": '{"capability":"dim","args":{"percent":5}}'}, "start", "MM-2",
        "u-2"),
    "an extra that traces": ({**OLDER_REQUEST, "trace_capability": "dim"}, "start", "MM-2b", "u-2"),
    "a bound request": (OLDER_REQUEST, "bind", "MM-3", "u-2"),
    "a text alone": ('{"capability":"dim","percent":5}', "start", "MM-1", ""),
    "a text alone with the oldest key": ('{"capabilityId":"dim","percent":5}', "start", "MM-0", ""),
})  # fmt: skip
def test_older_requests_are_read_named_and_not_served(
    extras: dict[str, str] | str, carrier: str, dialect: str, request_id: str
) -> None:
    request = read_request(extras, ReadingContext(strict=True), carrier=carrier)  # type: ignore[arg-type]
    assert (request.dialect.id, request.request_id, request.capability_id) == (dialect, request_id, "dim")
    assert request.arguments == {"percent": 5}
    assert not request.dialect.served
    assert request.dialect.not_served_because
    with pytest.raises(UsageError, match=dialect) as refused:
        write_request(request.dialect, "u", "dim", {})
    assert request.dialect.not_served_because in (refused.value.hint or "")


def test_args_and_input_that_differ_are_malformed() -> None:
    with pytest.raises(MalformedRequestError, match="different arguments"):
        read_request(wrapped(args={"a": 1}, input={"a": 2}))


def in_place_of(depth: int) -> dict[str, str]:
    """Return a request whose extra has an inner object: that of the version, or the request itself."""
    value = json.loads(wrapped(args={"a": 1})[SPEC_EXTRA])["mobile-mcp-request"]
    return {SPEC_EXTRA: json.dumps(value if depth == 1 else value["request"])}


LISTED_ARGUMENTS = [{"name": "a", "type": "integer", "value": 1}, {"name": "b", "value": None}]
BESIDE = {"version": "1.0", "request": {"id": "u-1", "capability": {"id": "dim"}, "args": {"a": 1}}}


def case(title: str, row: str, extras: dict[str, Any], **expected: Json) -> Any:
    """Return the case of a request or response that only a row lets in."""
    return pytest.param(row, extras, expected, id=title, marks=pytest.mark.row(row))


@pytest.mark.parametrize(("row", "extras", "expected"), [
    case("args and input that are equal count once", "M01",
        wrapped(args={"a": 1}, input={"a": 1.0}), arguments={"a": 1}),
    case("arguments beside the capability", "M01",
        {SPEC_EXTRA: json.dumps({"mobile-mcp-request": BESIDE})}, arguments={"a": 1}),
    case("listed arguments", "M02", wrapped(input=LISTED_ARGUMENTS), arguments={"a": 1, "b": None}),
    # A text in a wrapped request, an object in one of the prototype.
    case("a text for args", "M03", wrapped(args='{"a":1}'), arguments={"a": 1}),
    case("an empty text for args", "M03", wrapped(args=""), arguments={}),
    case("a text of an empty object", "M03", wrapped(args="{}"), arguments={}),
    case("a blank text for args", "M03", wrapped(args="  "), arguments={}),
    case("an object for input in the prototype", "M03", unwrapped(input={"a": 1}), arguments={"a": 1}),
    case("a request without its outer object", "M14",
        in_place_of(1), request_id="u-1", extra_key=SPEC_EXTRA, wrapped=True),
    case("a request without its outer objects", "M14",
        in_place_of(2), request_id="u-1", extra_key=SPEC_EXTRA, wrapped=False),
    case("a wrapped request in the prototype's extra", "M14",
        {"request": wrapped(args={"a": 1})[SPEC_EXTRA]}, extra_key="request", wrapped=True,
        dialect=WIRE_DIALECTS["S0"]),
    case("no version", "M24", wrapped(None), capability_id="dim"),
    case("a version without its minor part", "M24", wrapped("1"), capability_id="dim"),
    case("a number for the version", "M24", wrapped(1), capability_id="dim"),
    case("a number for the id is text, and repeated as it was", "M26",
        wrapped(request_id=12), request_id="12", id_value=12),
])  # fmt: skip
def test_what_agents_send_instead_is_read_by_its_row(
    row: str, extras: dict[str, str], expected: dict[str, Json]
) -> None:
    context = ReadingContext()
    request = read_request(extras, context)
    assert {word: getattr(request, word) for word in expected} == expected
    rows = [finding.rule for finding in context.findings]
    assert row in rows
    assert len(rows) == (2 if extras == in_place_of(2) else 1)


@pytest.mark.parametrize("version", ["2.0", "1.1", "", 2, True, [], "1.0 "], ids=repr)
def test_another_version_is_reported_with_all_that_an_answer_needs(version: Json) -> None:
    with pytest.raises(UnsupportedVersionError) as refused:
        read_request(wrapped(version, args={}))
    assert refused.value.failure == "unsupported_version"
    assert refused.value.request is not None
    assert (refused.value.request.request_id, refused.value.request.dialect.id) == ("u-1", "S0")


@titled(("extras", "request_id"), {
    "no extras": ({}, None),
    "another extra": ({"other": "x"}, None),
    "JSON that ends too early": ({SPEC_EXTRA: "{"}, ""),
    "a list": ({SPEC_EXTRA: "[]"}, ""),
    "a number as the extra": ({SPEC_EXTRA: 7}, ""),
    "a list for the outer object": ({SPEC_EXTRA: '{"mobile-mcp-request":[]}'}, ""),
    "a number for the inner object": ({SPEC_EXTRA: '{"mobile-mcp-request":{"request":7}}'}, ""),
    "a key twice": ({SPEC_EXTRA: '{"a":1,"a":2}'}, ""),
    "a number that JSON has not": ({SPEC_EXTRA: '{"a":NaN}'}, ""),
    "an empty id of the request": (wrapped(request_id=""), ""),
    "no id of the request": (wrapped(request_id=None), ""),
    "a boolean as the id of the request": (wrapped(request_id=True), ""),
    "an empty id of the capability": (wrapped(id=""), "u-1"),
    "no id of the capability": (wrapped(id=None), "u-1"),
    "a number for the arguments": (wrapped(args=7), "u-1"),
    "arguments that end too early": (wrapped(args="[1"), "u-1"),
    "a number in the text of the arguments": (wrapped(args="7"), "u-1"),
    "a list of numbers for the arguments": (wrapped(args=[1]), "u-1"),
    "a listed argument without a value": (wrapped(args=[{"name": "a"}]), "u-1"),
    "an argument listed twice": (wrapped(args=[{"name": "a", "value": 1}] * 2), "u-1"),
    "a capability that is a text": ({"request": '{"id":"u-1","capability":"dim"}'}, "u-1"),
    "a command without a capability": ({"mcp_command_json": '{"percent":5}', "mcp_request_id": "u-1"}, "u-1"),
    "words": ("words", None),
})  # fmt: skip
def test_what_is_not_a_request_is_malformed_and_keeps_its_id(
    extras: dict[str, str] | str, request_id: str | None
) -> None:
    with pytest.raises(MalformedRequestError) as refused:
        read_request(extras)
    assert refused.value.failure == "invalid_argument"
    assert refused.value.request is not None
    assert refused.value.request.request_id == (request_id or "")


@pytest.mark.parametrize("dialect", SERVED, ids=lambda item: item.id)
def test_every_served_dialect_is_written_as_its_own_reader_and_section_3_1_have_it(
    dialect: WireDialect,
) -> None:
    extras = write_request(dialect, "u-1", "dim", {"percent": 5})
    ((extra, text),) = extras.items()
    document = json.loads(text)
    arguments: Json = '{"percent":5}' if dialect.id.startswith("MM") else {"percent": 5}
    key = "args" if dialect.id in {"S0", "MM-4", "MM-6-args"} else "input"
    request = {"id": "u-1", "capability": {"id": "dim", key: arguments}}
    if dialect.id in {"S0", "S1"}:
        assert extra == SPEC_EXTRA
        assert document == {"mobile-mcp-request": {"version": "1.0", "request": request}}
    else:
        assert extra == "request"
        assert document == request


JSON_VALUES = json_values(FINITE, st.just(Decimal("0.10000000000000000001")))
NAMES = st.text(min_size=1, max_size=8)


@given(
    dialect=st.sampled_from(SERVED),
    names=st.tuples(NAMES, NAMES),
    arguments=st.dictionaries(st.text(max_size=4), JSON_VALUES, max_size=4),
)
def test_every_request_is_read_back_unchanged(
    dialect: WireDialect, names: tuple[str, str], arguments: dict[str, Json]
) -> None:
    extras = write_request(dialect, *names, arguments)
    carrier = "bind" if dialect.id in {"MM-6", "MM-6-args"} else "start"
    request = read_request(extras, ReadingContext(strict=True), carrier=carrier)  # type: ignore[arg-type]
    assert (request.dialect, request.request_id, request.capability_id) == (dialect, *names)
    assert json_equal(dict(request.arguments), arguments)


EXTRA_NAMES = (SPEC_EXTRA, "request", "mcp_command_json", "mcp_request_id", "trace_x")
MEMBERS = ("id", "capability", "version", "request", "args", "input", "mobile-mcp-request")
JSON_TEXTS = JSON_VALUES.map(lambda value: json.dumps(value, default=str))
WILD_DOCUMENTS = st.dictionaries(st.sampled_from(MEMBERS), JSON_VALUES, max_size=5)
ARGUMENTS = st.text(max_size=9) | st.dictionaries(st.text(max_size=9), st.text(max_size=9), max_size=3)
WILD_EXTRAS = st.one_of(
    st.text(max_size=30),
    st.dictionaries(
        st.sampled_from(EXTRA_NAMES), st.none() | st.integers() | JSON_TEXTS | st.text(max_size=9), max_size=3
    ),
    WILD_DOCUMENTS.map(lambda value: {SPEC_EXTRA: json.dumps(value, default=str)}),
    st.builds(
        lambda version, request_id, capability: wrapped(version, request_id, **capability),
        st.sampled_from(["1.0", "1.0", ""]),
        st.sampled_from(["u-1", "u-1", 7]),
        st.fixed_dictionaries(
            {"id": st.text(max_size=9)}, optional=dict.fromkeys(("args", "input"), ARGUMENTS)
        ),
    ),
)


@given(WILD_EXTRAS)
@example(wrapped(args={"percent": 5}))
def test_wild_extras_are_read_or_malformed(extras: dict[str, Json] | str) -> None:
    try:
        request = read_request(extras)
    except RequestError:
        return
    assert isinstance(request.capability_id, str)
    assert isinstance(request.arguments, dict)


def test_every_descriptor_dialect_has_its_wire_dialects_once() -> None:
    joined = [item.id for wires in WIRE_OF_DIALECT.values() for item in wires]
    assert sorted(joined) == sorted(WIRE_DIALECTS)
    assert [item.id for item in WIRE_OF_DIALECT["1.0"]] == ["S0"]
    assert [item.id for item in WIRE_OF_DIALECT["1.0-input"]] == ["S1"]
    assert all(item.served for item in WIRE_OF_DIALECT["prototype"])
    assert not any(item.served for item in WIRE_OF_DIALECT["pre-spec"])


ANSWER_EXTRA = "mobile-mcp-response"
LISTED = [
    {"name": "date", "type": "string", "value": "2026-02-14"},
    {"name": "there", "type": "boolean", "value": True},
]
OUTPUTS = {"date": "2026-02-14", "there": True}


def answered(output: Json = None, status: Json = "success", **more: Json) -> dict[str, Json]:
    """The schema of section 3.2."""
    capability = {"id": "query"} if output is None else {"id": "query", "output": output}
    inner = {"id": "u-1", "capability": capability, "status": status, "message": "Told", **more}
    inner = {key: value for key, value in inner.items() if value is not None}
    return {ANSWER_EXTRA: json.dumps({"mobile-mcp-response": {"version": "1.0", "response": inner}})}


def read(extras: dict[str, Json] | str, carrier: str = "start", *, strict: bool = False) -> MobileMcpResponse:
    response = read_response(extras, ReadingContext(strict=strict), carrier=carrier)  # type: ignore[arg-type]
    assert response is not None
    return response


def of_prototype(output: Json) -> dict[str, Json]:
    capability = {"id": "query", "output": output}
    inner = {"status": "success", "message": "Told", "capability": capability, "id": "u-1"}
    return {"mcp_request_id": "u-1", "response": json.dumps(inner)}


OLDER = json.dumps({"status": "success", "message": "Told", "data": OUTPUTS})


@titled(("extras", "carrier", "dialect"), {
    "listed outputs of the specification": (answered(LISTED), "start", "S0"),
    "outputs by name of the specification": (answered(OUTPUTS), "start", "S1"),
    "listed outputs of a started prototype": (of_prototype(LISTED), "start", "MM-4"),
    "outputs by name of a started prototype": (of_prototype(OUTPUTS), "start", "MM-5"),
    "outputs by name of a bound prototype": (of_prototype(OUTPUTS), "bind", "MM-6"),
    "listed outputs of a bound prototype": (of_prototype(LISTED), "bind", "MM-6-args"),
    "an older response to a start": ({"mcp_request_id": "u-1", "result_json": OLDER}, "start", "MM-2"),
    "an older response when bound": ({"mcp_request_id": "u-1", "result_json": OLDER}, "bind", "MM-3"),
})  # fmt: skip
def test_a_response_of_section_3_2_and_of_the_prototype_is_read_strictly(
    extras: dict[str, Json], carrier: str, dialect: str
) -> None:
    response = read(extras, carrier, strict=True)
    assert response.dialect is WIRE_DIALECTS[dialect]
    assert (response.request_id, response.message, response.succeeded) == ("u-1", "Told", True)
    assert response.capability_id == (None if "result_json" in extras else "query")
    assert response.outputs == OUTPUTS


def versioned(**version: Json) -> dict[str, Json]:
    """Return a response with another version, or with none."""
    document = json.loads(str(answered(LISTED)[ANSWER_EXTRA]))["mobile-mcp-response"]
    changed = {"mobile-mcp-response": {"response": document["response"], **version}}
    return {ANSWER_EXTRA: json.dumps(changed)}


def in_capability(status: str) -> dict[str, Json]:
    """Return a response as commit 47b4a20 of the specification has it (reference 2.1)."""
    capability = {"id": "q", "output": OUTPUTS, "status": status, "message": "Told inside"}
    response = {"version": "1.0", "response": {"id": "u-1", "capability": capability}}
    return {ANSWER_EXTRA: json.dumps({"mobile-mcp-response": response})}


UNWRAPPED = {"id": "u-1", "status": "success", "capability": {"id": "q", "output": LISTED}}
OTHER_VERSIONS: tuple[Json, ...] = (None, "2.0", 1, True, {})


@pytest.mark.parametrize(("row", "extras", "expected"), [
    case("a response without its outer objects", "M15",
        {ANSWER_EXTRA: json.dumps(UNWRAPPED)}, outputs=OUTPUTS),
    case("a wrapped response in the prototype's extra", "M15",
        {"response": answered(LISTED)[ANSWER_EXTRA]}, outputs=OUTPUTS),
    case("an output without its type", "M18",
        answered([{"name": "date", "value": "x"}]), outputs={"date": "x"}),
    case("an output without a value is missing", "M18",
        answered([*LISTED, {"name": "late", "type": "boolean"}]), outputs=OUTPUTS),
    *(case(f"the version {text!r}", "M24",
        versioned(version=text), outputs=OUTPUTS) for text in OTHER_VERSIONS),
    case("a response without a version", "M24", versioned(), outputs=OUTPUTS),
    case("a success in the capability", "M21",
        in_capability("success"), succeeded=True, message="Told inside"),
    case("a failure in the capability", "M21",
        in_capability("failure"), succeeded=False, message="Told inside"),
    case("an unknown status is a failure", "M21", answered(None, "error"), succeeded=False),
    case("an unknown status next to outputs is a failure", "M21", answered(LISTED, "ok"), succeeded=False),
    case("no status next to outputs is a success", "M21", answered(LISTED, None), succeeded=True),
    case("no status without outputs is a failure", "M21", answered(None, None), succeeded=False),
    case("a number for the status is a failure", "M21", answered(None, 7), succeeded=False),
    case("the extra says the request where the response does not", "M27",
        {**answered(LISTED, id=None), "mcp_request_id": "u-9"}, request_id="u-9"),
])  # fmt: skip
def test_what_tools_answer_instead_is_read_by_its_row(
    row: str, extras: dict[str, Json], expected: dict[str, Json]
) -> None:
    context = ReadingContext()
    response = read_response(extras, context)
    assert {word: getattr(response, word) for word in expected} == expected
    assert [finding.rule for finding in context.findings] == [row]


def test_the_id_in_a_response_counts_before_that_in_its_extra() -> None:
    assert read({**answered(LISTED), "mcp_request_id": "u-9"}, strict=True).request_id == "u-1"
    assert read(answered(LISTED, id=None)).request_id == ""


@pytest.mark.row("M28")
@pytest.mark.parametrize("value", [True, "true"])
def test_a_callback_with_timings_only_is_not_a_response(value: Json) -> None:
    assert read_response({"trace_only": value, "mcp_request_id": "u-1", "trace_phase": "s3"}) is None


@pytest.mark.parametrize(("message", "token", "text"), [
    ("timeout: it took too long", "timeout", "it took too long"),
    ("Unknown capability ID: foo", "unknown_capability", "Unknown capability ID: foo"),
    ("Missing args.", "invalid_argument", "Missing args."),
    ("End of input at character 0 of ", "invalid_argument", "End of input at character 0 of "),
    ("It rained", None, "It rained"),
    (None, None, None),
])  # fmt: skip
def test_the_message_of_a_failure_contains_its_token(
    message: str | None, token: str | None, text: str | None
) -> None:
    assert classify_failure(message) == (token, text)
    response = read(answered(None, "failure", message=message))
    assert (response.succeeded, response.token, response.message) == (False, token, text)


@titled("extras", {
    "no extras": {},
    "JSON that ends too early": {ANSWER_EXTRA: "{"},
    "a number as the extra": {ANSWER_EXTRA: 7},
    "a list": {ANSWER_EXTRA: "[]"},
    "a number for the outer object": {ANSWER_EXTRA: '{"mobile-mcp-response":1}'},
    "a number for the inner object": {ANSWER_EXTRA: '{"mobile-mcp-response":{"response":1}}'},
    "outputs that are a text": answered("text"),
    "a list of numbers for the outputs": answered([1]),
    "outputs that are listed twice": answered([*LISTED, *LISTED]),
    "words": "x",
})  # fmt: skip
def test_what_is_not_a_response_is_malformed_and_keeps_its_text(extras: dict[str, Json] | str) -> None:
    with pytest.raises(MalformedResponseError) as refused:
        read_response(extras)
    assert refused.value.failure == "malformed_response"
    text = extras if isinstance(extras, str) else extras.get(ANSWER_EXTRA, "")
    assert refused.value.raw == (text if isinstance(text, str) else "")


DECLARED = record(
    {"there": required(boolean()), "date": required(string(extensions={"mobile-mcp": {"word": "date"}}))}
)


@pytest.mark.parametrize("dialect", SERVED, ids=lambda item: item.id)
def test_a_request_is_answered_in_its_own_dialect(dialect: WireDialect) -> None:
    carrier = "bind" if dialect.id in {"MM-6", "MM-6-args"} else "start"
    request = read_request(write_request(dialect, "u-1", "query", {"a": 1}), carrier=carrier)  # type: ignore[arg-type]
    outputs = {**OUTPUTS, "extra": 1.5}
    answer = MobileMcpResponse("u-1", succeeded=True, outputs=outputs, message="Told")
    extras = write_response(answer, request, output=DECLARED)
    listed: Json = [
        {"name": "there", "type": "boolean", "value": True},
        {"name": "date", "type": "date", "value": "2026-02-14"},
        {"name": "extra", "type": "number", "value": 1.5},
    ]
    capability = {"id": "query", "output": listed if dialect.id in {"S0", "MM-4", "MM-6-args"} else outputs}
    inner = {"id": "u-1", "capability": capability, "status": "success", "message": "Told"}
    if dialect.id in {"S0", "S1"}:
        response: Json = {"mobile-mcp-response": {"version": "1.0", "response": inner}}
        assert {key: json.loads(text) for key, text in extras.items()} == {ANSWER_EXTRA: response}
    else:
        assert extras.keys() == {"response", "mcp_request_id"}
        assert extras["mcp_request_id"] == "u-1"
        assert json.loads(extras["response"]) == inner
    back = read(dict(extras), carrier, strict=True)
    assert (back.dialect, back.outputs, back.succeeded) == (dialect, outputs, True)


@pytest.mark.parametrize("token", load_failure_tokens())
def test_a_failure_carries_its_token_and_no_output(token: str) -> None:
    request = read_request(write_request(WIRE_DIALECTS["S0"], "u-1", "query", {}))
    failed = MobileMcpResponse("u-1", succeeded=False, outputs={"a": 1}, token=token, message="Why")
    extras = write_response(failed, request)
    inner = {"id": "u-1", "capability": {"id": "query"}, "status": "failure", "message": f"{token}: Why"}
    assert json.loads(extras[ANSWER_EXTRA])["mobile-mcp-response"]["response"] == inner
    response = read(dict(extras), strict=True)
    assert (response.succeeded, response.token, response.message) == (False, token, "Why")


def test_a_request_in_mixed_words_is_answered_in_the_same_words() -> None:
    unwrapped = {"mobile-mcp-request": '{"id":7,"capability":{"id":"query","args":{}}}'}
    request = read_request(unwrapped)
    extras = write_response(MobileMcpResponse("7", succeeded=True), request)
    assert extras.keys() == {ANSWER_EXTRA, "mcp_request_id"}
    assert json.loads(extras[ANSWER_EXTRA]) == {"id": 7, "capability": {"id": "query"}, "status": "success"}


def test_a_malformed_request_is_answered_with_the_id_that_was_read() -> None:
    for extras, request_id in (({"request": '{"id":"u-1"}'}, "u-1"), ({"request": "{"}, "")):
        with pytest.raises(MalformedRequestError) as refused:
            read_request(extras)
        assert refused.value.request is not None
        error = refused.value
        answer = MobileMcpResponse(request_id, succeeded=False, token=error.failure, message=error.message)
        written = json.loads(write_response(answer, refused.value.request)["response"])
        assert written["id"] == request_id
        assert written["status"] == "failure"
        assert "capability" not in written


def test_older_dialects_are_not_answered() -> None:
    request = read_request({"mcp_command_json": '{"capability":"dim"}', "mcp_request_id": "u"})
    with pytest.raises(UsageError, match="MM-2"):
        write_response(MobileMcpResponse("u", succeeded=True), request)


def test_outputs_that_are_not_declared_have_the_types_of_their_values() -> None:
    request = MobileMcpRequest(WIRE_DIALECTS["S0"], "u", "c", wrapped=True, id_value="u")
    values = {
        "string": "x", "boolean": True, "integer": 3, "number": 2.5, "array": [], "object": {}, "null": None,
    }  # fmt: skip
    text = write_response(MobileMcpResponse("u", succeeded=True, outputs=values), request)[ANSWER_EXTRA]
    output = json.loads(text)["mobile-mcp-response"]["response"]["capability"]["output"]
    types = {item["name"]: item["type"] for item in output}
    assert types == {**{name: name for name in values}, "null": "string"}


WILD_CAPABILITIES: st.SearchStrategy[Json] = st.dictionaries(
    st.sampled_from(["id", "output", "response"]),
    st.one_of(st.none(), st.text(max_size=3), st.just({}), st.just([])),
)
WILD_ANSWERS = st.dictionaries(
    st.sampled_from(["id", "status", "message", "capability", "data", "response", "mobile-mcp-response"]),
    st.one_of(
        st.none(), st.booleans(), st.text(max_size=3), st.lists(st.integers(), max_size=2), WILD_CAPABILITIES
    ),
    max_size=5,
)


@given(
    st.one_of(st.text(max_size=20), WILD_ANSWERS.map(json.dumps)),
    st.sampled_from([ANSWER_EXTRA, "response", "result_json"]),
)
def test_wild_responses_are_read_or_malformed(text: str, extra: str) -> None:
    with suppress(MalformedResponseError):
        read_response({extra: text})
