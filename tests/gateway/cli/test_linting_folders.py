"""`lint` of a folder finds in each file what it finds in the file alone, and lists what it cannot read."""

import json
from pathlib import Path
from typing import Any

import pytest

from adapters.appfunctions.function_files import file_of, function_of, property_of, service_of
from gateway.cli.program_runs import Runner
from gateway.sources.formats_of_tests import write_tree
from gateway.sources.kotlin_trees import MANIFEST as MANIFEST_OF_TREE, entry_point_tree

MANIFEST = '<manifest xmlns:android="http://schemas.android.com/apk/res/android" package="a.b">{}</manifest>'
UNCLOSED = "<appfunctions>\n  <appfunction>\n    <id>a</id>\n</appfunctions>\n"
BROKEN_LIST = '{"tools": [{"name": "", "inputSchema": {"type": "object"}}]}'


pytestmark = pytest.mark.usefixtures("own_folder")


def findings(droidgate: Runner, *sources: str) -> list[dict[str, Any]]:
    found = json.loads(droidgate("lint", *sources, "--json").out)["findings"]
    assert isinstance(found, list)
    return found


def write(tree: dict[str, str]) -> None:
    for name, text in tree.items():
        Path(name).parent.mkdir(parents=True, exist_ok=True)
        Path(name).write_text(text)


LOOSE = {
    "all/good.xml": file_of(function_of()),
    "all/unclosed.xml": UNCLOSED,
    "all/deep/tools.json": BROKEN_LIST,
    "all/unknown.xml": file_of(function_of("<colour>red</colour>")),
}


def test_a_folder_has_the_findings_of_its_files(droidgate: Runner) -> None:
    write(LOOSE)
    alone = {
        json.dumps(item)
        for name in sorted(LOOSE)
        if name != "all/deep/tools.json"
        for item in findings(droidgate, name)
    }
    whole = {json.dumps(item) for item in findings(droidgate, "all")}
    assert alone <= whole
    assert {json.loads(item)["source"]["path"] for item in whole - alone} == {"all/deep/tools.json"}


def test_a_descriptor_below_a_manifest_is_linted_too(droidgate: Runner) -> None:
    write({"all/AndroidManifest.xml": MANIFEST.format("<application/>"), "all/docs/unclosed.xml": UNCLOSED})
    assert [(finding["code"], finding["source"]["path"]) for finding in findings(droidgate, "all")] == [
        ("appfunctions-malformed-xml", "all/docs/unclosed.xml")
    ]


def test_a_broken_file_of_an_app_is_reported_once_and_with_its_cause(droidgate: Runner) -> None:
    service = service_of(property_of("v2", "f.xml"), property_of("schema", "app_functions_schema.xsd"))
    folder = "app/src/main"
    write(
        {
            f"{folder}/AndroidManifest.xml": MANIFEST.format(f"<application>{service}</application>"),
            f"{folder}/assets/f.xml": UNCLOSED,
        }
    )
    (finding,) = findings(droidgate, "app")
    assert finding["code"] == "appfunctions-malformed-xml"
    assert "<appfunction> of line 2 is not closed before </appfunctions>" in finding["message"]


@pytest.mark.parametrize("text", ["<app-metadata/>", "<AppFunctionAppMetadata"])
def test_guidance_that_cannot_be_read_is_one_line(droidgate: Runner, text: str) -> None:
    guidance = (
        '<property android:name="android.app.appfunctions.app_metadata" android:resource="@xml/guidance"/>'
    )
    folder = "app/src/main"
    write(
        {
            f"{folder}/AndroidManifest.xml": MANIFEST.format(f"<application>{guidance}</application>"),
            f"{folder}/res/xml/guidance.xml": text,
        }
    )
    (finding,) = findings(droidgate, "app")
    assert (finding["code"], finding["level"]) == ("appfunctions-metadata-file", "error")
    assert finding["source"] == {"path": f"{folder}/res/xml/guidance.xml", "line": 1}


