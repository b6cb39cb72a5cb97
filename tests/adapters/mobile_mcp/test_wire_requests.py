"""Requests of every wire dialect: fixtures typed from specification 3.1 and the prototype's messages."""

import json
from decimal import Decimal

import pytest
from hypothesis import example, given, strategies as st

from droidgate_mappings.formats.leniency import ReadingContext
from droidgate_mappings.model.errors import UsageError
from droidgate_mappings.model.json_values import Json, json_equal
from droidgate_mobile_mcp.wire import (
    WIRE_DIALECTS,
    WIRE_OF_DIALECT,
    MalformedRequestError,
    RequestError,
    UnsupportedVersionError,
    WireDialect,
    read_request,
    write_request,
)

SERVED = [item for item in WIRE_DIALECTS.values() if item.served]
SPEC_EXTRA = "mobile-mcp-request"


def wrapped(version: Json = "1.0", request_id: Json = "u-1", **capability: Json) -> dict[str, str]:
    """The schema of section 3.1, `"args"` or `"input"` as given."""
    inner = {"id": request_id, "capability": {"id": "dim", **capability}}
    return {SPEC_EXTRA: json.dumps({"mobile-mcp-request": {"version": version, "request": inner}})}


def unwrapped(**capability: Json) -> dict[str, str]:
    return {"request": json.dumps({"id": "u-1", "capability": {"id": "dim", **capability}})}


def rows(extras: dict[str, str] | str, **options: WireDialect | str) -> list[str | None]:
    context = ReadingContext()
    read_request(extras, context, **options)  # type: ignore[arg-type]
    return [finding.rule for finding in context.findings]


@pytest.mark.parametrize(("key", "dialect"), [("args", "S0"), ("input", "S1")])
def test_a_request_of_section_3_1_is_read_strictly(key: str, dialect: str) -> None:
    request = read_request(wrapped(**{key: {"percent": 5, "slowly": True}}), ReadingContext(strict=True))
    assert (request.dialect.id, request.wrapped, request.extra_key) == (dialect, True, SPEC_EXTRA)
    assert (request.request_id, request.capability_id, request.version) == ("u-1", "dim", "1.0")
    assert request.arguments == {"percent": 5, "slowly": True}


@pytest.mark.parametrize(("key", "carrier", "dialect"), [
    ("args", "start", "MM-4"),
    ("input", "start", "MM-5"),
    ("input", "bind", "MM-6"),
    ("args", "bind", "MM-6-args"),
])  # fmt: skip
def test_a_request_of_the_prototype_is_read_strictly(key: str, carrier: str, dialect: str) -> None:
    extras = unwrapped(**{key: '{"date":"2026-02-24"}'})
    request = read_request(extras, ReadingContext(strict=True), carrier=carrier)  # type: ignore[arg-type]
    assert (request.dialect.id, request.wrapped, request.extra_key) == (dialect, False, "request")
    assert (request.request_id, request.capability_id, request.version) == ("u-1", "dim", None)
    assert request.arguments == {"date": "2026-02-24"}


def test_a_request_without_arguments_is_of_the_usual_dialect() -> None:
    assert read_request(wrapped(), ReadingContext(strict=True)).dialect.id == "S0"
    usual = WIRE_DIALECTS["S1"]
    assert read_request(wrapped(), ReadingContext(strict=True), usual=usual).dialect.id == "S1"
    assert read_request(unwrapped(), ReadingContext(strict=True)).dialect.id == "MM-5"


@pytest.mark.parametrize(("extras", "carrier", "dialect", "request_id"), [
    ({"mcp_command_json": '{"capability":"dim","percent":5}', "mcp_request_id": "u-2"}, "start", "MM-2",
        "u-2"),
    ({"mcp_command_json": '{"capability":"dim","args":{"percent":5}}', "mcp_request_id": "u-2"}, "start",
        "MM-2", "u-2"),
    ({"mcp_command_json": '{"capability":"dim","percent":5}', "mcp_request_id": "u-2",
        "trace_capability": "dim"}, "start", "MM-2b", "u-2"),
    ({"mcp_command_json": '{"capability":"dim","percent":5}', "mcp_request_id": "u-2"}, "bind", "MM-3",
        "u-2"),
    ('{"capability":"dim","percent":5}', "start", "MM-1", ""),
    ('{"capabilityId":"dim","percent":5}', "start", "MM-0", ""),
])  # fmt: skip
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


