"""Files, standard input, projects and folders, with the tests' own format."""

import gc
import io
import json
import os
import shutil
import subprocess
import tarfile
import tempfile
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, strategies as st

from droidgate.cli.output.json_output import json_value
from droidgate.sources import Providers, folder_files, packed_folders, read_source
from droidgate.sources.build_layout import (
    APPLICATION_ID_UNKNOWN,
    BUILD_STATEMENT_UNREAD,
    PROJECT_NOT_MERGED,
)
from droidgate.sources.file_reader import UNREFERENCED_DESCRIPTOR
from droidgate.sources.linting import check_reading
from droidgate_android.projects.manifest_merge import UNKNOWN_NAMESPACE
from droidgate_mappings.formats.format import find_format
from droidgate_mappings.model.capability import Capability, Place, Provider
from droidgate_mappings.model.errors import BudgetError, InputError, UsageError
from droidgate_mappings.model.findings import Level
from droidgate_mappings.translate import translate
from gateway.sources.formats_of_tests import TOOLS, manifest, read, service, write_tree
from requirements_of_tests import CHECKOUT
from titled_rows import titled

GRADLE = """plugins { id("com.android.application") }
android { namespace = "dev.ns"; defaultConfig { applicationId = "dev.app" } }
"""


pytestmark = pytest.mark.usefixtures("own_folder")


def project(folder: str, files: dict[str, str | bytes] | None = None) -> Path:
    """Write an app whose service points to an asset."""
    standard: dict[str, str | bytes] = {
        "settings.gradle.kts": 'include(":app")',
        "app/build.gradle.kts": GRADLE,
        "app/src/main/AndroidManifest.xml": manifest(service(".S", 'android:value="t.txt"')),
        "app/src/main/assets/t.txt": "tools one two",
    }
    return write_tree(Path(folder), {**standard, **(files or {})})


def found(written: str | Path) -> list[tuple[str | None, str | None, list[str], str]]:
    return [
        (item.package, item.component, [each.id for each in item.capabilities], str(item.source))
        for item in read(written).providers
    ]


class TestNamedFiles:
    def test_a_manifest_on_standard_input_is_an_application(self) -> None:
        stdin = io.BytesIO(manifest("", attributes='package="a.b"').encode())
        reading = read_source("-", formats=[TOOLS], stdin=stdin)
        assert [(application.package, str(application.place)) for application in reading.applications] == [
            ("a.b", "-")
        ]

    def test_a_manifest_is_found_from_inside_its_folder(self, monkeypatch: pytest.MonkeyPatch) -> None:
        project("p")
        monkeypatch.chdir("p/app/src/main")
        assert found("AndroidManifest.xml") == [("dev.app", "dev.ns.S", ["one", "two"], "assets/t.txt")]

    def test_the_manifest_of_a_build_type_uses_the_resources_of_main(self) -> None:
        debug = manifest(service(".D", 'android:resource="@raw/d"'))
        project("p", {"app/src/debug/AndroidManifest.xml": debug, "app/src/main/res/raw/d.txt": "tools d"})
        (provider,) = read("p/app/src/debug/AndroidManifest.xml").providers
        assert (provider.component, provider.capabilities[0].id) == ("dev.ns.D", "d")

    @pytest.mark.parametrize(("name", "content", "message"), [
        ("x.txt", b"nothing known", "no known format claims this file"),
        ("x.bin", bytes(range(256)), "no known format claims this file"),
        ("empty", b"", "the file is empty"),
        ("blank.json", b"\xef\xbb\xbf \r\n", "the file is empty"),
        ("open.json", b'{"tools": [', "not JSON: expecting value"),
        ("deep.json", b"[" * 100_000, "nested more than"),
        ("open.xml", b"<a><b></a>", "not well-formed XML"),
        ("entity.xml", b'<!DOCTYPE a [<!ENTITY x SYSTEM "file:///etc/passwd">]><a>&x;</a>', "DOCTYPE"),
        ("wide.xml", "<!DOCTYPE a><a/>".encode("utf-16"), "DOCTYPE"),
        ("wide.json", '{"tools": []}'.encode("utf-16"), "no known format claims this file"),
        ("whole.json", b'{"tools": []}', "no known format claims this file"),
        ("whole.xml", b"<resources/>", "no known format claims this file"),
        ("app.apk", b"", "it is not an APK"),
        ("app.APKS", b"x", "it is not an APK"),
        ("renamed.bin", b"PK\x03\x04rest", "it is not an APK"),
        ("app.aab", b"PK\x03\x04rest", "an app bundle is not read"),
        ("library.AAR", b"", "a library is not read"),
        ("compiled.xml", b"\x03\x00\x08\x00rest", "the compiled XML has no element"),
        ("AndroidManifest.xml", b"<manifest", "not well-formed XML"),
        ("x.tools", b"toolbox", "a tools file begins with the word tools"),
    ], ids=lambda value: str(value)[:40])  # fmt: skip
    def test_an_unreadable_file_fails_with_its_path(self, name: str, content: bytes, message: str) -> None:
        write_tree(Path(), {name: content})
        with pytest.raises(InputError) as caught:
            read(name)
        assert message in caught.value.message
        assert (caught.value.place or "").startswith(name)

    def test_the_error_about_an_unknown_file_lists_the_formats(self) -> None:
        write_tree(Path(), {"x": "?"})
        with pytest.raises(InputError) as caught:
            read("x")
        assert caught.value.hint == "it was to be read as Tools of the tests (tools) only"

    @pytest.mark.parametrize(("written", "message"), [
        ("missing", "cannot be read: No such file or directory"),
        ("missing/x.xml", "cannot be read: No such file or directory"),
        ("missing.zip", "cannot be read: No such file or directory"),
        ("missing.tar.gz", "cannot be read: No such file or directory"),
        ("a\0b", "cannot be read: embedded null"),
        ("x" * 5000, "cannot be read: File name too long"),
        ("", "the path is empty"),
    ], ids=lambda value: str(value)[:40])  # fmt: skip
    def test_a_missing_source_is_an_error(self, written: str, message: str) -> None:
        with pytest.raises(InputError, match=message):
            read(written)

    @pytest.mark.parametrize("name", ["pipe.xml", "pipe.zip"])
    def test_a_pipe_is_not_waited_for(self, name: str) -> None:
        os.mkfifo(name)
        with pytest.raises(InputError, match="not a regular file"):
            read(name)

    def test_files_beyond_the_budget_are_refused(self) -> None:
        with Path("big").open("wb") as file:
            file.truncate(17 * 1024 * 1024)
        with pytest.raises(BudgetError):
            read("big")
        with pytest.raises(BudgetError), Path("/dev/zero").open("rb") as endless:
            read_source("-", formats=[TOOLS], stdin=endless)

    @pytest.mark.row("S81")
    def test_leniencies_are_reported_and_refused_when_strict(self) -> None:
        android = 'xmlns:android="http://schemas.android.com/apk/res/android"'
        write_tree(Path(), {"x.xml": f'<service {android} android:name=".S"/>'})
        assert [finding.rule for finding in read("x.xml").findings] == ["S81"]
        with pytest.raises(InputError):
            read("x.xml", strict=True)


