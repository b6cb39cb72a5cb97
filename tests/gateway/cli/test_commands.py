"""What each command prints, writes and ends with, on small descriptors of our own."""

import json
import re
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from conftest import Golden
from droidgate.cli.demo import demonstration_calls
from droidgate.cli.output.json_output import schema_of
from droidgate.cli.published import PUBLISHED
from droidgate.computer.optional_packages import install_command
from gateway.cli.program_runs import Runner, run_on_terminal, run_process
from gateway.cli.samples import TIMER, TIMER_MANIFEST, TOOLS, hostile_tools, write_project, write_tools
from gateway.cli.test_sarif import check_log


@pytest.fixture(autouse=True)
def _in_a_folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write_project(Path("timer"))
    Path("timer.xml").write_text(TIMER)
    write_tools(Path("tools.json"))


def _files(folder: str) -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in Path(folder).rglob("*") if path.is_file())


@pytest.mark.parametrize("command", ["inspect", "convert", "lint", "diff", "formats", "migrate", "pack"])
def test_a_command_prints_its_schema(droidgate: Runner, command: str) -> None:
    run = droidgate(command, "--json-schema")
    assert (run.code, run.err) == (0, "")
    assert json.loads(run.out) == schema_of(PUBLISHED[command])


# inspect


def test_inspect_shows_a_project(droidgate: Runner, golden: Golden) -> None:
    run = droidgate("inspect", "timer", "tools.json")
    assert (run.code, run.err) == (0, "")
    golden("cli/inspect.txt", run.out)


def test_inspect_prints_the_model_as_json(droidgate: Runner, golden: Golden) -> None:
    run = droidgate("inspect", "timer", "--json")
    document = run.document("inspect")
    assert (run.code, run.err) == (0, "")
    assert document["schema"] == "droidgate.inspect/1"
    golden("cli/inspect.json", run.out)


def test_inspect_reads_standard_input(droidgate: Runner) -> None:
    run = droidgate("inspect", "-", "--json", stdin=TIMER.encode())
    (provider,) = run.document("inspect")["providers"]
    assert [capability["id"] for capability in provider["capabilities"]] == ["start_timer", "stop_timer"]
    assert provider["source"]["path"] == "-"


def test_inspect_reads_only_the_formats_asked_for(droidgate: Runner) -> None:
    run = droidgate("inspect", "timer", "--from", "mcp")
    assert "0 providers" in run.out
    run = droidgate("inspect", "tools.json", "--from", "mobile-mcp")
    assert (run.code, run.out) == (3, "")


def test_a_leniency_is_reported_and_refused_by_strict(droidgate: Runner, golden: Golden) -> None:
    Path("lenient.xml").write_text(TIMER.replace('required="false"', 'required="no"'))
    run = droidgate("inspect", "lenient.xml")
    assert run.code == 0
    golden("cli/inspect-lenient.txt", run.out)
    (finding,) = droidgate("inspect", "lenient.xml", "--json").document("inspect")["findings"]
    assert (finding["level"], finding["source"]["line"]) == ("read", 6)
    refused = droidgate("inspect", "lenient.xml", "--strict")
    assert (refused.code, refused.out) == (3, "")
    assert refused.err.startswith("error: lenient.xml:6: ")
    assert refused.err.splitlines()[1].startswith("hint: ")


def test_what_cannot_be_read_in_a_folder_is_reported_and_the_rest_is_read(droidgate: Runner) -> None:
    Path("timer/app/src/main/res/xml/timer.xml").write_text(TIMER.replace("</mobile", "<mobile"))
    Path("timer/more.json").write_text(json.dumps(TOOLS))
    run = droidgate("inspect", "timer", "--json")
    document = run.document("inspect")
    assert run.code == 0
    assert [provider["protocol"] for provider in document["providers"]] == ["mcp"]
    assert document["problems"][0]["place"].startswith("timer/app/src/main/res/xml/timer.xml")
    assert run.err.startswith("warning: timer/app/src/main/res/xml/timer.xml")


