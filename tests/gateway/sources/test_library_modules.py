"""Trees with several modules: what is merged, what is read by itself, and what is reported."""

import tempfile
from pathlib import Path

import pytest
from hypothesis import given, strategies as st

from droidgate.sources import Providers
from droidgate.sources.build_layout import BUILD_STATEMENT_UNREAD, PROJECT_NOT_MERGED
from droidgate.sources.linting import check_reading
from droidgate.sources.manifest_merge import UNKNOWN_NAMESPACE
from gateway.sources.formats_of_tests import TOOLS, manifest, read, service, write_tree

APP = 'plugins { id("com.android.application") }\nandroid { namespace = "dev.app" }\n'
LIBRARY = 'plugins { id("com.android.library") }\nandroid { namespace = "dev.NAME" }\n'
LABEL = 'android:label="@string/label"'
CATALOG = """[plugins]
mine = "dev.mine:1"
lib = { id = "com.android.library" }
app = "com.android.application:8"
"""
Tree = dict[str, str | bytes]


pytestmark = pytest.mark.usefixtures("own_folder")


def module(name: str, *dependencies: str, build: str | None = None, strings: str | None = None) -> Tree:
    """Return a module with a service that points to an asset of its own."""
    declared = "".join(f"    {item}\n" for item in dependencies)
    head = APP if name == "app" else LIBRARY.replace("NAME", name)
    files: Tree = {
        f"{name}/build.gradle.kts": f"{build or head}dependencies {{\n{declared}}}\n",
        f"{name}/src/main/AndroidManifest.xml": manifest(
            service(
                f".{name.title()}", f'android:value="{name}.txt"', attributes='android:label="@string/label"'
            )
        ),
        f"{name}/src/main/assets/{name}.txt": f"tools {name}",
    }
    if strings is not None:
        files[f"{name}/src/main/res/values/s.xml"] = (
            f'<resources><string name="label">{strings}</string></resources>'
        )
    return files


def build(*parts: Tree, settings: str = 'include(":app", ":one", ":two", ":three")') -> Providers:
    files: Tree = {"settings.gradle.kts": settings}
    for part in parts:
        files |= part
    write_tree(Path("p"), files)
    return read("p")


def found(reading: Providers) -> list[tuple[str | None, str | None, list[str]]]:
    return [
        (provider.package, provider.component, [kept.id for kept in provider.capabilities])
        for provider in reading.providers
    ]


def labels(reading: Providers) -> dict[str, str | None]:
    return {item.name: item.label for app in reading.applications for item in app.of_kind("service")}


def reported(reading: Providers) -> list[tuple[str, str]]:
    return [(finding.code, str(finding.source)) for finding in reading.findings]


def dependency(path: str) -> str:
    return f'implementation(project(":{path}"))'