class TestProjects:
    def test_a_project_is_read_with_paths_as_the_user_writes_them(self) -> None:
        project("p")
        expected = ("dev.app", "dev.ns.S", ["one", "two"])
        for written, prefix in (
            ("p", "p/"),
            ("p/", "p/"),
            ("./p", "./p/"),
            ("p/app", "p/app/"),
            (Path("p").absolute(), f"{Path('p').absolute()}/"),
        ):
            rest = "src/main/assets/t.txt" if str(written) == "p/app" else "app/src/main/assets/t.txt"
            assert found(written) == [(*expected, prefix + rest)]

    def test_a_build_type_adds_to_main(self) -> None:
        gradle = GRADLE.replace(
            "defaultConfig", 'buildTypes { debug { applicationIdSuffix = ".debug" } }; defaultConfig'
        )
        tools = "tools:node"
        project(
            "p",
            {
                "app/build.gradle.kts": gradle,
                "app/src/debug/AndroidManifest.xml": manifest(
                    service(".D", 'android:resource="@raw/d"')
                    + '<service android:name=".S" android:exported="true"/>'
                    + f'<service android:name=".Gone" {tools}="remove"/>'
                ),
                "app/src/debug/assets/t.txt": "tools changed",
                "app/src/debug/res/raw/d.txt": "tools overlay",
                "app/src/main/res/raw/d.txt": "tools below",
                "app/src/androidTest/AndroidManifest.xml": manifest(service(".T", 'android:value="t.txt"')),
                "app/src/testDebug/AndroidManifest.xml": manifest(service(".T", 'android:value="t.txt"')),
                "app/src/tester/AndroidManifest.xml": manifest(service(".Flavour", 'android:value="t.txt"')),
            },
        )
        assert found("p") == [
            ("dev.app", "dev.ns.S", ["one", "two"], "p/app/src/main/assets/t.txt"),
            ("dev.app.debug", "dev.ns.D", ["overlay"], "p/app/src/debug/res/raw/d.txt"),
            ("dev.app.debug", "dev.ns.S", ["changed"], "p/app/src/debug/assets/t.txt"),
        ]
        ((name, other),) = read("p").other_variants
        assert (name, [item.component for item in other]) == ("tester", ["dev.ns.Flavour"])

    def test_a_module_with_tests_only_is_read_too(self) -> None:
        files: dict[str, str | bytes] = {
            "m/src/androidTest/AndroidManifest.xml": manifest(service(".T", 'android:value="t.txt"')),
            "m/src/androidTest/assets/t.txt": "tools t",
        }
        write_tree(Path("p"), files)
        assert [item[1] for item in found("p")] == [".T"]

    def test_a_descriptor_that_no_component_points_to_is_read_and_reported(self) -> None:
        project(
            "p",
            {
                "app/src/main/assets/merged.json": "tools merged",
                "app/src/main/res/xml/rules.xml": "<rules/>",
                "app/src/main/res/raw/t.json": "tools stale copy of assets/t.txt",
            },
        )
        reading = read("p")
        assert [(provider.component, str(provider.source)) for provider in reading.providers] == [
            ("dev.ns.S", "p/app/src/main/assets/t.txt"),
            (None, "p/app/src/main/assets/merged.json:1"),
        ]
        (finding,) = reading.findings
        assert (finding.code, finding.level) == (UNREFERENCED_DESCRIPTOR, Level.NOTE)
        assert str(finding.source) == "p/app/src/main/assets/merged.json"
        assert "merged.json" in finding.message
        assert reading.applications[0].loose_assets == ("merged.json", "@raw/t", "@xml/rules")

    def test_generated_folders_are_not_read(self) -> None:
        wrong = manifest(service(".W", 'android:value="t.txt"'))
        skipped = ("build", "app/build/intermediates", ".git", ".gradle/x", "node_modules/y")
        project("p", {f"{folder}/src/main/AndroidManifest.xml": wrong for folder in skipped})
        assert [item[1] for item in found("p")] == ["dev.ns.S"]

    def test_links_that_lead_round_in_circles_are_not_followed(self) -> None:
        project("p")
        for link, target in (
            ("p/app/up", ".."),
            ("p/self.xml", "self.xml"),
            ("p/app/src/main/assets/again", "."),
            ("p/app/src/main/res", "res"),
            ("p/app/src/main/assets/broken.json", "nowhere"),
        ):
            Path(link).symlink_to(target)
        assert [item[1] for item in found("p")] == ["dev.ns.S"]

    @pytest.mark.parametrize("name", ["assets", "res"])
    def test_a_folder_that_a_link_leads_out_of_the_project_is_not_listed(self, name: str) -> None:
        project("p")
        write_tree(Path("outside"), {"x.json": "tools x", "xml/y.xml": "tools y"})
        shutil.rmtree(Path("p/app/src/main") / name, ignore_errors=True)
        (Path("p/app/src/main") / name).symlink_to(Path("outside").absolute())
        reading = read("p")
        assert (f"p/app/src/main/{name}", "a link leads out of the project") in [
            (problem.place, problem.message) for problem in reading.problems
        ]
        assert all("x.json" not in str(item) for item in (*reading.problems, *reading.findings))
        assert all(f"main/{name}/" not in path for path in reading.files_read)

    def test_a_source_set_of_endless_assets_ends_at_a_budget(self, monkeypatch: pytest.MonkeyPatch) -> None:
        project("p")
        write_tree(Path("p"), {f"app/src/main/assets/deep{n}/f{n}.txt": "" for n in range(20)})
        monkeypatch.setattr(folder_files, "MAX_ENTRIES", 10)
        places = [problem.place for problem in read("p").problems if isinstance(problem, BudgetError)]
        assert places == ["p/app/src/main"]

    def test_a_file_that_a_link_leads_out_of_the_project_is_reported_once(self) -> None:
        project("p")
        write_tree(Path("outside"), {"x.json": "tools x"})
        Path("p/app/src/main/assets").mkdir(exist_ok=True)
        Path("p/app/src/main/assets/x.json").symlink_to(Path("outside/x.json").absolute())
        reading = read("p")
        [problem] = reading.problems
        place = "p/app/src/main/assets/x.json"
        assert (problem.place, problem.message) == (place, "a link leads out of the project")
        assert all("x.json" not in finding.message for finding in reading.findings)


