"""Responses of every wire dialect: fixtures typed from specification 3.2 and the prototype's messages."""

import json
from contextlib import suppress

import pytest
from hypothesis import given, strategies as st

from droidgate_mappings.formats.leniency import ReadingContext
from droidgate_mappings.model.errors import UsageError
from droidgate_mappings.model.json_values import Json
from droidgate_mappings.tables.failure_tokens import load_failure_tokens
from droidgate_mobile_mcp.wire import (
    WIRE_DIALECTS,
    MalformedRequestError,
    MalformedResponseError,
    MobileMcpRequest,
    MobileMcpResponse,
    WireDialect,
    classify_failure,
    read_request,
    read_response,
    write_request,
    write_response,
)
from model_types import boolean, record, required, string

SPEC_EXTRA = "mobile-mcp-response"
SERVED = [item for item in WIRE_DIALECTS.values() if item.served]
LISTED = [
    {"name": "date", "type": "string", "value": "2026-02-14"},
    {"name": "there", "type": "boolean", "value": True},
]
OUTPUTS = {"date": "2026-02-14", "there": True}


def wrapped(output: Json = None, status: Json = "success", **more: Json) -> dict[str, Json]:
    """The schema of section 3.2."""
    capability = {"id": "query"} if output is None else {"id": "query", "output": output}
    inner = {"id": "u-1", "capability": capability, "status": status, "message": "Told", **more}
    inner = {key: value for key, value in inner.items() if value is not None}
    return {SPEC_EXTRA: json.dumps({"mobile-mcp-response": {"version": "1.0", "response": inner}})}


def read(extras: dict[str, Json] | str, carrier: str = "start", *, strict: bool = False) -> MobileMcpResponse:
    response = read_response(extras, ReadingContext(strict=strict), carrier=carrier)  # type: ignore[arg-type]
    assert response is not None
    return response


def rows(extras: dict[str, Json] | str) -> list[str | None]:
    context = ReadingContext()
    read_response(extras, context)
    return [finding.rule for finding in context.findings]


@pytest.mark.parametrize(("output", "dialect"), [(LISTED, "S0"), (OUTPUTS, "S1")])
def test_a_response_of_section_3_2_is_read_strictly(output: Json, dialect: str) -> None:
    response = read(wrapped(output), strict=True)
    assert response.dialect is WIRE_DIALECTS[dialect]
    assert (response.request_id, response.capability_id, response.message) == ("u-1", "query", "Told")
    assert response.succeeded
    assert response.outputs == OUTPUTS
    assert response.output_types == ({"date": "string", "there": "boolean"} if dialect == "S0" else {})


@pytest.mark.parametrize(("output", "carrier", "dialect"), [
    (LISTED, "start", "MM-4"),
    (OUTPUTS, "start", "MM-5"),
    (OUTPUTS, "bind", "MM-6"),
    (LISTED, "bind", "MM-6-args"),
])  # fmt: skip
def test_a_response_of_the_prototype_is_read_strictly(output: Json, carrier: str, dialect: str) -> None:
    inner = {
        "status": "success",
        "message": "Told",
        "capability": {"id": "query", "output": output},
        "id": "u-1",
    }
    response = read({"mcp_request_id": "u-1", "response": json.dumps(inner)}, carrier, strict=True)
    assert response.dialect is WIRE_DIALECTS[dialect]
    assert (response.succeeded, response.outputs, response.request_id) == (True, OUTPUTS, "u-1")


@pytest.mark.parametrize(("carrier", "dialect"), [("start", "MM-2"), ("bind", "MM-3")])
def test_an_older_response_is_read_with_its_data(carrier: str, dialect: str) -> None:
    inner = {"status": "success", "message": "Told", "data": OUTPUTS}
    response = read({"mcp_request_id": "u-1", "result_json": json.dumps(inner)}, carrier, strict=True)
    assert response.dialect is WIRE_DIALECTS[dialect]
    assert (response.request_id, response.outputs) == ("u-1", OUTPUTS)


@pytest.mark.row("M15")
def test_an_unwrapped_response_in_the_specified_extra_is_read() -> None:
    extras = {
        SPEC_EXTRA: json.dumps(
            {"id": "u-1", "status": "success", "capability": {"id": "q", "output": LISTED}}
        )
    }
    assert read(extras).outputs == OUTPUTS
    assert rows(extras) == ["M15"]


@pytest.mark.row("M15")
def test_a_wrapped_response_in_the_prototype_s_extra_is_read() -> None:
    extras = {"response": wrapped(LISTED)[SPEC_EXTRA]}
    assert read(extras).outputs == OUTPUTS
    assert rows(extras) == ["M15"]


@pytest.mark.row("M18")
def test_a_listed_output_may_lack_its_type() -> None:
    extras = wrapped([{"name": "date", "value": "x"}])
    assert read(extras).outputs == {"date": "x"}
    assert rows(extras) == ["M18"]


