"""What each format asks a phone for, how its capabilities are called, and what is missing."""

import pytest

from droidgate_mappings.formats.format import load_formats
from droidgate_mappings.formats.installed import SHIM_PREFIX, CallRoute, ComponentQuery, DeviceFacts
from droidgate_mappings.model.capability import Provider

SHELL_COMMANDS: dict[str, frozenset[str]] = dict.fromkeys(
    ("execute-app-function", "set-enabled", "list-app-functions"), frozenset()
)


def routes(format_id: str, *, facts: DeviceFacts | None = None, **fields: object) -> tuple[CallRoute, ...]:
    provider = Provider(protocol=format_id, **fields)  # type: ignore[arg-type]
    call_routes = load_formats()[format_id].call_routes
    assert call_routes is not None
    return call_routes(provider, facts or DeviceFacts("36.1", 0, SHELL_COMMANDS))


@pytest.mark.parametrize(
    ("format_id", "kind", "action"),
    [
        ("mobile-mcp", "service", "mobile.mcp.SERVICE"),
        ("mobile-mcp", "service", "com.example.mcpdemo.COMMAND_GATEWAY"),
        ("mmcp", "activity", "com.example.mMCP.ACTION_TOOL_ADVERTISE"),
        ("mmcp", "service", "com.example.mMCP.ACTION_TOOL_ADVERTISE"),
        ("mmcp", "receiver", "com.example.ACTION_MMCP_DISCOVERY"),
        ("appfunctions", "service", "android.app.appfunctions.AppFunctionService"),
        ("observed", "service", "com.clawseed.action.TOOL_PROVIDER"),
    ],
)
def test_a_phone_is_asked_for_the_components_of_a_format(format_id: str, kind: str, action: str) -> None:
    query = next(
        item for item in load_formats()[format_id].looks_for if (item.kind, item.action) == (kind, action)
    )
    assert query.can_be_asked


def test_the_shell_cannot_list_content_providers_and_what_has_no_action() -> None:
    unasked = [item for item in load_formats()["observed"].looks_for if not item.can_be_asked]
    assert ComponentQuery("provider", mark=".flint") in unasked
    assert ComponentQuery("provider", "se.premex.mcp.MCP_PROVIDER") in unasked


@pytest.mark.parametrize(
    ("text", "reported"),
    [
        ("org.example.flint", True),
        ("se.premex.mcp.MCP_PROVIDER", True),
        ("android.intent.action.MAIN", False),
    ],
)
def test_a_manifest_without_a_mark_needs_no_reading(text: str, reported: bool) -> None:  # noqa: FBT001
    assert any(item.may_match(text) for item in load_formats()["observed"].looks_for) is reported


def test_mcp_has_nothing_on_a_phone() -> None:
    assert load_formats()["mcp"].looks_for == ()


def test_a_mobile_mcp_service_needs_an_app_on_the_phone() -> None:
    (route,) = routes("mobile-mcp", dialect="1.0")
    assert (route.id, route.ready) == ("shim-service", False)
    assert "shim" in route.needs[0]


@pytest.mark.parametrize("package", ["org.example.tools", f"{SHIM_PREFIX}org.example.tools"])
def test_an_app_with_a_shim_and_the_shim_itself_can_be_called(package: str) -> None:
    facts = DeviceFacts("36.1", shims=frozenset({f"{SHIM_PREFIX}org.example.tools"}))
    for format_id, dialect in (("mobile-mcp", "1.0"), ("mmcp", "1.0")):
        (route,) = routes(format_id, facts=facts, dialect=dialect, package=package)
        assert (route.ready, route.needs) == (True, ())
        (other,) = routes(format_id, facts=facts, dialect=dialect, package="org.example.other")
        assert not other.ready


def test_an_older_wire_form_is_not_called() -> None:
    (route,) = routes("mobile-mcp", dialect="pre-spec")
    assert "older wire form" in route.needs[-1]


def test_an_mmcp_activity_needs_an_app_on_the_phone_and_a_service_is_called_by_nobody() -> None:
    (activity,) = routes("mmcp", dialect="1.0")
    assert (activity.id, activity.ready) == ("shim-activity", False)
    (service,) = routes("mmcp", dialect="1.0", extensions={"mmcp": {"element": "service"}})
    assert (service.id, service.ready) == ("none", False)


def test_an_mmcp_receiver_is_called_by_the_shell() -> None:
    (route,) = routes("mmcp", dialect="broadcast")
    assert route == CallRoute("am-broadcast", "shell: am broadcast", ready=True)


def test_app_functions_are_called_by_the_shell_where_it_can() -> None:
    (route,) = routes("appfunctions")
    assert (route.id, route.ready, route.needs) == ("app-function-shell", True, ())


@pytest.mark.parametrize(("release", "word"), [("36", "build whose shell"), ("30", "Android 16")])
def test_a_phone_whose_shell_cannot_call_functions_says_what_it_lacks(release: str, word: str) -> None:
    (route,) = routes("appfunctions", facts=DeviceFacts(release))
    assert not route.ready
    assert word in route.needs[0]


def test_every_format_that_is_found_on_phones_says_how_it_is_called() -> None:
    for format_ in load_formats().values():
        assert (format_.call_routes is not None) == bool(format_.looks_for), format_.id
