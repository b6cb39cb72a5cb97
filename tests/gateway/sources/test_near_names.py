"""Names in manifests that are nearly those of a protocol."""

from __future__ import annotations

from collections.abc import Iterable

import pytest

from droidgate.sources.android_project import application_from_tree
from droidgate.sources.linting import NearNames, check_reading
from droidgate.sources.source_results import Providers
from droidgate_mappings.formats.format import Format, load_formats
from droidgate_mappings.model.findings import Finding, Level

FORMATS = tuple(load_formats().values())


def manifest_of(inner: str) -> bytes:
    android = 'xmlns:android="http://schemas.android.com/apk/res/android"'
    return f'<manifest {android} package="a.b"><application>{inner}</application></manifest>'.encode()


def service_of(*, action: str = "a.b.RUN", meta_data: str = "a.b.meta") -> str:
    return (
        f'<service android:name=".S"><intent-filter><action android:name="{action}"/></intent-filter>'
        f'<meta-data android:name="{meta_data}" android:value="x"/></service>'
    )


def near_names(inner: str) -> list[Finding]:
    application = application_from_tree({"AndroidManifest.xml": manifest_of(inner)})
    return list(NearNames(FORMATS).report(application))


@pytest.mark.parametrize(
    ("action", "meant"),
    [
        ("com.example.mobile.mcp.SERVICE", "mobile.mcp.SERVICE"),
        ("mobile.mcp.service", "mobile.mcp.SERVICE"),
        ("com.example.ACTION_TOOL_CALL", "com.example.mMCP.ACTION_TOOL_CALL"),
        ("org.example.ACTION_MMCP_DISCOVERY", "com.example.ACTION_MMCP_DISCOVERY"),
        ("android.app.appfunction.AppFunctionService", "android.app.appfunctions.AppFunctionService"),
    ],
)
def test_an_action_that_resembles_one_of_a_protocol_is_a_warning(action: str, meant: str) -> None:
    (finding,) = near_names(service_of(action=action))
    assert (finding.level, finding.code) == (Level.WARNING, "near-name")
    assert action in finding.message
    assert finding.hint == f"write {meant}, if that is meant"
    assert finding.source is not None
    assert finding.source.line == 1


@pytest.mark.parametrize("name", ["mmcp_manifest", "mMCP-manifest", "mobile.mcp.tool.capability"])
def test_meta_data_that_resembles_one_of_a_protocol_is_a_warning(name: str) -> None:
    assert [finding.message.split()[4] for finding in near_names(service_of(meta_data=name))] == ["meta-data"]


def test_each_name_is_named_once() -> None:
    assert len(near_names(service_of(action="mobile.mcp.service") * 2)) == 1


@pytest.mark.parametrize("format_", FORMATS, ids=lambda item: item.id)
def test_a_name_that_a_protocol_has_is_right(format_: object) -> None:
    names = [query.action for item in FORMATS if item is format_ for query in item.looks_for if query.action]
    assert near_names("".join(service_of(action=name) for name in names)) == []


@pytest.mark.parametrize(
    "name",
    [
        "android.intent.action.MAIN",
        "com.google.android.geo.API_KEY",
        "android.view.InputMethod",
        "mcp",
        "android.app.shortcuts",
        "com.example.SERVICE",
        f"mobile.mcp.SERVICE{'x' * 300}",
    ],
)
def test_other_names_are_none_of_a_protocol(name: str) -> None:
    assert near_names(service_of(action=name, meta_data=name)) == []


def test_a_place_that_a_rule_of_the_format_names_is_not_named_twice() -> None:
    service = service_of(action="com.example.mobile.mcp.SERVICE", meta_data="mobile.mcp.tool.capabilities")
    app = application_from_tree({"AndroidManifest.xml": manifest_of(service)})
    found = list(check_reading(Providers(applications=(app,)), FORMATS, lambda _: None))
    assert "mobile-mcp-action" in {finding.code for finding in found}
    assert "near-name" not in {finding.code for finding in found}


def test_the_names_of_protocols_are_collected_once_for_many_apps(monkeypatch: pytest.MonkeyPatch) -> None:
    app = application_from_tree({"AndroidManifest.xml": manifest_of(service_of(action="mobile.mcp.service"))})
    collected: list[object] = []
    real = NearNames.__init__

    def counted(self: NearNames, formats: Iterable[Format]) -> None:
        collected.append(self)
        real(self, formats)

    monkeypatch.setattr(NearNames, "__init__", counted)
    found = list(check_reading(Providers(applications=(app,) * 3), FORMATS, lambda _: None))
    assert [finding.code for finding in found].count("near-name") == 3
    assert len(collected) == 1
