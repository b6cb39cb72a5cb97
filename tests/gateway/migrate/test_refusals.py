"""What does not fit is refused in one clear line, and nothing is written."""

from collections.abc import Callable
from pathlib import Path

import pytest

from adapters.handlers.providers import WEATHER, sample_provider
from droidgate.migration.plan import plan_migration
from droidgate.migration.source_sets import find_source_set
from droidgate_mappings.formats.format import find_format
from droidgate_mappings.model.errors import DroidgateError, InputError, UsageError, WriteError
from droidgate_mappings.translate import translate
from gateway.migrate.projects import copy_module, files_of, migrate

GRADLE = 'plugins { id("com.android.application") }\nandroid { namespace = "dev.example" }\n'
MANIFEST = '<manifest xmlns:android="http://schemas.android.com/apk/res/android"><application/></manifest>'


def make_module(folder: Path, manifest: str = MANIFEST, gradle: str = GRADLE) -> Path:
    (folder / "src/main").mkdir(parents=True)
    (folder / "src/main/AndroidManifest.xml").write_text(manifest)
    (folder / "build.gradle.kts").write_text(gradle)
    return folder


def refusal(kind: type[DroidgateError], action: Callable[[], object]) -> DroidgateError:
    with pytest.raises(kind) as refused:
        action()
    assert "\n" not in refused.value.message
    assert refused.value.hint
    return refused.value


def test_a_folder_without_a_manifest(tmp_path: Path) -> None:
    assert "no AndroidManifest.xml" in refusal(InputError, lambda: find_source_set(tmp_path)).message
    assert "not a folder" in refusal(InputError, lambda: find_source_set(tmp_path / "none")).message


def test_a_manifest_without_an_application(tmp_path: Path) -> None:
    make_module(tmp_path / "app", "<manifest/>")
    assert "no manifest with an application" in refusal(InputError, lambda: find_source_set(tmp_path)).message


def test_several_modules(tmp_path: Path) -> None:
    make_module(tmp_path / "app")
    make_module(tmp_path / "wear")
    error = refusal(InputError, lambda: find_source_set(tmp_path))
    assert error.message == "several modules with an application: app/src/main, wear/src/main"


def test_libraries_and_built_files_do_not_count(tmp_path: Path) -> None:
    make_module(tmp_path / "app")
    make_module(
        tmp_path / "library",
        gradle='plugins { id("com.android.library") }\nandroid { namespace = "dev.lib" }\n',
    )
    make_module(tmp_path / "app/build/intermediates")
    found = find_source_set(tmp_path)
    assert found.folder == tmp_path / "app/src/main"
    assert found.namespace == "dev.example"


def test_a_package_that_nobody_says(tmp_path: Path) -> None:
    make_module(tmp_path, gradle="")
    assert "--package" in (refusal(InputError, lambda: find_source_set(tmp_path)).hint or "")
    assert find_source_set(tmp_path, "dev.given").namespace == "dev.given"


def test_a_string_that_the_app_has(tmp_path: Path) -> None:
    project = copy_module("pdf-tool", tmp_path)
    strings = project / "src/main/res/values/strings.xml"
    strings.write_text(
        strings.read_text().replace(
            "</resources>", '<string name="mobile_mcp_tool_name">x</string></resources>'
        )
    )
    before = files_of(project)
    error = refusal(WriteError, lambda: migrate(sample_provider("pdf-tool/app"), "mobile-mcp+1.0", project))
    assert "'mobile_mcp_tool_name'" in error.message
    assert error.place == str(strings)
    assert files_of(project) == before


def test_a_file_of_strings_that_is_somebody_elses(tmp_path: Path) -> None:
    project = copy_module("pdf-tool", tmp_path)
    (project / "src/main/res/values/mobile_mcp_strings.xml").write_text(
        '<resources><string name="a">b</string></resources>'
    )
    refusal(WriteError, lambda: migrate(sample_provider("pdf-tool/app"), "mobile-mcp+1.0", project))


def test_a_component_that_is_not_exported(tmp_path: Path) -> None:
    project = copy_module("pdf-tool", tmp_path)
    manifest = project / "src/main/AndroidManifest.xml"
    service = '<service android:name=".MobileMcpToolService" android:exported="false"/>'
    manifest.write_text(manifest.read_text().replace("</application>", f"{service}</application>"))
    error = refusal(InputError, lambda: migrate(sample_provider("pdf-tool/app"), "mobile-mcp+1.0", project))
    assert "exported='false'" in error.message
    assert error.place is not None
    assert error.place.startswith("src/main/AndroidManifest.xml:")


@pytest.mark.parametrize("name", ["java/{}.java", "kotlin/{}.kt", "java/{}.kt"])
def test_a_class_that_the_app_has(name: str, tmp_path: Path) -> None:
    project = copy_module("pdf-tool", tmp_path)
    path = project / "src/main" / name.format("dev/droidgate/sample/pdftool/MobileMcpToolService")
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("class MobileMcpToolService")
    error = refusal(WriteError, lambda: migrate(sample_provider("pdf-tool/app"), "mobile-mcp+1.0", project))
    assert "MobileMcpToolService" in error.message
    assert migrate(sample_provider("pdf-tool/app"), "mobile-mcp+1.0", project, "none").changes


@pytest.mark.parametrize(
    "link", ["src/main/res", "src/main/java", "src/main/AndroidManifest.xml", "src/main"]
)
def test_a_link_out_of_the_project(link: str, tmp_path: Path) -> None:
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


def test_a_link_inside_the_project_is_followed(tmp_path: Path) -> None:
    project = copy_module("pdf-tool", tmp_path)
    (project / "src/main/res").rename(project / "resources")
    (project / "src/main/res").symlink_to(project / "resources")
    migrate(sample_provider("pdf-tool/app"), "mobile-mcp+1.0", project).write()
    assert (project / "resources/xml/mcp_capabilities.xml").is_file()
    assert (project / "src/main/res").is_symlink()


def test_a_format_that_is_not_a_part_of_an_app(tmp_path: Path) -> None:
    project = copy_module("pdf-tool", tmp_path)
    error = refusal(UsageError, lambda: migrate(sample_provider("pdf-tool/app"), "mcp", project))
    assert "droidgate convert" in (error.hint or "")


def test_two_providers_for_one_component(tmp_path: Path) -> None:
    project = copy_module("pdf-tool", tmp_path)
    target, dialect = find_format("mobile-mcp")
    translations = translate([sample_provider("notes/app"), WEATHER], target, dialect)
    error = refusal(
        UsageError,
        lambda: plan_migration(project, find_source_set(project), translations, target, dialect, "java"),
    )
    assert "2 providers" in error.message


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


def test_no_target_needs_queries(tmp_path: Path) -> None:
    for target in ("mobile-mcp+1.0", "mmcp+broadcast", "appfunctions+v2"):
        project = copy_module("pdf-tool", tmp_path / target)
        migrate(sample_provider("pdf-tool/app"), target, project).write()
        assert "<queries" not in (project / "src/main/AndroidManifest.xml").read_text()
