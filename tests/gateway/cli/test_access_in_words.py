"""`inspect` shows each access rule that keeps callers out, and nothing more of open providers."""

from typing import Any

import pytest

from droidgate.cli.output.pages import Line, Table
from droidgate.cli.output.summaries import provider_page
from droidgate_mappings.model.capability import Capability, CapabilityAccess, ComponentAccess, Provider

BIND = "android.permission.BIND_APP_FUNCTION_SERVICE"


def _lines(
    component: dict[str, Any], *capabilities: dict[str, Any], protocol: str = "mobile-mcp"
) -> list[str]:
    provider = Provider(
        protocol=protocol,
        package="com.example",
        component=".Tools",
        access=ComponentAccess(**component),
        capabilities=tuple(
            Capability(id=f"c{number}", access=CapabilityAccess(**item))
            for number, item in enumerate(capabilities or ({},))
        ),
    )
    return [block.text for block in provider_page(provider) if isinstance(block, Line)]


@pytest.mark.parametrize(("component", "words"), [
    ({"exported": False}, "not exported"),
    ({"enabled": False}, "disabled"),
    ({"enabled": {"": False, "v36": False}}, "disabled"),
    ({"enabled": {"": False, "v36": True}}, "enabled only in configurations: Android 16 (API 36) and later"),
    ({"enabled": {"land": False}}, "enabled only in configurations: default"),
    ({"permission": "com.example.P"}, "callers need com.example.P"),
    ({"exported": False, "enabled": False, "permission": "a b"}, "not exported; disabled; callers need a b"),
])  # fmt: skip
def test_a_rule_of_a_component_is_in_one_line(component: dict[str, Any], words: str) -> None:
    assert _lines(component) == [f"access: {words}"]


@pytest.mark.parametrize(("component", "protocol"), [
    ({}, "mobile-mcp"),
    ({"exported": None}, "mobile-mcp"),
    ({"enabled": {"": True, "v36": True}}, "mobile-mcp"),
    ({"permission": ""}, "mobile-mcp"),
    ({"permission": BIND}, "appfunctions"),
])  # fmt: skip
def test_an_open_component_has_no_access_line(component: dict[str, Any], protocol: str) -> None:
    assert _lines(component, protocol=protocol) == []


def test_the_permission_that_android_itself_holds_is_a_rule_in_another_protocol() -> None:
    assert _lines({"permission": BIND}) == [f"access: callers need {BIND}"]


@pytest.mark.parametrize(("access", "words"), [
    ({"enabled_by_default": False}, "disabled until the app enables it"),
    ({"restrict_callers": True}, "restricts callers (restrictCallersWithExecuteAppFunctions)"),
    ({"scope": "activity"}, "available only while an activity of the app is open"),
    ({"access_level": "self"}, "only the app itself may call (access level self)"),
    ({"access_level": "system"}, "only the app itself and Android may call (access level system)"),
    ({"access_level": "vendor"}, "access level vendor"),
])  # fmt: skip
def test_restricted_capabilities_are_listed_by_rule_below_the_table(
    access: dict[str, Any], words: str
) -> None:
    assert _lines({}, {}, access, {}, access) == [f"{words}: c1, c3"]


def test_open_capabilities_have_no_such_line() -> None:
    assert _lines({}, {"restrict_callers": False}, {"access_level": "androidTrusted"}) == []


def test_the_rules_of_capabilities_are_below_the_table() -> None:
    provider = Provider(
        protocol="appfunctions",
        capabilities=(Capability(id="c", access=CapabilityAccess(enabled_by_default=False)),),
    )
    page = provider_page(provider)
    assert isinstance(page[-2], Table)
    assert page[-1] == Line("disabled until the app enables it: c", 1)
