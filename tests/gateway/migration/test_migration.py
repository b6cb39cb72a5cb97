"""What goes into a project and stays there, and what does not fit, which is refused in one clear line."""

import codecs
from collections.abc import Callable
from pathlib import Path

import pytest

from adapters.handlers.jvm import compile_java, resource_classes
from adapters.handlers.providers import WEATHER, sample_provider
from droidgate.computer.output_folder import replace_file
from droidgate.migration import migration_plan
from droidgate.migration.source_sets import find_source_set, read_text_file
from droidgate.sources import read
from droidgate_mappings.formats.format import find_format
from droidgate_mappings.model.capability import Capability, CapabilityAccess, ComponentAccess, Provider
from droidgate_mappings.model.errors import DroidgateError, InputError, UsageError, WriteError
from droidgate_shim.builder.sample_apps import sample_apps_directory
from gateway.migration.projects import MODULES, copy_module, files_of, migrate, read_providers
from gateway.sources.formats_of_tests import write_tree
from gateway.sources.kotlin_trees import kotlin_tree
from titled_rows import titled

GRADLE = 'plugins { id("com.android.application") }\nandroid { namespace = "dev.example" }\n'
MANIFEST = '<manifest xmlns:android="http://schemas.android.com/apk/res/android"><application/></manifest>'


def make_module(folder: Path, manifest: str = MANIFEST, gradle: str = GRADLE) -> Path:
    return write_tree(folder, {"src/main/AndroidManifest.xml": manifest, "build.gradle.kts": gradle})


def refusal(kind: type[DroidgateError], action: Callable[[], object]) -> DroidgateError:
    with pytest.raises(kind) as refused:
        action()
    assert "\n" not in refused.value.message
    assert refused.value.hint
    return refused.value


@titled(("manifests", "message"), {
    "a folder without a manifest": ({}, "no AndroidManifest.xml"),
    "a manifest without an application": ({"app": "<manifest/>"}, "no manifest with an application"),
    "several modules with an application":
        ({"app": MANIFEST, "wear": MANIFEST},
         "several modules with an application: app/src/main, wear/src/main"),
})  # fmt: skip
def test_a_folder_that_is_not_one_app_is_refused(
    manifests: dict[str, str], message: str, tmp_path: Path
) -> None:
    for name, manifest in manifests.items():
        make_module(tmp_path / name, manifest)
    assert message in refusal(InputError, lambda: find_source_set(tmp_path)).message


def test_a_package_that_is_stated_nowhere_has_to_be_given(tmp_path: Path) -> None:
    make_module(tmp_path, gradle="")
    assert "--package" in (refusal(InputError, lambda: find_source_set(tmp_path)).command_hint or "")
    assert find_source_set(tmp_path, "dev.given").namespace == "dev.given"


MANIFEST_PATH = "src/main/AndroidManifest.xml"
SERVICE = '<service android:name=".MobileMcpToolService" android:{}/></application>'
VALUES = "src/main/res/values"
BOOLEAN = '<bool name="mobile_mcp_tool_service_enabled">true</bool></resources>'
CLASS = "dev/droidgate/sample/pdftool/MobileMcpToolService"