def test_a_folder_of_which_nothing_can_be_read_is_bad_input(droidgate: Runner) -> None:
    Path("timer/app/src/main/res/xml/timer.xml").write_text(TIMER.replace("</mobile", "<mobile"))
    run = droidgate("inspect", "timer")
    assert run.code == 3
    assert "    no capabilities could be read\n" in run.out
    assert run.out.endswith("\n0 providers, 0 capabilities, 0 remarks\n")
    assert run.err.startswith("warning: timer/app/src/main/res/xml/timer.xml")


# convert


def test_convert_writes_artifacts_report_and_names(droidgate: Runner, golden: Golden) -> None:
    run = droidgate("convert", "timer", "--to", "mmcp", "-o", "out")
    assert (run.code, run.err) == (0, "")
    golden("cli/convert.txt", run.out)
    golden("cli/convert-fidelity.json", Path("out/fidelity.json").read_text())
    golden("cli/convert-names.json", Path("out/names.json").read_text())
    assert {"AndroidManifest.xml", "fidelity.json", "names.json"} <= set(_files("out"))
    back = droidgate("inspect", "out/AndroidManifest.xml", "--json").document("inspect")
    assert back["providers"][0]["capabilities"][0]["id"] == "start_timer"


def test_the_files_are_what_their_schemas_and_digests_say(droidgate: Runner) -> None:
    run = droidgate("convert", "timer", "tools.json", "--to", "appfunctions", "-o", "out", "--json")
    fidelity = run.document("convert")
    assert fidelity == json.loads(Path("out/fidelity.json").read_text())
    written = {file["path"] for conversion in fidelity["conversions"] for file in conversion["files"]}
    assert {*written, "fidelity.json", "names.json"} == set(_files("out"))
    for conversion in fidelity["conversions"]:
        assert sum(conversion["counts"].values()) == len(conversion["findings"])
    names = json.loads(Path("out/names.json").read_text())
    assert [item["source"] for item in names["providers"]] == [
        item["source"] for item in fidelity["conversions"]
    ]


def test_several_providers_get_a_folder_each_whose_name_stays(droidgate: Runner) -> None:
    droidgate("convert", "timer", "tools.json", "--to", "mcp", "-o", "two")
    folders = {path.name for path in Path("two").iterdir() if path.is_dir()}
    assert folders == {"app.timer-timerservice", "tools"}
    write_tools(Path("more.json"))
    Path("deep").mkdir()
    write_tools(Path("deep/tools.json"))
    droidgate("convert", "timer", "more.json", "deep/tools.json", "tools.json", "--to", "mcp", "-o", "four")
    named = {path.name for path in Path("four").iterdir() if path.is_dir()}
    assert {"app.timer-timerservice", "more"} < named
    assert len(named) == 4
    assert all(item.startswith("tools_") for item in named - {"app.timer-timerservice", "more"})


def test_convert_refuses_to_overwrite_other_work(droidgate: Runner) -> None:
    droidgate("convert", "timer", "--to", "mcp", "-o", "out")
    again = droidgate("convert", "timer", "--to", "mcp", "-o", "out")
    assert again.code == 0
    assert "created:" not in again.out
    (artifact,) = set(_files("out")) - {"fidelity.json", "names.json"}
    Path("out", artifact).write_text("mine")
    refused = droidgate("convert", "timer", "--to", "mcp", "-o", "out")
    assert (refused.code, refused.out) == (3, "")
    assert refused.err.splitlines() == [
        f"error: out/{artifact}: there is another file of that name already",
        "hint: choose another folder, or overwrite with --force",
    ]
    assert Path("out", artifact).read_text() == "mine"
    assert droidgate("convert", "timer", "--to", "mcp", "-o", "out", "--force").code == 0
    assert Path("out", artifact).read_text() != "mine"


