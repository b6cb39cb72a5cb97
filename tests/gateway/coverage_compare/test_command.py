"""`droidgate coverage`: what it prints, what it writes, and that texts of apps stay data everywhere."""

import csv
import json
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import duckdb
import jsonschema
import pytest

from droidgate.cli.output.json_output import schema_of
from droidgate.cli.published_schemas import PUBLISHED
from droidgate.coverage.coverage_document import Counted, outcomes_in_words
from gateway.cli.program_runs import Runner
from gateway.cli.test_sarif import check_log
from gateway.coverage_compare.made_catalogs import (
    App,
    Tool,
    broadcast,
    functions,
    make_catalog,
    mmcp,
    mobile_mcp,
    tool_list,
)
from gateway.sources.formats_of_tests import write_tree

ReportOn = Callable[..., str]


@pytest.fixture
def report_on(droidgate: Runner, tmp_path: Path) -> ReportOn:
    """Make the catalog `c` of some apps, and return what the command prints about it."""

    def report(*apps: App, options: tuple[str | Path, ...] = ()) -> str:
        shutil.rmtree(tmp_path / "c", ignore_errors=True)
        make_catalog(tmp_path / "c", *apps)
        done = droidgate("coverage", tmp_path / "c", "--details", *options)
        assert done.code == 0
        return done.out

    return report


NOTE = Tool("create_note")


def _part(text: str, heading: str) -> list[str]:
    """Return the lines below a heading, up to the next empty one."""
    lines = text.splitlines()
    start = next(at for at, line in enumerate(lines) if line.startswith(heading))
    rest = lines[start + 1 :]
    return rest[: rest.index("")] if "" in rest else rest


