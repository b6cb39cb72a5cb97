"""What each format asks a phone for, how its capabilities are called, and what is missing."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from droidgate.cli.devices.run_discover import discovery_page
from droidgate.cli.output.pages import Line, Table
from droidgate.sources.callability import callability_of
from droidgate.sources.phone_source import InstalledApp, PhoneReading
from droidgate_android.projects.android_project import application_from_tree
from droidgate_mappings.formats.application import Application, Component, IntentFilter, Resources
from droidgate_mappings.formats.format import Reading, load_formats
from droidgate_mappings.formats.installed import (
    SHIM_PREFIX,
    CallRoute,
    ComponentQuery,
    DeviceFacts,
    InstalledState,
    ListedFunction,
)
from droidgate_mappings.formats.leniency import ReadingContext
from droidgate_mappings.formats.reachability import (
    ORDINARY_APP,
    SHIM,
    Protection,
    component_facts,
    protection_of,
    provider_verdict,
    verdict_of,
)
from droidgate_mappings.model.capability import (
    Capability,
    CapabilityAccess,
    ComponentAccess,
    Place,
    Provider,
    State,
)
from droidgate_mappings.model.errors import InputError
from droidgate_mappings.model.types import ArrayType, ScalarType
from droidgate_shim.builder.shim_callability import call_conditions, why_function_not_called, why_not_called
from model_types import properties_of
from requirements_of_tests import CHECKOUT
from titled_rows import titled

SHELL_COMMANDS: dict[str, frozenset[str]] = dict.fromkeys(
    ("execute-app-function", "set-enabled", "list-app-functions"), frozenset()
)


def routes(format_id: str, *, facts: DeviceFacts | None = None, **fields: object) -> tuple[CallRoute, ...]:
    provider = Provider(protocol=format_id, **fields)  # type: ignore[arg-type]
    call_routes = load_formats()[format_id].calls.call_routes
    assert call_routes is not None
    return call_routes(provider, facts or DeviceFacts("36.1", 0, SHELL_COMMANDS))


@pytest.mark.parametrize(("format_id", "kind", "action"), [
    ("mobile-mcp", "service", "mobile.mcp.SERVICE"),
    ("mobile-mcp", "service", "com.example.mcpdemo.COMMAND_GATEWAY"),
    ("mmcp", "activity", "com.example.mMCP.ACTION_TOOL_ADVERTISE"),
    ("mmcp", "service", "com.example.mMCP.ACTION_TOOL_ADVERTISE"),
    ("mmcp", "receiver", "com.example.ACTION_MMCP_DISCOVERY"),
    ("appfunctions", "service", "android.app.appfunctions.AppFunctionService"),
    ("observed", "service", "com.clawseed.action.TOOL_PROVIDER"),
])  # fmt: skip
def test_a_phone_is_asked_for_the_components_of_a_format(format_id: str, kind: str, action: str) -> None:
    query = next(
        item
        for item in load_formats()[format_id].phones.looks_for
        if (item.kind, item.action) == (kind, action)
    )
    assert query.can_be_asked


def test_the_shell_cannot_list_content_providers_and_what_has_no_action() -> None:
    unasked = [item for item in load_formats()["observed"].phones.looks_for if not item.can_be_asked]
    assert ComponentQuery("provider", mark=".flint") in unasked
    assert ComponentQuery("provider", "se.premex.mcp.MCP_PROVIDER") in unasked


@pytest.mark.parametrize(("text", "reported"), [
    ("org.example.flint", True),
    ("se.premex.mcp.MCP_PROVIDER", True),
    ("android.intent.action.MAIN", False),
])  # fmt: skip
def test_a_manifest_without_a_mark_needs_no_reading(text: str, reported: bool) -> None:  # noqa: FBT001
    assert any(item.may_match(text) for item in load_formats()["observed"].phones.looks_for) is reported


def test_mcp_has_nothing_on_a_phone() -> None:
    assert load_formats()["mcp"].phones.looks_for == ()


@pytest.mark.parametrize("package", ["org.example.tools", f"{SHIM_PREFIX}org.example.tools"])
def test_an_app_with_a_shim_and_the_shim_itself_can_be_called(package: str) -> None:
    facts = DeviceFacts("36.1", shims=frozenset({f"{SHIM_PREFIX}org.example.tools"}))
    for format_id, dialect in (("mobile-mcp", "1.0"), ("mmcp", "1.0")):
        (route,) = routes(format_id, facts=facts, dialect=dialect, package=package)
        assert (route.ready, route.needs) == (True, ())
        (other,) = routes(format_id, facts=facts, dialect=dialect, package="org.example.other")
        assert not other.ready


PRE_SPEC = {"dialect": "pre-spec"}
MMCP_SERVICE = {"dialect": "1.0", "extensions": {"mmcp": {"element": "service"}}}
OLD_SHELL, OLD_ANDROID = {"facts": DeviceFacts("36")}, {"facts": DeviceFacts("30")}


@pytest.mark.parametrize(("title", "format_id", "asked", "route", "need"), [
    ("a Mobile-MCP service needs a shim", "mobile-mcp", {"dialect": "1.0"}, ("shim-service", False), "shim"),
    ("an older wire form is not called", "mobile-mcp", PRE_SPEC, ("shim-service", False), "older wire form"),
    ("an mMCP activity needs a shim", "mmcp", {"dialect": "1.0"}, ("shim-activity", False), "shim"),
    ("an mMCP service is called by nobody", "mmcp", MMCP_SERVICE, ("none", False), None),
    ("the shell calls an mMCP receiver", "mmcp", {"dialect": "broadcast"}, ("am-broadcast", True), None),
    ("the shell calls functions", "appfunctions", {}, ("app-function-shell", True), None),
    ("old shells call none", "appfunctions", OLD_SHELL, ("app-function-shell", False), "build whose shell"),
    ("an old Android has none", "appfunctions", OLD_ANDROID, ("app-function-shell", False), "Android 16"),
])  # fmt: skip
def test_each_route_states_its_conditions(
    title: str, format_id: str, asked: dict[str, Any], route: tuple[str, bool], need: str | None
) -> None:
    (found,) = routes(format_id, **asked)
    assert (found.id, found.ready) == route, title
    assert need in found.needs[-1] if need else found.needs == ()


def test_every_format_that_is_found_on_phones_has_a_route() -> None:
    for format_ in load_formats().values():
        assert (format_.calls.call_routes is not None) == bool(format_.phones.looks_for), format_.id


# Apps joined with what the running system says of them: functions with states, receivers without tools


APPS = CHECKOUT / "device_shim/apps"
NOTES = "dev.droidgate.sample.notes.NotesService#"
FACTS = DeviceFacts("36.1", 0, dict.fromkeys(("list-app-functions", "execute-app-function"), frozenset()))


def tree_of(module: Path) -> dict[str, bytes]:
    root = module / "src/main"
    return {
        path.relative_to(root).as_posix(): path.read_bytes() for path in root.rglob("*") if path.is_file()
    }


def application_of(module: Path) -> Application:
    return application_from_tree(tree_of(module), path="app")


def read_functions(state: InstalledState, application: Application | None = None) -> Reading:
    read_installed = load_formats()["appfunctions"].phones.read_installed
    assert read_installed is not None
    return read_installed(application or application_of(APPS / "notes/app"), state, ReadingContext())


def listed(*ids: str, enabled: bool | None = True) -> tuple[ListedFunction, ...]:
    return tuple(ListedFunction(f"{NOTES}{id_}", enabled=enabled) for id_ in ids)


ALL = (
    "createNote", "addChecklistItems", "setNoteState", "archiveNote", "deleteNote", "findNotes", "getNote",
    "summarizeNotes",
)  # fmt: skip


def test_functions_have_their_state_and_an_unchanged_declaration() -> None:
    functions = (*listed(*ALL[1:]), *listed(ALL[0], enabled=False))
    reading = read_functions(InstalledState(FACTS, functions))
    (provider,) = reading.providers
    states = {item.id.removeprefix(NOTES): item.state for item in provider.capabilities}
    assert {name for name, state in states.items() if state and state.enabled is False} == {"createNote"}
    assert all(state is not None for state in states.values())
    from_source = read_functions(InstalledState(FACTS, functions)).providers[0]
    alone = load_formats()["appfunctions"].read_application(
        application_of(APPS / "notes/app"), ReadingContext()
    )
    assert from_source.content_digest() == alone.providers[0].content_digest()
    assert not [item for item in reading.findings if item.code.startswith("function-")]


def test_a_function_that_is_not_listed_is_reported_with_its_fix() -> None:
    reading = read_functions(InstalledState(FACTS, listed(*ALL[1:])))
    (finding,) = [item for item in reading.findings if item.code == "function-not-indexed"]
    assert f"{NOTES}createNote" in finding.message
    assert "has not read it yet" in finding.message
    assert finding.hint is not None
    assert "enable_app_functions_schema_parser" in finding.hint
    missing = next(item for item in reading.providers[0].capabilities if item.id.endswith("#createNote"))
    assert missing.state == State(indexed=False)
    assert verdict_of(missing, None).closed_because == "the phone does not list it"


@titled(("sdk", "path", "old", "new", "words"), {
    # 16 QPR2 drops a file with a tag that its schema does not know (reference appfunctions 3.2).
    "a tag that the schema does not know": ("36.1", "assets/notes_service.xml",
        "<id>", "<novel>x</novel><id>", ("novel", "Android 16 QPR2")),
    "a service without permission": ("37", "AndroidManifest.xml",
        'android:permission="android.permission.BIND_APP_FUNCTION_SERVICE"', "",
        ("does not require", "Android 17")),
})  # fmt: skip
def test_a_function_that_the_release_drops_is_reported_with_the_release_s_reason(
    sdk: str, path: str, old: str, new: str, words: tuple[str, str]
) -> None:
    tree = tree_of(APPS / "notes/app")
    text = tree[path].decode()
    assert old in text
    application = application_from_tree({**tree, path: text.replace(old, new, 1).encode()})
    reading = read_functions(InstalledState(DeviceFacts(sdk), ()), application)
    messages = [item.message for item in reading.findings if item.code == "function-not-indexed"]
    assert len(messages) == len(ALL)
    assert all(word in message for message in messages for word in words)


@pytest.mark.parametrize("why", ["Can't find service: app_function", None], ids=["refused", "not offered"])
def test_without_a_listing_the_files_are_read_with_a_note(why: str | None) -> None:
    reading = read_functions(InstalledState(DeviceFacts("36"), None, why))
    (provider,) = reading.providers
    assert all(item.state is None for item in provider.capabilities)
    (finding,) = [item for item in reading.findings if item.code == "function-state-not-known"]
    assert (why or "no listing") in finding.message


# As reference appfunctions 6.5 shows a listed document: every value in a list, nested documents without ids.
LISTED = ListedFunction(
    id="org.example.Radio#play",
    enabled=True,
    service="org.example.RadioService",
    document={
        "functionId": ["org.example.Radio#play"],
        "packageName": ["org.example"],
        "packageNameHash": [-678864315],
        "mobileApplicationQualifiedId": ["android$apps-db/apps#org.example"],
        "serviceName": ["org.example.RadioService"],
        "scope": ["global"],
        "enabledByDefault": [True],
        "description": ["Plays a station."],
        "parameters": [
            {
                "name": ["station"],
                "isRequired": [True],
                "dataTypeMetadata": [{"type": [8], "isNullable": [False]}],
            },
            {
                "name": ["volumes"],
                "isRequired": [False],
                "dataTypeMetadata": [
                    {"type": [10], "isNullable": [False], "itemType": [{"type": [7], "isNullable": [False]}]}
                ],
            },
        ],
        "response": [{"valueType": [{"type": [1], "isNullable": [False]}]}],
    },
)


def test_a_function_that_only_the_system_lists_has_its_signature_from_there() -> None:
    application = application_from_tree(
        {
            "AndroidManifest.xml": b'<manifest xmlns:android="http://schemas.android.com/apk/res/android" '
            b'package="org.example"><application/></manifest>'
        }
    )
    reading = read_functions(InstalledState(FACTS, (LISTED,)), application)
    (provider,) = reading.providers
    assert (provider.package, provider.component) == ("org.example", "org.example.RadioService")
    (capability,) = provider.capabilities
    assert (capability.id, capability.description) == ("org.example.Radio#play", "Plays a station.")
    assert capability.state is not None
    assert capability.state.enabled is True
    station, volumes = (properties_of(capability.input)[name] for name in ("station", "volumes"))
    assert (station.type.kind, station.required) == ("string", True)
    assert isinstance(volumes.type, ArrayType)
    assert volumes.type.items is not None
    assert volumes.type.items.kind == "int32"
    assert not volumes.required
    assert isinstance(capability.output, ScalarType)
    assert capability.output.kind == "boolean"
    (finding,) = reading.findings
    assert finding.code == "function-only-listed"
    assert "org.example.Radio#play" in finding.message


@pytest.mark.parametrize("document", [
    {"parameters": [{"name": ["x"], "dataTypeMetadata": [{"type": ["blue"]}]}]},
    {"parameters": [[[]]], "odd name": [1], "description": [None]},
    {"description": ["\x00\ud800"]},
], ids=str)  # fmt: skip
def test_a_listed_document_that_cannot_be_read_is_still_a_function(document: dict[str, object]) -> None:
    application = application_of(APPS / "weather/app")
    wild = ListedFunction(id="a#b", enabled=None, service=None, document=document)
    reading = read_functions(InstalledState(FACTS, (wild,)), application)
    (provider,) = reading.providers
    assert [item.id for item in provider.capabilities] == ["a#b"]
    assert provider.component is None


def broken_notes() -> Application:
    manifest = (APPS / "notes/app/src/main/AndroidManifest.xml").read_bytes()
    tree = {"AndroidManifest.xml": manifest, "assets/notes_service.xml": b"<appfunctions"}
    return application_from_tree(tree)


def test_files_that_cannot_be_read_are_a_problem_and_the_listing_is_still_there() -> None:
    reading = read_functions(InstalledState(FACTS, (LISTED,)), broken_notes())
    assert [provider.capabilities[0].id for provider in reading.providers] == ["org.example.Radio#play"]
    assert len(reading.problems) == 1


@pytest.mark.parametrize("functions", [None, ()], ids=["no listing", "an empty listing"])
def test_unreadable_files_alone_are_an_error(functions: tuple[ListedFunction, ...] | None) -> None:
    with pytest.raises(InputError):
        read_functions(InstalledState(FACTS, functions), broken_notes())


def _find_in_mmcp_app(app: str) -> tuple[Provider, str | None, list[str]]:
    """Return its provider, what would find its tools, and the codes of the findings."""
    mmcp = load_formats()["mmcp"]
    assert mmcp.phones.read_installed is not None
    assert mmcp.phones.found_by is not None
    reading = mmcp.phones.read_installed(application_of(APPS / app), InstalledState(FACTS), ReadingContext())
    (provider,) = reading.providers
    return provider, mmcp.phones.found_by(provider), [finding.code for finding in reading.findings]


def test_a_receiver_is_a_provider_whose_tools_are_not_known_from_outside() -> None:
    provider, found_by, codes = _find_in_mmcp_app("weather/app")
    assert (provider.dialect, provider.package) == ("broadcast", "dev.droidgate.sample.weather")
    assert provider.capabilities == ()
    assert provider.component is not None
    assert "asks the app" in (found_by or "")
    assert codes == ["tools-not-in-files"]


def test_an_activity_s_tools_are_known() -> None:
    provider, found_by, _ = _find_in_mmcp_app("pdf-tool/app")
    assert len(provider.capabilities) == 5
    assert found_by is None


# One rule decides which components apps may call; `shim build`, `coverage` and `discover` follow it


SERVICE = "mobile.mcp.SERVICE"
OWN = "com.example.CALL"
EXECUTE = "android.permission.EXECUTE_APP_FUNCTIONS"
BIND = "android.permission.BIND_APP_FUNCTION_SERVICE"
PLACE = Place(path="AndroidManifest.xml")


class _NoResources:
    def __getattr__(self, name: str) -> Any:
        return lambda _: None


def _application(
    component: Component, *, whole: Component | None = None, permissions: dict[str, str] | None = None
) -> Application:
    resources: Resources = _NoResources()
    return Application(
        package="com.example",
        components=(whole or Component(kind="application"), component),
        resources=resources,
        place=PLACE,
        permissions=permissions or {},
    )


def _service(**facts: Any) -> Component:
    stated = {"exported": True, "filters": (IntentFilter((SERVICE,)),), **facts}
    return Component(kind="service", name=".Tools", **stated)


def _provider(*capabilities: Capability, protocol: str = "mobile-mcp", **access: Any) -> Provider:
    return Provider(
        protocol=protocol,
        dialect={"mobile-mcp": "1.0", "appfunctions": "v2", "mmcp": "1.0"}[protocol],
        package="com.example",
        component=".Tools",
        access=ComponentAccess(**access),
        capabilities=capabilities or (Capability(id="do"),),
    )


def _phone(app: InstalledApp, sdk: str = "36") -> PhoneReading:
    shim = frozenset({"dev.droidgate.shim.of.com.example"})
    return PhoneReading(serial="phone", facts=DeviceFacts(sdk, shims=shim), apps=(app,))


def _installed(provider: Provider, application: Application | None) -> InstalledApp:
    return InstalledApp("com.example", 1, (provider,), application=application)


# Access rules of the model, the component's element, the application's element, and the reason.
CLOSED: list[tuple[dict[str, Any], dict[str, Any], dict[str, Any], str]] = [
    ({"exported": False}, {}, {}, "its component is not exported"),
    ({}, {"exported": False}, {}, "its component is not exported"),
    ({"exported": None}, {"exported": None, "filters": ()}, {}, "its component does not declare the action"),
    ({"enabled": False}, {}, {}, "its component is disabled"),
    ({"enabled": {"": False, "v36": False}}, {}, {}, "its component is disabled"),
    ({}, {"enabled": False}, {}, "its component is disabled"),
    ({}, {}, {"enabled": False}, "its app is disabled"),
    ({"permission": OWN}, {}, {}, f"callers need the permission {OWN}, whose protection level is not known"),
    ({}, {"permission": OWN}, {}, f"callers need the permission {OWN}, whose protection level is not known"),
    ({}, {}, {"permission": OWN}, f"callers need the permission {OWN}, whose protection level is not known"),
    ({"permission": BIND}, {}, {}, f"callers need the permission {BIND}, which ordinary apps cannot hold"),
    ({"permission": EXECUTE}, {}, {}, f"callers need the permission {EXECUTE}, which ordinary apps cannot"),
]


@pytest.mark.parametrize(("access", "element", "whole", "reason"), CLOSED, ids=str)
def test_every_user_of_the_rule_gives_the_same_reason(
    access: dict[str, Any], element: dict[str, Any], whole: dict[str, Any], reason: str
) -> None:
    provider = _provider(**access)
    component = _service(**element)
    application = _application(component, whole=Component(kind="application", **whole))
    verdict = provider_verdict(provider, application)
    assert (verdict.closed_because or "").startswith(reason)
    finding = why_not_called(application, component, provider)
    assert finding is not None
    assert (finding.code, reason in finding.message) == ("shim-component-closed", True)
    app = _installed(provider, application)
    callability = callability_of(provider, app, _phone(app))
    assert (callability.verdict.closed_because or "").startswith(reason)
    assert [(route.ready, route.needs[-1]) for route in callability.routes] == [
        (False, callability.verdict.closed_because)
    ]
    page = discovery_page(_phone(app))
    (table,) = [block for block in page if isinstance(block, Table)]
    assert table.rows[0][4] == "not callable"
    (missing,) = [block.text for block in page if isinstance(block, Line) and block.indent == 2]
    assert missing.startswith(f"cannot be called: {reason}")


@pytest.mark.parametrize(("name", "declared", "protection"), [
    (OWN, "normal", Protection.NORMAL),
    (OWN, "normal|instant", Protection.NORMAL),
    (OWN, "dangerous", Protection.DANGEROUS),
    (OWN, "signature", Protection.SIGNATURE),
    (OWN, "signature|privileged", Protection.SIGNATURE),
    (OWN, "signatureOrSystem", Protection.SIGNATURE),
    (OWN, "internal|role", Protection.SIGNATURE),
    (OWN, "normal|vendorsOwn", Protection.UNKNOWN),
    (OWN, None, Protection.UNKNOWN),
    ("android.permission.INTERNET", None, Protection.NORMAL),
    ("android.permission.READ_CONTACTS", None, Protection.DANGEROUS),
    (EXECUTE, None, Protection.SIGNATURE),
])  # fmt: skip
def test_a_protection_level_decides_who_can_hold_a_permission(
    name: str, declared: str | None, protection: Protection
) -> None:
    assert protection_of(name, {} if declared is None else {name: declared}) is protection


def test_a_permission_that_any_app_can_request_is_a_condition_and_excludes_the_shim() -> None:
    provider = _provider(permission=OWN)
    application = _application(_service(), permissions={OWN: "normal"})
    assert provider_verdict(provider, application, ORDINARY_APP).conditions == (
        f"the caller's manifest requests the permission {OWN}",
    )
    reason = provider_verdict(provider, application, SHIM).closed_because
    assert reason == f"callers need the permission {OWN}, which the shim does not request"


@pytest.mark.parametrize(
    ("sdk", "callable_there"), [("35", False), ("36", True)], ids=["below Android 16", "Android 16"]
)
def test_a_phone_resolves_a_component_that_one_release_enables(sdk: str, callable_there: bool) -> None:  # noqa: FBT001
    provider = _provider(enabled={"": False, "v36": True})
    component = _service(enabled=False)
    app = _installed(provider, _application(component))
    callability = callability_of(provider, app, _phone(app, sdk))
    assert (callability.verdict.closed_because is None) is callable_there
    assert callability.verdict.conditions == ()
    (finding,) = call_conditions(_application(component), provider)
    assert "enabled only in configurations: v36" in finding.message


FUNCTIONS = Component(
    kind="service",
    name=".Tools",
    exported=False,
    permission=BIND,
    filters=(IntentFilter(("android.app.appfunctions.AppFunctionService",)),),
)


def _functions() -> Provider:
    return _provider(
        Capability(id="open"),
        Capability(id="mine", access=CapabilityAccess(access_level="self")),
        Capability(id="androids", access=CapabilityAccess(access_level="system")),
        Capability(id="shown", access=CapabilityAccess(scope="activity")),
        Capability(id="later", access=CapabilityAccess(enabled_by_default=False)),
        Capability(id="on", access=CapabilityAccess(enabled_by_default=False), state=State(enabled=True)),
        Capability(id="off", state=State(enabled=False)),
        protocol="appfunctions",
        exported=False,
        permission=BIND,
    )


def test_functions_are_closed_one_by_one_with_their_reasons() -> None:
    provider, application = _functions(), _application(FUNCTIONS)
    app = _installed(provider, application)
    callability = callability_of(provider, app, _phone(app))
    assert callability.verdict.closed_because is None
    assert callability.closed == (
        ("mine", "its access level keeps it for the app itself or for Android"),
        ("androids", "its access level keeps it for the app itself or for Android"),
        ("shown", "it exists only while an activity of the app is open"),
        ("off", "the phone reports it as disabled"),
    )
    left_out = [
        item.id for item in provider.capabilities if why_function_not_called(item, provider) is not None
    ]
    assert left_out == ["mine", "androids", "shown"], "a phone's state is read when the shim calls"
    conditions = list(call_conditions(application, provider))
    assert [item.pointer for item in conditions] == ["/.Tools/later", "/.Tools/on"]
    page = discovery_page(_phone(app))
    (table,) = [block for block in page if isinstance(block, Table)]
    assert table.rows[0][3] == "7 (1 disabled, 3 not callable)"
    missing = [block.text for block in page if isinstance(block, Line) and block.indent == 2]
    assert any(line.startswith("mine cannot be called: its access level keeps it") for line in missing)


@titled("component", {
    "an empty permission": _service(permission=""),
    "an alias": replace(_service(), kind="activity", attributes={"targetActivity": ".Main"}),
})  # fmt: skip
def test_a_component_that_does_not_inherit_its_application_s_permission_is_open(component: Component) -> None:
    application = _application(component, whole=Component(kind="application", permission=OWN))
    facts = component_facts(ComponentAccess(), None, application, component)
    assert facts.permission is None


@pytest.mark.parametrize("facts", [
    {"exported": None, "unresolved": ("exported=@bool/none",)},
    {"exported_by_configuration": {"": True, "v31": False}},
], ids=str)  # fmt: skip
def test_a_component_of_which_exported_is_not_known_is_closed(facts: dict[str, Any]) -> None:
    component = _service(**facts)
    assert not component_facts(ComponentAccess(), None, _application(component), component).is_exported