def test_one_artifact_goes_into_a_file(droidgate: Runner) -> None:
    assert droidgate("convert", "timer", "--to", "mcp", "-o", "made/list.json").code == 0
    assert _files("made") == ["list.fidelity.json", "list.json", "list.names.json"]
    assert json.loads(Path("made/list.json").read_text())["tools"][1]["name"] == "stop_timer"
    refused = droidgate("convert", "timer", "--to", "mobile-mcp", "-o", "made/list.xml")
    assert refused.code == 2
    assert "do not fit into one file" in refused.err


def test_one_artifact_goes_to_standard_output(droidgate: Runner) -> None:
    run = droidgate("convert", "-", "--to", "mcp", "-o", "-", stdin=TIMER.encode())
    assert run.code == 0
    assert [tool["name"] for tool in json.loads(run.out)["tools"]] == ["start_timer", "stop_timer"]
    assert "findings: " in run.err
    assert droidgate("convert", "timer", "--to", "mcp", "-o", "-", "--json").code == 2
    assert droidgate("convert", "timer", "tools.json", "--to", "mcp", "-o", "-").code == 2


@pytest.mark.parametrize(("threshold", "code"), [
    ("renamed", 1),
    ("moved", 1),
    ("defaulted", 1),
    ("widened", 1),
    ("narrowed", 1),
    ("dropped", 1),
    ("impossible", 0),
    ("security", 0),
])  # fmt: skip
def test_the_threshold_decides_the_exit_code_and_everything_is_written(
    droidgate: Runner, threshold: str, code: int
) -> None:
    run = droidgate("convert", "tools.json", "--to", "mobile-mcp", "-o", "out", "--fail-on", threshold)
    levels = json.loads(Path("out/fidelity.json").read_text())["conversions"][0]["counts"]
    assert list(levels) == ["dropped", "widened", "defaulted", "moved"]
    assert run.code == code
    assert "AndroidManifest.xml" in _files("out")


def test_convert_prints_sarif(droidgate: Runner) -> None:
    run = droidgate("convert", "timer", "--to", "mmcp", "-o", "out", "--sarif")
    log = json.loads(run.out)
    check_log(log)
    fidelity = json.loads(Path("out/fidelity.json").read_text())
    (logged,) = log["runs"]
    assert [item["ruleId"] for item in logged["results"]] == [
        item["code"] for conversion in fidelity["conversions"] for item in conversion["findings"]
    ]


@pytest.mark.slow
def test_a_dialect_that_is_only_read_is_refused_with_the_reason(droidgate: Runner) -> None:
    formats = json.loads(droidgate("formats", "--json").out)["formats"]
    unwritten = [
        (f"{format_['id']}+{dialect['id']}", dialect["not_written_because"])
        for format_ in formats
        for dialect in format_["dialects"]
        if not dialect["written"]
    ]
    for written, why in unwritten:
        run = droidgate("convert", "timer", "--to", written, "-o", "out")
        assert run.code == 2
        line, hint = run.err.splitlines()
        assert line == f"error: {written} is only read: {why}"
        assert hint == "hint: `droidgate formats` lists the formats that are written"
    run = droidgate("convert", "timer", "--to", "mmcp+9", "-o", "out")
    assert run.code == 2
    assert run.err.startswith("error: mmcp has no dialect '9'\nhint: known: 1.0, draft, broadcast")


# lint


def test_lint_finds_nothing_in_good_descriptors(droidgate: Runner) -> None:
    assert droidgate("lint", "timer", "timer.xml").code == 0


def test_lint_names_rule_place_and_way_out(droidgate: Runner, golden: Golden) -> None:
    broken = TIMER.replace(' version="1.0">\n    <cap', ">\n    <cap").replace('type="integer"', 'type="int"')
    Path("broken.xml").write_text(broken)
    run = droidgate("lint", "broken.xml")
    assert (run.code, run.err) == (1, "")
    golden("cli/lint.txt", run.out)
    document = droidgate("lint", "broken.xml", "--json").document("lint")
    assert all(
        finding["rule"] and finding["source"]["path"] == "broken.xml" for finding in document["findings"]
    )
    assert document["counts"]["error"] == sum(finding["level"] == "error" for finding in document["findings"])
    log = json.loads(droidgate("lint", "broken.xml", "--sarif").out)
    check_log(log)
    assert len(log["runs"][0]["results"]) == len(document["findings"])


