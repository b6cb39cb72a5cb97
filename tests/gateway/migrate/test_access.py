"""Access rules of a provider in the project that it is migrated into."""

from pathlib import Path

import pytest

from droidgate_mappings.model.capability import ComponentAccess, Provider
from droidgate_mappings.model.errors import InputError, WriteError
from droidgate_phone.apps.sample_apps import sample_apps_directory
from gateway.migrate.projects import copy_module, migrate, read_providers

RULES = ComponentAccess(exported=False, enabled={"": False, "v36": True}, permission="a.b.CALL")
PACKAGES = {"mobile-mcp": "clock-in", "mmcp": "pdf-tool"}
OTHER = {"mobile-mcp": "pdf-tool", "mmcp": "clock-in"}


def closed_provider(source: str) -> Provider:
    (provider,) = read_providers(sample_apps_directory() / source)
    return provider.model_copy(update={"access": RULES})


@pytest.mark.parametrize("target", OTHER)
def test_rules_and_boolean_resources_go_into_the_project(target: str, tmp_path: Path) -> None:
    project = copy_module(PACKAGES[target], tmp_path)
    before = {provider.component for provider in read_providers(project)}
    migration = migrate(closed_provider(OTHER[target]), target, project)
    migration.write()
    (added,) = [provider for provider in read_providers(project) if provider.component not in before]
    assert added.protocol == target
    assert added.access == RULES
    (default,) = project.glob("src/main/res/values/*_enabled.xml")
    (newer,) = project.glob("src/main/res/values-v36/*_enabled.xml")
    assert ">false</bool>" in default.read_text()
    assert ">true</bool>" in newer.read_text()
    assert migrate(closed_provider(OTHER[target]), target, project).changes == ()


def test_a_boolean_that_the_app_has_already_is_not_replaced(tmp_path: Path) -> None:
    project = copy_module("pdf-tool", tmp_path)
    values = project / "src/main/res/values/own.xml"
    name = "mobile_mcp_tool_service_enabled"
    values.write_text(f'<resources><bool name="{name}">true</bool></resources>')
    with pytest.raises(WriteError, match=f"already has a bool '{name}'"):
        migrate(closed_provider("pdf-tool"), "mobile-mcp", project)


def test_a_component_that_is_enabled_otherwise_is_not_changed(tmp_path: Path) -> None:
    project = copy_module("pdf-tool", tmp_path)
    manifest = project / "src/main/AndroidManifest.xml"
    component = '<service android:name=".MobileMcpToolService" android:enabled="true"/>'
    manifest.write_text(manifest.read_text().replace("</application>", f"{component}</application>"))
    with pytest.raises(InputError, match="enabled='true'"):
        migrate(closed_provider("pdf-tool"), "mobile-mcp", project)
