"""Each access rule of the source that nothing enforces in the app is first among what is left to do."""

from pathlib import Path

import pytest

from droidgate_mappings.model.capability import Capability, CapabilityAccess, ComponentAccess, Provider
from gateway.migrate.projects import copy_module, migrate

FUNCTIONS = Provider(
    protocol="appfunctions",
    dialect="v2",
    package="com.example",
    component=".Functions",
    access=ComponentAccess(permission="android.permission.BIND_APP_FUNCTION_SERVICE"),
    capabilities=(
        Capability(id="open", description="Opens"),
        Capability(id="later", description="Waits", access=CapabilityAccess(enabled_by_default=False)),
        Capability(id="mine", description="Is closed", access=CapabilityAccess(access_level="self")),
    ),
)


def test_each_rule_that_nothing_enforces_is_a_note_of_its_own(tmp_path: Path) -> None:
    migration = migrate(FUNCTIONS, "mobile-mcp+1.0", copy_module("clock-in", tmp_path))
    security = [item for item in migration.notes if item.startswith("security: ")]
    assert list(migration.notes[: len(security)]) == security
    assert [item.split(": ")[1] for item in security] == ["later", "mine"]
    later, mine = security
    assert later.endswith("or refuse calls until then")
    assert mine.endswith("or leave the capability out")


def test_a_migration_that_keeps_every_rule_has_no_such_note(tmp_path: Path) -> None:
    provider = FUNCTIONS.changed({"capabilities": FUNCTIONS.capabilities[:1]})
    migration = migrate(provider, "mobile-mcp+1.0", copy_module("clock-in", tmp_path))
    assert not [note for note in migration.notes if note.startswith("security: ")]


EXECUTE = "android.permission.EXECUTE_APP_FUNCTIONS"
OTHERS = {"mobile-mcp+1.0": "clock-in", "mmcp+1.0": "pdf-tool", "mmcp+broadcast": "pdf-tool"}


def guarded(**access: object) -> Provider:
    return Provider(
        protocol="mcp",
        package="com.example",
        component=".Tools",
        access=ComponentAccess.model_validate(access),
        capabilities=(Capability(id="open", description="Opens"),),
    )


def notes_about_access(provider: Provider, target: str, project: Path) -> list[str]:
    migration = migrate(provider, target, project)
    words = ("callers need ", "exported", "enabled", "declare")
    return [note for note in migration.notes if any(word in note for word in words)]


@pytest.mark.parametrize("target", OTHERS)
def test_the_permission_of_app_functions_is_left_to_remove(target: str, tmp_path: Path) -> None:
    provider = FUNCTIONS.changed({"capabilities": FUNCTIONS.capabilities[:1]})
    migration = migrate(provider, target, copy_module(OTHERS[target], tmp_path))
    component = migration.translations[0].writing.provider.component
    assert migration.notes[0] == (
        f"callers need {EXECUTE}, which ordinary apps cannot hold; remove android:permission from "
        f"{component} to let every app call it"
    )
    assert not [note for note in migration.notes if "any app on the phone" in note or "not declared" in note]
    assert [note for note in migration.notes if f"an app that holds {EXECUTE} must not" in note]


@pytest.mark.parametrize("target", OTHERS)
def test_a_permission_that_the_app_does_not_declare_has_to_be_declared(target: str, tmp_path: Path) -> None:
    provider = guarded(permission="com.ex.SECRET")
    notes = notes_about_access(provider, target, copy_module(OTHERS[target], tmp_path))
    assert notes[0].startswith("callers need com.ex.SECRET; remove android:permission from ")
    assert 'declare it there: <permission android:name="com.ex.SECRET" />' in notes[1]
    assert len(notes) == 2


@pytest.mark.parametrize("name", ["com.ex.SECRET", "${applicationId}.SECRET"])
@pytest.mark.parametrize(
    ("level", "closed"),
    [("", ""), ("android:protectionLevel='signature'", ", which ordinary apps cannot hold")],
)
def test_a_permission_that_the_app_declares_is_judged_by_its_level(
    name: str, level: str, closed: str, tmp_path: Path
) -> None:
    project = copy_module("clock-in", tmp_path)
    manifest = project / "src/main/AndroidManifest.xml"
    declaration = f"<permission android:name='{name}' {level}/>\n    <application"
    manifest.write_text(manifest.read_text().replace("<application", declaration, 1))
    (note,) = notes_about_access(guarded(permission="com.ex.SECRET"), "mobile-mcp+1.0", project)
    assert note.startswith(f"callers need com.ex.SECRET{closed}; remove ")


@pytest.mark.parametrize("target", OTHERS)
def test_a_component_that_others_cannot_call_is_named(target: str, tmp_path: Path) -> None:
    provider = guarded(exported=False, enabled={"": False, "v36": True})
    migration = migrate(provider, target, copy_module(OTHERS[target], tmp_path))
    component = migration.translations[0].writing.provider.component
    assert migration.notes[0].startswith(f"{component} is not exported, so only this app can call it; set ")
    assert migration.notes[1].startswith(
        f"{component} is enabled only in configurations: Android 16 (API 36) and later; change "
    )
    assert not [note for note in migration.notes if "any app on the phone" in note]


@pytest.mark.parametrize("target", OTHERS)
def test_an_open_component_has_no_note_of_access_rules(target: str, tmp_path: Path) -> None:
    project = copy_module(OTHERS[target], tmp_path)
    assert notes_about_access(guarded(), target, project) == []
    assert [note for note in migrate(guarded(), target, project).notes if "any app on the phone" in note]


def test_the_permission_of_androids_own_binding_is_not_a_note(tmp_path: Path) -> None:
    migration = migrate(guarded(), "appfunctions+v2", copy_module("clock-in", tmp_path))
    assert not [note for note in migration.notes if note.startswith("callers need ")]
