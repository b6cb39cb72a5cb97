"""MCP carries access rules in `_meta`, and reads them back from there only where they are valid."""

from typing import Any

import pytest

from adapters.mcp_format.tool_lists import WEATHER, read_one, result, write, written
from droidgate_mappings.model.capability import Capability, CapabilityAccess, ComponentAccess, Provider
from droidgate_mappings.model.errors import InputError
from droidgate_mappings.model.findings import Level
from droidgate_mappings.model.json_values import Json

DIALECTS = ("2025-11-25", "2026-07-28")
COMPONENTS = [
    (ComponentAccess(), None),
    (ComponentAccess(exported=False), {"exported": False}),
    (ComponentAccess(exported=None), {"exported": None}),
    (ComponentAccess(enabled=False), {"enabled": False}),
    (ComponentAccess(enabled={"": False, "v36": True}), {"enabled": {"": False, "v36": True}}),
    (ComponentAccess(permission="com.example.CALL"), {"permission": "com.example.CALL"}),
]
CAPABILITIES = [
    (CapabilityAccess(), None),
    (CapabilityAccess(enabled_by_default=False), {"enabled_by_default": False}),
    (CapabilityAccess(restrict_callers=False), {"restrict_callers": False}),
    (CapabilityAccess(scope="activity"), {"scope": "activity"}),
    (CapabilityAccess(access_level="self"), {"access_level": "self"}),
]


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize(("access", "expected"), COMPONENTS)
def test_rules_of_a_component_are_in_meta_of_the_list(
    access: ComponentAccess, expected: Json, dialect: str
) -> None:
    document = written(Provider(protocol="mcp", access=access), dialect)
    kept = document.get("_meta", {}).get("dev.droidgate/provider", {})
    assert kept == ({"access": expected} if expected else {})
    assert read_one(document).access == access


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize(("access", "expected"), CAPABILITIES)
def test_rules_of_a_capability_are_in_meta_of_its_tool(
    access: CapabilityAccess, expected: Json, dialect: str
) -> None:
    provider = Provider(protocol="mcp", capabilities=(Capability(id="a", access=access),))
    document = written(provider, dialect)
    kept = document["tools"][0].get("_meta", {}).get("dev.droidgate/tool", {})
    assert kept == ({"access": expected} if expected else {})
    assert read_one(document).capabilities[0].access == access


def test_an_array_of_tools_becomes_a_result_where_its_server_has_rules() -> None:
    provider = read_one([WEATHER]).model_copy(update={"access": ComponentAccess(exported=False)})
    writing = write(provider)
    assert {finding.level for finding in writing.findings} == {Level.RENAMED}
    assert read_one(writing.artifacts[0].text).access == ComponentAccess(exported=False)


def test_a_rule_that_no_mcp_client_enforces_is_a_security_finding() -> None:
    provider = Provider(protocol="test", access=ComponentAccess(permission="com.example.CALL"))
    (finding,) = write(provider).findings
    assert (finding.level, finding.pointer) == (Level.SECURITY, "/access/permission")


@pytest.mark.parametrize(("access", "message"), [
    ([], "'access' in"),
    ({"exported": "yes"}, "'access/exported' in"),
    ({"enabled": {"v36": "x"}}, "'access/enabled' in"),
    ({"permission": 5}, "'access/permission' in"),
    ({"permission": "a\x00b"}, "'access/permission' in .* has a control character"),
    ({"enabled": {}}, "'access/enabled' in .* has no configuration"),
    ({"enabled": {"a\x00": True}}, "'access/enabled' in .* is not a resource qualifier"),
    ({"enabled": {"x/../../evil": True}}, "'access/enabled' in .* is not a resource qualifier"),
    ({"enabled": {"V 36": True}}, "'access/enabled' in .* is not a resource qualifier"),
    ({"unheard-of": 1}, "'access/unheard-of' in"),
])  # fmt: skip
def test_invalid_rules_of_a_component_are_an_error(access: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        read_one(result(_meta={"dev.droidgate/provider": {"access": access}}))


@pytest.mark.parametrize(("access", "message"), [
    ("x", "'access' in"),
    ({"enabled_by_default": 0}, "'access/enabled_by_default' in"),
    ({"restrict_callers": "no"}, "'access/restrict_callers' in"),
    ({"scope": "window"}, "'access/scope' in"),
    ({"access_level": "everyone"}, "'access/access_level' in"),
])  # fmt: skip
def test_invalid_rules_of_a_capability_are_an_error(access: Any, message: str) -> None:
    with pytest.raises(InputError, match=message) as caught:
        read_one(result({**WEATHER, "_meta": {"dev.droidgate/tool": {"access": access}}}))
    assert caught.value.place == "tools.json:/tools/0"
