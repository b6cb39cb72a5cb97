"""Which apps may call functions, read from manifest and files, and written again (reference 1.1, 2, 7)."""

from collections.abc import Mapping
from dataclasses import replace

import pytest
from lxml import etree

from adapters.appfunctions.function_files import (
    ACTION,
    PERMISSION,
    app_of,
    artifact,
    file_of,
    function_of,
    only,
    property_of,
    read_app,
    read_text,
    write_in,
)
from droidgate_appfunctions.format import FORMAT
from droidgate_mappings.formats.leniency import ReadingContext
from droidgate_mappings.model.capability import Capability, CapabilityAccess, ComponentAccess, Provider
from droidgate_mappings.model.findings import Level
from droidgate_mappings.model.types import ObjectType, ScalarType
from properties.matching import assert_findings_match

ANDROID = "{http://schemas.android.com/apk/res/android}"
BIND = "android.permission.BIND_APP_FUNCTION_SERVICE"
FILES = {"assets/f.xml": file_of(function_of())}
V2 = property_of("v2", "f.xml")


def service_with(attributes: str) -> str:
    return f'<service android:name=".Service" {attributes}>{V2}{ACTION}</service>'


def access_in(manifest: str) -> Mapping[str, str | None]:
    """Return the access attributes of the only service of a manifest; without our reader."""
    (service,) = etree.fromstring(manifest.encode()).iter("service")
    names = ("exported", "enabled", "permission")
    return {name: service.get(ANDROID + name) for name in names if service.get(ANDROID + name) is not None}


@pytest.mark.parametrize(
    ("attributes", "access", "written"),
    [
        (
            f'android:exported="true" {PERMISSION}',
            ComponentAccess(permission=BIND),
            {"exported": "true", "permission": BIND},
        ),
        (
            'android:exported="false" android:enabled="false"',
            ComponentAccess(exported=False, enabled=False),
            {"exported": "false", "enabled": "false"},
        ),
        ("", ComponentAccess(exported=None), {}),
        (
            'android:exported="true" android:permission="com.example.MINE"',
            ComponentAccess(permission="com.example.MINE"),
            {"exported": "true", "permission": "com.example.MINE"},
        ),
    ],
)
def test_the_access_rules_of_a_service_are_read_and_written_again(
    attributes: str, access: ComponentAccess, written: dict[str, str]
) -> None:
    provider = only(read_app(service_with(attributes), files=FILES))
    assert provider.access == access
    writing = write_in(provider, "v2")
    assert writing.findings == ()
    assert access_in(artifact(writing, "manifest")) == written


def test_the_applications_rules_hold_for_its_services() -> None:
    manifest = app_of(service_with('android:exported="true"'), files=FILES)
    whole, service = manifest.components
    closed = replace(whole, enabled=False, permission="com.example.APP")
    application = replace(manifest, components=(closed, service))
    provider = only(FORMAT.read_application(application, ReadingContext()))
    assert provider.access == ComponentAccess(enabled=False, permission="com.example.APP")
    own = replace(service, permission=BIND)
    application = replace(manifest, components=(closed, own))
    assert only(FORMAT.read_application(application, ReadingContext())).access.permission == BIND


def test_a_service_that_is_enabled_on_some_releases_stays_so() -> None:
    manifest = app_of(service_with('android:exported="true"'), files=FILES)
    whole, service = manifest.components
    by_configuration = {"": False, "v36": True}
    service = replace(service, enabled_by_configuration=by_configuration)
    application = replace(manifest, components=(whole, service))
    provider = only(FORMAT.read_application(application, ReadingContext()))
    assert provider.access.enabled == by_configuration
    writing = write_in(provider, "v2")
    assert access_in(artifact(writing, "manifest"))["enabled"] == "@bool/service_enabled"
    values = {
        item.path: etree.fromstring(item.text.encode())
        for item in writing.artifacts
        if "_enabled" in item.path
    }
    assert {path: root.findtext("bool") for path, root in values.items()} == {
        "res/values/service_enabled.xml": "false",
        "res/values-v36/service_enabled.xml": "true",
    }