@pytest.mark.row("M01")
def test_args_and_input_that_are_equal_count_once() -> None:
    extras = wrapped(args={"a": 1}, input={"a": 1.0})
    assert read_request(extras).arguments == {"a": 1}
    assert rows(extras) == ["M01"]


def test_args_and_input_that_differ_are_malformed() -> None:
    with pytest.raises(MalformedRequestError, match="different arguments"):
        read_request(wrapped(args={"a": 1}, input={"a": 2}))


@pytest.mark.row("M01")
def test_arguments_next_to_the_capability_are_read() -> None:
    inner = {"id": "u-1", "capability": {"id": "dim"}, "args": {"a": 1}}
    extras = {SPEC_EXTRA: json.dumps({"mobile-mcp-request": {"version": "1.0", "request": inner}})}
    assert read_request(extras).arguments == {"a": 1}
    assert rows(extras) == ["M01"]


@pytest.mark.row("M02")
def test_a_list_of_name_type_and_value_is_a_map() -> None:
    listed = [{"name": "a", "type": "integer", "value": 1}, {"name": "b", "value": None}]
    assert read_request(wrapped(input=listed)).arguments == {"a": 1, "b": None}
    assert rows(wrapped(input=listed)) == ["M02"]


@pytest.mark.row("M03")
@pytest.mark.parametrize(("text", "arguments"), [('{"a":1}', {"a": 1}), ("", {}), ("{}", {}), ("  ", {})])
def test_arguments_as_text_in_a_wrapped_request_are_read(text: str, arguments: dict[str, Json]) -> None:
    assert read_request(wrapped(args=text)).arguments == arguments
    assert rows(wrapped(args=text)) == ["M03"]


@pytest.mark.row("M03")
def test_arguments_as_an_object_in_a_prototype_request_are_read() -> None:
    assert read_request(unwrapped(input={"a": 1})).arguments == {"a": 1}
    assert rows(unwrapped(input={"a": 1})) == ["M03"]


@pytest.mark.row("M14")
@pytest.mark.parametrize("depth", [1, 2])
def test_the_specified_extra_may_hold_the_inner_object(depth: int) -> None:
    value = json.loads(wrapped(args={"a": 1})[SPEC_EXTRA])["mobile-mcp-request"]
    if depth == 2:
        value = value["request"]
    extras = {SPEC_EXTRA: json.dumps(value)}
    request = read_request(extras)
    assert (request.request_id, request.extra_key, request.wrapped) == ("u-1", SPEC_EXTRA, depth == 1)
    assert "M14" in rows(extras)


@pytest.mark.row("M14")
def test_the_prototype_s_extra_may_hold_a_wrapped_request() -> None:
    extras = {"request": wrapped(args={"a": 1})[SPEC_EXTRA]}
    request = read_request(extras)
    assert (request.dialect.id, request.extra_key, request.wrapped) == ("S0", "request", True)
    assert rows(extras) == ["M14"]


@pytest.mark.row("M24")
@pytest.mark.parametrize("version", [None, "1", 1])
def test_a_version_that_means_1_0_is_accepted(version: Json) -> None:
    assert read_request(wrapped(version)).capability_id == "dim"
    assert rows(wrapped(version)) == ["M24"]


@pytest.mark.parametrize("version", ["2.0", "1.1", "", 2, True, [], "1.0 "])
def test_another_version_is_reported_with_all_that_an_answer_needs(version: Json) -> None:
    with pytest.raises(UnsupportedVersionError) as refused:
        read_request(wrapped(version, args={}))
    assert refused.value.failure == "unsupported_version"
    assert refused.value.request is not None
    assert (refused.value.request.request_id, refused.value.request.dialect.id) == ("u-1", "S0")


@pytest.mark.row("M26")
def test_a_number_as_id_is_text_and_repeated_as_it_was() -> None:
    request = read_request(wrapped(request_id=12))
    assert (request.request_id, request.id_value) == ("12", 12)
    assert rows(wrapped(request_id=12)) == ["M26"]


