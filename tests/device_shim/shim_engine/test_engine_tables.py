"""docs/shim-engine.md 2 and 8: what a route table and a policy are, and which message a broken one gets."""

import copy
import json
from typing import Any

import pytest

from device_shim.shim_engine.engine_samples import ANY_APP, TABLE
from droidgate_mappings.model.errors import InputError
from droidgate_shim.engine.authority import CallLimits, parse_policy, read_policy
from droidgate_shim.engine.routes import parse_route_table, read_route_table


def test_a_table_is_read_with_what_may_be_missing() -> None:
    table = parse_route_table(json.dumps(TABLE))
    route = table.routes["weather"].route
    assert list(table.routes) == ["fill", "weather", "note", "clock"]
    assert (route.deadline_ms, route.names, route.output, route.effects) == (30_000, {}, None, None)
    assert table.routes["fill"].fields == frozenset({"ok", "written"})


def _broken(path: list[str | int], value: Any) -> dict[str, Any]:
    table = copy.deepcopy(TABLE)
    node: Any = table
    for step in path[:-1]:
        node = node[step]
    node[path[-1]] = value
    return table


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        (["format"], 2, "format"),
        (["routes"], {}, "routes"),
        (["routes", 1, "id"], "fill", "duplicate id 'fill'"),
        (["routes", 0, "more"], 1, "routes.0.more"),
        (["routes", 0, "backend", "kind"], "aidl", "routes.0.backend"),
        (["routes", 0, "backend", "component"], "a.pdf", "routes.0.backend.mmcp-activity.component"),
        (
            ["routes", 0, "input"],
            {"kind": "ref", "name": "Gone"},
            "'Gone' that is referred to is not defined",
        ),
        (["routes", 0, "input", "kind"], "date", "routes.0.input"),
        (["definitions"], {"A": {"kind": "ref", "name": "B"}}, "'B' that is referred to is not defined"),
        (["routes", 0, "names"], {"gone": "file"}, "'gone' is not declared"),
        (["routes", 0, "names"], {"path": "pages"}, "two parameters are 'pages' at the backend"),
        (["routes", 0, "deadline_ms"], 0, "deadline_ms"),
        (["routes", 0, "deadline_ms"], "5", "deadline_ms"),
        (["routes", 0, "outputs"], {"kind": "list"}, "outputs"),
        (["routes", 0, "target"], None, "routes.0.target"),
        (["routes", 3, "backend", "dialect"], "MM-3", "'MM-3' is not served"),
    ],
)
def test_a_wrong_table_is_refused_with_its_place(path: list[str | int], value: Any, message: str) -> None:
    with pytest.raises(InputError) as raised:
        read_route_table(_broken(path, value))
    assert message in str(raised.value)
    assert str(raised.value).startswith("routes.json")


@pytest.mark.parametrize("document", [None, [], 5, "text", {"routes": []}])
def test_what_is_not_a_table_is_refused(document: object) -> None:
    with pytest.raises(InputError):
        read_route_table(document)


def test_a_policy_may_be_empty_and_then_nobody_may_call() -> None:
    policy = parse_policy("{}")
    assert policy.limits == CallLimits(open=32, open_per_caller=8, burst=30, per_minute=120)
    assert not policy.is_granted("bind", 10_101, "fill", is_read_only=True)
    assert not policy.has_grants(10_101)


@pytest.mark.parametrize(
    "document",
    [None, {"grant": []}, {"grants": [{"caller": True, "capability": "*"}]}, {"limits": {"open": -1}}],
)
def test_what_is_not_a_policy_is_refused(document: object) -> None:
    with pytest.raises(InputError):
        read_policy(document)


@pytest.mark.parametrize(
    ("grants", "carrier", "is_read_only", "is_granted"),
    [
        # docs/shim-engine.md 3, step 4
        ([], "bind", False, False),
        ([(10_101, "fill")], "bind", False, True),
        ([(10_101, "*")], "bind", False, True),
        ([(10_101, "weather")], "bind", True, False),
        ([(10_102, "fill")], "bind", True, False),
        ([("any-app", "*")], "bind", False, True),
        ([("10101", "*")], "bind", True, False),
        # A start proves nothing about its sender: its creator's grant counts for what is read-only.
        ([], "start", True, False),
        ([(10_101, "*")], "start", False, False),
        ([(10_101, "*")], "start", True, True),
        ([(10_101, "fill")], "start", True, True),
        ([(10_101, "weather")], "start", True, False),
        ([(10_102, "*")], "start", True, False),
        ([("any-app", "fill")], "start", False, True),
        ([("any-app", "weather")], "start", False, False),
    ],
)
def test_only_what_is_granted_may_be_called(
    grants: list[tuple[int | str, str]], carrier: Any, is_read_only: Any, is_granted: Any
) -> None:
    policy = read_policy({"grants": [{"caller": who, "capability": what} for who, what in grants]})
    assert policy.is_granted(carrier, 10_101, "fill", is_read_only=is_read_only) is is_granted
    assert policy.has_grants(10_101) is any(who in (10_101, "any-app") for who, _ in grants)


def test_the_sample_policy_lets_everybody_call() -> None:
    assert read_policy(ANY_APP).is_granted("start", 1, "fill", is_read_only=False)