def test_lint_threshold_decides_the_exit_code(droidgate: Runner) -> None:
    Path("timer/app/src/main/AndroidManifest.xml").write_text(
        TIMER_MANIFEST.replace('android:exported="true"', 'android:exported="false"')
    )
    counts = json.loads(droidgate("lint", "timer", "--json").out)["counts"]
    assert counts
    worst = next(iter(counts))
    scale = ["note", "warning", "error"]
    for threshold in scale:
        expected = 1 if scale.index(worst) >= scale.index(threshold) else 0
        assert droidgate("lint", "timer", "--fail-on", threshold).code == expected


def test_lint_looks_into_files_that_are_no_app(droidgate: Runner) -> None:
    Path("loose").mkdir()
    Path("loose/broken.xml").write_text(TIMER.replace('type="integer"', 'type="int"'))
    findings = json.loads(droidgate("lint", "loose", "--json").out)["findings"]
    assert {finding["source"]["path"] for finding in findings} == {"loose/broken.xml"}


def test_lint_says_a_finding_once(droidgate: Runner) -> None:
    Path("timer/app/src/main/res/xml/timer.xml").write_text(TIMER.replace('type="integer"', 'type="int"'))
    findings = json.loads(droidgate("lint", "timer", "--json").out)["findings"]
    keys = [json.dumps(finding, sort_keys=True) for finding in findings]
    assert len(keys) == len(set(keys)) > 0


def test_lint_counts_an_unreadable_file_as_an_error(droidgate: Runner) -> None:
    Path("timer/app/src/main/AndroidManifest.xml").write_text(TIMER_MANIFEST.replace("</manifest>", ""))
    run = droidgate("lint", "timer", "--json")
    assert run.code == 1
    codes = [finding["code"] for finding in json.loads(run.out)["findings"]]
    assert "unreadable" in codes


def test_lint_of_a_file_that_no_reader_can_parse_is_still_a_report(droidgate: Runner) -> None:
    run = droidgate("lint", "-", "--json", stdin=TIMER.replace("</capability>", "", 1).encode())
    assert run.code == 1
    assert json.loads(run.out)["findings"][0]["level"] == "error"


# diff


def test_diff_says_what_breaks(droidgate: Runner, golden: Golden) -> None:
    changed = TIMER.replace('required="false"', 'required="true"').replace(
        "Starts a timer", "Starts one timer"
    )
    Path("new.xml").write_text(changed.replace('id="stop_timer"', 'id="stop_timers"'))
    run = droidgate("diff", "timer.xml", "new.xml")
    assert (run.code, run.err) == (0, "")
    golden("cli/diff.txt", run.out)
    printed = droidgate("diff", "timer.xml", "new.xml", "--json")
    document = printed.document("diff")
    assert (document["weight"], document["counts"]) == (
        "breaking",
        {"breaking": 2, "compatible": 1, "text-only": 1},
    )


@pytest.mark.parametrize(
    ("threshold", "code"), [("security", 0), ("breaking", 0), ("compatible", 0), ("text-only", 1)]
)
def test_diff_threshold_decides_the_exit_code(droidgate: Runner, threshold: str, code: int) -> None:
    Path("new.xml").write_text(TIMER.replace("Starts a timer", "Starts one timer"))
    assert droidgate("diff", "timer.xml", "new.xml", "--fail-on", threshold).code == code


def test_diff_of_the_same_is_nothing(droidgate: Runner) -> None:
    run = droidgate("diff", "timer", "timer", "--fail-on", "text-only")
    assert (run.code, run.out) == (0, "nothing changed; 2 capabilities are as they were\n")