# A file that is there, a text of it that is replaced, or None where the file is new, and what is written.
@titled(("path", "old", "new", "is_closed", "kind", "words", "place"), {
    "a string": (f"{VALUES}/strings.xml", "</resources>",
        '<string name="mobile_mcp_tool_name">x</string></resources>', False,
        WriteError, "'mobile_mcp_tool_name'", f"{VALUES}/strings.xml"),
    "a file of strings": (f"{VALUES}/mobile_mcp_strings.xml", None,
        '<resources><string name="a">b</string></resources>', False, WriteError, "", ""),
    "a component that is not exported": (MANIFEST_PATH, "</application>",
        SERVICE.format('exported="false"'), False, InputError, "exported='false'", f"{MANIFEST_PATH}:"),
    "a component that is enabled otherwise": (MANIFEST_PATH, "</application>",
        SERVICE.format('enabled="true"'), True, InputError, "enabled='true'", f"{MANIFEST_PATH}:"),
    "a boolean": (f"{VALUES}/own.xml", None, f"<resources>{BOOLEAN}", True,
        WriteError, "already has a bool 'mobile_mcp_tool_service_enabled'", ""),
    **{f"a class, {path}": (f"src/main/{path}", None, "class", False, WriteError, "MobileMcpToolService", "")
       for path in (f"java/{CLASS}.java", f"kotlin/{CLASS}.kt", f"java/{CLASS}.kt")},
})  # fmt: skip
def test_what_the_app_has_already_is_not_replaced(
    path: str,
    old: str | None,
    new: str,
    kind: type[DroidgateError],
    words: str,
    place: str,
    tmp_path: Path,
    *,
    is_closed: bool,
) -> None:
    project = copy_module("pdf-tool", tmp_path)
    text = new if old is None else (project / path).read_text().replace(old, new)
    write_tree(project, {path: text})
    before = files_of(project)
    provider = closed_provider("pdf-tool") if is_closed else sample_provider("pdf-tool/app")
    error = refusal(kind, lambda: migrate(provider, "mobile-mcp+1.0", project))
    assert words in error.message
    assert place in (error.place or "")
    assert files_of(project) == before
    if new == "class":
        assert migrate(provider, "mobile-mcp+1.0", project, "none").changes


@pytest.mark.parametrize(
    "link", ["src/main/res", "src/main/java", "src/main/AndroidManifest.xml", "src/main"]
)
def test_a_link_out_of_the_project_is_not_written_through(link: str, tmp_path: Path) -> None:
    project = copy_module("pdf-tool", tmp_path)
    outside = tmp_path / "outside"
    (project / link).rename(outside)
    (project / link).symlink_to(outside)
    before = {path: path.read_bytes() for path in outside.rglob("*") if path.is_file()}

    def run() -> None:
        migrate(sample_provider("pdf-tool/app"), "mobile-mcp+1.0", project).write()

    error = refusal(InputError, run)
    assert "link" in error.message or "no AndroidManifest.xml" in error.message
    assert {path: path.read_bytes() for path in outside.rglob("*") if path.is_file()} == before


def test_a_format_that_is_not_a_part_of_an_app_is_refused(tmp_path: Path) -> None:
    project = copy_module("pdf-tool", tmp_path)
    error = refusal(UsageError, lambda: migrate(sample_provider("pdf-tool/app"), "mcp", project))
    assert "droidgate convert" in (error.hint or "")


@pytest.mark.parametrize("target", ["appfunctions", "mmcp", "mobile-mcp"])
def test_a_descriptor_without_a_component_gets_the_one_that_it_has_from_another_format(
    target: str, tmp_path: Path
) -> None:
    project = copy_module("notes", tmp_path)
    alone, other = (
        Provider(protocol=protocol, capabilities=(Capability(id="count_beds"),))
        for protocol in (target, "mcp")
    )
    component = migration_plan.migrate(other, to=target, into=project).changes[0].after
    assert migration_plan.migrate(alone, to=target, into=project).changes[0].after == component


ENTRY_POINTS = """package dev.notes
import androidx.appfunctions.*
@AppFunctionServiceEntryPoint(serviceName = "NotesService", appFunctionXmlFileName = "notes")
abstract class BaseNotes : AppFunctionService() { @AppFunction fun note(x: String): String = x }
@AppFunctionServiceEntryPoint(serviceName = "TasksService", appFunctionXmlFileName = "tasks")
abstract class BaseTasks : AppFunctionService() { @AppFunction fun task(x: String): String = x }
"""