class TestApps:
    def test_an_app_has_the_components_of_its_libraries_and_they_are_not_repeated(self) -> None:
        reading = build(module("app", dependency("one")), module("one", dependency("two")), module("two"))
        assert found(reading) == [
            ("dev.app", ".App", ["app"]),
            ("dev.app", "dev.one.One", ["one"]),
            ("dev.app", "dev.two.Two", ["two"]),
        ]
        assert [str(item.place) for item in reading.applications] == ["p/app/src/main/AndroidManifest.xml"]
        assert [str(item.source) for item in reading.providers][1] == "p/one/src/main/assets/one.txt"
        assert (reading.findings, reading.problems) == ((), ())

    def test_a_string_of_a_library_leads_to_the_apps_before_its_own(self) -> None:
        reading = build(
            module("app", dependency("one"), dependency("two")),
            module("one", strings="One"),
            module("two", strings="Two"),
        )
        assert labels(reading) == dict.fromkeys((".App", "dev.one.One", "dev.two.Two"), "One")
        reading = build(module("app", dependency("one"), strings="App"), module("one", strings="One"))
        assert labels(reading) == {".App": "App", "dev.one.One": "App", ".Two": "Two"}

    def test_a_module_comes_before_those_that_it_depends_on(self) -> None:
        reading = build(
            module("app", dependency("two"), dependency("one")),
            module("one", dependency("two"), strings="One"),
            module("two", strings="Two"),
        )
        assert set(labels(reading).values()) == {"One"}

    def test_two_apps_have_a_library_each(self) -> None:
        reading = build(
            module("app", dependency("two")),
            module("one", dependency("two"), build=APP.replace("dev.app", "dev.one")),
            module("two"),
        )
        assert [(package, component) for package, component, _ in found(reading)] == [
            ("dev.app", ".App"),
            ("dev.app", "dev.two.Two"),
            ("dev.one", ".One"),
            ("dev.one", "dev.two.Two"),
        ]

    def test_a_library_without_a_manifest_gives_its_resources(self) -> None:
        item = module("one", strings="One")
        del item["one/src/main/AndroidManifest.xml"]
        reading = build(module("app", dependency("one")), item)
        assert labels(reading) == {".App": "One"}

    def test_a_type_safe_accessor_and_a_plugin_of_the_catalog_are_followed(self) -> None:
        reading = build(
            module("app", "implementation(projects.one)", build="plugins { alias(libs.plugins.app) }\n"),
            module("one", build="plugins { alias(libs.plugins.lib) }\nandroid { namespace = 'dev.one' }\n"),
            {"gradle/libs.versions.toml": CATALOG},
        )
        assert [component for _, component, _ in found(reading)] == [".App", "dev.one.One"]

    def test_what_the_android_source_set_of_a_multiplatform_library_has_is_merged(self) -> None:
        item = {
            path.replace("src/main", "src/androidMain"): content for path, content in module("one").items()
        }
        item["one/build.gradle.kts"] = (
            'plugins { id("com.android.kotlin.multiplatform.library") }\n'
            'kotlin { android { namespace = "dev.one" }\nsourceSets { '
            'commonMain.dependencies { implementation(project(":two")) } } }\n'
        )
        reading = build(module("app", dependency("one")), item, module("two"))
        assert [component for _, component, _ in found(reading)] == [".App", "dev.one.One", "dev.two.Two"]

    def test_a_build_type_of_a_library_is_still_read(self) -> None:
        debug = manifest(service(".Debug", 'android:value="one.txt"'))
        item = {**module("one"), "one/src/debug/AndroidManifest.xml": debug}
        reading = build(module("app", dependency("one")), item)
        assert [(package, component) for package, component, _ in found(reading)] == [
            ("dev.app", ".App"),
            ("dev.app", "dev.one.One"),
            (None, ".Debug"),
        ]

    def test_a_build_type_of_the_app_changes_what_a_library_has(self) -> None:
        debug = manifest('<service android:name="dev.one.One" android:label="Debug"/>')
        app = {**module("app", dependency("one")), "app/src/debug/AndroidManifest.xml": debug}
        reading = build(app, module("one"))
        assert found(reading)[2] == ("dev.app", "dev.one.One", ["one"])

    def test_a_descriptor_of_a_library_that_nothing_points_to_is_reported_once(self) -> None:
        item = {**module("one"), "one/src/main/assets/loose.json": "tools loose"}
        reading = build(module("app", dependency("one")), item)
        assert [(code, place) for code, place in reported(reading)] == [
            ("unreferenced-descriptor", "p/one/src/main/assets/loose.json")
        ]


class TestLibraries:
    def test_a_library_without_an_app_is_read_by_itself_with_the_resources_of_those_it_needs(self) -> None:
        reading = build(module("one", dependency("two")), module("two", strings="Two"))
        assert found(reading) == [(None, ".One", ["one"]), (None, ".Two", ["two"])]
        assert labels(reading) == {".One": "Two", ".Two": "Two"}

    def test_a_feature_is_read_by_itself(self) -> None:
        feature = 'plugins { id("com.android.dynamic-feature") }\nandroid { namespace = "dev.one" }\n'
        reading = build(module("app", strings="App"), module("one", dependency("app"), build=feature))
        assert [component for _, component, _ in found(reading)] == [".App", ".One"]
        assert labels(reading)[".One"] == "App"

    def test_a_library_that_only_one_variant_has_is_read_by_itself_and_reported(self) -> None:
        reading = build(module("app", 'debugImplementation(project(":one"))'), module("one"))
        assert [component for _, component, _ in found(reading)] == [".App", ".One"]
        assert reported(reading) == [(PROJECT_NOT_MERGED, "p/app/build.gradle.kts:4")]
        assert "only the variant debug has it" in reading.findings[0].message