def test_diff_takes_one_side_from_standard_input(droidgate: Runner) -> None:
    run = droidgate("diff", "timer.xml", "-", stdin=TIMER.encode())
    assert (run.code, run.out) == (0, "nothing changed; 2 capabilities are as they were\n")


# formats


def test_formats_list_every_dialect(droidgate: Runner) -> None:
    run = droidgate("formats")
    document = droidgate("formats", "--json").document("formats")
    for format_ in document["formats"]:
        for dialect in format_["dialects"]:
            row = rf"^  {format_['id']} +{re.escape(dialect['id'])} .* {re.escape(dialect['summary'])}$"
            assert re.search(row, run.out, re.MULTILINE)
    rows = {len(row["cells"]) for row in document["matrix"]["rows"]}
    assert rows == {len(document["matrix"]["columns"])}


def test_the_matrix_has_a_column_for_each_dialect(droidgate: Runner) -> None:
    tables = [item.splitlines() for item in droidgate("formats", "--matrix").out.split("\n\n")]
    document = json.loads(droidgate("formats", "--json").out)
    written = [
        item["id"] for item in document["formats"] if any(dialect["written"] for dialect in item["dialects"])
    ]
    assert [name for name, *_ in tables] == written
    headers = [header.split() for _, header, *_ in tables]
    assert {first for first, *_ in headers} == {"FEATURE"}
    assert [item for _, *columns in headers for item in columns] == document["matrix"]["columns"]
    assert {len(rows) for _, _, *rows in tables} == {len(document["matrix"]["rows"])}


# demo


@pytest.mark.slow
def test_the_demo_touches_neither_home_nor_the_users_adb_server(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = tmp_path / "home"
    home.mkdir()
    for variable in ("HOME", "USERPROFILE", "DROIDGATE_HOME", "XDG_CACHE_HOME", "XDG_CONFIG_HOME"):
        monkeypatch.setenv(variable, str(home))
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        listening.listen()
        listening.setblocking(False)
        monkeypatch.setenv("ANDROID_ADB_SERVER_PORT", str(listening.getsockname()[1]))
        run = subprocess.run(
            [sys.executable, "-m", "droidgate", "demo"], capture_output=True, check=False, timeout=120
        )
        assert run.returncode == 0, run.stdout[-2000:]
        with pytest.raises(BlockingIOError):
            listening.accept()
    assert list(home.iterdir()) == []


@pytest.mark.slow
def test_the_demo_works_where_no_adb_program_is(monkeypatch: pytest.MonkeyPatch, droidgate: Runner) -> None:
    monkeypatch.setenv("ADBUTILS_ADB_PATH", "/nonexistent/adb")
    run = droidgate("demo")
    assert run.code == 0, run.out[-2000:]
    assert "reached by the phone's own adb server" in run.out


def test_the_demo_says_what_is_wrong_with_the_adb_program(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, droidgate: Runner
) -> None:
    program = tmp_path / "adb"
    program.write_text("#!/bin/sh\necho broken; exit 3\n")
    program.chmod(0o700)
    monkeypatch.setenv("ADBUTILS_ADB_PATH", str(program))
    run = droidgate("demo")
    assert (run.code, run.err) == (1, "")
    assert re.search(r"adb connect 127\.0\.0\.1:\d+ ended with status 3: broken\n", run.out)


def test_the_adb_server_of_the_demo_leaves_real_phones_and_logs_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, droidgate: Runner
) -> None:
    seen = tmp_path / "environment"
    program = tmp_path / "adb"
    program.write_text(f"#!/bin/sh\nenv >{seen}\nexit 3\n")
    program.chmod(0o700)
    monkeypatch.setenv("ADBUTILS_ADB_PATH", str(program))
    monkeypatch.setenv("ADB_SERVER_SOCKET", "tcp:1")
    droidgate("demo", "--keep", "kept")
    reported = dict(line.partition("=")[::2] for line in seen.read_text().splitlines())
    assert (reported["ADB_USB"], reported["ADB_EMU"], reported["ADB_MDNS"]) == ("0", "0", "0")
    assert {reported["HOME"], reported["TMPDIR"], reported["ANDROID_USER_HOME"]} == {
        str(Path("kept/home").absolute())
    }
    assert "ADB_SERVER_SOCKET" not in reported