def test_services_of_one_app_become_one_component_and_functions_are_dropped_only_on_request(
    tmp_path: Path,
) -> None:
    code = "app/src/main/java/dev/notes/Notes.kt"
    write_tree(tmp_path, {**kotlin_tree(), code: ENTRY_POINTS})
    notes, tasks = read(tmp_path)

    def plan(*providers: Provider, drop: bool = False) -> migration_plan.Migration:
        return migration_plan.migrate(providers, to="mmcp", into=tmp_path, language="kotlin", drop=drop)

    together = plan(notes, tasks.changed({"name": "Tasks", "instructions": "Ask first."}))
    [translation] = together.conversion.translations
    assert [item.id for item in translation.source.capabilities] == [
        "dev.notes.BaseNotes#note", "dev.notes.BaseTasks#task",
    ]  # fmt: skip
    texts = f"{notes.name}, Tasks" if notes.name else "Tasks", "Ask first."
    assert (translation.source.name, translation.source.instructions) == texts
    plan(notes).write()
    error = refusal(WriteError, lambda: plan(tasks))
    assert error.message == ".MmcpToolActivity would no longer declare dev_notes_BaseNotes_note"
    plan(tasks, drop=True).write()
    assert {item.id for item in read_providers(tmp_path, find_format("mmcp")[0])[0].capabilities} == {
        "dev_notes_BaseTasks_task"
    }
    plan(notes, tasks).write()


@titled(("changes", "reason"), {
    "another app": ({"package": "a.b"}, "they differ in app"),
    "other callers": ({"access": ComponentAccess(permission="a.b.C")}, "they differ in access rules"),
    "other protocols": ({"protocol": "appfunctions", "dialect": "v2"}, "they differ in protocol and dialect"),
    "a capability of the same name": ({"name": "Other"}, 'both declare "forecast"'),
})  # fmt: skip
def test_providers_that_cannot_become_one_component_are_refused_with_the_reason(
    changes: dict[str, object], reason: str, tmp_path: Path
) -> None:
    project = make_module(tmp_path)
    first = Provider(protocol="mmcp", component=".A", capabilities=(Capability(id="forecast"),))
    error = refusal(
        UsageError,
        lambda: migration_plan.migrate(
            [first, first.changed({"component": ".B", **changes})], to="mobile-mcp", into=project
        ),
    )
    assert error.message == f"2 providers cannot become one component: {reason}"
    assert error.command_hint is not None
    assert error.command_hint.startswith("migrate one of them with --provider: ")


def test_a_descriptor_of_another_component_stays_and_the_new_one_gets_another_name(tmp_path: Path) -> None:
    project = copy_module("clock-in", tmp_path)
    own = project / "src/main/res/xml/mcp_capabilities.xml"
    before = own.read_text()
    migrate(WEATHER, "mobile-mcp+1.0", project).write()
    assert own.read_text() == before
    other = project / "src/main/res/xml/mobile_mcp_tool_service_mcp_capabilities.xml"
    assert "warmestPlace" in other.read_text()
    manifest = (project / "src/main/AndroidManifest.xml").read_text()
    assert '"@xml/mobile_mcp_tool_service_mcp_capabilities"' in manifest
    assert '"@xml/mcp_capabilities"' in manifest
    assert migrate(WEATHER, "mobile-mcp+1.0", project).changes == ()


def test_guidance_of_the_whole_app_stays_with_a_note(tmp_path: Path) -> None:
    project = copy_module("notes", tmp_path)
    metadata = project / "src/main/res/xml/app_metadata.xml"
    before = metadata.read_text()
    migration = migrate(sample_provider("pdf-tool/app"), "appfunctions+v2", project)
    migration.write()
    assert metadata.read_text() == before
    assert any("android.app.appfunctions.app_metadata" in note for note in migration.notes)
    manifest = (project / "src/main/AndroidManifest.xml").read_text()
    assert manifest.count("android.app.appfunctions.app_metadata") == 1


@titled(("target", "file"), {
    "a service that may be there once": ("mobile-mcp", "@xml/mcp_capabilities"),
    "a functions file of one name": ("appfunctions", "app_function_service.xml"),
})  # fmt: skip
@pytest.mark.parametrize("kind", ["library", "application"])
def test_a_module_of_the_same_app_that_has_the_protocol_too_has_a_note(
    target: str, file: str, kind: str, tmp_path: Path
) -> None:
    (tmp_path / "settings.gradle.kts").write_text('include(":app", ":orders")')
    app = make_module(tmp_path / "app")
    orders = f'plugins {{ id("com.android.{kind}") }}\nandroid {{ namespace = "com.ex.orders" }}\n'
    make_module(tmp_path / "orders", gradle=orders)

    def notes(module: Path) -> list[str]:
        migration = migration_plan.migrate(WEATHER, to=target, into=module)
        migration.write()
        return [note for note in migration.notes if note.startswith("the module")]

    assert not notes(tmp_path / "orders")
    found = notes(app)
    assert [note.startswith("the module orders declares") and file in note for note in found] == (
        [True] if kind == "library" else []
    )


