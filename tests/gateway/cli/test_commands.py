"""What each command prints, writes and ends with, on small descriptors of our own."""

import html
import json
import re
import shlex
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from adapters.appfunctions.function_files import file_of, function_of, property_of, service_of
from conftest import Golden
from droidgate.cli.demo import demonstration_calls
from droidgate.cli.output.json_output import schema_of
from droidgate.cli.published_schemas import PUBLISHED
from droidgate.computer.optional_packages import install_command
from droidgate_android.apk.pack import pack_project
from droidgate_phone.apps.sample_packages import signing_key
from gateway.cli.program_runs import Runner, run_on_terminal, run_process
from gateway.cli.samples import TIMER, TIMER_MANIFEST, TOOLS, hostile_tools, write_tools
from gateway.cli.test_sarif import check_log
from gateway.devices.fake_adb_server import LISTED, SERIAL, Answer, FakeAdbServer
from gateway.sources.formats_of_tests import write_tree
from gateway.sources.kotlin_trees import MANIFEST as MANIFEST_OF_TREE, entry_point_tree
from titled_rows import titled

pytestmark = pytest.mark.usefixtures("small_sources")

CUT = TIMER.replace("</mobile", "<mobile")
STEP = {"type": "object", "properties": {"label": {"type": "string"}, "next": {"$ref": "#/$defs/Step"}}}
NESTED = {
    "inputSchema": {
        "type": "object",
        "properties": {
            "day": {"type": "string", "format": "date", "description": "Which day"},
            "mood": {"enum": ["calm", "busy"]},
            "steps": {"type": "array", "items": {"$ref": "#/$defs/Step"}, "maxItems": 9},
        },
        "required": ["day"],
        "$defs": {"Step": STEP},
    },
    "outputSchema": {"type": "object", "properties": {"minutes": {"type": "integer", "minimum": 1}}},
}
NOTHING_CHANGED = "nothing changed; 2 capabilities are as they were\n"

# What is typed, the exit code, and what both streams get: a text that is in it or, if it is one line, all of
# it; nothing where it is empty, anything where it is None. A word with `<` is the file of standard input.
TYPED = [
    ("inspect timer --format mcp", 0, "0 providers", None),
    ("inspect tools.json --format mmcp", 3, "", "hint: it was to be read as mMCP (mmcp) only"),
    ("inspect 'no\x1b[31m.xml'", 3, "", "error: no\\x1b[31m.xml: "),
    ("inspect sources/good.json sources/cut.xml", 3, "", None),
    ("inspect plain", 0, None, None),
    ("inspect timer --capability start", 2, "", "hint: did you mean 'start_timer'?"),
    ("inspect timer --capability app.timer/start_timer", 0, "minutes    ", None),
    ("inspect timer --capability stop_timer", 0, "no parameters", None),
    ("lint timer timer.xml", 0, None, None),
    ("diff timer timer --fail-on text-only", 0, NOTHING_CHANGED, None),
    ("diff timer timer --markdown", 0, "**nothing changed; 2 capabilities are as they were**\n", ""),
    ("diff timer timer --sarif out.sarif", 2, "", "end the command with: > out.sarif"),
    ("lint --sarif out.sarif timer", 2, "", "end the command with: --sarif > out.sarif"),
    ("lint timer --sarif=out.sarif", 2, "", "end the command with: > FILE"),
    ("lint timer -o out.sarif", 2, "", "end the command with: > FILE"),
    ("convert timer --to mcp --out x", 2, "", "hint: did you mean --output? see"),
    ("audit list", 2, "", "hint: known: show, verify; see"),
    ("convert timer --to mmcp -o timer/out", 0, None, "warning: timer/out is in the source timer"),
    ("lint timer --markdown --json", 2, "", "--json and --markdown exclude each other"),
    ("convert tools.json --to mcp", 0, "paint", "tools.json  mcp+2025-11-25 -> mcp+2025-11-25"),
    ("convert timer --to mmcp", 2, "", "the result has 2 files, and standard output takes one"),
    ("convert timer --to mcp -o - --check", 2, "", "--check compares files"),
    ("diff timer.xml - <timer.xml", 0, NOTHING_CHANGED, None),
    ("diff timer.xml text.xml --fail-on security", 0, None, None),
    ("diff timer.xml text.xml --fail-on breaking", 0, None, None),
    ("diff timer.xml text.xml --fail-on compatible", 0, None, None),
    ("diff timer.xml text.xml --fail-on text-only", 1, None, None),
    ("convert empty --to mcp -o out", 3, None, "\nhint: "),
    ("convert plain --to mcp -o out", 3, None, "nothing in it declares a capability"),
    ("convert timer --to mcp -o blocked/out", 3, None, "error: blocked: a file is in the way of a folder"),
    ("convert timer --to mcp -o - --json", 2, None, None),
    ("convert timer tools.json --to mcp -o -", 2, None, None),
    ("convert timer --to mobile-mcp -o made/list.xml", 2, None,
        "the result has 3 files, and made/list.xml is one file"),
]  # fmt: skip


