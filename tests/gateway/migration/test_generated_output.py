"""`pack` of a tree whose functions only Kotlin declares, held to the virtual phone's indexer."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from device_shim.phone_system.phone_system_apps import make_phone, run
from gateway.cli.program_runs import Run, Runner
from gateway.sources.formats_of_tests import write_tree
from gateway.sources.kotlin_trees import (
    ADD_NOTE,
    DELETE_NOTE,
    ENTRY_POINT,
    ENTRY_POINT_PATH,
    entry_point_tree,
    kotlin_tree,
)
from titled_rows import titled

SOURCES = "app/src/main/java/dev/notes"
MISSING = "compiler-output-missing"


@dataclass(frozen=True)
class Project:
    """A project in a folder, and the APK that it is packed into."""

    droidgate: Runner
    path: Path
    apk: Path

    def write(self, **files: str) -> None:
        """Write Kotlin sources, by the names of their files."""
        write_tree(self.path, {f"{SOURCES}/{name}.kt": text for name, text in files.items()})

    def run(self, *arguments: str) -> Run:
        return self.droidgate("pack", self.path, "-o", self.apk, *arguments)

    def pack(self, *arguments: str) -> tuple[list[str], bytes]:
        """Return the codes of the findings, and the APK."""
        ran = self.run("--json", *arguments)
        assert ran.code == 0, ran.err
        return [finding["code"] for finding in json.loads(ran.out)["findings"]], self.apk.read_bytes()


@pytest.fixture
def project(droidgate: Runner, tmp_path: Path) -> Project:
    return Project(droidgate, write_tree(tmp_path / "p", kotlin_tree()), tmp_path / "app.apk")


def listed(apk: bytes) -> list[str]:
    with make_phone("37", apk) as phone:
        text = run(phone, "cmd", "app_function", "list-app-functions").stdout
    documents = [item for items in json.loads(text).values() for result in items for item in result.values()]
    return [item["functionId"][0] for item in documents if "functionId" in item]


def test_without_a_compilers_output_no_agent_finds_the_functions(project: Project) -> None:
    codes, apk = project.pack()
    assert MISSING in codes
    assert listed(apk) == []


def test_the_version_catalog_says_which_module_is_the_app(project: Project) -> None:
    files: dict[str, str | bytes] = {
        "gradle/libs.versions.toml": '[plugins]\nmade = "com.android.library:8"\n',
        "shared/build.gradle.kts": "plugins { alias(libs.plugins.made) }\n",
        "shared/src/main/AndroidManifest.xml": "<manifest/>",
    }
    write_tree(project.path, files)
    assert listed(project.pack("--generate")[1]) == [ADD_NOTE]


def test_generated_output_is_indexed_by_the_phone(project: Project) -> None:
    codes, apk = project.pack("--generate")
    assert MISSING not in codes
    assert listed(apk) == [ADD_NOTE]
    files = sorted(path.name for path in (project.path / "app/src/main").iterdir())
    assert files == ["AndroidManifest.xml", "java"]


BROKEN = """package dev.notes

import androidx.appfunctions.AppFunctionContext
import androidx.appfunctions.service.AppFunction

class F {
    @AppFunction suspend fun bad(context: AppFunctionContext, a: java.io.File): Int = 1
}
"""
SIGNATURE = """package dev.notes

import androidx.appfunctions.AppFunctionSignature

