"""One rule decides which components apps may call; `shim build`, `coverage` and `discover` follow it."""

from pathlib import Path
from typing import Any

import pytest

from device_shim.shim_builder.built_samples import KEY
from droidgate.cli.devices.discover_report import discovery_page
from droidgate.cli.output.pages import Line, Table
from droidgate.sources import read_source
from droidgate.sources.phone_source import InstalledApp, PhoneReading, callability_of
from droidgate_android.apk.apk_application import read_application
from droidgate_android.apk.pack import pack_project
from droidgate_android.apk.reader import open_apk
from droidgate_mappings.formats.application import Application, Component, IntentFilter, Resources
from droidgate_mappings.formats.installed import DeviceFacts
from droidgate_mappings.formats.reachability import (
    ORDINARY_APP,
    SHIM,
    Protection,
    component_facts,
    protection_of,
    provider_verdict,
)
from droidgate_mappings.model.capability import (
    Capability,
    CapabilityAccess,
    ComponentAccess,
    Place,
    Provider,
    State,
)
from droidgate_shim.builder.shim_callability import call_conditions, why_function_not_called, why_not_called
from gateway.cli.samples import TIMER, TIMER_MANIFEST, write_project

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


def test_an_open_component_can_be_called_by_everybody() -> None:
    provider, application = _provider(), _application(_service())
    assert provider_verdict(provider, application).closed_because is None
    assert why_not_called(application, _service(), provider) is None
    app = _installed(provider, application)
    callability = callability_of(provider, app, _phone(app))
    assert [(route.ready, route.needs) for route in callability.routes] == [(True, ())]


@pytest.mark.parametrize(
    ("level", "protection"),
    [
        ("normal", Protection.NORMAL),
        ("normal|instant", Protection.NORMAL),
        ("dangerous", Protection.DANGEROUS),
        ("signature", Protection.SIGNATURE),
        ("signature|privileged", Protection.SIGNATURE),
        ("signatureOrSystem", Protection.SIGNATURE),
        ("internal|role", Protection.SIGNATURE),
        ("normal|vendorsOwn", Protection.UNKNOWN),
    ],
)
def test_a_protection_level_says_who_can_hold_a_permission(level: str, protection: Protection) -> None:
    assert protection_of(OWN, {OWN: level}) is protection


def test_android_declares_its_own_permissions_and_nobody_declares_the_others() -> None:
    assert protection_of("android.permission.INTERNET", {}) is Protection.NORMAL
    assert protection_of("android.permission.READ_CONTACTS", {}) is Protection.DANGEROUS
    assert protection_of(EXECUTE, {}) is Protection.SIGNATURE
    assert protection_of(OWN, {}) is Protection.UNKNOWN


def test_a_permission_that_any_app_can_request_is_a_condition_for_agents_and_closes_the_shim_out() -> None:
    provider = _provider(permission=OWN)
    application = _application(_service(), permissions={OWN: "normal"})
    assert provider_verdict(provider, application, ORDINARY_APP).conditions == (
        f"the caller's manifest requests the permission {OWN}",
    )
    reason = provider_verdict(provider, application, SHIM).closed_because
    assert reason == f"callers need the permission {OWN}, which the shim does not request"


def test_a_component_behind_the_permission_of_app_functions_is_closed_to_the_shim_too() -> None:
    provider, application = _provider(permission=EXECUTE), _application(_service())
    reason = f"callers need the permission {EXECUTE}, which ordinary apps cannot hold"
    assert provider_verdict(provider, application).closed_because == reason
    assert provider_verdict(provider, application, SHIM).closed_because == reason


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


DECLARED = """<permission android:name="app.timer.CALL" android:protectionLevel="signature|privileged" />
    <permission android:name="app.timer.OPEN" />
    <application """


def test_the_permissions_of_a_manifest_are_read_alike_from_sources_and_from_an_apk(tmp_path: Path) -> None:
    manifest = TIMER_MANIFEST.replace("<application ", DECLARED)
    expected = {"app.timer.CALL": "signature|privileged", "app.timer.OPEN": "normal"}
    (application,) = read_source(str(write_project(tmp_path / "p", manifest=manifest))).applications
    assert application.permissions == expected
    tree = {"AndroidManifest.xml": manifest.encode(), "res/xml/timer.xml": TIMER.encode()}
    with open_apk(pack_project(tree, key=KEY)) as apk:
        packed = read_application(apk).permissions
    assert {name: protection_of(name, packed) for name in packed} == {
        "app.timer.CALL": Protection.SIGNATURE,
        "app.timer.OPEN": Protection.NORMAL,
    }


@pytest.mark.parametrize(
    "component",
    [
        _service(permission=""),
        Component(
            kind="activity",
            name=".Tools",
            exported=True,
            filters=(IntentFilter((SERVICE,)),),
            attributes={"targetActivity": ".Main"},
        ),
    ],
    ids=["an empty permission", "an alias"],
)
def test_a_component_that_does_not_inherit_the_permission_of_its_application_is_open(
    component: Component,
) -> None:
    application = _application(component, whole=Component(kind="application", permission=OWN))
    facts = component_facts(ComponentAccess(), None, application, component)
    assert facts.permission is None


@pytest.mark.parametrize(
    "facts",
    [
        {"exported": None, "unresolved": ("exported=@bool/none",)},
        {"exported_by_configuration": {"": True, "v31": False}},
    ],
)
def test_a_component_of_which_exported_is_not_known_is_closed(facts: dict[str, Any]) -> None:
    component = _service(**facts)
    assert not component_facts(ComponentAccess(), None, _application(component), component).is_exported