@pytest.mark.parametrize(("typed", "code", "out", "err"), TYPED, ids=[row[0] for row in TYPED])
def test_a_command_line_ends_with_its_code_and_prints_what_it_has_to(
    droidgate: Runner, typed: str, code: int, out: str | None, err: str | None
) -> None:
    words = shlex.split(typed)
    inputs = [Path(word[1:]).read_bytes() for word in words if word.startswith("<")]
    run = droidgate(*(word for word in words if not word.startswith("<")), stdin=b"".join(inputs))
    assert run.code == code
    for printed, expected in ((run.out, out), (run.err, err)):
        if expected == "" or (expected is not None and expected.endswith("\n")):
            assert printed == expected
        assert expected is None or expected in printed


@pytest.mark.parametrize("name", ["inspect", "convert", "lint", "diff", "formats", "migrate", "pack",
    *(name for name in PUBLISHED if name.startswith("shim-"))])  # fmt: skip
def test_a_command_prints_its_schema(droidgate: Runner, name: str) -> None:
    needed = {"shim-build": ["--from", "x"], "shim-call": ["x"]}
    run = droidgate(*name.split("-"), *needed.get(name, []), "--json-schema")
    assert (run.code, run.err) == (0, "")
    assert json.loads(run.out) == schema_of(PUBLISHED[name])


# inspect


def test_inspect_shows_a_project(droidgate: Runner, golden: Golden) -> None:
    run = droidgate("inspect", "timer", "tools.json")
    assert (run.code, run.err) == (0, "")
    golden("cli/inspect.txt", run.out)


def test_inspect_shows_the_parameters_of_one_capability(droidgate: Runner, golden: Golden) -> None:
    data = json.dumps({"tools": [{"name": "plan", "description": "Plan a day", **NESTED}]}).encode()
    run = droidgate("inspect", "-", "--capability", "plan", stdin=data)
    assert (run.code, run.err) == (0, "")
    golden("cli/inspect-capability.txt", run.out)
    whole = droidgate.document("inspect", "timer")["providers"][0]["component"]
    for name in ("stop_timer", f"app.timer/{whole}/stop_timer", f"app.timer/app.timer{whole}/stop_timer"):
        (provider,) = droidgate.document("inspect", "timer", "--capability", name)["providers"]
        assert [capability["id"] for capability in provider["capabilities"]] == ["stop_timer"]
        asked = droidgate("why", name, "--source", "timer", "--agent", "mobile-mcp")
        assert "no capability" not in asked.err


def test_inspect_prints_the_model_as_json(droidgate: Runner, golden: Golden) -> None:
    run = droidgate("inspect", "timer", "--json")
    assert (run.code, run.err) == (0, "")
    assert run.document("inspect")["schema"] == "droidgate.inspect/1"
    golden("cli/inspect.json", run.out)


def test_a_leniency_is_reported_and_refused_by_strict(droidgate: Runner, golden: Golden) -> None:
    Path("lenient.xml").write_text(TIMER.replace('required="false"', 'required="no"'))
    run = droidgate("inspect", "lenient.xml")
    assert run.code == 0
    golden("cli/inspect-lenient.txt", run.out)
    (finding,) = droidgate.document("inspect", "lenient.xml")["findings"]
    assert (finding["level"], finding["source"]["line"]) == ("read", 6)
    refused = droidgate("inspect", "lenient.xml", "--strict")
    assert (refused.code, refused.out) == (3, "")
    assert re.match("error: lenient.xml:6: .*\nhint: ", refused.err)


@pytest.mark.parametrize("others", [True, False], ids=["one of two", "the only one"])
def test_what_is_unreadable_in_a_folder_stops_no_other(droidgate: Runner, *, others: bool) -> None:
    broken = "timer/app/src/main/res/xml/timer.xml"
    Path(broken).write_text(CUT)
    if others:
        Path("timer/more.json").write_text(json.dumps(TOOLS))
        document = droidgate.document("inspect", "timer")
        assert [provider["protocol"] for provider in document["providers"]] == ["mcp"]
        assert document["problems"][0]["place"].startswith(broken)
    run = droidgate("inspect", "timer")
    assert run.code == (0 if others else 3)
    assert run.err.startswith(f"warning: {broken}")
    if not others:
        assert "    no capabilities could be read\n" in run.out
        assert run.out.endswith("\n0 providers, 0 capabilities, 0 remarks\n")


