"""Projects and project dependencies of Gradle builds, in the forms that Gradle's user guide shows."""

import pytest
from hypothesis import given, strategies as st

from counted_work import check_linear
from droidgate_android.projects.gradle_projects import ProjectDependency, read_dependencies, read_settings
from droidgate_android.projects.gradle_text import MAX_CHARACTERS, read_gradle
from droidgate_android.projects.version_catalog import read_version_catalog

SETTINGS = """
rootProject.name = "sample"
include(":app", ":core:data-store")
include ':old',
    ':older'
include("plain")
includeBuild("build-logic")
project(":old").projectDir = file("legacy/old")
project(':older').projectDir = new File(rootDir, '../older')
dependencyResolutionManagement { repositories { google { content { includeGroup("a.b") } } } }
"""


def test_included_projects_have_their_folders() -> None:
    settings = read_settings(SETTINGS)
    assert settings.folders == {
        ":app": "app",
        ":core": "core",
        ":core:data-store": "core/data-store",
        ":old": "legacy/old",
        ":older": "../older",
        ":plain": "plain",
    }
    assert settings.unread == ()


@pytest.mark.parametrize(("path", "accessor", "folder"), [
    (":old", None, "legacy/old"),
    ("old", None, "legacy/old"),
    (None, "core.dataStore", "core/data-store"),
    (None, "app", "app"),
    (":missing", None, None),
    (None, "core.other", None),
])  # fmt: skip
def test_a_dependency_finds_its_project(path: str | None, accessor: str | None, folder: str | None) -> None:
    assert read_settings(SETTINGS).find(ProjectDependency(path, accessor, "", 1)) == folder


@pytest.mark.parametrize("statement", [
    'listOf("a").forEach { include(":feature:$it") }',
    "file('libs').listFiles().each { d -> include \":libs:${d.name}\" }", "include(*modules)",
    "includeFlat 'sibling'", 'if (flag) { include(":x") }', 'project(":x").projectDir = dir',
])  # fmt: skip
def test_what_only_a_build_knows_of_settings_is_reported_with_its_line(statement: str) -> None:
    settings = read_settings(f"\n{statement}\n")
    assert settings.folders == {}
    assert [item.line for item in settings.unread] == [2]


@pytest.mark.parametrize(("statement", "expected"), [
    ('implementation(project(":a"))', [":a"]),
    ("api project(':a')", [":a"]),
    ("implementation project(path: ':a', configuration: 'default')", [":a"]),
    ('implementation(project(path = ":a")) { exclude(group = "x") }', [":a"]),
    ('implementation(project(":a"), project(":b"))', [":a", ":b"]),
    ('"implementation"(project(":a"))', [":a"]),
    ('add("implementation", project(":a"))', [":a"]),
    ("implementation(projects.core.data)", ["core.data"]),
    ('debugImplementation(project(":a"))', [":a debug"]),
    ('androidMainImplementation(project(":a"))', [":a"]),
    ('runtimeOnly(project(":a"))', [":a"]),
    ('compile project(":a")', [":a"]),
    ('testImplementation(project(":a"))', []),
    ('androidTestImplementation(project(":a"))', []),
    ('compileOnly(project(":a"))', []),
    ('ksp(project(":a"))', []),
    ('implementation(platform(project(":a")))', []),
    ('implementation(testFixtures(project(":a")))', []),
    ('implementation("group:projects.name:1")', []),
    ("implementation fileTree(dir: 'libs')", []),
])  # fmt: skip
def test_the_dependencies_that_go_into_an_app_are_read(statement: str, expected: list[str]) -> None:
    found = read_dependencies(f"dependencies {{\n{statement}\n}}")
    assert found.unread == ()
    assert [
        f"{project.path or project.accessor} {project.variant}".strip() for project in found.projects
    ] == expected
    assert all(project.line == 2 for project in found.projects)


