"""`pack` of a tree whose functions only Kotlin declares, held to the virtual phone's indexer."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from device_shim.phone_system.phone_system_apps import make_phone, run
from gateway.cli.program_runs import Runner
from gateway.sources.formats_of_tests import write_tree
from gateway.sources.kotlin_trees import (
    ADD_NOTE,
    DELETE_NOTE,
    ENTRY_POINT,
    ENTRY_POINT_PATH,
    entry_point_tree,
    kotlin_tree,
)


@pytest.fixture
def droidgate(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Runner:
    write_tree(tmp_path / "p", kotlin_tree())
    return Runner(capsys, monkeypatch)


def packed(droidgate: Runner, folder: Path, *arguments: str) -> tuple[list[str], bytes]:
    """Return the codes of the findings, and the APK."""
    ran = droidgate("pack", folder / "p", "-o", folder / "app.apk", "--json", *arguments)
    assert ran.code == 0, ran.err
    return [finding["code"] for finding in json.loads(ran.out)["findings"]], (folder / "app.apk").read_bytes()


def listed(apk: bytes) -> list[str]:
    with make_phone("37", apk) as phone:
        text = run(phone, "cmd", "app_function", "list-app-functions").stdout
    documents = [item for found in json.loads(text).values() for result in found for item in result.values()]
    return [item["functionId"][0] for item in documents if "functionId" in item]


def test_without_a_compilers_output_no_agent_finds_the_functions(droidgate: Runner, tmp_path: Path) -> None:
    codes, apk = packed(droidgate, tmp_path)
    assert "compiler-output-missing" in codes
    assert listed(apk) == []


def test_the_version_catalog_says_which_module_is_the_app(droidgate: Runner, tmp_path: Path) -> None:
    catalog = '[plugins]\nmade = "com.android.library:8"\n'
    module = "plugins { alias(libs.plugins.made) }\n"
    manifest = '<manifest xmlns:android="http://schemas.android.com/apk/res/android"/>'
    files: dict[str, str | bytes] = {
        "gradle/libs.versions.toml": catalog,
        "shared/build.gradle.kts": module,
        "shared/src/main/AndroidManifest.xml": manifest,
    }
    write_tree(tmp_path / "p", files)
    assert listed(packed(droidgate, tmp_path, "--generate")[1]) == [ADD_NOTE]


def test_generated_output_is_indexed_by_the_phone(droidgate: Runner, tmp_path: Path) -> None:
    codes, apk = packed(droidgate, tmp_path, "--generate")
    assert "compiler-output-missing" not in codes
    assert listed(apk) == [ADD_NOTE]
    assert sorted(path.name for path in (tmp_path / "p/app/src/main").iterdir()) == [
        "AndroidManifest.xml",
        "java",
    ]


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


def test_a_function_that_is_refused_is_a_problem_and_the_others_are_packed(
    droidgate: Runner, tmp_path: Path
) -> None:
    write_tree(tmp_path / "p", {"app/src/main/java/dev/notes/A.kt": BROKEN})
    apk = tmp_path / "app.apk"
    ran = droidgate("pack", tmp_path / "p", "-o", apk, "--json", "--generate")
    assert ran.code == 3
    [problem] = json.loads(ran.out)["problems"]
    assert problem["place"].endswith("A.kt:7")
    assert "A.kt:7" in ran.err
    assert listed(apk.read_bytes()) == [ADD_NOTE]


def test_a_tree_whose_functions_are_all_refused_is_packed_with_a_warning(
    droidgate: Runner, tmp_path: Path
) -> None:
    write_tree(tmp_path / "p", {"app/src/main/java/dev/notes/Notes.kt": BROKEN})
    for arguments, code in ((["--generate"], 3), (["--force"], 0)):
        ran = droidgate("pack", tmp_path / "p", "-o", tmp_path / "app.apk", *arguments)
        assert ran.code == code, ran.err
        assert "Notes.kt:7" in ran.err


@pytest.mark.parametrize(
    ("file", "missing"), [("app_fns.xml", []), ("other.xml", ["compiler-output-missing"])]
)
def test_a_manifest_that_names_a_file_that_is_not_generated_is_reported(
    droidgate: Runner, tmp_path: Path, file: str, missing: list[str]
) -> None:
    write_tree(tmp_path / "p", {"app/src/main/java/dev/notes/Notes.kt": SIGNATURE})
    manifest = tmp_path / "p/app/src/main/AndroidManifest.xml"
    names = ("android.app.appfunctions", "android.app.appfunctions.v2")
    facts = "".join(f'<property android:name="{name}" android:value="{file}"/>' for name in names)
    manifest.write_text(manifest.read_text().replace("</application>", f"{facts}</application>"))
    codes, apk = packed(droidgate, tmp_path, "--generate")
    assert [code for code in codes if code == "compiler-output-missing"] == missing
    assert (b"assets/app_fns.xml" in apk) == (not missing)


def test_the_output_of_a_build_is_not_packed_but_generated_too(droidgate: Runner, tmp_path: Path) -> None:
    out = tmp_path / "out"
    assert droidgate("convert", tmp_path / "p", "--to", "appfunctions", "-o", out).code == 0
    output = out / "assets/app_function_service.xml"
    path = "app/build/generated/ksp/debug/resources/assets/app_functions_v2.xml"
    write_tree(tmp_path / "p", {path: output.read_bytes()})
    codes, apk = packed(droidgate, tmp_path)
    assert "compiler-output-missing" in codes
    assert listed(apk) == []
    codes, apk = packed(droidgate, tmp_path, "--generate", "--force")
    assert "compiler-output-missing" not in codes
    assert listed(apk) == [ADD_NOTE]


def test_a_tree_with_the_compilers_output_needs_none(droidgate: Runner, tmp_path: Path) -> None:
    ran = droidgate(
        "migrate",
        tmp_path / "p",
        "--to",
        "appfunctions",
        "--into",
        tmp_path / "p",
        "--write",
        "--language",
        "none",
    )
    assert ran.code == 0, ran.err
    codes, apk = packed(droidgate, tmp_path)
    assert "compiler-output-missing" not in codes
    assert listed(apk) == [ADD_NOTE]


@pytest.mark.parametrize("sdk", ["36", "36.1", "37"])
def test_each_release_indexes_the_functions_inside_and_outside_of_an_entry_point(
    droidgate: Runner, tmp_path: Path, sdk: str
) -> None:
    """Android 16 reads one service of an app."""
    write_tree(tmp_path / "p", entry_point_tree())
    codes, apk = packed(droidgate, tmp_path, "--generate")
    assert "service-shared" in codes
    with make_phone(sdk, apk) as phone:
        assert sorted(phone.app_functions.functions("dev.notes")) == [DELETE_NOTE, ADD_NOTE]


def test_an_app_for_releases_that_read_all_services_keeps_them_apart(
    droidgate: Runner, tmp_path: Path
) -> None:
    write_tree(tmp_path / "p", entry_point_tree())
    codes, apk = packed(droidgate, tmp_path, "--generate", "--min-sdk", "37")
    assert "service-shared" not in codes
    assert sorted(listed(apk)) == [DELETE_NOTE, ADD_NOTE]
    assert b"app_function_service.xml" in apk


def test_two_entry_points_cannot_be_indexed_by_a_release_that_reads_one_service(
    droidgate: Runner, tmp_path: Path
) -> None:
    second = (
        ENTRY_POINT.replace("BaseNotes", "BaseLists")
        .replace("NotesService", "ListsService")
        .replace('"notes"', '"lists"')
    )
    files: dict[str, str | bytes] = {
        ENTRY_POINT_PATH: ENTRY_POINT,
        "app/src/main/java/dev/notes/BaseLists.kt": second,
    }
    write_tree(tmp_path / "p", files)
    arguments = ("pack", tmp_path / "p", "-o", tmp_path / "app.apk", "--generate")
    refused = droidgate(*arguments)
    assert refused.code == 3
    assert (
        "2 services declare functions, and Android 16, Android 16 QPR1, Android 16 QPR2 index" in refused.err
    )
    assert "--min-sdk 37" in refused.err
    assert droidgate(*arguments, "--min-sdk", "37").code == 0


@pytest.mark.parametrize(
    ("shared", "written"),
    [("NotesService", "dev.notes.NotesService"), ("notes", "assets/notes.xml")],
    ids=["service", "file"],
)
def test_two_entry_points_of_one_service_or_file_are_refused_with_both_places(
    droidgate: Runner, tmp_path: Path, shared: str, written: str
) -> None:
    second = ENTRY_POINT.replace("BaseNotes", "BaseLists")
    for name, other in {"NotesService": "ListsService", "notes": "lists"}.items():
        if name != shared:
            second = second.replace(f'"{name}"', f'"{other}"')
    files: dict[str, str | bytes] = {
        ENTRY_POINT_PATH: ENTRY_POINT,
        "app/src/main/java/dev/notes/BaseLists.kt": second,
    }
    write_tree(tmp_path / "p", files)
    arguments = ("pack", tmp_path / "p", "-o", tmp_path / "app.apk", "--generate", "--min-sdk", "37")
    refused = droidgate(*arguments)
    assert refused.code == 3
    assert f'two entry points are written as "{written}"' in refused.err
    hint = refused.err.partition("hint: ")[2]
    assert "another name" in hint
    assert "BaseNotes.kt" in hint
    assert "BaseLists.kt" in hint


@pytest.mark.parametrize("tree", [kotlin_tree, entry_point_tree])
@pytest.mark.parametrize("least", ["36", "37"])
def test_a_tree_and_the_app_generated_from_it_do_not_differ(
    droidgate: Runner, tmp_path: Path, tree: Callable[[], dict[str, str | bytes]], least: str
) -> None:
    write_tree(tmp_path / "p", tree())
    packed(droidgate, tmp_path, "--generate", "--min-sdk", least)
    for sides in ((tmp_path / "p", tmp_path / "app.apk"), (tmp_path / "app.apk", tmp_path / "p")):
        ran = droidgate("diff", *sides, "--json")
        compared = json.loads(ran.out)
        assert (ran.code, compared["weight"], compared["comparison"].get("not_compared")) == (0, None, None)


def test_a_generated_service_requires_the_permission_that_android_asks_for(
    droidgate: Runner, tmp_path: Path
) -> None:
    write_tree(tmp_path / "p", {ENTRY_POINT_PATH: ENTRY_POINT, "app/src/main/java/dev/notes/Notes.kt": ""})
    packed(droidgate, tmp_path, "--generate")
    assert droidgate("lint", tmp_path / "app.apk").code == 0


def test_a_tree_whose_functions_have_two_services_has_a_warning_for_older_releases(
    droidgate: Runner, tmp_path: Path
) -> None:
    def codes() -> list[str]:
        ran = droidgate("lint", tmp_path / "p", "--json", "--fail-on", "warning")
        return [item["code"] for item in json.loads(ran.out).get("findings", [])]

    assert codes() == []
    write_tree(tmp_path / "p", entry_point_tree())
    assert codes() == ["competing-services"]
    newest = str(entry_point_tree()["app/build.gradle.kts"]).replace("minSdk = 36", "minSdk = 37")
    write_tree(tmp_path / "p", {"app/build.gradle.kts": newest})
    assert codes() == []