ANDROID = 'xmlns:android="http://schemas.android.com/apk/res/android"'
AGENT = f"""<manifest {ANDROID} package="org.example.agent" android:versionCode="7" android:versionName="1.2">
  <uses-sdk android:minSdkVersion="30" android:targetSdkVersion="36"/>
  <queries>
    <intent><action android:name="mobile.mcp.SERVICE"/></intent>
    <package android:name="org.example.notes"/>
  </queries>
  <application android:label="Agent"/>
</manifest>"""


def test_an_app_that_declares_nothing_is_named_with_what_it_asks_to_see(droidgate: Runner) -> None:
    write_tree(Path(), {"app/src/main/AndroidManifest.xml": AGENT})
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
    (app,) = droidgate.document("inspect", "app")["applications"]
    expected = {"package": "org.example.agent", "label": "Agent", "version_code": 7, "version_name": "1.2"}
    expected |= {"minimum_sdk": 30, "target_sdk": 36, "declares": False}
    assert {name: app[name] for name in expected} == expected
    queries = [(query["names"], query.get("protocols", [])) for query in app["queries"]]
    assert queries == [(["mobile.mcp.SERVICE"], ["Mobile-MCP"]), (["org.example.notes"], [])]

    key = signing_key()
    Path("agent.apk").write_bytes(pack_project(Path("app"), key=key))
    lines = droidgate("inspect", "agent.apk").out.splitlines()
    assert (lines[1], lines[4]) == (run.out.splitlines()[1], run.out.splitlines()[3])
    assert lines[3] == f"    signer: {key.digest} (verified)"


def test_of_many_apps_those_that_declare_nothing_are_counted(droidgate: Runner) -> None:
    manifest = f'<manifest {ANDROID} package="a.b{{}}"/>'
    write_tree(
        Path(),
        {f"all/a{number}/src/main/AndroidManifest.xml": manifest.format(number) for number in range(12)},
    )
    assert droidgate("inspect", "all").out.splitlines()[:2] == ["Apps", "  12 more apps declare nothing"]


# lint


def findings(droidgate: Runner, *words: str) -> list[dict[str, Any]]:
    findings: list[dict[str, Any]] = json.loads(droidgate("lint", *words, "--json").out)["findings"]
    return findings


def test_lint_names_rule_place_and_fix(droidgate: Runner, golden: Golden) -> None:
    broken = TIMER.replace(' version="1.0">\n    <cap', ">\n    <cap").replace('type="integer"', 'type="int"')
    Path("broken.xml").write_text(broken)
    run = droidgate("lint", "broken.xml")
    assert (run.code, run.err) == (1, "")
    golden("cli/lint.txt", run.out)
    document = droidgate.document("lint", "broken.xml", code=1)
    findings = document["findings"]
    assert all(item["rule"] and item["source"]["path"] == "broken.xml" for item in findings)
    assert document["counts"]["error"] == sum(item["level"] == "error" for item in findings)
    log = json.loads(droidgate("lint", "broken.xml", "--sarif").out)
    check_log(log)
    assert len(log["runs"][0]["results"]) == len(findings)
    comment = droidgate("lint", "broken.xml", "--markdown").out
    assert comment.startswith("**")
    assert comment.count("\n| error |") == document["counts"]["error"]


IN_RESULT = """{"tools": [{"name": "a", "description": "Does it.",
 "inputSchema": {"type": "object", "properties": {
  "x": {"type": "string"}}},
 "outputSchema": {"type": "object", "properties": {
  "properties": {"type": "array", "items": {"type": "object", "properties": {
   "x": {"type": "string",
    "maxLength": 5}}}}}}}]}"""
IN_MANIFEST = """<manifest xmlns:android="http://schemas.android.com/apk/res/android" package="dev.a">
<application><activity android:name=".A" android:exported="true">
<intent-filter><action android:name="com.example.mMCP.ACTION_TOOL_ADVERTISE"/></intent-filter>
<meta-data android:name="mMCP_manifest" android:value='{"tools": [
 {"name": "a", "parameters": {"properties": {
  "x": {"type": "string"}}}}]}'/>
</activity></application></manifest>"""
DEEP = '{"a":' * 3000
FUNCTION = """<appfunctions>
<appfunction><id>a</id><functionId>a</functionId>
 <parameters><id>unused</id><dataTypeMetadata><type>8</type></dataTypeMetadata><name>x</name></parameters>
 <response><id>unused</id><valueType><type>3</type><objectTypeMetadata/></valueType></response>
</appfunction></appfunctions>"""