@pytest.mark.slow
def test_the_demo_makes_a_call_for_each_pair_of_protocols_and_shows_it(droidgate: Runner) -> None:
    shown = droidgate("demo", "--details").out
    table = re.sub(" {2,}", " -> ", shown[shown.index("7. Call") :])
    for pair in (
        "Mobile-MCP, not granted -> AppFunctions",
        "Mobile-MCP bound (S0) -> mMCP activity",
        "Mobile-MCP started (prototype) -> mMCP broadcast",
        "Mobile-MCP bound (S1) -> AppFunctions",
        "Mobile-MCP started (S0) -> Mobile-MCP",
        "mMCP activity -> Mobile-MCP",
        "mMCP broadcast -> mMCP activity",
        "AppFunctions (Android's shell) -> Mobile-MCP",
        "host (adb) -> mMCP activity",
    ):
        assert pair in table
    assert "The river rose by a hand." in table


@pytest.mark.slow
def test_the_demo_without_the_mcp_sdk_leaves_the_client_out_in_one_line(
    monkeypatch: pytest.MonkeyPatch, droidgate: Runner
) -> None:
    monkeypatch.setitem(sys.modules, "mcp", None)
    run = droidgate("demo")
    assert run.code == 0
    assert f"left out: the MCP SDK is not installed ({install_command('serve')})" in run.out


@pytest.mark.slow
def test_the_demo_is_short_and_narrow(droidgate: Runner) -> None:
    lines = droidgate("demo").out.splitlines()
    assert len(lines) <= 90
    assert [line for line in lines if len(line) > 100] == []


@pytest.mark.slow
def test_the_demo_fails_where_an_app_answers_something_else(
    monkeypatch: pytest.MonkeyPatch, droidgate: Runner
) -> None:
    monkeypatch.setattr(demonstration_calls, "_DAY", "2999-01-01")
    run = droidgate("demo")
    assert run.code == 1
    assert "make_up_clock_in: the answer is not what is so" in run.out


# hostile and damaged input


@pytest.mark.parametrize("command", ["inspect", "convert", "lint", "diff"])
def test_text_from_apps_never_steers_a_terminal(droidgate: Runner, command: str) -> None:
    write_tools(Path("bad.json"), hostile_tools())
    more = {"convert": ["--to", "mmcp", "-o", "out"], "diff": ["tools.json"]}.get(command, [])
    for flags in ([], ["--json"]):
        run = droidgate(command, "bad.json", *more, *flags, *(["--force"] if command == "convert" else []))
        assert run.code in {0, 1}
        assert not set(run.out + run.err) & set("\x1b\x9b\x07\r\u202e\u2066")
    shown = run_on_terminal(
        command, "bad.json", *more, *(["--force"] if command == "convert" else []), NO_COLOR="1"
    )
    plain = shown.replace("\x1b[1m", "").replace("\x1b[0m", "").replace("\r\n", "\n")
    assert not set(plain) & set("\x1b\x9b\x07\r\u202e\u2066")


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\x00\x01\x02\xff\xfe" * 50,
        b"PK\x03\x04junk",
        b"\x03\x00\x08\x00" + b"\x00" * 40,
        b"<" * 10_000,
        b"[" * 100_000,
        b"{" * 100_000,
        b'{"tools": "no"}',
        b'{"tools": [{"name": 7}]}',
        b'{"tools": [{"name": "a", "inputSchema": 3}]}',
        b'<!DOCTYPE a [<!ENTITY b SYSTEM "file:///etc/passwd">]><mobile-mcp-capabilities>&b;</mobile-mcp-capabilities>',
        b"<mobile-mcp-capabilities>" + b"<capability>" * 5000,
        "<mobile-mcp-capabilities version='1.0'/>".encode("utf-16"),
        b"\xef\xbb\xbf",
        b"null",
    ],
    ids=lambda data: repr(data[:12]),
)
@pytest.mark.parametrize("command", ["inspect", "lint", "convert"])
def test_damaged_input_ends_with_a_report_or_one_error(droidgate: Runner, command: str, data: bytes) -> None:
    more = ["--to", "mcp", "-o", "out"] if command == "convert" else []
    run = droidgate(command, "-", *more, stdin=data)
    assert run.code in {0, 1, 3}, run.err
    assert "Traceback" not in run.err
    if run.code == 3:
        first, *rest = run.err.splitlines()
        assert first.startswith("error: ")
        assert len(rest) <= 1
        assert all(item.startswith("hint: ") for item in rest)


