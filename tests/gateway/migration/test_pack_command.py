"""`droidgate pack`, alone, behind `migrate`, and of trees whose functions only Kotlin declares.

What it generates is held to the virtual phone's indexer.
"""

import hashlib
import json
import re
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from adapters.apk_writing.packed_samples import module_folder, run_tool
from device_shim.phone_system.phone_system_apps import make_phone, run as run_on_phone
from device_shim.shim_android.manifest_limits import limit_apks
from droidgate_android.apk.reader import open_apk
from gateway.cli.program_runs import Run, Runner
from gateway.migration.projects import copy_module
from gateway.sources.formats_of_tests import write_tree
from gateway.sources.kotlin_trees import (
    ADD_NOTE,
    DELETE_NOTE,
    ENTRY_POINT,
    ENTRY_POINT_PATH,
    entry_point_tree,
    kotlin_tree,
)
from requirements_of_tests import require, short_run
from titled_rows import titled


def test_pack_reports_what_is_packed_the_signer_and_that_there_is_no_code(
    droidgate: Runner, tmp_path: Path
) -> None:
    run = droidgate("pack", module_folder("clock-in/app"), "-o", tmp_path / "app.apk")
    assert run.code == 0, run.err
    with open_apk(tmp_path / "app.apk") as apk:
        assert apk.package == "dev.droidgate.sample.clockin"
        assert next(iter(apk.signer_digests())) in run.out
    assert "dev.droidgate.sample.clockin 1 (1.0), for Android 8.0 (API 26) and later" in run.out
    assert f"{(tmp_path / 'app.apk').stat().st_size} bytes" in run.out
    assert "res/xml/mcp_capabilities.xml" in run.out
    assert "no component can run" in run.out


def test_code_given_with_dex_is_packed_and_not_reported_missing(droidgate: Runner, tmp_path: Path) -> None:
    dex = tmp_path / "code.dex"
    dex.write_bytes(b"dex\n038\0" + bytes(100))
    run = droidgate(
        *("pack", module_folder("weather/app"), "-o", tmp_path / "app.apk"), "--dex", dex, "--dex", dex
    )
    assert run.code == 0, run.err
    assert "no component can run" not in run.out
    with zipfile.ZipFile(tmp_path / "app.apk") as archive:
        assert archive.read("classes.dex") == archive.read("classes2.dex") == dex.read_bytes()


def test_the_document_is_of_its_published_schema(droidgate: Runner, tmp_path: Path) -> None:
    command = ("pack", module_folder("pdf-tool/app"), "-o", tmp_path / "app.apk")
    document = droidgate.document(*command, "--package", "org.other", "--min-sdk", "30")
    assert (document["package"], document["minimum_sdk"]) == ("org.other", 30)
    data = (tmp_path / "app.apk").read_bytes()
    assert (document["size"], document["sha256"]) == (len(data), hashlib.sha256(data).hexdigest())
    with open_apk(tmp_path / "app.apk") as apk:
        assert (apk.package, apk.version_code) == ("org.other", document["version_code"])
        application = next(apk.manifest.child_elements("application"))
        names = [item.find_attribute("name") for item in application.child_elements()]
        assert [item.text for item in names if item] == ["dev.droidgate.sample.pdftool.ToolActivity"]
        assert [document["signer"]["digest"]] == list(apk.signer_digests())


@titled(("arguments", "code", "message"), {
    "no folder": (("nowhere",), 3, "not a folder"), "no manifest": (("empty",), 3, "no AndroidManifest.xml"),
    "no dex file": (("app", "--dex", "absent.dex"), 3, "cannot be read"),
    "a dex file that is a text": (("app", "--dex", "app/AndroidManifest.xml"), 3, "not a dex file"),
    "a package of one part": (("app", "--package", "one"), 3, "not a package"),
    "no key": (("app", "--key", "absent.pem"), 3, "cannot be read"),
    "a release before Android 4.3": (("app", "--min-sdk", "17"), 3, "Android 4.3 (API 18)"),
    "two modules that make an app": (("several",), 3, "several modules make an app: one, two"),
})  # fmt: skip
@pytest.mark.usefixtures("own_folder")
def test_a_refusal_names_its_reason_and_writes_nothing(
    droidgate: Runner, arguments: tuple[str, ...], code: int, message: str
) -> None:
    manifest = '<manifest package="a.b"><application/></manifest>'
    Path("empty").mkdir()
    for folder in ("app", "several/one/src/main", "several/two/src/main"):
        Path(folder).mkdir(parents=True)
        Path(folder, "AndroidManifest.xml").write_text(manifest)
    run = droidgate("pack", *arguments, "-o", "out.apk")
    assert run.code == code
    assert message in run.err
    assert "Traceback" not in run.err
    assert not Path("out.apk").exists()