def test_a_strict_reading_reports_every_problem(droidgate: Runner) -> None:
    attribute = 'xmlns:appfn="http://schemas.android.com/apk/res-auto" appfn:description="Notes"'
    guidance = (
        '<property android:name="android.app.appfunctions.app_metadata" android:resource="@xml/guidance"/>'
    )
    application = f"<application {attribute}>{guidance}{service_of(property_of('v2', 'f.xml'))}</application>"
    folder = "app/src/main"
    write(
        {
            f"{folder}/AndroidManifest.xml": MANIFEST.format(application),
            f"{folder}/res/xml/guidance.xml": "<app-metadata/>",
            f"{folder}/assets/f.xml": UNCLOSED,
        }
    )
    reported = findings(droidgate, "app", "--strict")
    places = [Path(item["source"]["path"]).name for item in reported if item["code"] == "unreadable"]
    assert sorted(places) == ["AndroidManifest.xml", "f.xml", "guidance.xml"]


def test_a_file_that_leads_out_of_the_folder_is_listed(droidgate: Runner) -> None:
    write({"secret.json": BROKEN_LIST, "all/good.xml": file_of(function_of())})
    Path("all/link.json").symlink_to(Path("secret.json").absolute())
    (refused,) = (finding for finding in findings(droidgate, "all") if finding["code"] == "unreadable")
    assert refused["source"]["path"] == "all/link.json"


def test_a_file_that_is_too_large_is_listed_and_is_not_an_error(droidgate: Runner) -> None:
    write({"all/good.xml": file_of(function_of())})
    with Path("all/data.json").open("wb") as file:
        file.truncate(17 * 1024 * 1024)
    run = droidgate("lint", "all", "--json")
    (listed,) = (finding for finding in json.loads(run.out)["findings"] if finding["code"] == "unread-file")
    assert (run.code, listed["level"], listed["source"]["path"]) == (0, "note", "all/data.json")
    assert droidgate("inspect", "all").code == 0


GUIDANCE = '<property android:name="android.app.appfunctions.app_metadata" android:resource="@xml/none"/>'
TOOL = (
    '<service android:name=".S" android:exported="true"><intent-filter><action '
    'android:name="mobile.mcp.SERVICE"/></intent-filter>{}</service>'
)
DESCRIPTOR = '<meta-data android:name="mobile.mcp.tool.capabilities" android:resource="@xml/none"/>'


@pytest.mark.parametrize(("element", "code", "row"), [
    (GUIDANCE, "appfunctions-metadata-missing", "A19"),
    (TOOL.format(""), "mobile-mcp-tool-capabilities", "M64"),
    (TOOL.format(DESCRIPTOR), "mobile-mcp-descriptor-file", "M64"),
])  # fmt: skip
def test_what_a_reader_leaves_out_by_a_broken_rule_is_one_finding(
    droidgate: Runner, tmp_path: Path, element: str, code: str, row: str
) -> None:
    android = 'xmlns:android="http://schemas.android.com/apk/res/android"'
    manifest = f'<manifest {android} package="dev.a"><application>\n{element}\n</application></manifest>'
    (tmp_path / "AndroidManifest.xml").write_text(manifest)
    codes = [finding["code"] for finding in findings(droidgate, str(tmp_path))]
    assert codes.count(code) == 1
    assert "lost-in-reading" not in codes
    read = json.loads(droidgate("inspect", tmp_path, "--json").out)["findings"]
    assert row in [finding.get("rule") for finding in read]


@pytest.mark.parametrize(("file", "count"), [("notes.xml", 0), ("other.xml", 1)])
def test_a_file_that_the_compiler_of_an_entry_point_writes_is_not_missing(
    droidgate: Runner, tmp_path: Path, file: str, count: int
) -> None:
    service = service_of(property_of("v2", file), name=".NotesService")
    manifest = MANIFEST_OF_TREE.replace("</application>", f"{service}</application>")
    write_tree(tmp_path, {**entry_point_tree(), "app/src/main/AndroidManifest.xml": manifest})
    codes = [finding["code"] for finding in findings(droidgate, str(tmp_path))]
    assert "appfunctions-no-schema" in codes
    assert codes.count("appfunctions-missing-file") == count