@pytest.mark.slow
def test_a_descriptor_with_thousands_of_tools_is_read_and_grouped(droidgate: Runner) -> None:
    tools = [{"name": f"tool_{at}", "title": "t", "inputSchema": {"type": "object"}} for at in range(3000)]
    write_tools(Path("many.json"), {"tools": tools})
    run = droidgate("convert", "many.json", "--to", "mobile-mcp", "-o", "out")
    assert run.code == 0
    assert len(run.out.splitlines()) < 30
    assert "3003" in run.out


def test_missing_files_are_named(droidgate: Runner) -> None:
    run = droidgate("inspect", "no\x1b[31m.xml")
    assert (run.code, run.out) == (3, "")
    assert run.err.startswith("error: no\\x1b[31m.xml: ")
    Path("empty").mkdir()
    run = droidgate("convert", "empty", "--to", "mcp", "-o", "out")
    assert run.code == 3
    assert run.err.splitlines()[1].startswith("hint: ")


def test_an_app_that_declares_nothing_cannot_be_converted(droidgate: Runner) -> None:
    write_project(
        Path("plain"), manifest=TIMER_MANIFEST.replace("mobile.mcp", "other"), descriptor="<other />"
    )
    assert droidgate("inspect", "plain").code == 0
    run = droidgate("convert", "plain", "--to", "mcp", "-o", "out")
    assert run.code == 3
    assert "nothing in it declares a capability" in run.err


def test_an_output_folder_that_cannot_be_made_is_an_error(droidgate: Runner) -> None:
    Path("blocked").write_text("")
    run = droidgate("convert", "timer", "--to", "mcp", "-o", "blocked/out")
    assert run.code == 3
    assert run.err.startswith("error: blocked: a file is in the way of a folder")


# the whole process


def test_the_process_prints_the_same_as_a_call(droidgate: Runner) -> None:
    assert run_process("inspect", "timer", "--json").out == droidgate("inspect", "timer", "--json").out


@pytest.mark.slow
def test_a_locale_without_unicode_still_gets_everything() -> None:
    tools = {"tools": [{"name": "a", "description": "Grüße 日本", "inputSchema": {"type": "object"}}]}
    write_tools(Path("unicode.json"), tools)
    for flags in ((), ("--json",)):
        run = run_process("inspect", "unicode.json", *flags, PYTHONIOENCODING="ascii", LC_ALL="C")
        assert run.code == 0
        assert "Gr\\xfc" in run.out or "Gr\\u00fc" in run.out
        if flags:
            assert json.loads(run.out)["providers"][0]["capabilities"][0]["description"] == "Grüße 日本"


@pytest.mark.slow
def test_a_terminal_gets_bold_headers_and_a_pipe_plain_text() -> None:
    drawn = run_on_terminal("inspect", "timer")
    assert "\x1b[1m" in drawn
    assert "\x1b[3" not in run_on_terminal("inspect", "timer", NO_COLOR="1")
    piped = run_process("inspect", "timer").out
    assert "\x1b" not in piped
    assert "start_timer" in drawn
