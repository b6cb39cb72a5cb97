"""`droidgate pack`, alone and behind `migrate`."""

import hashlib
import json
import re
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from adapters.apk_writing.packed_samples import module_folder, run_tool
from device_shim.shim_android.manifest_limits import limit_apks
from droidgate_android.apk.reader import open_apk
from gateway.cli.program_runs import Runner, run_process
from gateway.migration.projects import copy_module
from gateway.sources.formats_of_tests import write_tree
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
    facts = ("--package", "org.other", "--version-code", "77", "--min-sdk", "30", "--target-sdk", "35")
    document = droidgate.document(*command, *facts, "--key-type", "rsa")
    assert (document["package"], document["version_code"]) == ("org.other", 77)
    assert (document["minimum_sdk"], document["target_sdk"]) == (30, 35)
    data = (tmp_path / "app.apk").read_bytes()
    assert (document["size"], document["sha256"]) == (len(data), hashlib.sha256(data).hexdigest())
    with open_apk(tmp_path / "app.apk") as apk:
        assert (apk.package, apk.version_code) == ("org.other", 77)
        application = next(apk.manifest.child_elements("application"))
        names = [item.find_attribute("name") for item in application.child_elements()]
        assert [item.text for item in names if item] == ["dev.droidgate.sample.pdftool.ToolActivity"]
        assert [document["signer"]["digest"]] == list(apk.signer_digests())


@titled(("arguments", "code", "message"), {
    "no folder": (("nowhere",), 3, "not a folder"), "no manifest": (("empty",), 3, "no AndroidManifest.xml"),
    "no dex file": (("app", "--dex", "absent.dex"), 3, "cannot be read"),
    "a dex file that is a text": (("app", "--dex", "app/AndroidManifest.xml"), 3, "not a dex file"),
    "a package of one part": (("app", "--package", "one"), 3, "not a package"),
    "version code 0": (("app", "--version-code", "0"), 3, "versionCode 0"),
    "no key": (("app", "--key", "absent.pem"), 3, "cannot be read"),
    "an unknown type of key": (("app", "--key-type", "dsa"), 2, "dsa"),
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
    for out, reason in (("absent/app.apk", "does not exist"), ("folder", "a folder is in the way")):
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


def test_the_help_imports_no_cryptography() -> None:
    run = run_process("pack", "--help", PYTHONPROFILEIMPORTTIME="1")
    assert run.code == 0
    assert "cryptography" not in run.err


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
def test_resources_of_libraries_are_packed_in_the_order_of_their_priority(pack: Pack, tmp_path: Path) -> None:
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
    with zipfile.ZipFile(tmp_path / "app.apk") as archive:
        assert archive.read("assets/both.txt") == b"app"
        assert archive.read("assets/in/shared.txt") == b"shared"


@pytest.mark.requires("aapt2")
def test_manifests_of_libraries_are_merged_into_the_packed_one(pack: Pack, tmp_path: Path) -> None:
    pack()
    manifest = run_tool("aapt2", "dump", "xmltree", "--file", "AndroidManifest.xml", tmp_path / "app.apk")
    assert '"dev.shared.S"' in manifest
    assert '"android.permission.INTERNET"' in manifest
    assert "urn:droidgate" not in manifest


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
