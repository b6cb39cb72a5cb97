"""Each sample app goes into every other one's project and into its own: written once, found, then still."""

from pathlib import Path

import pytest

from adapters.handlers.jvm import compile_java, resource_classes
from adapters.handlers.providers import WEATHER, sample_provider
from droidgate_mappings.formats.format import find_format
from droidgate_mappings.model.capability import Provider
from droidgate_phone.apps.sample_apps import sample_apps_directory
from gateway.migrate.projects import MODULES, copy_module, files_of, migrate, read_providers

FORMAT_OF = {
    "clock-in": "mobile-mcp+1.0",
    "pdf-tool": "mmcp+1.0",
    "notes": "appfunctions+v2",
    "weather": "mmcp+broadcast",
}
TARGETS = (
    *FORMAT_OF.values(),
    "mobile-mcp+1.0-input",
    "mobile-mcp+prototype",
    "mmcp+draft",
    "appfunctions+v2-legacy",
    "appfunctions+v1",
    "appfunctions+platform",
)
ACROSS = [(source, into) for source in MODULES for into in MODULES if source != into]
WITHIN = [
    (app, target)
    for app in MODULES
    for target in TARGETS
    if target.partition("+")[0] != FORMAT_OF[app].partition("+")[0]
]


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
        found = [item for item in new if (item.component or "").endswith(component)]
        assert [item.capabilities for item in found if item.protocol == written.protocol] != []
    else:
        manifest = (project / "src/main/AndroidManifest.xml").read_text()
        assert written.component is not None
        assert f'"{written.component}"' in manifest
        assert capabilities_of(new) == capabilities_of(old)

    after = files_of(project)
    kept = {path: data for path, data in before.items() if not path.endswith("AndroidManifest.xml")}
    assert kept.items() <= after.items()
    again = migrate(provider, target, project)
    assert again.changes == ()
    again.write()
    assert files_of(project) == after


@pytest.mark.parametrize(("source", "into"), ACROSS)
def test_app_goes_into_another_apps_project(source: str, into: str, tmp_path: Path) -> None:
    project = copy_module(into, tmp_path)
    target = FORMAT_OF[into]
    if target.partition("+")[0] == FORMAT_OF[source].partition("+")[0]:
        target = "appfunctions+v2"
    check_migration(provider_of(source), target, project)


@pytest.mark.parametrize(("app", "target"), WITHIN)
def test_app_goes_into_its_own_project_in_another_protocol(app: str, target: str, tmp_path: Path) -> None:
    check_migration(provider_of(app), target, copy_module(app, tmp_path))


def test_one_project_takes_every_protocol(tmp_path: Path) -> None:
    project = copy_module("clock-in", tmp_path)
    provider = provider_of("clock-in")
    for target in ("mmcp+1.0", "mmcp+broadcast", "appfunctions+v2"):
        migrate(provider, target, project).write()
    expected = ["appfunctions", "mmcp", "mobile-mcp"]
    assert sorted(item.protocol for item in read_providers(project)) == expected
    for target in ("mmcp+1.0", "mmcp+broadcast", "appfunctions+v2"):
        assert migrate(provider, target, project).changes == ()


def test_what_the_author_filled_in_stays_and_the_rest_is_made_anew(tmp_path: Path) -> None:
    project = copy_module("pdf-tool", tmp_path)
    provider = provider_of("pdf-tool")
    migrate(provider, "mobile-mcp+1.0", project).write()
    folder = project / "src/main/java/dev/droidgate/sample/pdftool"
    author, calls = (
        folder / "MobileMcpToolServiceCapabilities.java",
        folder / "MobileMcpToolServiceCalls.java",
    )
    author.write_text("// mine\n")
    made = calls.read_text()
    calls.write_text(made + "// changed\n")
    migrate(provider, "mobile-mcp+1.0", project).write()
    assert author.read_text() == "// mine\n"
    assert calls.read_text() == made


def test_a_changed_source_changes_the_descriptor_it_made(tmp_path: Path) -> None:
    project = copy_module("pdf-tool", tmp_path)
    provider = provider_of("pdf-tool")
    migrate(provider, "mobile-mcp+1.0", project).write()
    fewer = provider.model_copy(update={"capabilities": provider.capabilities[:2]})
    migrate(fewer, "mobile-mcp+1.0", project).write()
    (found,) = read_providers(project, find_format("mobile-mcp")[0])
    assert [item.id for item in found.capabilities] == [item.id for item in provider.capabilities[:2]]


@pytest.mark.parametrize("app", MODULES)
@pytest.mark.parametrize("target", ["mobile-mcp+1.0", "mmcp+1.0", "mmcp+broadcast", "appfunctions+v2"])
def test_migrated_app_links_with_aapt2(app: str, target: str, tmp_path: Path) -> None:
    project = copy_module(app, tmp_path)
    if target.partition("+")[0] != FORMAT_OF[app].partition("+")[0]:
        migrate(provider_of(app), target, project).write()
    resource_classes(project / "src/main", tmp_path / "linked")


@pytest.mark.parametrize("app", ["clock-in", "notes"])
def test_migrated_app_compiles_with_its_own_classes(app: str, tmp_path: Path) -> None:
    project = copy_module(app, tmp_path)
    for target in ("mmcp+1.0", "mmcp+broadcast"):
        migrate(provider_of(app), target, project).write()
    main = project / "src/main"
    sources = [*(main / "java").rglob("*.java"), *resource_classes(main, tmp_path / "linked")]
    if app == "clock-in":
        sources += (sample_apps_directory() / "mobile-mcp").rglob("*.java")
    compile_java(sources, tmp_path / "classes", warnings=False)