@AppFunctionSignature(scope = "global", appFunctionXmlFileName = "app_fns")
fun interface One { suspend fun f(x: Int): Int }
"""


def test_a_function_that_is_refused_is_a_problem_and_the_others_are_packed(project: Project) -> None:
    project.write(A=BROKEN)
    ran = project.run("--json", "--generate")
    assert ran.code == 3
    [problem] = json.loads(ran.out)["problems"]
    assert problem["place"].endswith("A.kt:7")
    assert "A.kt:7" in ran.err
    assert listed(project.apk.read_bytes()) == [ADD_NOTE]


def test_a_tree_whose_functions_are_all_refused_is_packed_with_a_warning(project: Project) -> None:
    project.write(Notes=BROKEN)
    for argument, code in (("--generate", 3), ("--force", 0)):
        ran = project.run(argument)
        assert ran.code == code, ran.err
        assert "Notes.kt:7" in ran.err


@titled(("file", "missing"), {
    "a file that is generated": ("app_fns.xml", []), "a file that is not generated": ("other.xml", [MISSING]),
})  # fmt: skip
def test_a_manifest_that_names_a_file_that_is_not_generated_is_reported(
    project: Project, file: str, missing: list[str]
) -> None:
    project.write(Notes=SIGNATURE)
    manifest = project.path / "app/src/main/AndroidManifest.xml"
    names = ("android.app.appfunctions", "android.app.appfunctions.v2")
    facts = "".join(f'<property android:name="{name}" android:value="{file}"/>' for name in names)
    manifest.write_text(manifest.read_text().replace("</application>", f"{facts}</application>"))
    codes, apk = project.pack("--generate")
    assert [code for code in codes if code == MISSING] == missing
    assert (b"assets/app_fns.xml" in apk) == (not missing)


def test_the_output_of_a_build_is_not_packed_but_generated_too(project: Project, tmp_path: Path) -> None:
    out = tmp_path / "out"
    assert project.droidgate("convert", project.path, "--to", "appfunctions", "-o", out).code == 0
    output = (out / "assets/app_function_service.xml").read_bytes()
    path = "app/build/generated/ksp/debug/resources/assets/app_functions_v2.xml"
    write_tree(project.path, {path: output})
    for arguments, functions in (((), []), (("--generate", "--force"), [ADD_NOTE])):
        codes, apk = project.pack(*arguments)
        assert (MISSING in codes) is not bool(functions)
        assert listed(apk) == functions


def test_a_tree_with_the_compilers_output_needs_none(project: Project) -> None:
    into = ("--into", str(project.path), "--write", "--language", "none")
    ran = project.droidgate("migrate", project.path, "--to", "appfunctions", *into)
    assert ran.code == 0, ran.err
    codes, apk = project.pack()
    assert MISSING not in codes
    assert listed(apk) == [ADD_NOTE]


@pytest.mark.parametrize("sdk", ["36", "36.1", "37"])
def test_each_release_indexes_the_functions_inside_and_outside_of_an_entry_point(
    project: Project, sdk: str
) -> None:
    """Android 16 reads one service of an app."""
    write_tree(project.path, entry_point_tree())
    codes, apk = project.pack("--generate")
    assert "service-shared" in codes
    with make_phone(sdk, apk) as phone:
        assert sorted(phone.app_functions.functions("dev.notes")) == [DELETE_NOTE, ADD_NOTE]


def test_an_app_for_releases_that_read_all_services_keeps_them_apart(project: Project) -> None:
    write_tree(project.path, entry_point_tree())
    codes, apk = project.pack("--generate", "--min-sdk", "37")
    assert "service-shared" not in codes
    assert sorted(listed(apk)) == [DELETE_NOTE, ADD_NOTE]
    assert b"app_function_service.xml" in apk


def other_entry_point(**names: str) -> str:
    """Return a second entry point, with other names than the first one has."""
    text = ENTRY_POINT.replace("BaseNotes", "BaseLists")
    for name, other in names.items():
        text = text.replace(f'"{name}"', f'"{other}"')
    return text


def test_two_entry_points_cannot_be_indexed_by_a_release_that_reads_one_service(project: Project) -> None:
    second = other_entry_point(NotesService="ListsService", notes="lists")
    write_tree(project.path, {ENTRY_POINT_PATH: ENTRY_POINT})
    project.write(BaseLists=second)
    refused = project.run("--generate")
    assert refused.code == 3
    releases = "Android 16, Android 16 QPR1, Android 16 QPR2"
    assert f"2 services declare functions, and {releases} index" in refused.err
    assert "--min-sdk 37" in refused.err
    assert project.run("--generate", "--min-sdk", "37").code == 0


@titled(("second", "written"), {
    "service": (other_entry_point(notes="lists"), "dev.notes.NotesService"),
    "file": (other_entry_point(NotesService="ListsService"), "assets/notes.xml"),
})  # fmt: skip
def test_two_entry_points_of_one_service_or_file_are_refused_with_both_places(
    project: Project, second: str, written: str
) -> None:
    write_tree(project.path, {ENTRY_POINT_PATH: ENTRY_POINT})
    project.write(BaseLists=second)
    refused = project.run("--generate", "--min-sdk", "37")
    assert refused.code == 3
    assert f'two entry points are written as "{written}"' in refused.err
    hint = refused.err.partition("hint: ")[2]
    assert all(word in hint for word in ("another name", "BaseNotes.kt", "BaseLists.kt"))


@pytest.mark.parametrize("tree", [kotlin_tree, entry_point_tree])
@pytest.mark.parametrize("least", ["36", "37"])
def test_a_tree_and_the_app_generated_from_it_do_not_differ(
    project: Project, tree: Callable[[], dict[str, str | bytes]], least: str
) -> None:
    write_tree(project.path, tree())
    project.pack("--generate", "--min-sdk", least)
    for sides in ((project.path, project.apk), (project.apk, project.path)):
        ran = project.droidgate("diff", *sides, "--json")
        compared = json.loads(ran.out)
        assert (ran.code, compared["weight"], compared["comparison"].get("not_compared")) == (0, None, None)


def test_a_generated_service_requires_the_permission_that_android_asks_for(project: Project) -> None:
    write_tree(project.path, {ENTRY_POINT_PATH: ENTRY_POINT})
    project.write(Notes="")
    project.pack("--generate")
    assert project.droidgate("lint", project.apk).code == 0


def test_a_tree_whose_functions_have_two_services_has_a_warning_for_older_releases(project: Project) -> None:
    def codes() -> list[str]:
        ran = project.droidgate("lint", project.path, "--json", "--fail-on", "warning")
        return [item["code"] for item in json.loads(ran.out).get("findings", [])]

    assert codes() == []
    write_tree(project.path, entry_point_tree())
    assert codes() == ["appfunctions-no-description", "competing-services"]
    newest = str(entry_point_tree()["app/build.gradle.kts"]).replace("minSdk = 36", "minSdk = 37")
    write_tree(project.path, {"app/build.gradle.kts": newest})
    assert codes() == ["appfunctions-no-description"]