@titled(("name", "declared", "old", "new", "rows"), {
    "a parameter of XML, new and removed": ("a.xml", TIMER, '"minutes"', '"hours"',
        {("property-added", 5), ("property-removed", 3)}),
    "a parameter of an element with a name": ("a.xml", FUNCTION, "<type>8", "<type>7", {("type-changed", 3)}),
    "a keyword of a value in a result": ("a.json", IN_RESULT, "5", "4", {("keyword-changed", 7)}),
    "a parameter of JSON in a manifest": ("AndroidManifest.xml", IN_MANIFEST, '"x": {"type": "string"',
        '"x": {"type": "integer"', {("type-changed", 6)}),
    "JSON behind another attribute, nested too deep": ("AndroidManifest.xml",
        IN_MANIFEST.replace('name="mMCP_manifest"', f"name='mMCP_manifest' label='{DEEP}'"),
        '"x": {"type": "string"', '"x": {"type": "integer"', {("type-changed", 4)}),
})  # fmt: skip
def test_diff_prints_sarif_at_what_changed(
    name: str, declared: str, old: str, new: str, rows: set[tuple[str, int]], droidgate: Runner
) -> None:
    for folder, text in (("old", declared), ("new", declared.replace(old, new))):
        write_tree(Path(folder), {name: text})
    log = json.loads(droidgate("diff", f"old/{name}", f"new/{name}", "--sarif").out)
    check_log(log)
    places = [
        (item["ruleId"], item["locations"][0]["physicalLocation"]) for item in log["runs"][0]["results"]
    ]
    assert {place["artifactLocation"]["uri"] for _, place in places} == {f"new/{name}"}
    assert {(code, place["region"]["startLine"]) for code, place in places} == rows
    comment = droidgate("diff", f"old/{name}", f"new/{name}", "--markdown").out
    assert {int(row) for row in re.findall(rf"\| new/{name}:(\d+) \|", comment)} == {row for _, row in rows}


@pytest.mark.parametrize("command", [
    ("lint", "new.json"),
    ("diff", "tools.json", "new.json"),
    ("convert", "new.json", "--to", "mmcp", "-o", "out", "--force"),
], ids=lambda words: words[0])  # fmt: skip
def test_a_report_names_the_lines_of_the_log(command: tuple[str, ...], droidgate: Runner) -> None:
    tools = json.loads(json.dumps(TOOLS).replace('"string"', '"integer"'))
    tools["tools"][0]["inputSchema"]["minimum"] = "1"
    Path("new.json").write_text(json.dumps(tools, indent=1))
    log = json.loads(droidgate(*command, "--sarif").out)
    places = [item["locations"][0]["physicalLocation"] for item in log["runs"][0]["results"]]
    lines = {item["region"]["startLine"] for item in places}
    report = html.unescape(droidgate(*command, "--markdown").out)
    shown = re.findall(r"new\.json:([^|\n]+)", report)
    assert {int(line) for group in shown for line in re.findall(r"(?:^|, ?)(\d+)", group)} == lines != {1}


def test_a_finding_in_a_json_document_has_the_pointer_of_its_place(droidgate: Runner) -> None:
    properties = {"b": {"type": "int"}, "c": {"minimum": "1"}, "d": {"type": "int"}}
    schema = {"type": "object", "properties": properties}
    tool = {"name": "a", "description": "Does it.", "inputSchema": schema}
    Path("planted.json").write_text(json.dumps({"tools": [tool]}))
    printed = " ".join(droidgate("lint", "planted.json").out.split())
    inside = "/tools/0/inputSchema/properties"
    assert f"planted.json:{inside}/b/type, {inside}/d/type " in printed
    assert f"planted.json:{inside}/c/minimum " in printed


@pytest.mark.parametrize(("tool", "codes"), [
    ('{"name": "a", "description": "b"}', {"mcp-input-schema"}),
    ('{"name": "a", "description": "b", "outputSchema": []}', {"mcp-input-schema", "mcp-output-schema"}),
])  # fmt: skip
def test_a_lone_tool_without_an_input_schema_is_checked_where_its_format_is_named(
    tool: str, codes: set[str], droidgate: Runner
) -> None:
    Path("tool.json").write_text(tool)
    reported = findings(droidgate, "tool.json", "--format", "mcp")
    assert {item["code"] for item in reported if item["source"].get("inner")} >= {"mcp-input-schema"}
    assert codes <= {item["code"] for item in reported}
    assert droidgate("lint", "tool.json").code == 3


def test_lint_threshold_decides_the_exit_code(droidgate: Runner) -> None:
    Path("timer/app/src/main/AndroidManifest.xml").write_text(
        TIMER_MANIFEST.replace('android:exported="true"', 'android:exported="false"')
    )
    counts = json.loads(droidgate("lint", "timer", "--json").out)["counts"]
    assert counts
    scale = ["note", "warning", "error"]
    for threshold in scale:
        expected = 1 if scale.index(next(iter(counts))) >= scale.index(threshold) else 0
        assert droidgate("lint", "timer", "--fail-on", threshold).code == expected