@pytest.mark.row("M18")
def test_a_listed_output_without_a_value_counts_as_missing_and_is_not_made_up() -> None:
    extras = wrapped([*LISTED, {"name": "late", "type": "boolean"}])
    assert read(extras).outputs == OUTPUTS
    assert rows(extras) == ["M18"]


@pytest.mark.row("M24")
@pytest.mark.parametrize("version", [None, "2.0", 1, True, {}])
def test_a_response_of_another_version_is_read_and_reported(version: Json) -> None:
    document = json.loads(wrapped(LISTED)[SPEC_EXTRA])
    document["mobile-mcp-response"]["version"] = version
    extras: dict[str, Json] = {SPEC_EXTRA: json.dumps(document)}
    assert read(extras).outputs == OUTPUTS
    assert rows(extras) == ["M24"]


@pytest.mark.row("M24")
def test_a_wrapped_response_without_a_version_is_reported() -> None:
    document = json.loads(wrapped(LISTED)[SPEC_EXTRA])
    del document["mobile-mcp-response"]["version"]
    assert rows({SPEC_EXTRA: json.dumps(document)}) == ["M24"]


@pytest.mark.row("M21")
@pytest.mark.parametrize(("status", "succeeded"), [("success", True), ("failure", False)])
def test_status_and_message_may_be_inside_the_capability(status: str, succeeded: bool) -> None:  # noqa: FBT001
    """Commit 47b4a20 of the specification (reference 2.1)."""
    capability = {"id": "q", "output": OUTPUTS, "status": status, "message": "Told inside"}
    inner = {"id": "u-1", "capability": capability}
    extras: dict[str, Json] = {
        SPEC_EXTRA: json.dumps({"mobile-mcp-response": {"version": "1.0", "response": inner}})
    }
    response = read(extras)
    assert (response.succeeded, response.message) == (succeeded, "Told inside")
    assert rows(extras) == ["M21"]


@pytest.mark.row("M21")
@pytest.mark.parametrize(("status", "output", "succeeded"), [
    ("error", None, False),
    ("ok", LISTED, False),
    (None, LISTED, True),
    (None, None, False),
    (7, None, False),
])  # fmt: skip
def test_an_unknown_status_is_a_failure_and_a_missing_one_depends_on_output(
    status: Json,
    output: Json,
    succeeded: bool,  # noqa: FBT001
) -> None:
    assert read(wrapped(output, status)).succeeded is succeeded
    assert rows(wrapped(output, status)) == ["M21"]


@pytest.mark.row("M27")
def test_the_extra_says_the_request_where_the_response_does_not() -> None:
    extras = {**wrapped(LISTED, id=None), "mcp_request_id": "u-9"}
    assert read(extras).request_id == "u-9"
    assert rows(extras) == ["M27"]


def test_the_response_s_own_id_comes_first() -> None:
    assert read({**wrapped(LISTED), "mcp_request_id": "u-9"}, strict=True).request_id == "u-1"
    assert read(wrapped(LISTED, id=None)).request_id == ""


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
def test_a_failure_s_message_says_its_token(message: str | None, token: str | None, text: str | None) -> None:
    assert classify_failure(message) == (token, text)
    response = read(wrapped(None, "failure", message=message))
    assert (response.succeeded, response.token, response.message) == (False, token, text)


@pytest.mark.parametrize("extras", [
    {},
    {SPEC_EXTRA: "{"},
    {SPEC_EXTRA: 7},
    {SPEC_EXTRA: "[]"},
    {SPEC_EXTRA: '{"mobile-mcp-response":1}'},
    {SPEC_EXTRA: '{"mobile-mcp-response":{"response":1}}'},
    wrapped("text"),
    wrapped([1]),
    wrapped([*LISTED, *LISTED]),
    "x",
])  # fmt: skip
def test_what_is_not_a_response_is_malformed_and_keeps_its_text(extras: dict[str, Json] | str) -> None:
    with pytest.raises(MalformedResponseError) as refused:
        read_response(extras)
    assert refused.value.failure == "malformed_response"
    text = extras if isinstance(extras, str) else extras.get(SPEC_EXTRA, "")
    assert refused.value.raw == (text if isinstance(text, str) else "")


DECLARED = record(
    {"there": required(boolean()), "date": required(string(extensions={"mobile-mcp": {"word": "date"}}))}
)


