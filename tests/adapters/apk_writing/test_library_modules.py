"""`pack` with library modules: their manifests, resources and assets are merged as Gradle does."""

import json
import re
import subprocess
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from gateway.cli.program_runs import Runner
from gateway.sources.formats_of_tests import write_tree

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


def aapt2(*arguments: str | Path) -> str:
    done = subprocess.run(["aapt2", "dump", *map(str, arguments)], check=True, capture_output=True, text=True)
    return done.stdout


@pytest.mark.requires("aapt2")
def test_resources_of_libraries_are_packed_in_the_order_of_their_priority(pack: Pack, tmp_path: Path) -> None:
    pack()
    values = re.findall(r'string/(\w+)\n((?:\s+\(\w*\) ".*"\n)+)', aapt2("resources", tmp_path / "app.apk"))
    found = {name: sorted(re.findall(r'\((\w*)\) "(.*)"', text)) for name, text in values}
    own = [("", "app"), ("de", "geteilt")]
    assert found == {"base": [("", "Base")], "own": own, "title": [("", "Shared")]}
    caps = aapt2("xmltree", "--file", "res/xml/caps.xml", tmp_path / "app.apk")
    assert 'of="shared"' in caps
    with zipfile.ZipFile(tmp_path / "app.apk") as archive:
        assert archive.read("assets/both.txt") == b"app"
        assert archive.read("assets/in/shared.txt") == b"shared"


@pytest.mark.requires("aapt2")
def test_manifests_of_libraries_are_merged_into_the_packed_one(pack: Pack, tmp_path: Path) -> None:
    pack()
    manifest = aapt2("xmltree", "--file", "AndroidManifest.xml", tmp_path / "app.apk")
    assert '"dev.shared.S"' in manifest
    assert '"android.permission.INTERNET"' in manifest
    assert "urn:droidgate" not in manifest


def test_a_tree_with_libraries_and_its_apk_declare_the_same(
    pack: Pack, droidgate: Runner, tmp_path: Path
) -> None:
    pack()
    shown = [
        json.loads(droidgate("inspect", tmp_path / item, "--json").out)["applications"][0]["label"]
        for item in ("p", "app.apk")
    ]
    assert shown == ["Shared", "Shared"]


def test_a_module_that_is_missing_is_named(pack: Pack, tmp_path: Path) -> None:
    write_tree(tmp_path / "p", {"app/build.gradle.kts": module("application", "app", "shared", "gone")})
    assert any(item.startswith(":gone is not merged") for item in pack())


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
