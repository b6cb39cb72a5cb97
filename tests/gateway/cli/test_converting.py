"""Converting and migrating: what is written and lost, access rules that nothing enforces, and what fails.

A provider or source that fails stops no other, and access rules are shown first and one by one.
"""

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from conftest import Golden
from device_shim.shim_builder.built_samples import KEY
from droidgate.cli.descriptors.run_convert import conversion_page
from droidgate.cli.descriptors.run_diff import diff_page
from droidgate.cli.output.grouped_findings import findings_table, group_findings, security_blocks
from droidgate.cli.output.pages import Heading, Line, Table
from droidgate.converting.conversion import Conversion, convert
from droidgate.sources import Providers, read
from droidgate_android.apk.pack import pack_project
from droidgate_mappings.compare import compare_sets
from droidgate_mappings.model.capability import (
    Capability,
    CapabilitySet,
    ComponentAccess,
    Provider,
)
from droidgate_mappings.model.errors import WriteError
from droidgate_mappings.model.findings import Finding, Level
from droidgate_phone.apps.sample_packages import sample_package
from droidgate_phone.phone import VirtualPhone
from droidgate_shim.builder.sample_apps import sample_apps_directory
from gateway.cli.program_runs import Run, Runner, run_process
from gateway.cli.samples import TIMER, TIMER_MANIFEST, write_bare_project, write_project, write_tools
from gateway.cli.test_sarif import check_log
from gateway.migration.projects import copy_module
from titled_rows import titled

pytestmark = pytest.mark.usefixtures("small_sources")

APPS = sample_apps_directory()
CLOCK = APPS / "clock-in" / "app"
NOTES = APPS / "notes" / "app"
WEATHER = APPS / "weather"
HINT = "hint: check the caller in the code that answers the call, or leave the capability out"
# mMCP keeps a manifest in one attribute, and a text of this length does not fit into a compiled manifest.
TOO_LONG: dict[str, Any] = {
    "tools": [{"name": "speak", "description": "word " * 20_000, "inputSchema": {"type": "object"}}]
}


def fidelity(folder: str | Path = "out") -> dict[str, Any]:
    document: dict[str, Any] = json.loads(Path(folder, "fidelity.json").read_text())
    return document


def losses(folder: str | Path = "out") -> list[dict[str, Any]]:
    """Return the findings of the first conversion."""
    findings: list[dict[str, Any]] = fidelity(folder)["conversions"][0]["findings"]
    return findings


def files(folder: str) -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in Path(folder).rglob("*") if path.is_file())


def converted(droidgate: Runner, *words: str | Path, to: str, code: int = 0) -> Run:
    """Convert into `out`, which has to end with a code."""
    run = droidgate("convert", *words, "--to", to, "-o", "out")
    assert run.code == code, run.err
    return run


# convert


def test_convert_writes_artifacts_report_and_names(droidgate: Runner, golden: Golden) -> None:
    run = converted(droidgate, "timer", to="mmcp")
    assert run.err == ""
    golden("cli/convert.txt", run.out)
    golden("cli/convert-fidelity.json", Path("out/fidelity.json").read_text())
    golden("cli/convert-names.json", Path("out/names.json").read_text())
    assert {"AndroidManifest.xml", "fidelity.json", "names.json"} <= set(files("out"))
    back = droidgate.document("inspect", "out/AndroidManifest.xml")
    assert back["providers"][0]["capabilities"][0]["id"] == "start_timer"


def test_the_files_fit_their_schemas_and_digests(droidgate: Runner) -> None:
    document = droidgate.document("convert", "timer", "tools.json", "--to", "appfunctions", "-o", "out")
    assert document == fidelity()
    conversions = document["conversions"]
    written = {file["path"] for conversion in conversions for file in conversion["files"]}
    assert {*written, "fidelity.json", "names.json"} == set(files("out"))
    for conversion in conversions:
        assert sum(conversion["counts"].values()) == len(conversion["findings"])
    names = json.loads(Path("out/names.json").read_text())["providers"]
    assert [item["source"] for item in names] == [item["source"] for item in conversions]


def test_several_providers_get_a_folder_each_whose_name_stays(droidgate: Runner) -> None:
    def folders(*sources: str, out: str) -> set[str]:
        droidgate("convert", "timer", *sources, "--to", "mcp", "-o", out)
        return {path.name for path in Path(out).iterdir() if path.is_dir()}

    assert folders("tools.json", out="two") == {"app.timer-timerservice", "tools"}
    Path("deep").mkdir()
    for path in ("more.json", "deep/tools.json"):
        write_tools(Path(path))
    names = folders("more.json", "deep/tools.json", "tools.json", out="four")
    assert {"app.timer-timerservice", "more"} < names
    assert len(names) == 4
    assert all(item.startswith("tools_") for item in names - {"app.timer-timerservice", "more"})