def test_a_file_by_itself_has_no_service_and_no_rules_of_one() -> None:
    assert only(read_text(file_of(function_of()))).access == ComponentAccess()


RULES = {
    "enabledByDefault": (CapabilityAccess(enabled_by_default=False), "false"),
    "restrictCallersWithExecuteAppFunctions": (CapabilityAccess(restrict_callers=True), "true"),
    "accessLevel": (CapabilityAccess(access_level="system"), "system"),
    "scope": (CapabilityAccess(scope="activity"), "activity"),
}
SNAKE = {
    "enabledByDefault": "enabled_by_default",
    "restrictCallersWithExecuteAppFunctions": "restrict_callers_with_execute_app_functions",
}
NOT_WRITTEN = {
    ("v2", "scope"),
    ("v2-legacy", "scope"),
    ("v1", "scope"),
    ("platform", "scope"),
    ("v1", "accessLevel"),
    ("platform", "accessLevel"),
}


@pytest.mark.parametrize("dialect", [item.id for item in FORMAT.dialects])
@pytest.mark.parametrize("tag", RULES)
def test_a_functions_rule_is_written_by_its_tag_or_is_a_security_finding(dialect: str, tag: str) -> None:
    access, word = RULES[tag]
    provider = Provider(
        protocol="appfunctions",
        dialect=dialect,
        package="com.example.app",
        component=None if dialect == "app-level" else ".Service",
        access=ComponentAccess() if dialect == "app-level" else ComponentAccess(permission=BIND),
        capabilities=(Capability(id="f", input=ObjectType(), output=ScalarType(kind="null"), access=access),),
    )
    writing = write_in(provider, dialect)
    root = etree.fromstring(artifact(writing, "descriptor").encode())
    written = {str(item.tag): item.text for item in root.iter() if item.tag in {tag, SNAKE.get(tag)}}
    rules = [item.pointer for item in writing.findings if item.level is Level.SECURITY]
    if (dialect, tag) in NOT_WRITTEN:
        assert written == {}
        assert [item.rpartition("/")[0] for item in rules] == ["/capabilities/0/access"]
    else:
        assert list(written.values()) == [word]
        assert rules == []
    assert_findings_match(provider, writing)


def test_the_new_service_of_functions_without_one_can_be_bound_by_android_only() -> None:
    at_run_time = file_of(function_of("<scope>global</scope>", enabled=None))
    of_the_application = only(read_app(V2, files={"assets/f.xml": at_run_time}))
    loose = only(read_app("<activity android:name='.Main'/>", files=FILES, strict=False))
    for provider in (of_the_application, loose):
        writing = write_in(provider, "v2")
        assert access_in(artifact(writing, "manifest")) == {"exported": "true", "permission": BIND}
        levels = {finding.pointer: finding.level for finding in writing.findings}
        assert levels["/access/permission"] is Level.RENAMED
        assert_findings_match(provider, writing)


def test_functions_of_a_disabled_application_are_disabled() -> None:
    files = {"assets/f.xml": file_of(function_of("<scope>global</scope>", enabled=None))}
    application = app_of(V2, files=files)
    (whole,) = application.components
    application = replace(application, components=(replace(whole, enabled=False),))
    provider = only(FORMAT.read_application(application, ReadingContext()))
    assert provider.access == ComponentAccess(enabled=False)
    levels = {finding.pointer: finding.level for finding in write_in(provider, "app-level").findings}
    assert levels == {"/access/enabled": Level.SECURITY}


def test_the_new_service_of_another_protocol_can_be_bound_by_android_only() -> None:
    provider = Provider(
        protocol="mmcp", dialect="1.0", package="a.b", component=".Tools", capabilities=(Capability(id="f"),)
    )
    assert access_in(artifact(write_in(provider, "v2"), "manifest")) == {
        "exported": "true",
        "permission": BIND,
    }