def _table(folder: Path, name: str) -> list[dict[str, str]]:
    with (folder / f"{name}.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def _head(text: str) -> list[str]:
    return [" ".join(line.split()) for line in _part(text, "Coverage of")]


SEVERAL = "1 of them in two protocols or more"


def test_one_of_each_is_reported_in_the_singular(report_on: ReportOn) -> None:
    text = report_on(
        App("silent", [broadcast()], has_launcher=False),
        App("both", [mmcp(NOTE), mobile_mcp()]),
        App("screens"),
        App("mute", has_launcher=False),
        App(None, [tool_list()], source="tools.json"),
    )
    assert _head(text) == [
        "5 apps, 1 of them a lone descriptor",
        "1 capability in 4 components and descriptors, about 10 tokens",
        "5 sources: 5 read",
        f"3 apps declare something for agents, {SEVERAL}, 1 of them lists its tools only when asked",
        "1 app has screens only",
        "1 app declares nothing and has no launcher screen",
    ]


def test_several_of_each_are_in_the_plural_and_none_of_one_is_left_out(report_on: ReportOn) -> None:
    text = report_on(*(App(f"screens.{at}") for at in range(2)))
    assert _head(text) == [
        "2 apps",
        "0 capabilities in 0 components and descriptors",
        "2 sources: 2 read",
        "2 apps have screens only",
    ]
    for part in ("How well", "What a conversion", "through the gateway"):
        assert part not in text


def test_a_report_has_as_many_apps_as_the_scan_and_is_whole_in_a_pipe(
    droidgate: Runner, tmp_path: Path
) -> None:
    apps = (App(f"a{at}", [mmcp(Tool(f"t{at}"))]) for at in range(60))
    catalog = make_catalog(tmp_path / "c", *apps, App(None, [tool_list()], source="t.json"))
    done = droidgate("coverage", tmp_path / "c")
    assert _head(done.out)[0] == f"{catalog.rows['apps'] + 1} apps, 1 of them a lone descriptor"
    assert "left out: " not in done.out
    assert done.out == droidgate("coverage", tmp_path / "c", "--details").out


UNREAD_CODE = "class Notes {\n    @AppFunction fun addNote(context: AppFunctionContext) {}\n}\n"
IMPORTS = "import androidx.appfunctions.AppFunction\nimport androidx.appfunctions.AppFunctionContext\n"


INSIDE = f"fun g() {{\n{UNREAD_CODE}}}\n"
IN_VARIANTS = "1 only in other variants of a project than its default one"
DECLARES = (
    f"1 capability in 1 component or descriptor, {IN_VARIANTS}, about 23 tokens",
    "1 source: 1 read",
    "1 app declares something for agents",
)
UNREAD = (
    "0 capabilities in 0 components and descriptors", "1 source: 1 read",
    "1 app is not read whole, and may declare something",
)  # fmt: skip


@pytest.mark.parametrize(("name", "text", "expected"), [
    pytest.param("play/kotlin/Notes.kt", UNREAD_CODE, DECLARES, id="a function of another flavour"),
    pytest.param(
        "play/kotlin/Notes.kt", INSIDE, UNREAD,
        id="a function inside of another, of another flavour",
    ),
    pytest.param(
        "main/kotlin/Notes.kt", INSIDE, UNREAD,
        id="a function inside of another",
    ),
])  # fmt: skip
def test_an_app_whose_code_was_not_all_read_has_not_screens_only(
    name: str, text: str, expected: tuple[str, ...], droidgate: Runner, tmp_path: Path
) -> None:
    launcher = """<activity android:name=".A" android:exported="true"><intent-filter>
        <action android:name="android.intent.action.MAIN"/>
        <category android:name="android.intent.category.LAUNCHER"/></intent-filter></activity>"""
    files: dict[str, str | bytes] = {
        "build.gradle.kts": 'plugins { id("com.android.application") }\nandroid { productFlavors {\n'
        'create("fdroid") {}\ncreate("play") {}\n} }\n',
        "src/main/AndroidManifest.xml": '<manifest package="a.b" '
        f'xmlns:android="http://schemas.android.com/apk/res/android"><application>{launcher}</application></manifest>',
        "src/fdroid/kotlin/Nothing.kt": "class Nothing\n",
        f"src/{name}": f"{IMPORTS}{text}",
    }
    write_tree(tmp_path / "p", files)
    assert droidgate("scan", tmp_path / "p", "--catalog", tmp_path / "c").code == 0
    run_again = droidgate("coverage", tmp_path / "c", "--details", "--csv", tmp_path / "csv")
    assert _head(run_again.out) == ["1 app", *expected]
    assert [row["is_unread"] for row in _table(tmp_path / "csv", "apps")] == [
        str(expected != DECLARES).lower()
    ]


def test_what_is_reported_of_a_tree_is_in_its_files(
    droidgate: Runner, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    namespace = 'xmlns:android="http://schemas.android.com/apk/res/android"'
    advertised = '<action android:name="com.example.mMCP.ACTION_TOOL_ADVERTISE"/>'
    tools = """'{"protocolVersion": "1.0", "tools": [{"name": "x", "description": "y", "parameters": {}}]}'"""
    files: dict[str, str | bytes] = {
        "settings.gradle.kts": 'include(":app", ":core", ":tool")\n',
        "app/build.gradle.kts": 'plugins { id("com.android.application") }\n'
        'android { defaultConfig { versionName = "2.1" } }\n'
        'dependencies { implementation(project(":core")); implementation(project(":gone")) }\n',
        "app/src/main/AndroidManifest.xml": f'<manifest package="a.b" {namespace}><application/></manifest>',
        "core/build.gradle.kts": 'plugins { id("com.android.library") }\n',
        "core/src/main/AndroidManifest.xml": f'<manifest package="a.c" {namespace}/>',
        "core/src/main/kotlin/Notes.kt": f"{IMPORTS}{INSIDE}",
        "tool/build.gradle.kts": 'plugins { id("com.android.application") }\n',
        "tool/src/main/AndroidManifest.xml": f'<manifest package="a.d" {namespace}><application>\n'
        f'<activity android:name=".T" android:exported="true"><intent-filter>{advertised}</intent-filter>\n'
        f'<meta-data android:name="mMCP_manifest" android:value={tools}/></activity>\n'
        "</application></manifest>",
    }
    write_tree(tmp_path / "two apps", files)
    monkeypatch.chdir(tmp_path)
    assert droidgate("scan", "two apps", "--catalog", "c").code == 0
    results = json.loads(droidgate("coverage", "c", "--sarif").out)["runs"][0]["results"]
    places = [item["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] for item in results]
    assert {"two%20apps/app/build.gradle.kts", "two%20apps/tool/src/main/AndroidManifest.xml"} <= set(places)
    assert [place for place in places if not (tmp_path / unquote(place)).is_file()] == []
    report = json.loads(droidgate("coverage", "c", "--json", "--csv", "csv").out)["report"]
    assert [item["place"] for item in report["unread"]["inputs"]] == [
        "../core/src/main/kotlin/Notes.kt:5",
        "build.gradle.kts:3",
    ]
    assert report["overlap"] == [{"protocols": ["mmcp"], "apps": 1, "capabilities": 1}]
    assert [row["version_name"] for row in _table(tmp_path / "csv", "apps")] == ["2.1", ""]
    assert {row["package"] for row in _table(tmp_path / "csv", "findings")} == {"a.b", "a.d"}


def test_the_outcomes_of_sources_are_named_and_counted() -> None:
    counts = (("read", 3), ("part", 1), ("no-descriptor", 2), ("unreadable", 1))
    reported = outcomes_in_words(Counted(name=name, count=count) for name, count in counts)
    assert reported == "3 read, 1 split, 2 of no known format, 1 unreadable"
    assert outcomes_in_words([Counted(name="part", count=13)]) == "13 splits"


def test_apps_of_droidgate_are_left_out_of_the_counts(
    report_on: ReportOn, droidgate: Runner, tmp_path: Path
) -> None:
    apps = [
        App("org.example", [mmcp(NOTE)]),
        App("dev.droidgate.shim.of.org.example", [mobile_mcp(NOTE)]),
        App("dev.droidgate.shim"),
        App("dev.droidgate.sample.agent"),
        App("dev.droidgate.sample.notes", [mobile_mcp(Tool("find_note"))]),
        App("dev.droidgate.shimmer", [mobile_mcp(Tool("shine"))]),
    ]
    text = report_on(*apps)
    assert _head(text)[0] == "3 apps"
    assert "6 sources: 3 left out, 3 read" in _head(text)
    assert _head(text)[-1].startswith("left out: 3 apps of droidgate itself")
    assert "dev.droidgate.shim.of" not in text
    assert "Not read" not in text
    result = droidgate("coverage", tmp_path / "c", "--include-shims", "--details").out
    assert _head(result)[0] == "6 apps"
    assert "left out" not in result


@pytest.mark.slow
def test_a_new_shim_is_not_a_change_unless_it_is_asked_for(droidgate: Runner, tmp_path: Path) -> None:
    app = App("org.example", [mmcp(NOTE)])
    make_catalog(tmp_path / "old", app)
    make_catalog(tmp_path / "new", app, App("dev.droidgate.shim.of.org.example", [mobile_mcp(NOTE)]))
    arguments = ("coverage", tmp_path / "new", "--since", tmp_path / "old", "--json")
    counts = json.loads(droidgate(*arguments).out)["report"]["history"]["counts"]
    history = json.loads(droidgate(*arguments, "--include-shims", "--details").out)["report"]["history"][
        "counts"
    ]
    assert (counts["apps_added"], history["apps_added"]) == (0, 1)


def test_links_are_as_many_as_capabilities_less_groups(report_on: ReportOn) -> None:
    apps = [App(f"a{at}", [mmcp(Tool("play_song")), mobile_mcp(Tool("send_message"))]) for at in range(3)]
    line = _part(report_on(*apps), "Overlaps")[0]
    match = re.fullmatch(r" +(\d+) capabilities in (\d+) groups that do the same, by (\d+) links: (.*)", line)
    assert match is not None
    capabilities, groups, links = map(int, match.groups()[:3])
    assert links == capabilities - groups > 0
    assert sum(int(item.split()[0]) for item in match[4].split(", ")) == links


def test_rules_that_are_not_enforced_are_counted(
    report_on: ReportOn, droidgate: Runner, tmp_path: Path
) -> None:
    tools = [Tool("open", unenforced=2), Tool("close", unenforced=1), Tool("wipe")]
    text = report_on(App("a", [mobile_mcp(*tools)]))
    (line,) = [item for item in text.splitlines() if "does not enforce" in item]
    assert line.strip().startswith("security: ")
    (header,) = [item for item in text.splitlines() if "FROM" in item and "TO " in item]
    assert int(line.split()[1]) == 2 * header.count("TO ")
    report = json.loads(droidgate("coverage", tmp_path / "c", "--json").out)["report"]
    assert {item["security"] for item in report["fidelity"]} == {2}
    assert "security" not in report["levels"]


HEADING = "What a conversion costs: % exact / changed / dropped or impossible"


def test_the_conversions_of_each_protocol_are_reported_in_percent(report_on: ReportOn) -> None:
    levels = ("renamed", "dropped", "impossible", "exact")
    tools = [Tool(f"tool_{level}", levels={"mcp+2025-11-25": level}) for level in levels]
    header, row = _part(report_on(App("a", [functions(*tools)])), HEADING)
    reported = dict(zip(re.split(r"  +", header.strip()), re.split(r"  +", row.strip()), strict=True))
    assert reported == {
        "FROM": "appfunctions",
        "TO appfunctions": "100 / 0 / 0",
        "TO mcp": "25 / 25 / 50",
        "TO mmcp": "100 / 0 / 0",
        "TO mobile-mcp": "100 / 0 / 0",
    }


def test_every_table_of_the_quality_has_its_heading(report_on: ReportOn) -> None:
    findings: list[dict[str, Any]] = [
        {"level": "error", "releases": ("16",)},
        {"origin": "security", "level": "warning"},
        {"origin": "reading", "level": "dropped"},
    ]
    poor = App("poor", [mmcp(Tool("x1", description=None))], findings=findings)
    text = report_on(poor, App("good", [mmcp(NOTE)]))
    assert _part(text, "The lowest scores")[0].split() == ["SCORE", "APP", "WHY"]
    assert [line.split()[1] for line in _part(text, "The lowest scores")[1:]] == ["poor"]
    listed = [line.split()[0] for line in _part(text, "Findings, the gravest first")]
    assert listed == ["LEVEL", "error", "warning", "dropped"]
    assert _part(text, "Findings that depend on the Android release")[0].split()[0] == "RELEASE"
    assert "1 of 1 capability undescribed, 1 poor name, 1 error, 1 security mark" in text


def test_an_app_without_capabilities_has_no_weight(report_on: ReportOn, tmp_path: Path) -> None:
    make_catalog(tmp_path / "old", App("went"), App("a", [mmcp(NOTE)]), App("b", [mmcp(NOTE)]))
    text = report_on(App("came"), App("b", [mmcp(Tool("play"))]), options=("--since", tmp_path / "old"))
    lines = _part(text, "Since old")
    assert [line.split()[:3] for line in lines[2:]] == [
        ["breaking", "changed", "b"],
        ["breaking", "removed", "a"],
        ["-", "added", "came"],
        ["-", "removed", "went"],
    ]
    assert "1 added, 2 removed, 1 changed; capabilities: 1 added, 2 removed" in lines[0]
    assert lines[0].endswith("2 capabilities break callers")
    assert text.splitlines()[0] == "Coverage of c"


def scanned(
    droidgate: Runner, tmp_path: Path, files: dict[str, str | bytes], monkeypatch: pytest.MonkeyPatch
) -> Path:
    """Return the catalog of a folder with these files."""
    write_tree(tmp_path / "it's bad", files)
    monkeypatch.setenv("DROIDGATE_HOME", str(tmp_path / "home"))
    droidgate("scan", tmp_path / "it's bad", "--catalog", tmp_path / "its catalog")
    return tmp_path / "its catalog"


@pytest.mark.slow
def test_a_catalog_of_which_nothing_was_read_names_the_inputs_and_reasons(
    droidgate: Runner, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    catalog = scanned(droidgate, tmp_path, {"a.apk": b"no zip", "b.apk": b"no zip"}, monkeypatch)
    done = droidgate("coverage", catalog, "--details")
    assert (done.code, "no app was read" in done.out) == (0, True)
    (counted,) = _part(done.out, "Not read: 2 sources")
    count, _, reason = counted.strip().partition(" ")
    assert count == "2"
    lines = _part(done.out, "Inputs that are not read")[1:]
    assert [name in line for name, line in zip(("a.apk", "b.apk"), lines, strict=True)] == [True, True]
    assert all(line.endswith(reason) for line in lines)


@pytest.mark.slow
def test_a_part_that_cannot_be_read_is_named_with_its_place(
    droidgate: Runner, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    manifest = b"""<manifest xmlns:android="http://schemas.android.com/apk/res/android" package="org.example">
<application><property android:name="android.app.appfunctions.app_metadata" android:resource="@xml/guide"/>
<service android:name=".Tools" android:exported="true">
<property android:name="android.app.appfunctions.v2" android:value="f.xml"/>
<intent-filter><action android:name="android.app.appfunctions.AppFunctionService"/></intent-filter></service>
</application></manifest>"""
    function = b"<appfunctions><appfunction><id>a</id><functionId>a</functionId></appfunction></appfunctions>"
    main = "app/src/main"
    files: dict[str, str | bytes] = {
        f"{main}/AndroidManifest.xml": manifest,
        f"{main}/res/xml/guide.xml": b"<wrong/>",
        f"{main}/assets/f.xml": function,
    }
    catalog = scanned(droidgate, tmp_path, files, monkeypatch)
    page = droidgate("scan", catalog, "--catalog", tmp_path / "again").out
    query = "SELECT source, place, message FROM problems JOIN sources USING (unit)"
    assert f'problems: droidgate catalog sql {tmp_path}/again "{query}"' in page
    done = droidgate("coverage", catalog, "--json")
    unread = json.loads(done.out)["report"]["unread"]
    assert (unread["sources"], unread["parts"], unread["left_out"]) == (0, 1, 0)
    (part,) = unread["inputs"]
    assert part["outcome"] is None
    assert part["place"].endswith("res/xml/guide.xml:1")
    assert unread["reasons"] == [{"name": part["reason"], "count": 1}]


def test_an_empty_catalog_is_reported_as_empty(report_on: ReportOn) -> None:
    text = report_on()
    assert "the scan found nothing to read" in text
    assert "Not read" not in text


@pytest.mark.parametrize("as_json", [False, True], ids=["page", "json"])
def test_an_unknown_app_to_translate_is_refused(droidgate: Runner, tmp_path: Path, *, as_json: bool) -> None:
    make_catalog(tmp_path / "c", App("com.a", [mmcp(NOTE)]), App("com.screens"))
    patterns = ("com.zzz*", "com.screens", "com.*", "com.a")
    options = [word for item in patterns for word in ("--translate", item)]
    done = droidgate(
        "coverage", tmp_path / "c", "--html", tmp_path / "p.html", *options, *(["--json"] if as_json else [])
    )
    reported = json.loads(done.out)["report"]["notes"] if as_json else done.out.splitlines()
    assert [item for item in reported if "--translate" in item] == [
        "--translate com.zzz*: no app of the catalog fits it",
        "--translate com.screens: what fits it declares nothing",
    ]


@pytest.mark.parametrize("option", ["--csv", "--parquet"])
def test_tables_into_a_file_are_refused_with_a_hint(droidgate: Runner, tmp_path: Path, option: str) -> None:
    make_catalog(tmp_path / "c", App("a", [mmcp(NOTE)]))
    (tmp_path / "file.txt").write_text("mine", encoding="utf-8")
    for force in ((), ("--force",)):
        done = droidgate("coverage", tmp_path / "c", option, tmp_path / "file.txt", *force)
        assert done.code != 0
        assert done.err.startswith(f"error: {tmp_path}/file.txt: not a folder\nhint: ")
    file = tmp_path / f"apps.{option[2:]}"
    assert droidgate("coverage", tmp_path / "c", option, file).err.startswith(
        f"error: {file}: not a folder\n"
    )
    assert not file.exists()
    below = droidgate("coverage", tmp_path / "c", option, tmp_path / "file.txt/out")
    assert "Not a directory" in below.err
    assert "Errno" not in below.err
    assert (tmp_path / "file.txt").read_text(encoding="utf-8") == "mine"


def test_tables_have_the_leader_of_a_group_and_what_decided_a_use_case(
    droidgate: Runner, tmp_path: Path
) -> None:
    make_catalog(tmp_path / "c", *(App(f"a{at}", [mmcp(Tool("send_message"))]) for at in range(2)))
    assert droidgate("coverage", tmp_path / "c", "--csv", tmp_path / "out").code == 0
    matches, use_cases, apps = (_table(tmp_path / "out", name) for name in ("matches", "use-cases", "apps"))
    assert [(row["package"], row["kind"]) for row in matches] == [("a0", "leader"), ("a1", "near-duplicate")]
    first = next(row for row in use_cases if row["use_case"] == "messaging.send")
    assert (first["package"], first["action"], first["object"]) == ("a0", "send", "message")
    columns = list(apps[0])
    assert columns.index("protocols") + 1 == columns.index("capabilities") < columns.index("reach mobile-mcp")


WHY = "Why capabilities cannot be called, the most frequent reasons"


def _reasons_of(text: str, agent: str) -> list[tuple[int, str]]:
    """Return the counted reasons below the line that names an agent."""
    reasons: list[tuple[int, str]] = []
    is_its_own = False
    for line in _part(text, WHY):
        counted = re.fullmatch(r" +([\d,]+) (.+)", line)
        if counted is None:
            is_its_own = agent in line
        elif is_its_own:
            reasons.append((int(counted[1]), counted[2]))
    return reasons


def test_the_most_frequent_reasons_are_below_the_reach(report_on: ReportOn) -> None:
    guard = {"permission": "com.example.P", "protection": "signature"}
    text = report_on(
        App("a", [mobile_mcp(Tool("one"), Tool("two"), exported=False)], has_launcher=False),
        App("b", [mobile_mcp(Tool("one"), exported=False)]),
        App("c", [mmcp(Tool("one"), **guard)], has_launcher=False),
        App("d", [functions(Tool("one", access={"scope": "activity"}), Tool("two"))], has_launcher=False),
    )
    reasons = [
        (3, "its component is not exported"),
        (1, "callers need the permission com.example.P, which ordinary apps cannot hold"),
        (1, "it exists only while an activity of the app is open"),
    ]
    for agent in ("Mobile-MCP agent", "mMCP agent (broadcasts, goose)", "AppFunctions holder"):
        assert _reasons_of(text, agent) == reasons
    assert _reasons_of(text, "UI agent") == [(5, "the app has no launcher screen")]
    assert len([line for line in _part(text, WHY) if "not exported" in line]) == 1


def test_a_report_has_twelve_reasons_an_agent_at_most_and_counts_the_others(report_on: ReportOn) -> None:
    apps = [
        App(f"a{at}", [mobile_mcp(NOTE, permission=f"com.example.P{at}", protection="signature")])
        for at in range(14)
    ]
    reasons = _reasons_of(report_on(*apps), "Mobile-MCP agent")
    assert [count for count, _ in reasons] == [1] * 12 + [2]
    assert "com.example.P0" in reasons[0][1]
    assert reasons[-1][1] == "other reasons, in --csv"


def test_a_permission_whose_name_is_not_a_name_is_not_shown(report_on: ReportOn) -> None:
    guard = {"permission": "a\x1fb", "protection": "signature"}
    text = report_on(App("a", [mobile_mcp(NOTE, **guard)]))
    assert _reasons_of(text, "Mobile-MCP agent") == [
        (1, "callers need a permission, which ordinary apps cannot hold")
    ]


# Files that are written, and texts that want to be commands

HOSTILE = "\x1b[31mred\u202e\u200b"
FORMULAS = ['=HYPERLINK("http://x")', "+1+1", "-2+3", "@SUM(A1)", "\t=1", "\uff1d1"]


@pytest.fixture
def hostile(tmp_path: Path) -> Path:
    """A catalog whose texts want to be commands."""
    tools = [Tool(f"{formula}{number}", description=formula) for number, formula in enumerate(FORMULAS)]
    finding = {"provider": 0, "message": f"=cmd {HOSTILE}", "code": "made-up"}
    make_catalog(
        tmp_path / "catalog",
        App(f"=evil.{HOSTILE}", [mmcp(*tools)], label=f"=label {HOSTILE}", findings=[finding]),
        App("com.other", [functions(Tool(f"sendMessage {HOSTILE}"))], label="</script><b>"),
    )
    return tmp_path / "catalog"


def _rows(sql: str) -> list[tuple[Any, ...]]:
    rows: list[tuple[Any, ...]] = duckdb.connect().execute(sql).fetchall()
    return rows


def test_the_terminal_shows_hostile_texts_by_their_codes(droidgate: Runner, hostile: Path) -> None:
    done = droidgate("coverage", hostile, "--details")
    assert done.code == 0
    assert not {"\x1b", "\u202e", "\u200b"} & set(done.out)
    assert "\\x1b[31mred" in done.out


@pytest.mark.slow
def test_no_cell_of_a_csv_is_a_formula(droidgate: Runner, hostile: Path, tmp_path: Path) -> None:
    assert droidgate("coverage", hostile, "--csv", tmp_path / "out", "--since", hostile).code == 0
    names = {path.stem for path in (tmp_path / "out").iterdir()}
    assert names == {"apps", "capabilities", "findings", "fidelity", "use-cases", "matches", "changes"}
    cells = [cell for name in names for row in _table(tmp_path / "out", name) for cell in row.values()]
    assert cells
    assert not [cell for cell in cells if cell[:1] in "=+-@\t\r\uff1d" and cell]
    assert not {"\x1b", "\u202e", "\u200b"} & set("".join(cells))
    ids = [row["id"] for row in _table(tmp_path / "out", "capabilities")]
    assert ids[:4] == [f"'{formula}{number}" for number, formula in enumerate(FORMULAS[:4])]


def test_parquet_has_the_texts_as_they_are(droidgate: Runner, hostile: Path, tmp_path: Path) -> None:
    assert droidgate("coverage", hostile, "--parquet", tmp_path / "out", "--no-match").code == 0
    rows = _rows(f"SELECT package, label FROM '{tmp_path}/out/apps.parquet' ORDER BY ALL")
    assert rows == [(f"=evil.{HOSTILE}", f"=label {HOSTILE}"), ("com.other", "</script><b>")]
    columns = 'id, "reach mmcp-activity", "level mmcp-activity"'
    reported = _rows(f"SELECT {columns} FROM '{tmp_path}/out/capabilities.parquet'")
    assert ("+1+11", "native", "exact") in reported


def test_the_sarif_log_has_places_and_what_is_not_described(droidgate: Runner, tmp_path: Path) -> None:
    finding = {"provider": 0, "level": "error", "message": "m", "place": "AndroidManifest.xml:7"}
    make_catalog(
        tmp_path / "c", App("a", [mmcp(Tool("x", description=None))], findings=[finding], source="a.apk")
    )
    done = droidgate("coverage", tmp_path / "c", "--sarif")
    assert done.code == 0
    log = json.loads(done.out)
    check_log(log)
    results = log["runs"][0]["results"]
    assert [result["ruleId"] for result in results] == ["made-up", "undescribed-capability", "poor-name"]
    place = results[0]["locations"][0]["physicalLocation"]
    assert place["artifactLocation"]["uri"].endswith("a.apk!/AndroidManifest.xml")
    assert place["region"] == {"startLine": 7}


def test_a_hostile_sarif_log_is_still_one(droidgate: Runner, hostile: Path) -> None:
    done = droidgate("coverage", hostile, "--sarif")
    assert done.code == 0
    check_log(json.loads(done.out))
    assert not {"\x1b", "\u202e", "\u200b"} & set(done.out)


@pytest.mark.parametrize("options", [[], ["--details"], ["--no-match"]], ids=str)
def test_the_document_fits_its_published_schema(droidgate: Runner, hostile: Path, options: list[str]) -> None:
    done = droidgate("coverage", hostile, "--json", "--since", hostile, *options)
    assert done.code == 0
    document = json.loads(done.out)
    jsonschema.validate(document, schema_of(PUBLISHED["coverage"]))
    assert "details" not in document["report"]
    assert not {"\x1b", "\u202e", "\u200b"} & set(done.out)


def test_the_page_is_whole_and_takes_hostile_texts(droidgate: Runner, hostile: Path, tmp_path: Path) -> None:
    assert droidgate("coverage", hostile, "--html", tmp_path / "page.html", "--translate", "com.*").code == 0
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert page.startswith("<!")
    assert "</script><b>" not in page


@pytest.mark.parametrize(("option", "name", "written"), [
    ("--html", "out.html", "out.html"),
    ("--csv", "out", "out/apps.csv"),
    ("--parquet", "out", "out/apps.parquet"),
])  # fmt: skip
def test_an_existing_file_is_overwritten_only_with_force(
    droidgate: Runner, hostile: Path, tmp_path: Path, option: str, name: str, written: str
) -> None:
    file = tmp_path / written
    file.parent.mkdir(exist_ok=True)
    file.write_bytes(b"mine")
    refused = droidgate("coverage", hostile, option, tmp_path / name, "--no-match")
    assert refused.code != 0
    assert "--force" in refused.err
    assert file.read_bytes() == b"mine"
    assert droidgate("coverage", hostile, option, tmp_path / name, "--no-match", "--force").code == 0
    assert file.read_bytes() != b"mine"


def test_translations_need_somewhere_to_be_shown(droidgate: Runner, hostile: Path) -> None:
    done = droidgate("coverage", hostile, "--translate", "x")
    assert (done.code, "--html" in done.err) == (2, True)


NO_SCREEN = ", and the app has no launcher screen"
CLOSED: dict[str, tuple[dict[str, Any], str]] = {
    "closed": ({"exported": False}, "its component is not exported"),
    "disabled": ({"enabled": False}, "its component is disabled"),
    "signature": ({"permission": "com.example.P", "protection": "signature"},
        "callers need the permission com.example.P, which ordinary apps cannot hold"),
    "unknown": ({"permission": "com.example.P", "protection": "unknown"},
        "callers need the permission com.example.P, whose protection level is not known"),
}  # fmt: skip


@pytest.mark.parametrize("form", ["csv", "parquet"])
def test_tables_have_the_reason_why_each_agent_calls_a_capability(
    droidgate: Runner, tmp_path: Path, form: str
) -> None:
    apps = [
        App(name, [mobile_mcp(Tool(name), **facts)], has_launcher=False)
        for name, (facts, _) in CLOSED.items()
    ]
    apps += [
        App("open", [mobile_mcp(Tool("open"))], has_launcher=False),
        App(
            "functions",
            [
                functions(
                    Tool("mine", access={"access_level": "self"}),
                    Tool("off", facts={"enabled": False}),
                    Tool("on", access={"enabled_by_default": False}, facts={"enabled": True}),
                )
            ],
            has_launcher=False,
        ),
    ]
    make_catalog(tmp_path / "c", *apps)
    assert droidgate("coverage", tmp_path / "c", f"--{form}", tmp_path / "out", "--no-match").code == 0
    source = f"'{tmp_path}/out/capabilities.{form}'"
    own = 'CASE protocol WHEN \'mobile-mcp\' THEN "{0} mobile-mcp" ELSE "{0} app-functions" END'
    rows = _rows(f"SELECT id, {own.format('reach')}, {own.format('why')} FROM {source} ORDER BY id")
    assert {row[0]: (row[1], row[2]) for row in rows} == {
        **{name: ("none", f"{reason}{NO_SCREEN}") for name, (_, reason) in CLOSED.items()},
        "open": ("native", "the agent calls Mobile-MCP"),
        "mine": ("none", f"its access level keeps it for the app itself or for Android{NO_SCREEN}"),
        "off": ("none", f"the phone reports it as disabled{NO_SCREEN}"),
        "on": ("native", "the agent calls app functions"),
    }
    carried = ("gateway", "the gateway calls Mobile-MCP, and the agent the gateway (host)")
    assert _rows(f'SELECT "reach mcp-client", "why mcp-client" FROM {source} WHERE id = \'open\'') == [
        carried
    ]