def test_convert_refuses_to_overwrite_other_work(droidgate: Runner) -> None:
    converted(droidgate, "timer", to="mcp")
    assert "created:" not in converted(droidgate, "timer", to="mcp").out
    (artifact,) = set(files("out")) - {"fidelity.json", "names.json"}
    Path("out", artifact).write_text("mine")
    refused = converted(droidgate, "timer", to="mcp", code=3)
    assert refused.out == ""
    assert refused.err.splitlines() == [
        f"error: out/{artifact}: there is another file of that name already",
        "hint: choose another folder, or overwrite with --force",
    ]
    assert Path("out", artifact).read_text() == "mine"
    converted(droidgate, "timer", "--force", to="mcp")
    assert Path("out", artifact).read_text() != "mine"


def test_one_artifact_goes_into_a_file_or_to_standard_output(droidgate: Runner) -> None:
    assert droidgate("convert", "timer", "--to", "mcp", "-o", "made/list.json").code == 0
    assert files("made") == ["list.fidelity.json", "list.json", "list.names.json"]
    run = droidgate("convert", "-", "--to", "mcp", "-o", "-", stdin=TIMER.encode())
    assert (run.code, "findings: " in run.err) == (0, True)
    for text in (Path("made/list.json").read_text(), run.out):
        assert [tool["name"] for tool in json.loads(text)["tools"]] == ["start_timer", "stop_timer"]
    for form in ("--json", "--sarif", "--markdown"):
        refused = droidgate("convert", "timer", "--to", "mcp", form)
        assert (refused.code, refused.out, "cannot take the report" in refused.err) == (2, "", True)


@pytest.mark.parametrize(("threshold", "code"), [
    ("renamed", 1), ("moved", 1), ("defaulted", 1), ("widened", 1), ("narrowed", 1), ("dropped", 1),
    ("impossible", 0), ("security", 0),
])  # fmt: skip
def test_the_threshold_decides_the_code_and_all_is_written(
    droidgate: Runner, threshold: str, code: int
) -> None:
    converted(droidgate, "tools.json", "--fail-on", threshold, to="mobile-mcp", code=code)
    assert list(fidelity()["conversions"][0]["counts"]) == ["dropped", "widened", "defaulted", "moved"]
    assert "AndroidManifest.xml" in files("out")


@pytest.mark.parametrize("guidance", ["", ' a:description="Search first"'])
def test_a_conversion_of_no_capabilities_is_reported_as_empty(droidgate: Runner, guidance: str) -> None:
    android = 'xmlns:a="http://schemas.android.com/apk/res-auto"'
    Path("guide.xml").write_text(f"<AppFunctionAppMetadata {android}{guidance}/>")
    run = converted(droidgate, "guide.xml", to="mcp")
    assert "the source has no capabilities, so none were converted" in run.out
    assert "is lost" not in run.out
    assert [conversion["capabilities"] for conversion in fidelity()["conversions"]] == [0]


def test_diff_of_an_app_and_its_conversion_shows_what_the_protocol_changes(droidgate: Runner) -> None:
    converted(droidgate, CLOCK, to="mmcp")
    page = droidgate("diff", CLOCK, "out")
    assert page.code == 0
    assert "mobile-mcp -> mmcp: differences caused by the protocol" in page.out
    assert "breaking: the protocol mobile-mcp became mmcp" in page.out
    assert page.out.endswith("1 breaking; 3 capabilities are as they were\n")
    (change,) = droidgate.document("diff", CLOCK, "out")["comparison"]["protocol_changes"]
    assert len(change["findings"]) == len(losses())
    assert droidgate("diff", CLOCK, "out", "--fail-on", "breaking").code == 1


# sources that cannot be read, and parts that a reader leaves out


@pytest.mark.parametrize(("sources", "place"), [
    (["sources"], "sources/cut.xml"),
    (["sources/good.json", "sources/cut.xml"], "sources/cut.xml"),
    (["sources/missing.xml", "sources/good.json"], "sources/missing.xml"),
], ids=["a folder", "a file that is cut", "a file that is missing"])  # fmt: skip
@pytest.mark.parametrize(
    "threshold", [[], ["--fail-on", "renamed"]], ids=["without a threshold", "with a threshold"]
)
def test_the_others_are_written_where_a_source_cannot_be_read(
    droidgate: Runner, sources: list[str], place: str, threshold: list[str]
) -> None:
    run = converted(droidgate, *sources, *threshold, to="mmcp", code=3)
    assert f"warning: {place}" in run.err
    assert Path("out/mmcp_manifest.json").exists()
    document = fidelity()
    assert [item["place"].startswith(place) for item in document["problems"]] == [True]
    assert [item["source"]["place"] for item in document["conversions"]] == ["sources/good.json:1"]