class TestFolders:
    def test_projects_and_loose_descriptors_are_read_together(self) -> None:
        project("all/one")
        project("all/two")
        write_tree(
            Path("all"),
            {
                "z.json": "tools z",
                "deep/er/y.xml": "tools y",
                "package.json": "{}",
                "notes.txt": "tools not looked at",
                "old@1.xml": manifest("", attributes='package="dev.old"'),
            },
        )
        reading = read("all")
        assert [(item.package, str(item.source)) for item in reading.providers] == [
            ("dev.app", "all/one/app/src/main/assets/t.txt"),
            ("dev.app", "all/two/app/src/main/assets/t.txt"),
            (None, "all/deep/er/y.xml:1"),
            (None, "all/z.json:1"),
        ]
        assert [item.package for item in reading.applications] == ["dev.app", "dev.app", "dev.old"]
        assert "all/package.json" not in reading.files_read
        assert len(reading.files_read) == len(set(reading.files_read))

    def test_one_bad_file_is_one_problem(self) -> None:
        project("all/good")
        project("all/bad", {"app/src/main/AndroidManifest.xml": "<manifest><application>"})
        project("all/empty", {"app/src/main/assets/t.txt": "wrong words"})
        project(
            "all/values",
            {
                "app/src/main/res/values/s.xml": "<resources",
                "app/src/debug/AndroidManifest.xml": manifest('<service android:name="@string/s"/>'),
            },
        )
        write_tree(Path("all"), {"loose.json": "toolbox"})
        reading = read("all")
        assert [str(item.source) for item in reading.providers] == [
            "all/good/app/src/main/assets/t.txt",
            "all/values/app/src/main/assets/t.txt",
        ]
        assert [(item.place or "").partition(":")[0] for item in reading.problems] == [
            "all/bad/app/src/main/AndroidManifest.xml",
            "all/empty/app/src/main/assets/t.txt",
            "all/values/app/src/main/res/values/s.xml",
            "all/loose.json",
        ]

    def test_files_beyond_the_budget_are_skipped_or_reported(self) -> None:
        project("p", {"big.json": "tools big", "app/src/main/assets/big.json": "tools big"})
        for name in ("p/big.json", "p/app/src/main/assets/big.json"):
            os.truncate(name, 17 * 1024 * 1024)
        reading = read("p")
        assert len(reading.providers) == 1
        assert reading.problems == ()

    @pytest.mark.parametrize(
        "content", [{}, {"a/readme.txt": "x", "b.json": "{}"}], ids=["an empty folder", "files of no format"]
    )
    def test_a_folder_without_anything_of_interest_is_an_error(self, content: dict[str, str | bytes]) -> None:
        Path("void").mkdir()
        write_tree(Path("void"), content)
        with pytest.raises(InputError, match="no Android project and no descriptor"):
            read("void")

    def test_a_folder_that_vanishes_is_reported(self, monkeypatch: pytest.MonkeyPatch) -> None:
        project("p")
        Path("p/gone").mkdir()
        original = os.scandir

        def scan(path: str) -> object:
            if path.endswith("gone"):
                raise FileNotFoundError(2, "No such file or directory")
            return original(path)

        monkeypatch.setattr(os, "scandir", scan)
        (problem,) = read("p").problems
        assert str(problem) == "p/gone: cannot be listed: No such file or directory"