class TestReports:
    def test_a_cycle_is_reported_at_its_line(self) -> None:
        reading = build(
            module("app", dependency("one")),
            module("one", dependency("two")),
            module("two", dependency("one")),
        )
        assert [component for _, component, _ in found(reading)] == [".App", "dev.one.One", "dev.two.Two"]
        assert reported(reading) == [(PROJECT_NOT_MERGED, "p/two/build.gradle.kts:4")]

    @pytest.mark.parametrize(("statement", "code", "words"), [
        (dependency("four"), PROJECT_NOT_MERGED, "does not include it"),
        (dependency("three"), PROJECT_NOT_MERGED, "has no build file and no manifest"),
        ("implementation(projects.four)", PROJECT_NOT_MERGED, "projects.four"),
        ("implementation(project(name))", BUILD_STATEMENT_UNREAD, "implementation(project(name))"),
    ])  # fmt: skip
    def test_a_missing_module_is_reported_at_its_line(self, statement: str, code: str, words: str) -> None:
        reading = build(module("app", statement))
        assert reported(reading) == [(code, "p/app/build.gradle.kts:4")]
        assert words in reading.findings[0].message

    def test_a_module_outside_of_the_folder_is_reported_and_not_read(self) -> None:
        write_tree(Path(), module("outside"))
        settings = 'include(":app", ":one")\nproject(":one").projectDir = file("../outside")'
        reading = build(module("app", dependency("one")), settings=settings)
        assert [component for _, component, _ in found(reading)] == [".App"]
        assert reported(reading) == [(PROJECT_NOT_MERGED, "p/app/build.gradle.kts:4")]

    def test_an_app_module_that_is_named_alone_says_which_folder_to_name(self) -> None:
        build(module("app", dependency("one"), dependency("two")), module("one"), module("two"))
        reading = read("p/app")
        (finding,) = reading.findings
        assert (finding.code, str(finding.source)) == (PROJECT_NOT_MERGED, "p/app/build.gradle.kts:4")
        assert ":one, :two" in finding.message
        assert finding.hint == "name the folder that holds the whole project"

    def test_settings_that_only_a_build_knows_are_reported(self) -> None:
        settings = 'include(":app")\nfile("features").list().forEach { include(":$it") }'
        reading = build(module("app", dependency("one")), module("one"), settings=settings)
        assert reported(reading) == [
            (PROJECT_NOT_MERGED, "p/app/build.gradle.kts:4"),
            (BUILD_STATEMENT_UNREAD, "p/settings.gradle.kts:2"),
        ]
        assert (reading.findings[0].hint or "").startswith("p/settings.gradle.kts:2 may include it")
        assert [component for _, component, _ in found(reading)] == [".App", ".One"]

    def test_a_conflict_of_manifests_names_both_files(self) -> None:
        app = module("app", dependency("one"))
        app["app/src/main/AndroidManifest.xml"] = manifest(
            '<service android:name="dev.one.One" android:label="x"/>'
        )
        reading = build(app, module("one", strings="One"))
        (finding,) = reading.findings
        assert str(finding.source) == "p/app/src/main/AndroidManifest.xml:3"
        assert "p/one/src/main/AndroidManifest.xml:3" in finding.message


def test_a_link_to_a_module_elsewhere_is_not_followed() -> None:
    write_tree(Path(), module("one"))
    Path("p").mkdir()
    Path("p/one").symlink_to("../one")
    reading = build(module("app", dependency("one")))
    assert [component for _, component, _ in found(reading)] == [".App"]
    assert reported(reading) == [(PROJECT_NOT_MERGED, "p/app/build.gradle.kts:4")]


@pytest.mark.slow
def test_a_long_chain_of_modules_is_followed_without_recursion() -> None:
    count = 1500
    parts = [module("app", dependency("m0"))]
    for number in range(count):
        gradle = (
            LIBRARY.replace("NAME", f"m{number}") + f"dependencies {{ {dependency(f'm{number + 1}')} }}\n"
        )
        parts.append({f"m{number}/build.gradle.kts": gradle})
    parts.append(module(f"m{count}"))
    settings = "".join(f'include(":m{number}")\n' for number in range(count + 1)) + 'include(":app")'
    reading = build(*parts, settings=settings)
    assert found(reading)[1] == ("dev.app", f"dev.m{count}.M{count}", [f"m{count}"])


def test_dependencies_without_end_are_a_finding(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("droidgate.sources.build_layout.MAX_STEPS", 1)
    reading = build(module("app", dependency("one"), dependency("two")), module("one"), module("two"))
    assert "more than 1 dependencies" in reading.findings[0].message


def test_files_of_a_library_are_checked_with_the_app_that_has_it() -> None:
    reading = build(module("app", dependency("one")), module("one", strings="One"))
    asked: list[str] = []
    list(check_reading(reading, [TOOLS], asked.append))
    assert asked == []


def test_a_module_of_a_convention_plugin_is_a_library_where_the_build_has_an_app() -> None:
    convention = 'plugins { id("dev.feature") }\nandroid { namespace = "dev.two" }\n'
    parts = (module("one"), module("two", dependency("one"), build=convention))
    reading = build(*parts)
    assert [component for _, component, _ in found(reading)] == [".Two", "dev.one.One"]
    reading = build(module("app", dependency("one")), *parts)
    assert [component for _, component, _ in found(reading)] == [".App", "dev.one.One", ".Two"]


@given(
    st.lists(
        st.sampled_from(
            [
                *('include(":app")', 'include(":one", ":two")', 'project(":one").projectDir = file("..")'),
                *('project(":two").projectDir = file("/etc")', "include(", "{", "}", '"', "\n", "$", ":one"),
                *("dependencies {", dependency("one"), dependency("app"), dependency(""), "projects.", "/*"),
            ]
        ),
        max_size=12,
    )
)
def test_any_build_files_are_read_or_reported(pieces: list[str]) -> None:
    text = "\n".join(pieces)
    with tempfile.TemporaryDirectory() as folder:
        files: Tree = {"settings.gradle": text, "app/build.gradle": APP + text, "one/build.gradle": text}
        for name in ("app", "one"):
            files |= {path: data for path, data in module(name).items() if not path.endswith(".kts")}
        write_tree(Path(folder), files)
        reading = read(folder)
    assert ".App" in [item.component for item in reading.providers]
    codes = {item.code for item in reading.findings}
    assert codes <= {PROJECT_NOT_MERGED, BUILD_STATEMENT_UNREAD, UNKNOWN_NAMESPACE}
    assert reading.problems == ()
