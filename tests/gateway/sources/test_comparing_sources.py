"""A comparison of sources: what the protocol changes is apart from what the app changed.

What one side of `diff` could not read is neither gone nor new.
"""

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from adapters.apk_writing.packed_samples import build_with_aapt2
from droidgate import convert, diff, read
from droidgate_mappings.compare import Weight
from droidgate_mappings.formats.format import find_format
from droidgate_mappings.model.capability import Provider
from droidgate_shim.builder.sample_apps import sample_apps_directory
from gateway.cli.program_runs import Runner
from gateway.sources.formats_of_tests import write_tree
from gateway.sources.kotlin_trees import (
    ADD_NOTE,
    DELETE_NOTE,
    ENTRY_POINT_PATH,
    FUNCTIONS,
    entry_point_tree,
    kotlin_tree,
)
from model_types import boolean, properties_of, required
from requirements_of_tests import require

APPS = ("clock-in", "notes", "pdf-tool", "tally")
TARGETS = ("mobile-mcp", "mmcp", "mmcp+draft", "appfunctions", "mcp")


def provider_of(app: str) -> Provider:
    (provider,) = read(str(sample_apps_directory() / app / "app"))
    return provider


def written(provider: Provider, target: str, folder: Path) -> Provider:
    convert([provider], target).write(folder)
    (again,) = read(str(folder))
    return again


SCREEN: dict[str, str | bytes] = {
    "AndroidManifest.xml": """<manifest xmlns:android="http://schemas.android.com/apk/res/android"
package="dev.ns"><application><activity android:name=".Main" android:exported="true">
<intent-filter><action android:name="android.intent.action.VIEW"/></intent-filter>
<meta-data android:name="android.app.shortcuts" android:resource="@xml/shortcuts"/></activity></application>
</manifest>""",
    "res/xml/shortcuts.xml": """<shortcuts xmlns:android="http://schemas.android.com/apk/res/android">
<capability android:name="actions.intent.OPEN_APP_FEATURE"><intent android:action="android.intent.action.VIEW"
android:targetPackage="dev.other" android:targetClass="dev.ns.Main">
<parameter android:name="feature" android:key="feature"/></intent></capability></shortcuts>""",
}


@pytest.mark.requires("aapt2", "framework-res")
@pytest.mark.parametrize(("app", "name"), [
    ("clock-in", "dev.droidgate.sample.clockin.ClockInService"),
    ("pdf-tool", "dev.droidgate.sample.pdftool.ToolActivity"),
    ("notes", "dev.droidgate.sample.notes.NotesService"),
    (None, "dev.ns.Main"),
], ids=["Mobile-MCP", "mMCP", "AppFunctions", "App Actions"])  # fmt: skip
def test_a_tree_and_its_apk_are_alike_where_the_application_id_is_not_the_namespace(
    app: str | None, name: str, tmp_path: Path
) -> None:
    main = tmp_path / "app/src/main"
    if app is None:
        write_tree(main, SCREEN)
    else:
        shutil.copytree(sample_apps_directory() / app / "app/src/main", main)
    namespace = name.rpartition(".")[0]
    build_file = f"""plugins {{ id("com.android.application") }}
android {{ namespace = "{namespace}"; defaultConfig {{ applicationId = "dev.other" }} }}"""
    write_tree(tmp_path, {"app/build.gradle.kts": build_file})
    options = ("--rename-manifest-package", "dev.other", "--min-sdk-version", "26")
    apk = build_with_aapt2(require("aapt2"), require("framework-res"), main, tmp_path, *options)
    for source in (tmp_path / "app", apk):
        (provider,) = read(source).choose(name)
        assert (provider.package, provider.component) == ("dev.other", name)
    assert diff(tmp_path / "app", apk).providers == ()


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("app", APPS)
def test_an_app_and_its_conversion_differ_by_the_protocol_only(app: str, target: str, tmp_path: Path) -> None:
    old = provider_of(app)
    new = written(old, target, tmp_path)
    compared = diff([old], [new])
    if old.protocol == find_format(target)[0].id:
        assert compared.protocol_changes == ()
        return
    assert compared.providers == ()
    assert compared.unchanged_capabilities == len(old.capabilities)
    (change,) = compared.protocol_changes
    assert (change.old_protocol, change.protocol) == (old.protocol, new.protocol)
    assert change.findings == convert([old], target).findings
    assert compared.weight() is Weight.BREAKING, "each caller has to follow"