def test_a_descriptor_next_to_the_manifest_that_declares_it_too_is_counted_once(tmp_path: Path) -> None:
    out = tmp_path / "out"
    sample = CHECKOUT / "device_shim" / "apps" / "pdf-tool"
    (provider,) = read_source(str(sample)).providers
    target, dialect = find_format("mmcp")
    (translation,) = translate([provider], target, dialect)
    for artifact in translation.writing.artifacts:
        file = out / artifact.path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(artifact.text, encoding="utf-8")
    reading = read_source(str(out))
    assert [item.component for item in reading.providers] == [provider.component]
    assert "repeated-declaration" in {item.code for item in reading.findings}


# Trees with several modules: what is merged, what is read by itself, and what is reported


APP = 'plugins { id("com.android.application") }\nandroid { namespace = "dev.app" }\n'
LIBRARY = 'plugins { id("com.android.library") }\nandroid { namespace = "dev.NAME" }\n'
CATALOG = """[plugins]
mine = "dev.mine:1"
lib = { id = "com.android.library" }
app = "com.android.application:8"
"""
Tree = dict[str, str | bytes]


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


def build(*parts: Tree) -> Providers:
    files: Tree = {"settings.gradle.kts": 'include(":app", ":one", ":two", ":three")'}
    for part in parts:
        files |= part
    write_tree(Path("p"), files)
    return read("p")


def components(reading: Providers) -> list[str]:
    """Return `PACKAGE/COMPONENT CAPABILITY` of each provider, without a slash if it has no package."""
    return [
        f"{f'{item.package}/' * bool(item.package)}{item.component} {item.capabilities[0].id}"
        for item in reading.providers
    ]


def labels(reading: Providers) -> dict[str, str | None]:
    return {item.name: item.label for app in reading.applications for item in app.of_kind("service")}


def reported(reading: Providers) -> list[tuple[str, str]]:
    return [(finding.code, str(finding.source)) for finding in reading.findings]


def dependency(path: str) -> str:
    return f'implementation(project(":{path}"))'


def moved(tree: Tree, old: str, new: str) -> Tree:
    return {path.replace(old, new): content for path, content in tree.items()}


OTHER_APP = APP.replace("dev.app", "dev.one")
FEATURE = 'plugins { id("com.android.dynamic-feature") }\nandroid { namespace = "dev.one" }\n'
CONVENTION = 'plugins { id("dev.feature") }\nandroid { namespace = "dev.two" }\n'
MULTIPLATFORM = (
    'plugins { id("com.android.kotlin.multiplatform.library") }\n'
    'kotlin { android { namespace = "dev.one" }\nsourceSets { '
    'commonMain.dependencies { implementation(project(":two")) } } }\n'
)
WITHOUT_ANDROID_PLUGIN = "plugins { alias(libs.plugins.lib) }\nandroid { namespace = 'dev.one' }\n"
ONE_IN_APP, ONE_APART = ["dev.app/.App app", "dev.app/dev.one.One one"], ["dev.app/.App app", ".One one"]
TWO_IN_APP = [*ONE_IN_APP, "dev.app/dev.two.Two two"]
APP_OF_ONE = module("app", dependency("one"))
IN_APP = "p/app/build.gradle.kts:4"
MAIN, DEBUG = "src/main/AndroidManifest.xml", "src/debug/AndroidManifest.xml"
STRINGS = "one/src/main/res/values/s.xml"