# Access rules of a provider in the project that it is migrated into


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


# Each access rule of the source that nothing enforces in the app is first among what is left to do


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
    assert [note for note in migration.notes if f"that an app that holds {EXECUTE} may not do alone" in note]


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
def test_a_permission_is_judged_by_its_level(name: str, level: str, closed: str, tmp_path: Path) -> None:
    project = copy_module("clock-in", tmp_path)
    manifest = project / "src/main/AndroidManifest.xml"
    declaration = f"<permission android:name='{name}' {level}/>\n    <application"
    manifest.write_text(manifest.read_text().replace("<application", declaration, 1))
    (note,) = notes_about_access(guarded(permission="com.ex.SECRET"), "mobile-mcp+1.0", project)
    assert note.startswith(f"callers need com.ex.SECRET{closed}; remove ")


@pytest.mark.parametrize("target", OTHERS)
def test_a_component_that_other_apps_cannot_call_has_a_note(target: str, tmp_path: Path) -> None:
    provider = guarded(exported=False, enabled={"": False, "v36": True})
    migration = migrate(provider, target, copy_module(OTHERS[target], tmp_path))
    component = migration.translations[0].writing.provider.component
    assert migration.notes[0].startswith(f"{component} is not exported, so only this app can call it; set ")
    assert migration.notes[1].startswith(
        f"{component} is enabled only in configurations: Android 16 (API 36) and later; change "
    )
    assert not [note for note in migration.notes if "any app on the phone" in note]


# Files keep their bytes: byte order marks, line ends, permissions


TEXT = '<?xml version="1.0" encoding="{}"?>\r\n<!-- früh -->\n<a/>'