def test_nothing_is_written_where_no_source_can_be_read(droidgate: Runner) -> None:
    run = converted(droidgate, "sources/cut.xml", "missing.xml", to="mmcp", code=3)
    for message in ("warning: sources/cut.xml", "warning: missing.xml", "none of the 2 sources can be read"):
        assert message in run.err
    one = converted(droidgate, "sources/cut.xml", to="mmcp", code=3)
    assert one.err.startswith("error: sources/cut.xml"), "the error of a single source is that of the command"
    assert not Path("out").exists()


FUNCTION = (
    "<appfunction><id>a.B#c</id><enabledByDefault>true</enabledByDefault><response><id>unused</id>"
    "<valueType><id>unused</id><isNullable>false</isNullable><type>0</type></valueType></response>"
    "<functionId>a.B#c</functionId></appfunction>"
)
TWICE = f"<appfunctions>{FUNCTION}{FUNCTION}</appfunctions>"
ACCEPTED = f"<appfunctions>{FUNCTION}</appfunctions>\n<version>1</version>"


@pytest.mark.parametrize(("text", "code", "words"), [
    pytest.param(TWICE, 1, "nothing else is lost", id="a function that is left out"),
    pytest.param(ACCEPTED, 0, "nothing is lost", id="a breach that is accepted"),
])  # fmt: skip
def test_only_a_part_that_the_reader_left_out_is_dropped(
    droidgate: Runner, text: str, code: int, words: str
) -> None:
    Path("f.xml").write_text(text)
    run = converted(droidgate, "f.xml", "--fail-on", "dropped", "--json", to="appfunctions+v2", code=code)
    levels = [item["level"] for item in json.loads(run.out)["reading"]]
    assert levels == ["dropped" if code else "read"]
    page = converted(droidgate, "f.xml", "--force", to="appfunctions+v2").out
    for message in ("duplicate function 'a.B#c'", "findings: 1 dropped"):
        assert (message in page) is (text == TWICE)
    page = converted(droidgate, "f.xml", "--force", to="appfunctions+app-level").out
    assert [line.strip() for line in page.splitlines() if "is lost" in line] == [words]
    assert ("findings: none" in page) is (text == ACCEPTED)


def test_left_out_parts_are_shown_when_the_artifact_goes_to_standard_output(droidgate: Runner) -> None:
    Path("f.xml").write_text(TWICE)
    run = droidgate("convert", "f.xml", "--to", "appfunctions+v2", "-o", "-")
    assert "duplicate function 'a.B#c'" in run.err
    assert run.out.count("<appfunction>") == 1


# `--name`, `--package` and `--description`


GIVEN = ("--name", "My clock", "--package", "org.example.clock", "--description", "Clocks people in")


@pytest.mark.parametrize("target", ["mobile-mcp", "mmcp", "mmcp+draft", "appfunctions", "mcp"])
def test_a_name_and_description_given_as_options_are_written(target: str, droidgate: Runner) -> None:
    converted(droidgate, CLOCK, *GIVEN, to=target)
    (written,) = read("out")
    assert (written.name, written.package) == ("My clock", "org.example.clock")
    assert "Clocks people in" in f"{written.description} {written.instructions}"


def test_a_value_that_is_given_is_not_a_default_and_may_be_dropped(droidgate: Runner) -> None:
    Path("one.json").write_text('{"tools": [{"name": "a", "inputSchema": {"type": "object"}}]}')

    def pointers(*options: str) -> set[str]:
        converted(droidgate, "one.json", *options, "--force", to="mobile-mcp")
        return {item["pointer"] for item in losses() if item["level"] == "defaulted"}

    without, given = pointers(), pointers(*GIVEN)
    assert without - given == {"/name", "/description"}
    assert given < without
    converted(droidgate, "one.json", "--description", "D", "--force", to="mmcp+broadcast")
    assert [item["code"] for item in losses() if item["pointer"] == "/description"] == ["field-dropped"]


def test_several_providers_need_a_choice(droidgate: Runner) -> None:
    run = converted(droidgate, APPS, "--name", "N", "--description", "D", to="mcp", code=2)
    assert "one name and description cannot describe 5 providers" in run.err
    assert "hint: choose one with --provider: dev.droidgate.sample.clockin.ClockInService, " in run.err
    assert not Path("out").exists()
    converted(droidgate, APPS, "--provider", "TallyService", "--name", "N", to="mcp")