def test_what_the_app_changed_as_well_is_a_change_beyond_the_protocol(tmp_path: Path) -> None:
    old = provider_of("clock-in")
    new = written(old, "mmcp", tmp_path)
    others = list(new.capabilities)
    first = next(item for item in others if properties_of(item.input))
    others.remove(first)
    parameters = dict(properties_of(first.input))
    parameters[next(iter(parameters))] = required(boolean())
    changed = first.model_copy(update={"input": first.input.model_copy(update={"properties": parameters})})
    compared = diff([old], [new.model_copy(update={"capabilities": (changed, *others[1:])})])
    assert len(compared.protocol_changes) == 1
    (provider,) = compared.providers
    codes = {item.id: [change.code for change in item.changes] for item in provider.capabilities}
    assert codes.pop(first.id)
    assert list(codes.values()) == [["capability-removed"]]


def test_providers_of_other_apps_are_not_taken_for_each_other(tmp_path: Path) -> None:
    clock, tally = provider_of("clock-in"), provider_of("tally")
    new = written(clock, "mmcp", tmp_path)
    compared = diff([clock, tally], [new, provider_of("pdf-tool")])
    assert [(item.old_protocol, item.package) for item in compared.protocol_changes] == [
        ("mobile-mcp", clock.package)
    ]
    assert {item.status for item in compared.providers} == {"added", "removed"}


@pytest.mark.parametrize("target", ["mcp", "mmcp"])
def test_a_tool_list_that_went_did_not_become_the_app_that_came(target: str, tmp_path: Path) -> None:
    stays, came = provider_of("notes"), provider_of("pdf-tool")
    went = written(provider_of("tally"), target, tmp_path)
    went = went.model_copy(update={"package": None, "component": None})
    compared = diff([stays, went], [stays, came])
    assert [(item.status, item.package) for item in compared.providers] == [
        ("added", came.package),
        ("removed", None),
    ]
    assert compared.protocol_changes == ()


NOTES_FILE = "app/src/main/java/dev/notes/Notes.kt"
TWO = FUNCTIONS.removesuffix("}\n") + "    @AppFunction fun count(context: AppFunctionContext): Int = 1\n}\n"
COUNT = "dev.notes.Notes#count"


def compared(droidgate: Runner, folder: Path, old: dict[str, str], new: dict[str, str]) -> dict[str, Any]:
    """Return the comparison of two trees; each is the usual one with other files."""
    for name, files in (("old", old), ("new", new)):
        write_tree(folder / name, {**entry_point_tree(), NOTES_FILE: TWO, **files})
    ran = droidgate("diff", folder / "old", folder / "new", "--json")
    assert ran.code == 3, ran.err
    result: dict[str, Any] = json.loads(ran.out)["comparison"]
    return result


