"""Which apps `inspect` read: shown whether or not they declare anything; and conversions of nothing."""

import json
from pathlib import Path

import pytest

from droidgate_android.apk.pack import pack_project
from droidgate_phone.apps.sample_packages import signing_key
from gateway.cli.program_runs import Runner

ANDROID = 'xmlns:android="http://schemas.android.com/apk/res/android"'
AGENT = f"""<manifest {ANDROID} package="org.example.agent" android:versionCode="7" android:versionName="1.2">
  <uses-sdk android:minSdkVersion="30" android:targetSdkVersion="36"/>
  <queries>
    <intent><action android:name="mobile.mcp.SERVICE"/></intent>
    <package android:name="org.example.notes"/>
  </queries>
  <application android:label="Agent"/>
</manifest>"""


pytestmark = pytest.mark.usefixtures("own_folder")


def write_agent(folder: Path) -> None:
    (folder / "src/main").mkdir(parents=True)
    (folder / "src/main/AndroidManifest.xml").write_text(AGENT)


def test_an_app_that_declares_nothing_is_named_with_what_it_asks_to_see(droidgate: Runner) -> None:
    write_agent(Path("app"))
    run = droidgate("inspect", "app")
    assert run.code == 0
    assert run.out.splitlines() == [
        "Apps",
        '  org.example.agent "Agent", version 1.2 (7), minSdk 30, targetSdk 36',
        "    at app/src/main/AndroidManifest.xml",
        "    queries: intent mobile.mcp.SERVICE (Mobile-MCP); package org.example.notes",
        "    declares no capabilities",
        "",
        "0 providers, 0 capabilities, 0 remarks",
    ]


def test_the_same_is_in_the_json(droidgate: Runner) -> None:
    write_agent(Path("app"))
    (app,) = json.loads(droidgate("inspect", "app", "--json").out)["applications"]
    assert app["package"] == "org.example.agent"
    assert (app["label"], app["version_code"], app["version_name"]) == ("Agent", 7, "1.2")
    assert (app["minimum_sdk"], app["target_sdk"], app["declares"]) == (30, 36, False)
    assert [(query["names"], query.get("protocols", [])) for query in app["queries"]] == [
        (["mobile.mcp.SERVICE"], ["Mobile-MCP"]),
        (["org.example.notes"], []),
    ]


def test_an_apk_is_named_with_its_signer_and_its_queries(droidgate: Runner) -> None:
    write_agent(Path("app"))
    key = signing_key()
    Path("agent.apk").write_bytes(pack_project(Path("app"), key=key))
    lines = droidgate("inspect", "agent.apk").out.splitlines()
    assert lines[1] == '  org.example.agent "Agent", version 1.2 (7), minSdk 30, targetSdk 36'
    assert lines[3] == f"    signer: {key.digest} (verified)"
    assert lines[4] == "    queries: intent mobile.mcp.SERVICE (Mobile-MCP); package org.example.notes"


def test_of_many_apps_those_that_declare_nothing_are_counted(droidgate: Runner) -> None:
    for number in range(12):
        folder = Path(f"all/a{number}/src/main")
        folder.mkdir(parents=True)
        (folder / "AndroidManifest.xml").write_text(f'<manifest {ANDROID} package="a.b{number}"/>')
    lines = droidgate("inspect", "all").out.splitlines()
    assert lines[:2] == ["Apps", "  12 more apps declare nothing"]


@pytest.mark.parametrize("guidance", ["", ' a:description="Search first"'])
def test_a_conversion_of_no_capabilities_says_so(droidgate: Runner, guidance: str) -> None:
    Path("guide.xml").write_text(
        f'<AppFunctionAppMetadata xmlns:a="http://schemas.android.com/apk/res-auto"{guidance}/>'
    )
    run = droidgate("convert", "guide.xml", "--to", "mcp", "-o", "out")
    assert run.code == 0
    assert "the source has no capabilities, so none were converted" in run.out
    assert "is lost" not in run.out
    (conversion,) = json.loads(Path("out/fidelity.json").read_text())["conversions"]
    assert conversion["capabilities"] == 0