@pytest.mark.parametrize("statement", [
    "implementation(project(name))", 'implementation(project(":f:$n"))',
    'listOf(":x").forEach { implementation(project(it)) }', 'if (flag) { implementation(project(":x")) }',
    'if (flag) implementation(project(":x"))', 'implementation(flag ? project(":x") : project(other))',
])  # fmt: skip
def test_what_only_a_build_knows_of_dependencies_is_reported_with_its_line(statement: str) -> None:
    found = read_dependencies(f"dependencies {{\n{statement}\n}}")
    assert found.projects == ()
    assert [item.line for item in found.unread] == [2]


@pytest.mark.parametrize(("header", "expected", "unread"), [
    ("commonMain.dependencies", [":a"], 0),
    ("androidMain { dependencies", [":a"], 0),
    ("val androidMain by getting { dependencies", [":a"], 0),
    ("val iosMain by getting { dependencies", [], 0),
    ('getByName("desktopMain") { dependencies', [], 0),
    ("commonTest.dependencies", [], 0),
    ("androidUnitTest { dependencies", [], 0),
    ('getByName("mobileMain") { dependencies', [], 1),
])  # fmt: skip
def test_of_a_multiplatform_module_what_android_has_is_read(
    header: str, expected: list[str], unread: int
) -> None:
    text = f'kotlin {{ sourceSets {{ {header} {{ implementation(project(":a")) }} }} }}'
    found = read_dependencies(text)
    assert ([project.path for project in found.projects], len(found.unread)) == (expected, unread)


@given(st.text(alphabet="{}()[]\"'/*\\\n;=$ +,.:projectincludm\t", max_size=200))
def test_any_text_is_read_or_left(text: str) -> None:
    read_settings(text)
    read_dependencies(f"dependencies {{ {text}")
    read_version_catalog(text)


@pytest.mark.slow
@pytest.mark.parametrize("unit", [
    "include(", 'include(":a"),', '"a",', "project(", 'project(":a"),', "projects.a.", "a{", "if ", "add ( ",
    f'include("a"{" " * 8000}x)\n',
    f"include x{' ' * 8000}x\n",
])  # fmt: skip
@pytest.mark.parametrize("prefix", ["", "include ", "dependencies { implementation(", "dependencies { "])
def test_work_grows_with_the_length_alone(unit: str, prefix: str) -> None:
    def read(length: int) -> None:
        text = prefix + unit * (length // len(unit))
        read_settings(text)
        read_dependencies(text)

    check_linear(read, MAX_CHARACTERS // 8)


CATALOG = """
[versions]
minSdk = "26"
app-id = "dev.example.app"
range = { strictly = "1" }
[plugins]
android-application = { id = "com.android.application", version.ref = "agp" }
my-app = "dev.example.convention:1.0"
android_lib = { id = "com.android.library", version = "8" }
"""


def test_a_catalog_says_plugins_and_versions() -> None:
    catalog = read_version_catalog(CATALOG)
    app = read_gradle(
        "plugins { alias(libs.plugins.android.application) }\n"
        "android { defaultConfig { applicationId = libs.versions.app.id.get()\n"
        "minSdk = libs.versions.minSdk.get().toInt() } }",
        catalog,
    )
    assert (app.is_application, app.is_library) == (True, False)
    assert (app.application_id(), app.minimum_sdk) == ("dev.example.app", 26)
    library = read_gradle("plugins { alias(libs.plugins.android.lib) }", catalog)
    assert (library.is_application, library.is_library) == (False, True)
    assert catalog.plugins["my.app"] == "dev.example.convention"


@pytest.mark.parametrize(
    "text", ["[", "a = ", "x = " + "[" * 900, "[versions]\na." + "a." * 600 + "a = 1", "versions = 1", "\x00"]
)
def test_a_catalog_that_cannot_be_read_defines_nothing(text: str) -> None:
    assert read_version_catalog(text).versions == {}


def test_a_plugin_that_is_not_applied_does_not_decide_what_a_module_is() -> None:
    text = 'plugins { id("com.android.library") apply false\nid("com.android.application") }'
    gradle = read_gradle(text)
    assert (gradle.is_application, gradle.is_library) == (True, False)