@pytest.mark.parametrize(("option", "value", "message"), [
    ("--name", " ", "the name is empty"),
    ("--description", "", "the description is empty"),
    ("--package", "1.clock", "'1.clock' is not a Java package"),
])  # fmt: skip
def test_a_value_that_is_unwritable_fails(option: str, value: str, message: str, droidgate: Runner) -> None:
    assert message in converted(droidgate, CLOCK, option, value, to="mcp", code=2).err


def test_migrate_writes_name_and_description(droidgate: Runner) -> None:
    project = write_bare_project(Path("project"))
    assert droidgate("migrate", CLOCK, "--to", "mobile-mcp", "--into", project, *GIVEN, "--write").code == 0
    (written,) = read("project")
    assert (written.name, written.description) == ("My clock", "Clocks people in")


# access rules


def _security(pointer: str) -> Finding:
    facts: dict[str, Any] = {"code": "access-not-enforced", "level": Level.SECURITY}
    return Finding(**facts, pointer=pointer, message="m", hint="Do something")


def _provider(number: int, **access: Any) -> Provider:
    return Provider(
        protocol="mmcp",
        dialect="1.0",
        package=f"com.example.app{number}",
        component=".Tools",
        access=ComponentAccess(**access),
        capabilities=(Capability(id="do", description="d"), Capability(id="undo", description="u")),
    )


def _converted(target: str, *providers: Provider) -> Conversion:
    return convert(Providers(providers), target)


def _lines(page: list[Any]) -> list[str]:
    return [block.text for block in page if isinstance(block, Line)]


def test_security_findings_are_never_grouped() -> None:
    findings = [_security(f"/capabilities/{at}/access/scope") for at in range(3)]
    assert group_findings(findings, ["a", "b", "c"]) == []
    assert findings_table(findings, ["a", "b", "c"]) == []
    assert security_blocks(findings, ["a", "b", "c"]) == [
        block
        for name in "abc"
        for block in (
            Line(f"{name} /access/scope: access-not-enforced", 1),
            Line("m", 2),
            Line("hint: Do something", 2),
        )
    ]


def test_security_findings_of_all_providers_are_first_on_the_page() -> None:
    closed = _provider(2, exported=False, permission="com.example.P")
    page = conversion_page(_converted("mcp", _provider(1), closed))
    assert page[0] == Heading("Security: access rules that nothing enforces")
    assert _lines(list(page[1:7])) == [
        "com.example.app2/.Tools  /access/permission: access-not-enforced",
        "callers need com.example.P; mcp does not enforce this",
        HINT,
        "com.example.app2/.Tools  /access/exported: access-not-enforced",
        "the source component is not exported; mcp does not enforce this",
        HINT,
    ]
    tables = [item for item in page if isinstance(item, Table)]
    assert all(row[0] != "security" for table in tables for row in table.rows)
    assert str(page[-1]).startswith("Line(text='findings: 2 security")


@pytest.mark.parametrize(
    ("findings", "expected"),
    [((), "nothing is lost"), ((_security("/access/exported"),), "nothing else is lost")],
    ids=["no rule", "a rule"],
)
def test_a_conversion_that_loses_only_access_rules_does_not_claim_that_nothing_is_lost(
    findings: tuple[Finding, ...], expected: str
) -> None:
    conversion = _converted("mmcp", _provider(1))
    (translation,) = conversion.translations
    changed = replace(translation, writing=replace(translation.writing, findings=findings))
    page = conversion_page(replace(conversion, translations=(changed,)))
    assert [text for text in _lines(list(page)) if "is lost" in text] == [expected]


@pytest.mark.parametrize("threshold", ["renamed", "dropped", "impossible", "security"])
def test_a_security_finding_reaches_every_threshold_of_convert(droidgate: Runner, threshold: str) -> None:
    run = converted(droidgate, NOTES, "--fail-on", threshold, to="mcp", code=1)
    assert run.out.splitlines()[0] == "Security: access rules that nothing enforces"
    assert "callers need android.permission.EXECUTE_APP_FUNCTIONS; mcp does not enforce this" in run.out
    assert next(iter(fidelity()["conversions"][0]["counts"])) == "security"


