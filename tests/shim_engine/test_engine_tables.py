"""docs/shim-engine.md 2 and 8: what a route table and a policy are, and what is told of one that is none."""

import copy
import json
from typing import Any

import pytest

from droidgate.model.errors import InputError
from droidgate_shim.engine.authority import Limits, parse_policy, read_policy
from droidgate_shim.engine.routes import parse_route_table, read_route_table
from shim_engine.engine_samples import ANY_APP, TABLE


def test_a_table_is_read_with_what_may_be_missing() -> None:
    table = parse_route_table(json.dumps(TABLE))
    route = table.routes["weather"].route
    assert list(table.routes) == ["fill", "weather", "note", "clock"]
    assert (route.deadline_ms, route.names, route.output, route.effects) == (30_000, {}, None, None)
    assert table.routes["fill"].fields == frozenset({"ok", "written"})


def _broken(path: list[str | int], value: Any) -> dict[str, Any]:
    table = copy.deepcopy(TABLE)
    held: Any = table
    for step in path[:-1]:
        held = held[step]
    held[path[-1]] = value
    return table


@pytest.mark.parametrize(
    ("path", "value", "told"),
    [
        (["format"], 2, "format"),
        (["routes"], {}, "routes"),
        (["routes", 1, "id"], "fill", "'fill' stands twice"),
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
def test_a_wrong_table_is_refused_with_its_place(path: list[str | int], value: Any, told: str) -> None:
    with pytest.raises(InputError) as raised:
        read_route_table(_broken(path, value))
    assert told in str(raised.value)
    assert str(raised.value).startswith("routes.json")


@pytest.mark.parametrize("document", [None, [], 5, "text", {"routes": []}])
def test_what_is_no_table_is_refused(document: object) -> None:
    with pytest.raises(InputError):
        read_route_table(document)


def test_a_policy_may_be_empty_and_then_nobody_may_call() -> None:
    policy = parse_policy("{}")
    assert policy.limits == Limits(open=32, open_per_caller=8, burst=10, per_minute=30)
    assert policy.refusal("bind", 10_101, "fill", known=True) == "denied"


@pytest.mark.parametrize(
    "document",
    [None, {"grant": []}, {"grants": [{"caller": True, "capability": "*"}]}, {"limits": {"open": -1}}],
)
def test_what_is_no_policy_is_refused(document: object) -> None:
    with pytest.raises(InputError):
        read_policy(document)


@pytest.mark.parametrize(
    ("grants", "carrier", "capability", "known", "refusal"),
    [
        # docs/shim-engine.md 3.3, and 8: a bound request needs its own uid's grant or any-app's.
        ([], "bind", "fill", True, "denied"),
        ([], "bind", "gone", False, "denied"),
        ([(10_101, "fill")], "bind", "fill", True, None),
        ([(10_101, "fill")], "bind", "weather", True, "denied"),
        ([(10_101, "fill")], "bind", "gone", False, "unknown_capability"),
        ([(10_102, "fill")], "bind", "fill", True, "denied"),
        ([(10_102, "fill")], "bind", "gone", False, "denied"),
        ([("any-app", "*")], "bind", "fill", True, None),
        # A start proves nobody: only any-app's grants count.
        ([(10_101, "*")], "start", "fill", True, "denied"),
        ([(10_101, "*")], "start", "gone", False, "denied"),
        ([("any-app", "fill")], "start", "fill", True, None),
        ([("any-app", "fill")], "start", "gone", False, "unknown_capability"),
        ([("10101", "*")], "bind", "fill", True, "denied"),
    ],
)
def test_only_what_is_granted_may_be_called(
    grants: list[tuple[int | str, str]], carrier: Any, capability: str, known: Any, refusal: str | None
) -> None:
    policy = read_policy({"grants": [{"caller": who, "capability": what} for who, what in grants]})
    assert policy.refusal(carrier, 10_101, capability, known=known) == refusal


def test_the_sample_policy_lets_everybody_call() -> None:
    assert read_policy(ANY_APP).refusal("start", 1, "fill", known=True) is None