def test_lint_counts_an_unreadable_file_as_an_error(droidgate: Runner) -> None:
    Path("timer/app/src/main/AndroidManifest.xml").write_text(TIMER_MANIFEST.replace("</manifest>", ""))
    document = droidgate.document("lint", "timer", code=1)
    assert "unreadable" in [finding["code"] for finding in document["findings"]]
    run = droidgate("lint", "-", "--json", stdin=TIMER.replace("</capability>", "", 1).encode())
    assert (run.code, json.loads(run.out)["findings"][0]["level"]) == (1, "error")


MANIFEST = f'<manifest {ANDROID} package="a.b">{{}}</manifest>'
UNCLOSED = "<appfunctions>\n  <appfunction>\n    <id>a</id>\n</appfunctions>\n"
BROKEN_LIST = '{"tools": [{"name": "", "inputSchema": {"type": "object"}}]}'
GUIDANCE = '<property android:name="android.app.appfunctions.app_metadata" android:resource="@xml/guidance"/>'
FILES = service_of(property_of("v2", "f.xml"), property_of("schema", "app_functions_schema.xsd"))
LOOSE = {
    "all/good.xml": file_of(function_of()),
    "all/unclosed.xml": UNCLOSED,
    "all/deep/tools.json": BROKEN_LIST,
    "all/unknown.xml": file_of(function_of("<colour>red</colour>")),
}


def app_with(application: str, **files: str) -> dict[str, str]:
    """Return the tree of an app; a file's name has `__` for a slash and no `.xml`."""
    tree = {f"{name.replace('__', '/')}.xml": text for name, text in files.items()}
    tree["AndroidManifest.xml"] = MANIFEST.format(application)
    return {f"app/src/main/{name}": text for name, text in tree.items()}


def test_a_folder_has_the_findings_of_its_files(droidgate: Runner) -> None:
    write_tree(Path(), LOOSE)
    names = sorted(set(LOOSE) - {"all/deep/tools.json"})
    alone = {json.dumps(item) for name in names for item in findings(droidgate, name)}
    whole = {json.dumps(item) for item in findings(droidgate, "all")}
    assert alone <= whole
    assert {json.loads(item)["source"]["path"] for item in whole - alone} == {"all/deep/tools.json"}


# A tree, and the one finding of linting it: its code, level, place, line and a part of its message.
ONE_FINDING = {
    "a descriptor below a manifest is linted too": (
        {"app/AndroidManifest.xml": MANIFEST.format("<application/>"), "app/docs/unclosed.xml": UNCLOSED},
        ("appfunctions-malformed-xml", "error", "app/docs/unclosed.xml", None, ""),
    ),
    "a broken file of an app is reported once and with its cause": (
        app_with(f"<application>{FILES}</application>", assets__f=UNCLOSED),
        ("appfunctions-malformed-xml", "error", "app/src/main/assets/f.xml", None,
         "<appfunction> of line 2 is not closed before </appfunctions>"),
    ),
    "guidance with another root is one line": (
        app_with(f"<application>{GUIDANCE}</application>", res__xml__guidance="<app-metadata/>"),
        ("appfunctions-metadata-file", "error", "app/src/main/res/xml/guidance.xml", 1, ""),
    ),
    "guidance that is cut off is one line": (
        app_with(f"<application>{GUIDANCE}</application>", res__xml__guidance="<AppFunctionAppMetadata"),
        ("appfunctions-metadata-file", "error", "app/src/main/res/xml/guidance.xml", 1, ""),
    ),
}  # fmt: skip


@titled(("tree", "expected"), ONE_FINDING)
def test_lint_of_a_folder_finds_the_one_fault_in_it(
    droidgate: Runner, tree: dict[str, str], expected: tuple[str, str, str, int | None, str]
) -> None:
    code, level, path, line, message = expected
    write_tree(Path(), tree)
    (finding,) = findings(droidgate, "app")
    assert (finding["code"], finding["level"], finding["source"]["path"]) == (code, level, path)
    assert line in (None, finding["source"]["line"])
    assert message in finding["message"]


def test_a_strict_reading_reports_every_problem(droidgate: Runner) -> None:
    attribute = 'xmlns:appfn="http://schemas.android.com/apk/res-auto" appfn:description="Notes"'
    service = service_of(property_of("v2", "f.xml"))
    application = f"<application {attribute}>{GUIDANCE}{service}</application>"
    write_tree(Path(), app_with(application, res__xml__guidance="<app-metadata/>", assets__f=UNCLOSED))
    reported = findings(droidgate, "app", "--strict")
    places = [Path(item["source"]["path"]).name for item in reported if item["code"] == "unreadable"]
    assert sorted(places) == ["AndroidManifest.xml", "f.xml", "guidance.xml"]