def test_opened_access_rules_are_first_on_the_page_of_diff_and_not_in_its_tables() -> None:
    old = _provider(1, exported=False)
    new = _provider(1, permission="com.example.P").changed(
        {"capabilities": (old.capabilities[0], Capability(id="undo", description="v"))}
    )
    page = diff_page(compare_sets(CapabilitySet(providers=(old,)), CapabilitySet(providers=(new,))))
    assert page[0] == Heading("Security: access rules that accept other callers now")
    assert _lines(list(page[1:4])) == [
        "com.example.app1/.Tools  /access/exported: access-opened",
        "exported changed from false to true: other callers are accepted now",
        "hint: check that these callers may call it, or restore the rule",
    ]
    (table,) = [item for item in page if isinstance(item, Table)]
    assert [row[0] for row in table.rows] == ["breaking", "text-only"]
    assert page[-1] == Line("1 security, 1 breaking, 1 text-only; 1 capability is as it was")


# Two spellings of a level that the app declares, and the weight of the change from the first to the second.
LEVELS = [
    ('protectionLevel="signature"', 'protectionLevel="normal"', "security", 1),
    ('protectionLevel="signature"', "", "security", 1),
    ('protectionLevel="signature|privileged"', 'protectionLevel="dangerous"', "security", 1),
    ('protectionLevel="signature"', 'protectionLevel="signatureOrSystem"', "security", 1),
    ("", 'protectionLevel="signature"', "breaking", 0),
    ('protectionLevel="system|signature"', 'protectionLevel="signatureOrSystem"', None, 0),
    ("", 'protectionLevel="normal"', None, 0),
]
# aapt2 refuses numbers, which aapt took.
NUMBERS = [
    ('protectionLevel="0x2"', 'protectionLevel="signature"', None, 0),
    ('protectionLevel="2"', 'protectionLevel="signature"', None, 0),
    ('protectionLevel="3"', 'protectionLevel="signature|privileged"', None, 0),
    ('protectionLevel="0x2"', 'protectionLevel="dangerous"', "security", 1),
]
TREES, APKS, TREE_AND_APK = ("tree", "tree"), ("apk", "apk"), ("tree", "apk")
LEVELS_OF_SIDES = [
    *((kinds, *row) for row in LEVELS for kinds in (TREES, APKS, TREE_AND_APK)),
    *((kinds, *row) for row in NUMBERS for kinds in (TREES, TREE_AND_APK)),
]


@pytest.mark.parametrize(("kinds", "before", "after", "weight", "code"), LEVELS_OF_SIDES)
def test_the_level_of_the_permission_that_an_app_declares_for_its_service_is_compared(
    kinds: tuple[str, str], before: str, after: str, weight: str | None, code: int, droidgate: Runner
) -> None:
    sides: list[Path] = []
    for kind, level in zip(kinds, (before, after), strict=True):
        android = level and f"android:{level}"
        manifest = TIMER_MANIFEST.replace(
            "<application ", f'<permission android:name="app.timer.CALL" {android} />\n    <application '
        ).replace("<service ", '<service android:permission="app.timer.CALL" ')
        side = Path(f"side-{len(sides)}")
        write_project(side, manifest=manifest)
        if kind == "apk":
            apk = side.with_suffix(".apk")
            apk.write_bytes(pack_project(side / "app", key=KEY))
            side = apk
        sides.append(side)
    run = droidgate("diff", *sides, "--fail-on", "security")
    assert run.code == code
    comparison = droidgate.document("diff", *sides)["comparison"]
    changes = [change for item in comparison.get("providers", []) for change in item["changes"]]
    assert [change["weight"] for change in changes] == ([weight] if weight else [])
    if weight:
        assert "the protection level of the required permission changed from " in run.out


def _tools(schema: dict[str, Any]) -> str:
    tool = {"name": "do", "description": "d", "inputSchema": {"type": "object", "properties": {"a": schema}}}
    return json.dumps({"tools": [tool]})


KNOWN_CHANGE = """[[accept]]
code = "type-changed"
capability = "do"
where = "/input/properties/a/type"
reason = "all clients were changed first"
until = {until}
"""
ENTRIES = [
    pytest.param(KNOWN_CHANGE.format(until="2126-01-31"), 0, [], id="a known change does not count"),
    pytest.param(KNOWN_CHANGE.format(until="2026-01-31"), 1,
        ["accept.toml:1: type-changed is no longer accepted: 2026-01-31 has passed"],
        id="a day that has passed ends it"),
    pytest.param(KNOWN_CHANGE.format(until="2126-01-31").replace('"do"', '"other"'), 1,
        ["accept.toml:1: type-changed matches no change"], id="an entry of another capability is named"),
    pytest.param(KNOWN_CHANGE.format(until="2126-01-31").replace("/input", "/output"), 1,
        ["accept.toml:1: type-changed matches no change"], id="an entry of another place is named"),
    pytest.param(KNOWN_CHANGE.format(until="2126-01-31").replace("where", "place"), 3,
        ['accept.toml:4: unknown key "place"'], id="an unknown key is refused"),
    pytest.param(KNOWN_CHANGE.format(until="2126-01-31").replace("type-changed", "type-change"), 3,
        ['accept 1, code: "type-change" is not a code of a change; did you mean "type-changed"?'],
        id="an unknown code is refused"),
    pytest.param(KNOWN_CHANGE.format(until='"soon"'), 3, ["accept.toml:6: accept 1, until: "],
        id="a day that is none is refused"),
    pytest.param("[[accept]]\ncode = 'type-changed'\nuntil = 2126-01-31\n", 3,
        ['accept.toml:1: accept 1: the key "reason" is missing'],
        id="a reason is required"),
]  # fmt: skip