@pytest.mark.parametrize("dialect", SERVED, ids=lambda item: item.id)
def test_a_request_is_answered_in_its_own_dialect(dialect: WireDialect) -> None:
    carrier = "bind" if "start" not in dialect.transports else "start"
    request = read_request(write_request(dialect, "u-1", "query", {"a": 1}), carrier=carrier)  # type: ignore[arg-type]
    answer = MobileMcpResponse("u-1", succeeded=True, outputs={**OUTPUTS, "extra": 1.5}, message="Told")
    extras = write_response(answer, request, output=DECLARED)
    listed: Json = [
        {"name": "there", "type": "boolean", "value": True},
        {"name": "date", "type": "date", "value": "2026-02-14"},
        {"name": "extra", "type": "number", "value": 1.5},
    ]
    output = listed if dialect.id in {"S0", "MM-4", "MM-6-args"} else {**OUTPUTS, "extra": 1.5}
    inner = {
        "id": "u-1",
        "capability": {"id": "query", "output": output},
        "status": "success",
        "message": "Told",
    }
    if dialect.id in {"S0", "S1"}:
        assert extras.keys() == {SPEC_EXTRA}
        assert json.loads(extras[SPEC_EXTRA]) == {
            "mobile-mcp-response": {"version": "1.0", "response": inner}
        }
    else:
        assert extras.keys() == {"response", "mcp_request_id"}
        assert extras["mcp_request_id"] == "u-1"
        assert json.loads(extras["response"]) == inner
    response = read(dict(extras), carrier, strict=True)
    assert (response.dialect, response.outputs, response.succeeded) == (
        dialect,
        {**OUTPUTS, "extra": 1.5},
        True,
    )


@pytest.mark.parametrize("token", load_failure_tokens())
def test_a_failure_carries_its_token_and_no_output(token: str) -> None:
    request = read_request(write_request(WIRE_DIALECTS["S0"], "u-1", "query", {}))
    extras = write_response(
        MobileMcpResponse("u-1", succeeded=False, outputs={"a": 1}, token=token, message="Why"), request
    )
    inner = json.loads(extras[SPEC_EXTRA])["mobile-mcp-response"]["response"]
    assert inner == {
        "id": "u-1",
        "capability": {"id": "query"},
        "status": "failure",
        "message": f"{token}: Why",
    }
    response = read(dict(extras), strict=True)
    assert (response.succeeded, response.token, response.message) == (False, token, "Why")


def test_a_mixed_request_is_answered_as_it_asked() -> None:
    unwrapped = {"mobile-mcp-request": '{"id":7,"capability":{"id":"query","args":{}}}'}
    request = read_request(unwrapped)
    extras = write_response(MobileMcpResponse("7", succeeded=True), request)
    assert extras.keys() == {SPEC_EXTRA, "mcp_request_id"}
    assert json.loads(extras[SPEC_EXTRA]) == {"id": 7, "capability": {"id": "query"}, "status": "success"}


def test_a_malformed_request_is_answered_with_the_id_that_was_read() -> None:
    for extras, request_id in (({"request": '{"id":"u-1"}'}, "u-1"), ({"request": "{"}, "")):
        with pytest.raises(MalformedRequestError) as refused:
            read_request(extras)
        assert refused.value.request is not None
        answer = MobileMcpResponse(
            request_id, succeeded=False, token=refused.value.failure, message=refused.value.message
        )
        written = json.loads(write_response(answer, refused.value.request)["response"])
        assert written["id"] == request_id
        assert written["status"] == "failure"
        assert "capability" not in written


def test_older_dialects_are_not_answered() -> None:
    request = read_request({"mcp_command_json": '{"capability":"dim"}', "mcp_request_id": "u"})
    with pytest.raises(UsageError, match="MM-2"):
        write_response(MobileMcpResponse("u", succeeded=True), request)


def test_types_of_undeclared_outputs_follow_their_values() -> None:
    request = MobileMcpRequest(WIRE_DIALECTS["S0"], "u", "c", wrapped=True, id_value="u")
    values: dict[str, Json] = {"a": "x", "b": True, "c": 3, "d": 2.5, "e": [], "f": {}, "g": None}
    text = write_response(MobileMcpResponse("u", succeeded=True, outputs=values), request)[SPEC_EXTRA]
    output = json.loads(text)["mobile-mcp-response"]["response"]["capability"]["output"]
    assert {item["name"]: item["type"] for item in output} == {
        "a": "string",
        "b": "boolean",
        "c": "integer",
        "d": "number",
        "e": "array",
        "f": "object",
        "g": "string",
    }


WILD_CAPABILITIES: st.SearchStrategy[Json] = st.dictionaries(
    st.sampled_from(["id", "output", "response"]),
    st.one_of(st.none(), st.text(max_size=3), st.just({}), st.just([])),
)
WILD_DOCUMENTS = st.dictionaries(
    st.sampled_from(["id", "status", "message", "capability", "data", "response", "mobile-mcp-response"]),
    st.one_of(
        st.none(), st.booleans(), st.text(max_size=3), st.lists(st.integers(), max_size=2), WILD_CAPABILITIES
    ),
    max_size=5,
)


@given(
    st.one_of(st.text(max_size=20), WILD_DOCUMENTS.map(json.dumps)),
    st.sampled_from([SPEC_EXTRA, "response", "result_json"]),
)
def test_wild_responses_are_read_or_malformed(text: str, extra: str) -> None:
    with suppress(MalformedResponseError):
        read_response({extra: text})