def test_a_file_that_leads_out_of_the_folder_or_is_too_large_is_listed(droidgate: Runner) -> None:
    write_tree(Path(), {"secret.json": BROKEN_LIST, "all/good.xml": file_of(function_of())})
    with Path("all/data.json").open("wb") as file:
        file.truncate(17 * 1024 * 1024)
    (listed,) = (finding for finding in findings(droidgate, "all") if finding["code"] == "unread-file")
    assert (listed["level"], listed["source"]["path"]) == ("note", "all/data.json")
    assert [droidgate(command, "all").code for command in ("lint", "inspect")] == [0, 0]
    Path("all/link.json").symlink_to(Path("secret.json").absolute())
    (refused,) = (finding for finding in findings(droidgate, "all") if finding["code"] == "unreadable")
    assert refused["source"]["path"] == "all/link.json"


TOOL = (
    '<service android:name=".S" android:exported="true"><intent-filter><action '
    'android:name="mobile.mcp.SERVICE"/></intent-filter>{}</service>'
)
DESCRIPTOR = '<meta-data android:name="mobile.mcp.tool.capabilities" android:resource="@xml/none"/>'


@pytest.mark.parametrize(("element", "code", "row"), [
    (GUIDANCE, "appfunctions-metadata-missing", "A19"),
    (TOOL.format(""), "mobile-mcp-tool-capabilities", "M64"),
    (TOOL.format(DESCRIPTOR), "mobile-mcp-descriptor-file", "M64"),
], ids=["missing guidance", "a service without a descriptor", "a missing descriptor"])  # fmt: skip
def test_what_a_reader_leaves_out_by_a_rule_is_found_once(
    droidgate: Runner, element: str, code: str, row: str
) -> None:
    write_tree(
        Path(), {"app/AndroidManifest.xml": MANIFEST.format(f"<application>\n{element}\n</application>")}
    )
    codes = [finding["code"] for finding in findings(droidgate, "app")]
    assert codes.count(code) == 1
    assert "lost-in-reading" not in codes
    read = json.loads(droidgate("inspect", "app", "--json").out)["findings"]
    assert row in [finding.get("rule") for finding in read]


@pytest.mark.parametrize(("file", "count"), [("notes.xml", 0), ("other.xml", 1)])
def test_a_file_that_the_compiler_of_an_entry_point_writes_is_not_missing(
    droidgate: Runner, tmp_path: Path, file: str, count: int
) -> None:
    service = service_of(property_of("v2", file), name=".NotesService")
    manifest = MANIFEST_OF_TREE.replace("</application>", f"{service}</application>")
    write_tree(tmp_path / "app", {**entry_point_tree(), "app/src/main/AndroidManifest.xml": manifest})
    codes = [finding["code"] for finding in findings(droidgate, "app")]
    assert "appfunctions-no-schema" in codes
    assert codes.count("appfunctions-missing-file") == count


# diff


def test_diff_shows_breaking_changes(droidgate: Runner, golden: Golden) -> None:
    changed = Path("text.xml").read_text().replace('required="false"', 'required="true"')
    Path("new.xml").write_text(changed.replace('id="stop_timer"', 'id="stop_timers"'))
    run = droidgate("diff", "timer.xml", "new.xml")
    assert (run.code, run.err) == (0, "")
    golden("cli/diff.txt", run.out)
    document = droidgate.document("diff", "timer.xml", "new.xml")
    counts = {"breaking": 2, "compatible": 1, "text-only": 1}
    assert (document["weight"], document["counts"]) == ("breaking", counts)


# formats


def test_formats_list_every_dialect(droidgate: Runner) -> None:
    run = droidgate("formats")
    document = droidgate.document("formats")
    for format_ in document["formats"]:
        for dialect in format_["dialects"]:
            row = rf"^  {format_['id']} +{re.escape(dialect['id'])} .* {re.escape(dialect['summary'])}$"
            assert re.search(row, run.out, re.MULTILINE)
    rows = {len(row["cells"]) for row in document["matrix"]["rows"]}
    assert rows == {len(document["matrix"]["columns"])}


# demo