@pytest.mark.parametrize(("entries", "code", "messages"), ENTRIES)
def test_known_changes_are_accepted_until_a_day(
    droidgate: Runner, entries: str, code: int, messages: list[str]
) -> None:
    Path("old.json").write_text(_tools({"type": "string"}))
    Path("new.json").write_text(_tools({"type": "integer"}))
    Path("accept.toml").write_text(entries)
    run = droidgate("diff", "old.json", "new.json", "--fail-on", "breaking", "--accept", "accept.toml")
    assert run.code == code
    assert all(message in run.err for message in messages)
    assert ("Accepted" in run.out) is (code == 0)
    if code == 3:
        return
    document = droidgate.document("diff", "old.json", "new.json", "--accept", "accept.toml")
    assert [item["reason"] for item in document["accepted"]] == ["all clients were changed first"] * (
        not code
    )
    assert document["weight"] == ("breaking" if code else None)
    assert len(document["problems"]) == len(messages)


def test_what_is_not_decided_counts_as_breaking(droidgate: Runner) -> None:
    for name, letter in (("old.json", "a"), ("new.json", "b")):
        Path(name).write_text(_tools({"type": "string", "pattern": f"(?={letter})"}))
    run = droidgate("diff", "old.json", "new.json", "--fail-on", "breaking")
    assert run.code == 1
    assert "not decided: a pattern is not compared: look-around or a flag" in run.out
    assert "what is not decided counts as breaking" in run.err
    assert droidgate("diff", "old.json", "new.json", "--fail-on", "security").code == 0


# providers that cannot be written


@pytest.fixture
def one_too_long(small_sources: None) -> None:
    del small_sources
    write_tools(Path("good.json"))
    write_tools(Path("bad.json"), TOO_LONG)


@pytest.mark.usefixtures("one_too_long")
def test_a_provider_that_cannot_be_written_is_reported_and_the_others_are_written(droidgate: Runner) -> None:
    run = converted(droidgate, "good.json", "bad.json", "--fail-on", "renamed", to="mmcp", code=3)
    assert "warning: bad.json:1: bad.json cannot be written: " in run.err
    assert "hint: " in run.err
    document = fidelity()
    assert [conversion["source"]["place"] for conversion in document["conversions"]] == ["good.json:1"]
    (problem,) = document["problems"]
    assert problem["message"].startswith("bad.json cannot be written: ")
    assert (problem["place"], bool(problem["hint"])) == ("bad.json:1", True)
    assert Path("out/good/AndroidManifest.xml").exists()
    assert not Path("out/bad").exists()


# What is converted to what, the exit code, and the rules and levels of some results.
LOGS: dict[str, tuple[list[str | Path], str, int, dict[str, str]]] = {
    "security is an error": ([NOTES], "mcp", 0, {"access-not-enforced": "error"}),
    "a failure is an error": (["good.json", "bad.json"], "mmcp", 3, {"provider-not-written": "error"}),
    "what is found": (["timer"], "mmcp", 0, {}),
}


@pytest.mark.usefixtures("one_too_long")
@titled(("sources", "target", "code", "levels"), LOGS)
def test_convert_prints_sarif(
    droidgate: Runner, sources: list[str | Path], target: str, code: int, levels: dict[str, str]
) -> None:
    log = json.loads(converted(droidgate, *sources, "--sarif", to=target, code=code).out)
    check_log(log)
    results = log["runs"][0]["results"]
    codes = [item["code"] for conversion in fidelity()["conversions"] for item in conversion["findings"]]
    assert [item["ruleId"] for item in results if item["ruleId"] != "provider-not-written"] == codes
    for rule, level in levels.items():
        assert {item["level"] for item in results if item["ruleId"] == rule} == {level}