# The parts of a build, what is read of it, code and place of each finding, and words of the first one.
BUILDS: dict[str, tuple[list[Tree], list[str], list[tuple[str, str]], str]] = {
    "an app has the components of its libraries, which are not repeated":
        ([APP_OF_ONE, module("one", dependency("two")), module("two")], TWO_IN_APP, [], ""),
    "two apps have a library each": (
        [module("app", dependency("two")), module("one", dependency("two"), build=OTHER_APP), module("two")],
        ["dev.app/.App app", "dev.app/dev.two.Two two", "dev.one/.One one", "dev.one/dev.two.Two two"],
        [], ""),
    "a type-safe accessor and plugins of the catalog": (
        [module("app", "implementation(projects.one)", build="plugins { alias(libs.plugins.app) }\n"),
         module("one", build=WITHOUT_ANDROID_PLUGIN), {"gradle/libs.versions.toml": CATALOG}],
        [".App app", "dev.one.One one"], [], ""),
    "the Android source set of a multiplatform library": (
        [APP_OF_ONE, moved(module("one"), "src/main", "src/androidMain"), module("two"),
         {"one/build.gradle.kts": MULTIPLATFORM}], TWO_IN_APP, [], ""),
    "a build type of a library is still read": (
        [APP_OF_ONE, module("one"), {f"one/{DEBUG}": manifest(service(".Debug", 'android:value="one.txt"'))}],
        [*ONE_IN_APP, ".Debug one"], [], ""),
    "a build type of the app changes what a library has": (
        [APP_OF_ONE, module("one"),
         {f"app/{DEBUG}": manifest('<service android:name="dev.one.One" android:label="Debug"/>')}],
        [*ONE_IN_APP, ONE_IN_APP[1]], [], ""),
    "a descriptor of a library that nothing points to": (
        [APP_OF_ONE, module("one"), {"one/src/main/assets/loose.json": "tools loose"}],
        [*ONE_IN_APP, "None loose"], [("unreferenced-descriptor", "p/one/src/main/assets/loose.json")], ""),
    "a library without an app":
        ([module("one", dependency("two")), module("two")], [".One one", ".Two two"], [], ""),
    "a feature": ([module("app"), module("one", dependency("app"), build=FEATURE)],
        ["dev.app/.App app", "dev.one/.One one"], [], ""),
    "a library that only one variant has": (
        [module("app", 'debugImplementation(project(":one"))'), module("one")], ONE_APART,
        [(PROJECT_NOT_MERGED, IN_APP)], "only the variant debug has it"),
    "a module of a convention plugin without an app":
        ([module("one"), module("two", dependency("one"), build=CONVENTION)],
         ["dev.two/.Two two", "dev.two/dev.one.One one"], [], ""),
    "a module of a convention plugin where the build has an app":
        ([APP_OF_ONE, module("one"), module("two", dependency("one"), build=CONVENTION)],
         [*ONE_IN_APP, "dev.two/.Two two"], [], ""),
    "a cycle": ([APP_OF_ONE, module("one", dependency("two")), module("two", dependency("one"))],
        TWO_IN_APP, [(PROJECT_NOT_MERGED, "p/two/build.gradle.kts:4")], ""),
    "a module that is not included": ([module("app", dependency("four"))], ["dev.app/.App app"],
        [(PROJECT_NOT_MERGED, IN_APP)], "does not include it"),
    "a module that is not there": ([module("app", dependency("three"))], ["dev.app/.App app"],
        [(PROJECT_NOT_MERGED, IN_APP)], "has no build file and no manifest"),
    "an accessor of a module that is not included": ([module("app", "implementation(projects.four)")],
        ["dev.app/.App app"], [(PROJECT_NOT_MERGED, IN_APP)], "projects.four"),
    "a dependency that is computed": ([module("app", "implementation(project(name))")],
        ["dev.app/.App app"], [(BUILD_STATEMENT_UNREAD, IN_APP)], "implementation(project(name))"),
    "an application id that is computed": (
        [module("app", build=f"{APP}android.defaultConfig.applicationId = Config.id\n")],
        ["dev.app/.App app"], [(APPLICATION_ID_UNKNOWN, "p/app/build.gradle.kts:3")], "Config.id"),
    "a module outside of the folder": (
        [APP_OF_ONE, moved(module("one"), "one/", "../outside/"), {"settings.gradle.kts":
         'include(":app", ":one")\nproject(":one").projectDir = file("../outside")'}],
        ["dev.app/.App app"], [(PROJECT_NOT_MERGED, IN_APP)], ""),
    "settings that only a build knows": (
        [APP_OF_ONE, module("one"), {"settings.gradle.kts":
         'include(":app")\nfile("features").list().forEach { include(":$it") }'}],
        ONE_APART, [(PROJECT_NOT_MERGED, IN_APP), (BUILD_STATEMENT_UNREAD, "p/settings.gradle.kts:2")],
        "p/settings.gradle.kts:2 may include it"),
    "a conflict of manifests names both files": (
        [APP_OF_ONE, module("one", strings="One"),
         {f"app/{MAIN}": manifest('<service android:name="dev.one.One" android:label="x"/>')}],
        ONE_IN_APP[1:], [("manifest-merge-conflict", f"p/app/{MAIN}:3")], f"p/one/{MAIN}:3"),
}  # fmt: skip


@titled(("parts", "read", "findings", "words"), BUILDS)
def test_modules_are_merged_or_read_apart_and_what_is_not_merged_is_reported(
    parts: list[Tree], read: list[str], findings: list[tuple[str, str]], words: str
) -> None:
    reading = build(*parts)
    assert components(reading) == read
    assert reported(reading) == findings
    assert words in "".join(f"{item.message} {item.hint}" for item in reading.findings[:1])
    assert reading.problems == ()