@pytest.mark.parametrize("old", ["app.apk", "git:HEAD", "."])
def test_a_function_that_goes_from_a_migrated_app_is_gone(
    old: str, droidgate: Runner, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DROIDGATE_HOME", str(tmp_path / "home"))
    app, new = tmp_path / "app", tmp_path / "new"
    write_tree(app, {**kotlin_tree(), NOTES_FILE: TWO})
    monkeypatch.chdir(app)
    assert droidgate("migrate", ".", "--to", "mobile-mcp", "--into", ".", "--write").code == 0
    shutil.copytree(app, new)
    write_tree(new, {NOTES_FILE: FUNCTIONS})
    if old == "app.apk":
        assert droidgate("pack", ".", "-o", old, "--generate").code == 0
    elif old != ".":
        _commit(app)
    ran = droidgate("diff", old, new, "--fail-on", "breaking")
    assert (ran.code, ran.out.split("\n")[-2]) == (1, "1 breaking; 3 capabilities are as they were")


def _commit(folder: Path) -> None:
    git = ("git", "-c", "user.name=T", "-c", "user.email=t@example.com", "-C", str(folder))
    for arguments in (("init", "-q"), ("add", "."), ("commit", "-q", "--allow-empty", "-m", "old")):
        subprocess.run([*git, *arguments], check=True)


BROKEN = TWO.replace("title: String", "title String")


REFUSED = FUNCTIONS.replace("title: String", "title: Any")
INSIDE = TWO.replace(
    "    @AppFunction fun count", "    fun local() {\n        class L {\n    @AppFunction fun count"
).replace("Int = 1\n}", "Int = 1\n        }\n    }\n}")


@pytest.mark.parametrize(("old", "new", "ids", "gone"), [
    pytest.param({}, {NOTES_FILE: BROKEN}, [ADD_NOTE], [], id="a function with a syntax error is not gone"),
    pytest.param({NOTES_FILE: BROKEN}, {}, [ADD_NOTE], [], id="a function that had one is not new"),
    pytest.param({}, {NOTES_FILE: REFUSED, ENTRY_POINT_PATH: ""}, [ADD_NOTE],
        ["dev.notes.NotesService", None],
        id="a function that is refused is not gone and one that is removed is"),
    pytest.param({}, {NOTES_FILE: BROKEN, ENTRY_POINT_PATH: ""}, [ADD_NOTE],
        ["dev.notes.NotesService"],
        id="a function of another file is gone where one file has a syntax error"),
    pytest.param({}, {NOTES_FILE: INSIDE}, [COUNT], [], id="a function that is not understood is not gone"),
])  # fmt: skip
def test_what_cannot_be_read_is_not_compared(
    droidgate: Runner,
    tmp_path: Path,
    old: dict[str, str],
    new: dict[str, str],
    ids: list[str],
    gone: list[str | None],
) -> None:
    comparison = compared(droidgate, tmp_path, old, new)
    assert [item["id"] for item in comparison["not_compared"]] == ids
    providers = comparison.get("providers") or []
    assert [(item["status"], item.get("component")) for item in providers] == [
        ("removed", name) for name in gone
    ]
    if len(gone) == 2:
        messages = {provider["changes"][0]["message"] for provider in providers}
        functions = (DELETE_NOTE, COUNT)
        assert messages == {f"the provider is gone, with 1 capability: {each}" for each in functions}
    first = comparison["not_compared"][0]
    assert first["missing_from"] == ("old" if NOTES_FILE in old else "new")
    if new.get(NOTES_FILE) is BROKEN:
        assert first["place"] == f"{tmp_path}/new/{NOTES_FILE}:14"
        assert "Kotlin syntax error" in first["reason"]


def test_functions_behind_a_syntax_error_are_not_compared_and_count_as_breaking(
    droidgate: Runner, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DROIDGATE_HOME", str(tmp_path / "home"))
    write_tree(tmp_path / "p", entry_point_tree())
    assert droidgate("pack", tmp_path / "p", "-o", tmp_path / "app.apk", "--generate").code == 0
    write_tree(tmp_path / "p", {NOTES_FILE: FUNCTIONS.replace("title: String", "title String")})
    ran = droidgate("diff", tmp_path / "app.apk", tmp_path / "p", "--fail-on", "breaking")
    assert (ran.code, "what is not compared counts as breaking" in ran.err) == (1, True)
    summary = "nothing changed in what could be read; 1 capability is as it was; 1 not compared"
    assert (ran.out.split("\n")[0], summary in ran.out) == (
        "the new side cannot be read in full: 1 capability not compared",
        True,
    )
    assert droidgate("diff", tmp_path / "app.apk", tmp_path / "p").code == 3
    assert DELETE_NOTE not in ran.out


def test_a_source_of_which_nothing_can_be_read_is_one_error(droidgate: Runner, tmp_path: Path) -> None:
    write_tree(tmp_path, {"Notes.kt": FUNCTIONS.replace("title: String", "title String")})
    ran = droidgate("inspect", tmp_path / "Notes.kt")
    assert ran.code == 3
    assert "no descriptor" not in ran.err
    assert "error: " in ran.err
    assert "nothing in it can be read" in ran.err


ONE_TOOL = {"tools.json": '{"tools": [{"name": "add", "inputSchema": {"type": "object"}}]}'}


@pytest.mark.parametrize(("old", "new", "code", "changes"), [
    pytest.param(ONE_TOOL, {}, 1, [["breaking", "the provider is gone, with 1 capability: add"]],
        id="all that was declared is gone"),
    pytest.param({}, ONE_TOOL, 0, [["compatible", "the provider is new, with 1 capability: add"]],
        id="all that is declared is new"),
    pytest.param({}, {}, 3, None, id="nothing is declared on either side"),
    pytest.param(ONE_TOOL, None, 3, None, id="a side that cannot be read is not empty"),
    pytest.param(ONE_TOOL, {"tools.json": ONE_TOOL["tools.json"][:-2]}, 3, None,
        id="a broken descriptor is not gone"),
])  # fmt: skip
@pytest.mark.parametrize("source", ["folder", "revision"])
def test_a_side_without_a_descriptor_is_empty(
    source: str,
    old: dict[str, str],
    new: dict[str, str] | None,
    code: int,
    changes: list[list[str]] | None,
    droidgate: Runner,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    sides = "old", "new"
    for name, files in zip(sides, (old, new), strict=True):
        if files is not None:
            (tmp_path / name).mkdir()
            write_tree(tmp_path / name, files)
    if source == "revision":
        _commit(tmp_path / "old")
        monkeypatch.chdir(tmp_path / "old")
        sides = "git:HEAD", "../new"
    ran = droidgate("diff", *sides, "--fail-on", "breaking")
    assert ran.code == code
    if changes is None:
        return
    document = droidgate.document("diff", *sides)
    (provider,) = document["comparison"]["providers"]
    assert [[item["weight"], item["message"]] for item in provider["changes"]] == changes
    assert "holds no Android project and no descriptor" in ran.err
    kind = "archive" if source == "revision" and not old else "folder"
    assert [item["message"] for item in document["problems"]] == [
        f"the {kind} holds no Android project and no descriptor"
    ]


@pytest.mark.parametrize(("old", "new", "message"), [
    ("git:HEAD:./new", "new", "the provider is new, with 1 capability: add"),
    ("git:HEAD:./gone", "./gone", "the provider is gone, with 1 capability: add"),
    ("git:HEAD:gone", "git:HEAD:./new", "the provider is gone, with 1 capability: add"),
    ("git:HEAD:nosuch", "nosuch", None),
    ("git:HEAD:gone", "nosuch", None),
    ("git:nosuch:new", "new", None),
])  # fmt: skip
def test_a_path_that_one_side_lacks_is_empty_where_the_other_side_is_the_same_path(
    old: str,
    new: str,
    message: str | None,
    droidgate: Runner,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    write_tree(tmp_path / "gone", ONE_TOOL)
    _commit(tmp_path)
    (tmp_path / "gone").rename("new")
    ran = droidgate("diff", old, new, "--fail-on", "breaking")
    if message is None:
        assert (ran.code, ran.out) == (3, "")
    else:
        assert (ran.code, message in ran.out) == (int("is gone" in message), True)
        assert "no such file or folder" in ran.err