def test_check_writes_nothing_and_finds_what_would_change(droidgate: Runner) -> None:
    run = converted(droidgate, "timer", "--check", to="mcp", code=1)
    assert run.out.count("would create: ") == 3
    assert not Path("out").exists()
    converted(droidgate, "timer", to="mcp")
    assert converted(droidgate, "timer", "--check", to="mcp").out.count("unchanged: ") == 3
    Path("out/tools.json").write_text("{}")
    run = converted(droidgate, "timer", "--check", to="mcp", code=1)
    assert "would update: out/tools.json\n" in run.out
    assert run.err.startswith(
        "warning: 1 of 3 files differs from the source\nhint: run the same command with --force"
    )
    assert Path("out/tools.json").read_text() == "{}"
    document = json.loads(converted(droidgate, "timer", "--check", "--json", to="mcp", code=1).out)
    assert {"path": "out/tools.json", "state": "would update"} in document["states"]
    log = json.loads(converted(droidgate, "timer", "--check", "--sarif", to="mcp", code=1).out)
    stale = [item for item in log["runs"][0]["results"] if item["ruleId"] == "converted-file-differs"]
    places = [item["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] for item in stale]
    assert places == ["out/tools.json"]
    run = converted(droidgate, "timer", "--check", "--markdown", to="mcp", code=1)
    assert "would update: out/tools.json" in run.out


@pytest.mark.parametrize(("source", "xml", "code"), [
    pytest.param("./timer", TIMER, 0, id="another path of the source is no difference"),
    pytest.param("timer", TIMER.replace("<capabilit", "\n\n<capabilit", 1), 0, id="nor is another line"),
    pytest.param("timer", TIMER.replace("Starts a timer", "Starts it"), 1, id="another text is one"),
])  # fmt: skip
def test_check_looks_at_what_is_declared(droidgate: Runner, source: str, xml: str, code: int) -> None:
    converted(droidgate, "timer", to="mmcp")
    path = Path("timer/app/src/main/res/xml/timer.xml")
    assert path.read_text() != xml or source != "timer"
    path.write_text(xml)
    converted(droidgate, source, "--check", to="mmcp", code=code)


def test_files_whose_source_is_gone_are_named_until_they_are_deleted(droidgate: Runner) -> None:
    converted(droidgate, "timer", "tools.json", to="mcp")
    Path("out/tools/mine.txt").write_text("no conversion")
    for option, code in (("--check", 1), ("--force", 0), ("--check", 1), ("--force", 0)):
        run = converted(droidgate, "timer", option, to="mcp", code=code)
        for name in ("app.timer-timerservice", "tools"):
            assert f"no longer written: out/{name}/tools.json\n" in run.out
        assert "mine.txt" not in run.out
        assert "warning: 2 files of an earlier conversion are no longer written\nhint: delete " in run.err
    for name in ("app.timer-timerservice", "tools"):
        Path(f"out/{name}/tools.json").unlink()
    assert "no longer written" not in converted(droidgate, "timer", "--check", to="mcp").out


@pytest.mark.parametrize("report", ["{", "[]", '{"conversions": [{"files": [{"path": "../timer.xml"}]}]}'])
def test_a_report_that_convert_did_not_write_names_no_file(droidgate: Runner, report: str) -> None:
    Path("out").mkdir()
    Path("out/fidelity.json").write_text(report)
    run = converted(droidgate, "timer", "--check", to="mcp", code=1)
    assert "would update: out/fidelity.json\n" in run.out
    assert "no longer written" not in run.out


def test_where_no_provider_can_be_written_each_is_named_and_nothing_is_written(droidgate: Runner) -> None:
    for name in ("one.json", "two.json"):
        write_tools(Path(name), TOO_LONG)
    run = converted(droidgate, "one.json", "two.json", to="mmcp", code=3)
    for message in ("one.json cannot be", "two.json cannot be", "none of the 2 providers can be"):
        assert message in run.err
    # The error of a single provider is that of the command.
    assert "cannot be written" not in converted(droidgate, "one.json", to="mmcp", code=3).err
    assert not Path("out").exists()


OBSERVED = TIMER_MANIFEST.replace("mobile.mcp.SERVICE", "org.agentos.intent.action.PLUGIN")
ON_PHONE = "adb:/dev.droidgate.sample.weather"


@pytest.fixture
def unasked(small_sources: None, phone: VirtualPhone, droidgate: Runner) -> None:
    """Put apps whose tools no file lists into each kind of source."""
    del small_sources, phone
    Path("apks").mkdir()
    Path("apks/weather.apk").write_bytes(sample_package("weather").apk)
    write_project(Path("observed"), manifest=OBSERVED, descriptor="<other />")
    assert droidgate("scan", "apks", "-o", "catalog").code == 0


@pytest.mark.usefixtures("unasked")
@pytest.mark.parametrize(("source", "hint"), [
    pytest.param(WEATHER / "app", "which asks the app", id="a module"),
    pytest.param("apks/weather.apk", "which asks the app", id="an APK"),
    pytest.param("apks", "which asks the app", id="a folder of APKs"),
    pytest.param(ON_PHONE, "which asks the app", id="a phone"),
    pytest.param("observed", "which alone may bind the service", id="a phone whose app may not be asked"),
    pytest.param("catalog", "`droidgate formats`", id="a catalog of files has no row of the app's files"),
])  # fmt: skip
def test_an_app_whose_receiver_was_not_asked_gets_no_descriptor(
    source: str | Path, hint: str, droidgate: Runner
) -> None:
    write_bare_project(Path("project"))
    for command in (
        ("convert", source, "--to", "mobile-mcp", "-o", "out"),
        ("migrate", source, "--to", "mobile-mcp", "--into", "project", "--write"),
    ):
        run = droidgate(*command)
        assert (run.code, Path("out").exists(), Path("project/src/main/res").exists()) == (3, False, False)
        errors = [line for line in run.err.splitlines() if not line.startswith("note: ")]
        assert [line.partition(":")[0] for line in errors[:2]] == ["error", "hint"]
        assert hint in errors[1]
    providers = read(str(source)) if source != "catalog" else ()
    if providers:
        with pytest.raises(WriteError, match="its capabilities are not known"):
            convert(providers, "mcp")


# what every command that writes files says of them


STATUS = re.compile(r"^(created|updated|unchanged|would create|would update): (.+)$", re.MULTILINE)
# What is typed, and what a second run says of the files. CLOCK is the source of an app, PROJECT that of
# another one, and HERE an empty folder.
WRITING = {
    "convert": ("convert CLOCK --to mmcp -o HERE/out", "unchanged"),
    "migrate": ("migrate CLOCK --to appfunctions --into PROJECT --write --details", "unchanged"),
    "pack": ("pack PROJECT -o HERE/app.apk", "unchanged"),
    "shim build": (f"shim build --from CLOCK --format all --signer {'0' * 64} -o HERE/shims", "unchanged"),
    "scan": ("scan CLOCK --workers 1 --catalog HERE/scanned", "updated"),
    "coverage": ("coverage CATALOG --no-match --html HERE/a.html --csv HERE/tables --force", "unchanged"),
    "install-client": ("install-client cursor --project HERE", "unchanged"),
}  # fmt: skip


@pytest.fixture(scope="module")
def catalog(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a catalog of an app."""
    folder = tmp_path_factory.mktemp("scanned") / "catalog"
    scan = run_process("scan", APPS / "clock-in", "--workers", "1", "--catalog", folder)
    assert scan.code == 0, scan.err
    return folder


@pytest.fixture
def typed(request: pytest.FixtureRequest, catalog: Path, tmp_path: Path) -> list[str]:
    """Return the words of a command that writes files."""
    words = WRITING[request.param][0].split()
    if "PROJECT" in words:
        copy_module("pdf-tool", tmp_path)
    places = {"CLOCK": str(APPS / "clock-in"), "PROJECT": str(tmp_path / "pdf-tool"), "CATALOG": str(catalog)}
    return [places.get(word, word.replace("HERE", str(tmp_path))) for word in words]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("typed", "again"),
    [(name, again) for name, (_, again) in WRITING.items()],
    indirect=["typed"],
    ids=WRITING,
)
def test_files_are_listed_on_standard_output_and_a_second_run_reports_them_unchanged(
    typed: list[str], again: str, droidgate: Runner
) -> None:
    first, second = droidgate(*typed), droidgate(*typed)
    assert (first.code, second.code) == (0, 0), first.err + second.err
    listed = {path: status for status, path in STATUS.findall(first.out)}
    assert listed
    assert set(listed.values()) <= {"created", "updated"}
    assert STATUS.findall(first.err) == []
    assert {path: status for status, path in STATUS.findall(second.out)} == dict.fromkeys(listed, again)


@pytest.mark.slow
@pytest.mark.parametrize("typed", WRITING, indirect=True)
def test_files_are_listed_on_standard_error_next_to_a_document(typed: list[str], droidgate: Runner) -> None:
    run = droidgate(*typed, "--json")
    assert run.code == 0, run.err
    assert isinstance(json.loads(run.out), dict)
    assert STATUS.findall(run.err)


def test_the_lines_on_standard_error_are_notes(droidgate: Runner) -> None:
    assert converted(droidgate, APPS / "clock-in", "--json", "--quiet", to="mmcp").err == ""