@pytest.mark.parametrize(("extras", "request_id"), [
    ({}, None),
    ({"other": "x"}, None),
    ({SPEC_EXTRA: "{"}, ""),
    ({SPEC_EXTRA: "[]"}, ""),
    ({SPEC_EXTRA: 7}, ""),
    ({SPEC_EXTRA: '{"mobile-mcp-request":[]}'}, ""),
    ({SPEC_EXTRA: '{"mobile-mcp-request":{"request":7}}'}, ""),
    ({SPEC_EXTRA: '{"a":1,"a":2}'}, ""),
    ({SPEC_EXTRA: '{"a":NaN}'}, ""),
    (wrapped(request_id=""), ""),
    (wrapped(request_id=None), ""),
    (wrapped(request_id=True), ""),
    (wrapped(id=""), "u-1"),
    (wrapped(id=None), "u-1"),
    (wrapped(args=7), "u-1"),
    (wrapped(args="[1"), "u-1"),
    (wrapped(args="7"), "u-1"),
    (wrapped(args=[1]), "u-1"),
    (wrapped(args=[{"name": "a"}]), "u-1"),
    (wrapped(args=[{"name": "a", "value": 1}] * 2), "u-1"),
    ({"request": '{"id":"u-1","capability":"dim"}'}, "u-1"),
    ({"mcp_command_json": '{"percent":5}', "mcp_request_id": "u-1"}, "u-1"),
    ("words", None),
])  # fmt: skip
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
    kept: Json = '{"percent":5}' if dialect.id.startswith("MM") else {"percent": 5}
    key = "args" if dialect.id in {"S0", "MM-4", "MM-6-args"} else "input"
    request = {"id": "u-1", "capability": {"id": "dim", key: kept}}
    if dialect.id in {"S0", "S1"}:
        assert extra == SPEC_EXTRA
        assert document == {"mobile-mcp-request": {"version": "1.0", "request": request}}
    else:
        assert extra == "request"
        assert document == request


JSON_VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=["Cs"]), max_size=5)
    | st.just(Decimal("0.10000000000000000001")),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.text(st.characters(exclude_categories=["Cs"]), max_size=3), inner, max_size=3)
    ),
    max_leaves=8,
)


@given(
    dialect=st.sampled_from(SERVED),
    request_id=st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=8),
    capability_id=st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=8),
    arguments=st.dictionaries(
        st.text(st.characters(exclude_categories=["Cs"]), max_size=4), JSON_VALUES, max_size=4
    ),
)
def test_every_request_comes_back(
    dialect: WireDialect, request_id: str, capability_id: str, arguments: dict[str, Json]
) -> None:
    extras = write_request(dialect, request_id, capability_id, arguments)
    carrier = "bind" if "start" not in dialect.transports else "start"
    request = read_request(extras, ReadingContext(strict=True), carrier=carrier)  # type: ignore[arg-type]
    assert (request.dialect, request.request_id, request.capability_id) == (
        dialect,
        request_id,
        capability_id,
    )
    assert json_equal(dict(request.arguments), arguments)


EXTRA_NAMES = (SPEC_EXTRA, "request", "mcp_command_json", "mcp_request_id", "trace_x")
MEMBERS = ("id", "capability", "version", "request", "args", "input", "mobile-mcp-request")
JSON_TEXTS = JSON_VALUES.map(lambda value: json.dumps(value, default=str))
WILD_DOCUMENTS = st.dictionaries(st.sampled_from(MEMBERS), JSON_VALUES, max_size=5)
WILD_EXTRAS = st.one_of(
    st.text(max_size=30),
    st.dictionaries(
        st.sampled_from(EXTRA_NAMES),
        st.one_of(st.none(), st.integers(), JSON_TEXTS, st.text(max_size=9)),
        max_size=3,
    ),
    WILD_DOCUMENTS.map(lambda value: {SPEC_EXTRA: json.dumps(value, default=str)}),
    st.builds(
        lambda version, request_id, capability: wrapped(version, request_id, **capability),
        st.sampled_from(["1.0", "1.0", ""]),
        st.sampled_from(["u-1", "u-1", 7]),
        st.fixed_dictionaries(
            {"id": st.text(max_size=9)},
            optional=dict.fromkeys(
                ["args", "input"],
                st.text(max_size=9) | st.dictionaries(st.text(max_size=9), st.text(max_size=9), max_size=3),
            ),
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