@pytest.mark.parametrize("data", [
    pytest.param(TEXT.format("utf-8").encode(), id="UTF-8"),
    pytest.param(codecs.BOM_UTF8 + TEXT.format("utf-8").encode(), id="UTF-8 with a mark"),
    pytest.param("früh\r\nlate\r".encode(), id="no declaration"),
    pytest.param(b"", id="nothing"),
])  # fmt: skip
def test_what_is_read_and_written_back_has_the_same_bytes(data: bytes, tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(data)
    path.chmod(0o640)
    text = read_text_file(path, tmp_path)
    assert data == b"" or "früh" in text
    replace_file(path, text.encode())
    assert path.read_bytes() == data
    assert path.stat().st_mode & 0o777 == 0o640
    assert [item.name for item in tmp_path.iterdir()] == ["file"]


@pytest.mark.parametrize(("data", "message"), [
    (b"\xff\x00\xfe", "is not UTF-8"),
    (codecs.BOM_UTF16_LE + TEXT.format("utf-16").encode("utf-16-le"), "is not UTF-8"),
    (TEXT.format("ISO-8859-1").encode(), 'declares the encoding "ISO-8859-1", not UTF-8'),
])  # fmt: skip
def test_a_file_of_another_encoding_is_refused(data: bytes, message: str, tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(data)
    with pytest.raises(InputError, match=message):
        read_text_file(path, tmp_path)


def test_a_file_in_place_of_a_folder_is_reported(tmp_path: Path) -> None:
    (tmp_path / "res").write_text("")
    with pytest.raises(WriteError, match="cannot be written"):
        replace_file(tmp_path / "res/values/a.xml", b"")


# Each sample app goes into every other one's project and into its own: written once, found, then still


FORMAT_OF = {
    "clock-in": "mobile-mcp+1.0",
    "pdf-tool": "mmcp+1.0",
    "notes": "appfunctions+v2",
    "weather": "mmcp+broadcast",
}
TARGETS = (
    *FORMAT_OF.values(), "mobile-mcp+1.0-input", "mobile-mcp+prototype", "mmcp+draft",
    "appfunctions+v2-legacy", "appfunctions+v1", "appfunctions+platform",
)  # fmt: skip
ACROSS = [(source, into) for source in MODULES for into in MODULES if source != into]
WITHIN = {target: "notes" if target.startswith("m") else "weather" for target in TARGETS}


def provider_of(app: str) -> Provider:
    return WEATHER if app == "weather" else sample_provider(f"{app}/app")


def capabilities_of(providers: list[Provider]) -> list[tuple[str, list[str]]]:
    return sorted(
        (provider.protocol, [capability.id for capability in provider.capabilities]) for provider in providers
    )


def check_migration(provider: Provider, target: str, project: Path) -> None:
    """Write a migration, and check what the project then holds."""
    old = read_providers(project)
    before = files_of(project)
    migration = migrate(provider, target, project)
    assert files_of(project) == before
    migration.write()
    written = migration.translations[0].writing.provider

    new = read_providers(project)
    if find_format(target)[1].readable:
        assert capabilities_of(new) == capabilities_of([*old, written])
        component = written.component or ""
        providers = [item for item in new if (item.component or "").endswith(component)]
        assert [item.capabilities for item in providers if item.protocol == written.protocol] != []
    else:
        manifest = (project / "src/main/AndroidManifest.xml").read_text()
        assert written.component is not None
        assert f'"{written.component}"' in manifest
        assert capabilities_of(new) == capabilities_of(old)

    after = files_of(project)
    files = {path: data for path, data in before.items() if not path.endswith("AndroidManifest.xml")}
    assert files.items() <= after.items()
    again = migrate(provider, target, project)
    assert again.changes == ()
    again.write()
    assert files_of(project) == after


@pytest.mark.parametrize(("source", "into"), ACROSS)
def test_an_app_is_migrated_into_the_project_of_another_app(source: str, into: str, tmp_path: Path) -> None:
    project = copy_module(into, tmp_path)
    target = FORMAT_OF[into]
    if target.partition("+")[0] == FORMAT_OF[source].partition("+")[0]:
        target = "appfunctions+v2"
    check_migration(provider_of(source), target, project)


@pytest.mark.parametrize(("target", "app"), WITHIN.items())
def test_an_app_is_migrated_into_its_own_project_in_another_protocol(
    app: str, target: str, tmp_path: Path
) -> None:
    check_migration(provider_of(app), target, copy_module(app, tmp_path))


def test_what_the_author_filled_in_stays_and_the_rest_is_made_anew(tmp_path: Path) -> None:
    project = copy_module("pdf-tool", tmp_path)
    provider = provider_of("pdf-tool")
    migrate(provider, "mobile-mcp+1.0", project).write()
    folder = project / "src/main/java/dev/droidgate/sample/pdftool"
    author, calls = (folder / f"MobileMcpToolService{name}.java" for name in ("Capabilities", "Calls"))
    author.write_text("// mine\n")
    source = calls.read_text()
    calls.write_text(source + "// changed\n")
    migrate(provider, "mobile-mcp+1.0", project).write()
    assert author.read_text() == "// mine\n"
    assert calls.read_text() == source


@pytest.mark.parametrize(("app", "targets"), [
    ("clock-in", ("mmcp+1.0", "mmcp+broadcast")),
    ("notes", ("mmcp+1.0", "mmcp+broadcast")),
    ("pdf-tool", ("mobile-mcp+1.0", "appfunctions+v2")),
])  # fmt: skip
def test_migrated_app_compiles_with_its_own_classes(
    app: str, targets: tuple[str, ...], tmp_path: Path
) -> None:
    project = copy_module(app, tmp_path)
    for target in targets:
        migrate(provider_of(app), target, project).write()
    main = project / "src/main"
    sources = [*(main / "java").rglob("*.java"), *resource_classes(main, tmp_path / "linked")]
    if app == "clock-in":
        sources += (sample_apps_directory() / "mobile-mcp").rglob("*.java")
    compile_java(sources, tmp_path / "classes", warnings=False)