@pytest.mark.slow
def test_the_demo_leaves_home_and_adb_server_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home = tmp_path / "home"
    home.mkdir()
    for variable in ("HOME", "USERPROFILE", "DROIDGATE_HOME", "XDG_CACHE_HOME", "XDG_CONFIG_HOME"):
        monkeypatch.setenv(variable, str(home))
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        listening.listen()
        listening.setblocking(False)
        monkeypatch.setenv("ANDROID_ADB_SERVER_PORT", str(listening.getsockname()[1]))
        command = [sys.executable, "-m", "droidgate", "demo"]
        run = subprocess.run(command, capture_output=True, check=False, timeout=120)
        assert run.returncode == 0, run.stdout[-2000:]
        with pytest.raises(BlockingIOError):
            listening.accept()
    assert list(home.iterdir()) == []


@pytest.fixture
def adb_program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return where an adb program is looked for; nothing is there yet."""
    path = tmp_path / "adb"
    monkeypatch.setenv("ADBUTILS_ADB_PATH", str(path))
    return path


@pytest.mark.slow
@pytest.mark.usefixtures("adb_program")
def test_the_demo_works_where_no_adb_program_is_and_is_short_and_narrow(droidgate: Runner) -> None:
    run = droidgate("demo")
    assert run.code == 0, run.out[-2000:]
    assert "reached by the phone's own adb server" in run.out
    lines = run.out.splitlines()
    assert len(lines) <= 90
    assert [line for line in lines if len(line) > 100] == []


def test_the_demo_explains_what_is_wrong_with_the_adb_program(adb_program: Path, droidgate: Runner) -> None:
    adb_program.write_text("#!/bin/sh\necho broken; exit 3\n")
    adb_program.chmod(0o700)
    run = droidgate("demo")
    assert (run.code, run.err) == (1, "")
    assert re.search(r"adb connect 127\.0\.0\.1:\d+ ended with status 3: broken\n", run.out)


def test_the_adb_server_of_the_demo_leaves_real_phones_and_logs_alone(
    adb_program: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, droidgate: Runner
) -> None:
    seen = tmp_path / "environment"
    adb_program.write_text(f"#!/bin/sh\nenv >{seen}\nexit 3\n")
    adb_program.chmod(0o700)
    monkeypatch.setenv("ADB_SERVER_SOCKET", "tcp:1")
    droidgate("demo")
    reported = dict(line.partition("=")[::2] for line in seen.read_text().splitlines())
    assert (reported["ADB_USB"], reported["ADB_EMU"], reported["ADB_MDNS"]) == ("0", "0", "0")
    (home,) = {reported[name] for name in ("HOME", "TMPDIR", "ANDROID_USER_HOME")}
    assert Path(home).parent.name.startswith("droidgate-demo-")
    assert "ADB_SERVER_SOCKET" not in reported


@pytest.mark.slow
def test_the_demo_without_the_mcp_sdk_has_no_client(
    monkeypatch: pytest.MonkeyPatch, droidgate: Runner
) -> None:
    monkeypatch.setitem(sys.modules, "mcp", None)
    run = droidgate("demo")
    assert run.code == 0
    assert f"left out: the MCP SDK is not installed ({install_command('serve')})" in run.out


@pytest.mark.slow
def test_the_demo_fails_where_an_answer_differs(monkeypatch: pytest.MonkeyPatch, droidgate: Runner) -> None:
    monkeypatch.setattr(demonstration_calls, "_DAY", "2999-01-01")
    run = droidgate("demo")
    assert run.code == 1
    assert "make_up_clock_in: the answer is not what is so" in run.out


# hostile and damaged input


@pytest.mark.parametrize("typed", [
    "inspect bad.json", "lint bad.json", "diff bad.json tools.json",
    "convert bad.json --to mmcp -o out --force",
])  # fmt: skip
def test_text_from_apps_cannot_control_the_terminal(droidgate: Runner, typed: str) -> None:
    write_tools(Path("bad.json"), hostile_tools())
    for flags in ([], ["--json"]):
        run = droidgate(*typed.split(), *flags)
        assert run.code == 0, run.err
        assert not set(run.out + run.err) & set("\x1b\x9b\x07\r\u202e\u2066")
    output = run_on_terminal(*typed.split(), NO_COLOR="1")
    plain = output.replace("\x1b[1m", "").replace("\x1b[0m", "").replace("\r\n", "\n")
    assert not set(plain) & set("\x1b\x9b\x07\r\u202e\u2066")


ENTITY = b'<!DOCTYPE a [<!ENTITY b SYSTEM "file:///etc/passwd">]><mobile-mcp-capabilities>&b;'
UTF_16 = "<mobile-mcp-capabilities version='1.0'/>".encode("utf-16")
ENDLESS = b"<mobile-mcp-capabilities>" + b"<capability>" * 5000
NO_SCHEMA = b'{"tools": [{"name": "a", "inputSchema": 3}]}'
REPORTED = {("lint", NO_SCHEMA), ("lint", ENDLESS)}


@pytest.mark.parametrize("data", [
    b"", b"\x00\x01\x02\xff\xfe" * 50, b"PK\x03\x04junk", b"\x03\x00\x08\x00" + b"\x00" * 40,
    b"<" * 10_000, b"[" * 100_000, b"{" * 100_000, b'{"tools": "no"}', b'{"tools": [{"name": 7}]}',
    NO_SCHEMA, ENTITY + b"</mobile-mcp-capabilities>", ENDLESS, UTF_16, b"\xef\xbb\xbf", b"null",
], ids=lambda data: repr(data[:12]))  # fmt: skip
@pytest.mark.parametrize("command", ["inspect", "lint", "convert"])
def test_damaged_input_ends_with_a_report_or_one_error(droidgate: Runner, command: str, data: bytes) -> None:
    more = ["--to", "mcp", "-o", "out"] if command == "convert" else []
    run = droidgate(command, "-", *more, stdin=data)
    assert run.code == (0 if data == UTF_16 else 1 if (command, data) in REPORTED else 3), run.err
    assert "Traceback" not in run.err
    if run.code == 3:
        first, *rest = run.err.splitlines()
        assert first.startswith("error: ")
        assert len(rest) <= 1
        assert all(item.startswith("hint: ") for item in rest)


# the whole process


def test_the_process_prints_the_same_as_a_call(droidgate: Runner) -> None:
    assert run_process("inspect", "timer", "--json").out == droidgate("inspect", "timer", "--json").out


@pytest.mark.slow
@pytest.mark.parametrize("flags", [(), ("--json",)], ids=["page", "json"])
def test_a_locale_without_unicode_shows_the_whole_page(flags: tuple[str, ...]) -> None:
    tools = {"tools": [{"name": "a", "description": "Grüße 日本", "inputSchema": {"type": "object"}}]}
    write_tools(Path("unicode.json"), tools)
    run = run_process("inspect", "unicode.json", *flags, PYTHONIOENCODING="ascii", LC_ALL="C")
    assert run.code == 0
    assert "Gr\\xfc" in run.out or "Gr\\u00fc" in run.out
    if flags:
        assert json.loads(run.out)["providers"][0]["capabilities"][0]["description"] == "Grüße 日本"


# `droidgate devices`: what is attached, and what to do where it is not ready


OTHERS = (
    f"{'LOCKED':<22} unauthorized usb:1-1 transport_id:8\n"
    f"{'NOUDEV':<22} no permissions (no udev rules?); see [http://developer.android.com] transport_id:9\n"
)
PROPERTIES = (
    "[ro.build.version.sdk]: [36]\n[ro.build.version.release]: [16]\n[ro.product.model]: [Evil \x1b[31m]\n"
    "[ro.build.version.security_patch]: [2025-06-05]\n[ro.serialno]: [SN1]\n"
)


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeAdbServer]:
    with FakeAdbServer(shell=lambda *_: Answer(PROPERTIES.encode()), listed=LISTED + OTHERS) as fake:
        monkeypatch.setenv("ANDROID_ADB_SERVER_PORT", str(fake.port))
        yield fake


@pytest.mark.usefixtures("server")
def test_each_device_is_shown_with_its_state_and_a_hint(droidgate: Runner) -> None:
    run = droidgate("devices")
    assert run.code == 0
    lines = {line.split()[0]: line for line in run.out.splitlines()[1:]}
    assert "16" in lines[SERIAL]
    assert "\\x1b[31m" in lines[SERIAL]
    assert "allow USB debugging" in lines["LOCKED"]
    assert "udev" in lines["NOUDEV"]


@pytest.mark.usefixtures("server")
def test_the_document_of_devices_fits_its_schema(droidgate: Runner) -> None:
    first, locked, _ = droidgate.document("devices")["devices"]
    assert (first["sdk"], first["ready"], first["security_patch"]) == (36, True, "2025-06-05")
    assert (locked["ready"], locked["state"], locked["sdk"]) == (False, "unauthorized", None)


@titled(("answer", "code", "words"), {
    "a device that answers wrongly is shown so": ({"shell": lambda *_: Answer(b"garbage")}, 0, "cut off"),
    "no device is not an error": ({"listed": ""}, 0, "droidgate phone start"),
    "what is not an adb server is an error": ({"version": "zz"}, 4, "error:"),
})  # fmt: skip
def test_devices_are_listed_where_a_server_answers(
    droidgate: Runner, server: FakeAdbServer, answer: dict[str, Any], code: int, words: str
) -> None:
    vars(server).update(answer)
    run = droidgate("devices")
    assert (run.code, words in (run.err if code else run.out)) == (code, True)
    assert bool(run.out) is (code == 0)