@titled(("parts", "expected"), {
    "the first of two libraries": (
        [module("app", dependency("one"), dependency("two")), module("one", strings="One"),
         module("two", strings="Two")], {".App": "One", "dev.one.One": "One", "dev.two.Two": "One"}),
    "the app before its library": (
        [module("app", dependency("one"), strings="App"), module("one", strings="One"),
         module("two", strings="Two")], {".App": "App", "dev.one.One": "App", ".Two": "Two"}),
    "a module before those that it depends on": (
        [module("app", dependency("two"), dependency("one")), module("one", dependency("two"), strings="One"),
         module("two", strings="Two")], {".App": "One", "dev.one.One": "One", "dev.two.Two": "One"}),
    "a library without a manifest": (
        [APP_OF_ONE,
         {path: module("one", strings="One")[path] for path in (STRINGS, "one/build.gradle.kts")}],
        {".App": "One"}),
    "a library without an app": ([module("one", dependency("two")), module("two", strings="Two")],
        {".One": "Two", ".Two": "Two"}),
    "a feature has those of its app": (
        [module("app", strings="App"), module("one", dependency("app"), build=FEATURE)],
        {".App": "App", ".One": "App"}),
})  # fmt: skip
def test_a_string_is_that_of_the_module_that_comes_first(parts: list[Tree], expected: dict[str, str]) -> None:
    assert labels(build(*parts)) == expected


def test_reading_an_app_module_alone_names_the_folder_that_has_its_libraries() -> None:
    build(module("app", dependency("one"), dependency("two")), module("one"), module("two"))
    reading = read("p/app")
    (finding,) = reading.findings
    assert (finding.code, str(finding.source)) == (PROJECT_NOT_MERGED, IN_APP)
    assert ":one, :two" in finding.message
    assert finding.hint == "name the folder that holds the whole project"


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
    reading = build(*parts, {"settings.gradle.kts": settings})
    assert components(reading)[1] == f"dev.app/dev.m{count}.M{count} m{count}"