def test_an_output_that_cannot_be_written_leaves_no_new_key(
    droidgate: Runner, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DROIDGATE_HOME", str(tmp_path / "home"))
    (tmp_path / "folder").mkdir()
    (tmp_path / "file").touch()
    for out, reason in (("file/app.apk", "a file is in the way"), ("folder", "a folder is in the way")):
        run = droidgate("pack", module_folder("weather/app"), "-o", tmp_path / out)
        assert (run.code, reason in run.err, (tmp_path / "home").exists()) == (3, True, False)


def test_another_file_is_replaced_only_when_asked_to(droidgate: Runner, tmp_path: Path) -> None:
    out = tmp_path / "app.apk"
    out.write_text("mine")
    command = ("pack", module_folder("weather/app"), "-o", out)
    assert droidgate(*command).code == 3
    assert out.read_text() == "mine"
    assert droidgate(*command, "--force").code == 0
    before = out.read_bytes()
    assert droidgate(*command).code == 0
    assert out.read_bytes() == before


@titled(("source", "into", "target", "expected"), {
    "mMCP": ("pdf-tool", "notes", "mobile-mcp", ["mobile.mcp.SERVICE", "mobile.mcp.tool.capabilities"]),
    "MobileMCP to mMCP": ("clock-in", "weather", "mmcp", ["ACTION_TOOL_CALL", "mMCP_manifest"]),
    "MobileMCP to AppFunctions":
        ("clock-in", "pdf-tool", "appfunctions", ["AppFunctionService", "android.app.appfunctions.v2"]),
})  # fmt: skip
def test_what_migrate_wrote_is_in_the_packed_app(
    droidgate: Runner, tmp_path: Path, source: str, into: str, target: str, expected: list[str]
) -> None:
    aapt2 = require("aapt2")
    project = copy_module(into, tmp_path)
    migrated = droidgate(
        "migrate", module_folder(f"{source}/app"), "--to", target, "--into", project, "--write"
    )
    assert migrated.code == 0, migrated.err
    packed = droidgate("pack", project, "-o", tmp_path / "app.apk")
    assert packed.code == 0, packed.err
    dump = run_tool(aapt2, "dump", "xmltree", tmp_path / "app.apk", "--file", "AndroidManifest.xml")
    for text in expected:
        assert text in dump
    run_tool(*short_run("apksigner"), "verify", "--min-sdk-version", "24", tmp_path / "app.apk")


def test_pack_warns_of_exactly_the_apps_that_android_refuses() -> None:
    """The same APKs are given to Android's own parser by ManifestsTest.java."""
    apks = limit_apks()
    findings = {
        name: [item for item in packed.packing.findings if item.code == "manifest-text-too-long"]
        for name, packed in apks.items()
    }
    assert len(findings) > 15
    for name, packed in apks.items():
        assert len(findings[name]) == int(packed.refused)
        for finding in findings[name]:
            assert "Android 15 and later refuse an app" in finding.message
            assert finding.hint is not None


# Library modules: their manifests, resources and assets are merged as Gradle does

SCHEMA = 'xmlns:android="http://schemas.android.com/apk/res/android"'
TITLED = '<application android:label="@string/title"/>'
SERVICE = """<uses-permission android:name="android.permission.INTERNET"/>
<application>
<service android:name=".S" android:label="@string/base" android:exported="false"/>
</application>"""


def module(kind: str, name: str, *projects: str) -> str:
    dependencies = "; ".join(f'implementation(project(":{project}"))' for project in projects)
    return (
        f'plugins {{ id("com.android.{kind}") }}\nandroid {{ namespace = "dev.{name}" }}\n'
        f"dependencies {{ {dependencies} }}\n"
    )


def strings(**values: str) -> str:
    lines = "".join(f'<string name="{name}">{text}</string>' for name, text in values.items())
    return f"<resources>{lines}</resources>"


def tree() -> dict[str, str | bytes]:
    return {
        "settings.gradle.kts": 'include(":app", ":shared", ":base")\n',
        "app/build.gradle.kts": module("application", "app", "shared"),
        "app/src/main/AndroidManifest.xml": f"<manifest {SCHEMA}>{TITLED}</manifest>",
        "app/src/main/res/values/strings.xml": strings(own="app"),
        "app/src/main/assets/both.txt": "app",
        "shared/build.gradle.kts": module("library", "shared", "base"),
        "shared/src/main/AndroidManifest.xml": f"<manifest {SCHEMA}>{SERVICE}</manifest>",
        "shared/src/main/res/values/strings.xml": strings(own="shared", title="Shared"),
        "shared/src/main/res/values-de/strings.xml": strings(own="geteilt"),
        "shared/src/main/res/xml/caps.xml": '<caps of="shared"/>',
        "shared/src/main/assets/both.txt": "shared",
        "shared/src/main/assets/in/shared.txt": "shared",
        "base/build.gradle.kts": module("library", "base"),
        "base/src/main/AndroidManifest.xml": f"<manifest {SCHEMA}/>",
        "base/src/main/res/values/strings.xml": strings(title="Base", base="Base"),
        "base/src/main/res/xml/caps.xml": '<caps of="base"/>',
    }


Pack = Callable[..., list[str]]


@pytest.fixture
def pack(droidgate: Runner, tmp_path: Path) -> Pack:
    """Write the project, and return what packs it or a module of it: the messages of the findings."""
    write_tree(tmp_path / "p", tree())

    def packed(project: str = "p") -> list[str]:
        ran = droidgate("pack", tmp_path / project, "-o", tmp_path / "app.apk", "--json", "--force")
        assert ran.code == 0, ran.err
        return [finding["message"] for finding in json.loads(ran.out)["findings"]]

    return packed


@pytest.mark.requires("aapt2")
def test_libraries_are_packed_in_the_order_of_their_priority_and_merged_into_the_manifest(
    pack: Pack, tmp_path: Path
) -> None:
    pack()
    values = re.findall(
        r'string/(\w+)\n((?:\s+\(\w*\) ".*"\n)+)',
        run_tool("aapt2", "dump", "resources", tmp_path / "app.apk"),
    )
    texts = {name: sorted(re.findall(r'\((\w*)\) "(.*)"', text)) for name, text in values}
    own = [("", "app"), ("de", "geteilt")]
    assert texts == {"base": [("", "Base")], "own": own, "title": [("", "Shared")]}
    caps = run_tool("aapt2", "dump", "xmltree", "--file", "res/xml/caps.xml", tmp_path / "app.apk")
    assert 'of="shared"' in caps
    manifest = run_tool("aapt2", "dump", "xmltree", "--file", "AndroidManifest.xml", tmp_path / "app.apk")
    assert ('"dev.shared.S"' in manifest, "urn:droidgate" in manifest) == (True, False)
    with zipfile.ZipFile(tmp_path / "app.apk") as archive:
        assert archive.read("assets/both.txt") == b"app"
        assert archive.read("assets/in/shared.txt") == b"shared"


def test_a_tree_with_libraries_and_its_apk_declare_the_same(
    pack: Pack, droidgate: Runner, tmp_path: Path
) -> None:
    pack()
    labels = [
        json.loads(droidgate("inspect", tmp_path / item, "--json").out)["applications"][0]["label"]
        for item in ("p", "app.apk")
    ]
    assert labels == ["Shared", "Shared"]


def test_a_module_without_its_project_cannot_have_libraries(pack: Pack, tmp_path: Path) -> None:
    manifest = f"<manifest {SCHEMA}><application/></manifest>"
    write_tree(tmp_path / "p", {"app/src/main/AndroidManifest.xml": manifest})
    [message] = [item for item in pack("p/app") if "not merged" in item]
    assert ":shared" in message


def test_a_broken_file_of_a_library_is_an_error_at_its_line(droidgate: Runner, tmp_path: Path) -> None:
    broken = "shared/src/main/res/values/strings.xml"
    project = write_tree(tmp_path / "p", tree() | {broken: "<resources>\n<string>"})
    ran = droidgate("pack", project, "-o", tmp_path / "app.apk")
    assert ran.code == 3
    assert broken in ran.err


# Trees whose functions only Kotlin declares


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
        text = run_on_phone(phone, "cmd", "app_function", "list-app-functions").stdout
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
    assert codes.count("lenient-read") == 2 * len(missing)
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