def test_dependencies_without_end_are_a_finding(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("droidgate.sources.build_layout.MAX_STEPS", 1)
    reading = build(module("app", dependency("one"), dependency("two")), module("one"), module("two"))
    assert "more than 1 dependencies" in reading.findings[0].message


def test_files_of_a_library_are_checked_with_the_app_that_has_it() -> None:
    reading = build(module("app", dependency("one")), module("one", strings="One"))
    places: list[str] = []
    list(check_reading(reading, [TOOLS], places.append))
    assert places == []


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


def packed(path: str, files: dict[str, bytes], *, links: Mapping[str, str] = {}) -> str:
    """Write an archive, of the kind that its name says, with links that lead where they say."""
    if path.endswith((".zip", ".whl")):
        with zipfile.ZipFile(path, "w") as archive:
            for name, data in files.items():
                archive.writestr(name, data)
            for name, target in links.items():
                info = zipfile.ZipInfo(name)
                info.external_attr = 0o120777 << 16
                archive.writestr(info, target)
        return path
    with tarfile.open(path, "w:gz" if path.endswith("gz") else "w") as tar:
        for name, data in files.items():
            member = tarfile.TarInfo(name)
            member.size = len(data)
            tar.addfile(member, io.BytesIO(data))
        for name, target in links.items():
            member = tarfile.TarInfo(name)
            member.type, member.linkname = tarfile.SYMTYPE, target
            tar.addfile(member)
    return path


class TestArchives:
    @pytest.mark.parametrize("name", ["a.zip", "a.whl", "a.tgz", "a.tar.gz", "a.TAR"])
    def test_a_folder_in_an_archive_is_read_as_the_folder_is(self, name: str) -> None:
        root = project("app")
        (root / "loose.json").write_text("tools three")
        files = {
            path.relative_to(root).as_posix(): path.read_bytes() for path in root.rglob("*") if path.is_file()
        }
        packed(name, {"node_modules/x.json": b"tools no", **files})
        expected = [(*facts, place.replace("app/", f"{name}/", 1)) for *facts, place in found("app")]
        assert len(expected) == 2
        assert found(name) == expected
        Path("box").mkdir()
        shutil.move(name, "box")
        assert [facts for *facts, _ in found("box")] == [facts for *facts, _ in expected]

    def test_a_descriptor_in_an_archive_is_linted_and_its_folder_removed_after(self) -> None:
        reading = read(packed("a.zip", {"t.json": b"tools a"}))
        (unpacked,) = reading.unpacked
        assert unpacked.read("a.zip/t.json") == b"tools a"
        assert unpacked.read("t.json") is unpacked.read("a.zip/none") is unpacked.read("a.zip/../x") is None
        folder = Path(unpacked.folder)
        del reading, unpacked
        gc.collect()
        assert not folder.exists()

    @pytest.mark.parametrize("encoding", ["utf-8", "cp437"])
    def test_a_name_without_the_flag_for_utf_8_is_read_in_it_where_it_can_be(self, encoding: str) -> None:
        with zipfile.ZipFile("a.zip", "w") as archive:
            archive.writestr("xxxxxx.json", "tools a")
        named = "Mütze".encode(encoding).ljust(6, b"1")
        Path("a.zip").write_bytes(Path("a.zip").read_bytes().replace(b"xxxxxx", named))
        assert [item.removeprefix("a.zip/M") for item in read("a.zip").files_read] == [
            f"{named[1:].decode(encoding)}.json"
        ]

    @pytest.mark.parametrize("name", ["a.zip", "a.tgz"])
    def test_nothing_is_written_or_read_outside_of_the_folder(self, name: str) -> None:
        Path("secret.txt").write_text("tools secret")
        outside = dict.fromkeys(["../out.txt", "/abs.txt", "C:/x.json"], b"tools out")
        files = {**outside, "in.json": b"tools in", "in.json/x.json": b"tools out"}
        reading = read(packed(name, files, links={"link.json": str(Path("secret.txt").absolute())}))
        assert [each.id for provider in reading.providers for each in provider.capabilities] == ["in"]
        places = [f"{name}/{path}" for path in ("../out.txt", "/abs.txt", "C:/x.json", "in.json/x.json")]
        assert [problem.place for problem in reading.problems] == places
        assert not Path("out.txt").exists()

    @pytest.mark.parametrize(("name", "data", "message"), [
        ("empty.zip", b"PK\x05\x06" + bytes(18), "the archive holds no Android project and no descriptor"),
        ("text.tgz", b"hello", "the archive cannot be unpacked: "),
        ("cut.tar", tarfile.TarInfo("x").tobuf()[:300], "the archive cannot be unpacked: "),
        ("text.zip", b"tools a", None),
    ])  # fmt: skip
    def test_a_file_that_is_not_an_archive_is_refused_as_such(
        self, name: str, data: bytes, message: str | None
    ) -> None:
        Path(name).write_bytes(data)
        if message is None:
            assert read(name).providers
            return
        with pytest.raises(InputError) as caught:
            read(name)
        assert (caught.value.place, caught.value.message.startswith(message)) == (name, True)

    def test_an_archive_that_unpacks_to_too_much_is_refused(self, monkeypatch: pytest.MonkeyPatch) -> None:
        packed("a.zip", {"1.json": b"tools a", "2.json": b"tools b"})
        monkeypatch.setattr(packed_folders, "MAX_FILES", 1)
        with pytest.raises(BudgetError, match="more than 1 files"):
            read("a.zip")
        monkeypatch.setattr(packed_folders, "MAX_FILES", 2)
        monkeypatch.setattr(packed_folders, "MAX_BYTES", 13)
        with pytest.raises(BudgetError, match="more than 13 bytes"):
            read("a.zip")
        packed("a.tgz", {"node_modules/large": bytes(2_000), "1.json": b"tools a"})
        assert read("a.tgz").providers
        monkeypatch.setattr(packed_folders, "MAX_TAR_BYTES", 2_000)
        with pytest.raises(BudgetError, match="more than 2000 bytes"):
            read("a.tgz")

    def test_an_archive_in_an_archive_is_reported(self) -> None:
        packed("b.zip", {"t.json": b"tools b"})
        packed("a.zip", {"b.zip": Path("b.zip").read_bytes(), "t.json": b"tools a"})
        reading = read("a.zip")
        assert len(reading.providers) == 1
        assert [str(finding.source) for finding in reading.findings] == ["a.zip/b.zip"]


def git(*arguments: str, given: bytes = b"") -> str:
    name = ("-c", "user.name=t", "-c", "user.email=t@example.org", "-c", "init.defaultBranch=main")
    ran = subprocess.run(["git", *name, *arguments], input=given, capture_output=True, check=True)
    return ran.stdout.decode().strip()


@pytest.mark.requires("git")
class TestRevisions:
    """A revision of a Git repository, made by Git itself."""

    @pytest.fixture(autouse=True)
    def repository(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.chdir(tmp_path)
        project("app", {".gitattributes": "t.txt export-ignore filter=other\n", "one.json": "tools old"})
        Path("app/link.txt").symlink_to("one.json")
        git("init", "--quiet", ".")
        git("add", ".")
        git("commit", "--quiet", "--message=first")
        git("config", "filter.other.smudge", "touch ran; cat")

    def test_a_git_revision_is_read_as_its_folder_was(self) -> None:
        before = [(*facts, place.replace("app/", "git:HEAD:app/", 1)) for *facts, place in found("app")]
        Path("app/one.json").write_text("tools new")
        shutil.rmtree("app/app")
        assert len(before) == 2
        assert found("git:HEAD:app") == before != found("app")
        assert [facts for *facts, _ in found("git:main:./app")] == [facts for *facts, _ in before]
        assert [facts[2] for facts in found("git:HEAD:app/one.json")] == [["old"]]
        assert not Path("ran").exists()

    @pytest.mark.parametrize(("source", "message"), [
        ("git:nosuch", "the repository has no such revision or path"),
        ("git:HEAD:nosuch", "the revision has no such file or folder"),
        ("git:", "the repository has no such revision or path"),
        ("git:HEAD\nHEAD", "the repository has no such revision or path"),
        ("git:--all", "the repository has no such revision or path"),
        ("git:HEAD:app/app/src/main/res", "the revision has no such file or folder"),
        ("git:HEAD:.", "the revision has no such file or folder"),
    ])  # fmt: skip
    def test_an_unknown_revision_is_an_error_with_a_hint(self, source: str, message: str) -> None:
        with pytest.raises(InputError) as raised:
            read(source)
        assert (raised.value.message, raised.value.place) == (message, source)

    @pytest.mark.parametrize(("source", "near"), [("git:HEAD:.", "./"), ("git:main:one.json", "./one.json")])
    def test_a_path_below_the_working_folder_is_offered(
        self, source: str, near: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.chdir("app")
        with pytest.raises(InputError) as raised:
            read(source)
        offered = f"{source.rpartition(':')[0]}:{near}"
        assert raised.value.hint == f"name {offered}, which is below the working folder"
        assert "old" in str(found(offered))

    def test_before_the_first_commit_the_error_says_what_to_do(self) -> None:
        git("switch", "--quiet", "--orphan", "other")
        with pytest.raises(InputError, match="the branch has no commit yet") as raised:
            read("git:HEAD")
        assert raised.value.hint is not None
        assert "leave this check out" in raised.value.hint

    def test_a_hostile_git_tree_reads_nothing_outside_of_it(self) -> None:
        blob = git("hash-object", "-w", "--stdin", given=b"tools out")
        inner = git("mktree", given=f"100644 blob {blob}\tout.json\n".encode())
        tree = git("mktree", given=f"040000 tree {inner}\t..\n100644 blob {blob}\tin.json\n".encode())
        reading = read(f"git:{tree}")
        assert [str(provider.source) for provider in reading.providers] == [f"git:{tree}:in.json:1"]
        assert [problem.place for problem in reading.problems] == [f"git:{tree}:../out.json"]

    def test_a_folder_without_a_repository_is_an_error_that_names_it(self) -> None:
        shutil.rmtree(".git")
        with pytest.raises(InputError, match="not a git repository") as raised:
            read("git:HEAD")
        assert raised.value.hint == "run it in a folder of the repository"


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-be", "utf-16-le"])
def test_a_json_descriptor_in_utf_16_is_read_and_reported(encoding: str) -> None:
    text = '[{"name": "é", "inputSchema": {"type": "object"}}]'
    Path("t.json").write_bytes(text.encode(encoding))
    reading = read_source("t.json")
    assert reading.providers[0].capabilities[0].id == "é"
    assert [finding.code for finding in reading.findings] == ["utf-16"]
    with pytest.raises(InputError, match="the file is UTF-16"):
        read_source("t.json", strict=True)


def _provider(package: str | None, component: str | None, path: str, **facts: Any) -> Provider:
    source = Place(path=path)
    return Provider(protocol="mmcp", package=package, component=component, source=source, **facts)


SHARED = "shared/AndroidManifest.xml"
TWO_APPS = (
    _provider("dev.one", "dev.shared.Notes", SHARED),
    _provider("dev.two", "dev.shared.Notes", SHARED),
)
LISTS = (
    _provider(None, None, "a/tools.json", name="Weather"),
    _provider(None, None, "b/tools.json", name="Maps"),
)


@pytest.mark.parametrize(("providers", "name", "position"), [
    pytest.param(TWO_APPS, "dev.two/dev.shared.Notes", 1, id="a component of a library in one of two apps"),
    pytest.param(TWO_APPS, "dev.two/dev.shared.Notes  mmcp", 1, id="the heading of a component"),
    pytest.param(LISTS, "Maps  mmcp", 1, id="the heading of a list of tools"),
    pytest.param(LISTS, "b/tools.json", 1, id="the file of a list of tools"),
    pytest.param((*LISTS, LISTS[0]), "Weather", 0, id="a list of tools that is there twice"),
])  # fmt: skip
def test_a_provider_is_chosen_by_what_is_shown_of_it(
    providers: tuple[Provider, ...], name: str, position: int
) -> None:
    assert Providers(providers).choose(name).providers == (providers[position],)


@pytest.mark.parametrize(("providers", "name", "hint"), [
    pytest.param(TWO_APPS, "Notes", "dev.one/dev.shared.Notes, dev.two/dev.shared.Notes",
        id="a component of a library in two apps"),
    pytest.param(
        tuple(_provider("a.b", ".S", "app/AndroidManifest.xml", description=text) for text in "ab"), "S",
        "a.b.S, a.b.S", id="a component that is declared twice in one file"),
    pytest.param(tuple(_provider("a.b", ".S", f"{text}.xml", description=text) for text in "ab"), "S",
        "a.xml, b.xml", id="a component in two manifests of an app"),
])  # fmt: skip
def test_the_names_that_are_offered_each_choose_one_provider(
    providers: tuple[Provider, ...], name: str, hint: str
) -> None:
    with pytest.raises(UsageError) as caught:
        Providers(providers).choose(name)
    assert caught.value.hint == f"write one of them in full: {hint}"


def discovery(*providers: Provider) -> bytes:
    entries = [{"provider": json_value(provider)} for provider in providers]
    apps = [{"package": "a.b", "providers": entries}]
    return json.dumps({"schema": "droidgate.discover/1", "apps": apps}).encode()


WEATHER = _provider("a.b", ".R", "adb:x/a.b", dialect="broadcast", capabilities=(Capability(id="forecast"),))


def test_a_document_of_discover_is_a_source_of_what_the_phone_listed() -> None:
    data = discovery(WEATHER)
    write_tree(Path(), {"d/found.json": data, "powershell.json": data.decode().encode("utf-16")})
    for source in ("d/found.json", "d", "powershell.json"):
        (provider,) = read_source(source)
        assert provider.content_digest() == WEATHER.content_digest()
        assert str(provider.source) == (source if source != "d" else "d/found.json")
    assert not read_source("d/found.json", formats=[find_format("mcp")[0]]).providers


@pytest.mark.parametrize("document", [
    pytest.param({}, id="without apps"),
    pytest.param({"apps": [{"providers": [{"provider": {"protocol": 5}}]}]}, id="with a broken provider"),
])  # fmt: skip
def test_a_broken_document_of_discover_is_an_error(document: dict[str, Any]) -> None:
    write_tree(Path(), {"d.json": json.dumps({"schema": "droidgate.discover/1", **document})})
    with pytest.raises(InputError, match="does not list providers"):
        read_source("d.json")
