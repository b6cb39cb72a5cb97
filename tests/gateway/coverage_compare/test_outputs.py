"""`droidgate coverage`: what it prints and writes, and that texts of apps stay data everywhere."""

import csv
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import jsonschema
import pytest

from droidgate.cli.output.json_output import schema_of
from droidgate.cli.published import PUBLISHED
from gateway.cli.program_runs import Runner
from gateway.cli.test_sarif import check_log
from gateway.coverage_compare.made_catalogs import App, Tool, functions, make_catalog, mmcp, mobile_mcp

HOSTILE = "\x1b[31mred\u202e\u200b"
FORMULAS = ['=HYPERLINK("http://x")', "+1+1", "-2+3", "@SUM(A1)", "\t=1", "\uff1d1"]


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Runner:
    return Runner(capsys, monkeypatch)


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


def _table(folder: Path, name: str) -> list[dict[str, str]]:
    with (folder / f"{name}.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def _rows(sql: str) -> list[tuple[Any, ...]]:
    rows: list[tuple[Any, ...]] = duckdb.connect().execute(sql).fetchall()
    return rows


def test_the_terminal_shows_hostile_texts_by_their_codes(run: Runner, hostile: Path) -> None:
    done = run("coverage", hostile, "--details")
    assert done.code == 0
    assert not {"\x1b", "\u202e", "\u200b"} & set(done.out)
    assert "\\x1b[31mred" in done.out


@pytest.mark.slow
def test_no_cell_of_a_csv_is_a_formula(run: Runner, hostile: Path, tmp_path: Path) -> None:
    assert run("coverage", hostile, "--csv", tmp_path / "out", "--since", hostile).code == 0
    names = {path.stem for path in (tmp_path / "out").iterdir()}
    assert names == {"apps", "capabilities", "findings", "fidelity", "use-cases", "matches", "changes"}
    cells = [cell for name in names for row in _table(tmp_path / "out", name) for cell in row.values()]
    assert cells
    assert not [cell for cell in cells if cell[:1] in "=+-@\t\r\uff1d" and cell]
    assert not {"\x1b", "\u202e", "\u200b"} & set("".join(cells))
    ids = [row["id"] for row in _table(tmp_path / "out", "capabilities")]
    assert ids[:4] == [f"'{formula}{number}" for number, formula in enumerate(FORMULAS[:4])]


def test_parquet_has_the_texts_as_they_are(run: Runner, hostile: Path, tmp_path: Path) -> None:
    assert run("coverage", hostile, "--parquet", tmp_path / "out", "--no-match").code == 0
    rows = _rows(f"SELECT package, label FROM '{tmp_path}/out/apps.parquet' ORDER BY ALL")
    assert rows == [(f"=evil.{HOSTILE}", f"=label {HOSTILE}"), ("com.other", "</script><b>")]
    columns = 'id, "reach mmcp-activity", "level mmcp-activity"'
    reported = _rows(f"SELECT {columns} FROM '{tmp_path}/out/capabilities.parquet'")
    assert ("+1+11", "native", "exact") in reported


def test_the_sarif_log_has_findings_with_places_and_what_is_not_described(
    run: Runner, tmp_path: Path
) -> None:
    finding = {"provider": 0, "level": "error", "message": "m", "place": "AndroidManifest.xml:7"}
    make_catalog(
        tmp_path / "c", App("a", [mmcp(Tool("x", description=None))], findings=[finding], source="a.apk")
    )
    assert run("coverage", tmp_path / "c", "--sarif", tmp_path / "s.sarif").code == 0
    log = json.loads((tmp_path / "s.sarif").read_text(encoding="utf-8"))
    check_log(log)
    results = log["runs"][0]["results"]
    assert [result["ruleId"] for result in results] == ["made-up", "undescribed-capability", "poor-name"]
    place = results[0]["locations"][0]["physicalLocation"]
    assert place["artifactLocation"]["uri"].endswith("a.apk!/AndroidManifest.xml")
    assert place["region"] == {"startLine": 7}


def test_a_hostile_sarif_log_is_still_one(run: Runner, hostile: Path, tmp_path: Path) -> None:
    assert run("coverage", hostile, "--sarif", tmp_path / "s.sarif").code == 0
    text = (tmp_path / "s.sarif").read_text(encoding="utf-8")
    check_log(json.loads(text))
    assert not {"\x1b", "\u202e", "\u200b"} & set(text)


@pytest.mark.parametrize("options", [[], ["--details"], ["--no-match"]])
def test_the_document_fits_its_published_schema(run: Runner, hostile: Path, options: list[str]) -> None:
    done = run("coverage", hostile, "--json", "--since", hostile, *options)
    assert done.code == 0
    document = json.loads(done.out)
    jsonschema.validate(document, schema_of(PUBLISHED["coverage"]))
    assert (document["report"]["details"] is None) == ("--details" not in options)
    assert not {"\x1b", "\u202e", "\u200b"} & set(done.out)


def test_the_page_is_written_whole_and_takes_hostile_texts(
    run: Runner, hostile: Path, tmp_path: Path
) -> None:
    assert run("coverage", hostile, "--html", tmp_path / "page.html", "--translate", "com.*").code == 0
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert page.startswith("<!")
    assert "</script><b>" not in page


def _text(folder: Path, name: str) -> Callable[[], bytes]:
    return (folder / name).read_bytes


@pytest.mark.parametrize(
    ("option", "name", "written"),
    [
        ("--sarif", "out.sarif", "out.sarif"),
        ("--html", "out.html", "out.html"),
        ("--csv", "out", "out/apps.csv"),
        ("--parquet", "out", "out/apps.parquet"),
    ],
)
def test_what_is_there_is_overwritten_only_with_force(
    run: Runner, hostile: Path, tmp_path: Path, option: str, name: str, written: str
) -> None:
    read = _text(tmp_path, written)
    (tmp_path / written).parent.mkdir(exist_ok=True)
    (tmp_path / written).write_bytes(b"mine")
    refused = run("coverage", hostile, option, tmp_path / name, "--no-match")
    assert refused.code != 0
    assert "--force" in refused.err
    assert read() == b"mine"
    assert run("coverage", hostile, option, tmp_path / name, "--no-match", "--force").code == 0
    assert read() != b"mine"


def test_translations_need_somewhere_to_be_shown(run: Runner, hostile: Path) -> None:
    done = run("coverage", hostile, "--translate", "x")
    assert (done.code, "--html" in done.err) == (2, True)


def test_a_folder_without_a_catalog_is_one_error(run: Runner, tmp_path: Path) -> None:
    done = run("coverage", tmp_path)
    assert done.code == 3
    assert "droidgate scan" in done.err


def test_tiles_come_first_and_what_changed_last(run: Runner, tmp_path: Path) -> None:
    make_catalog(tmp_path / "old", App("a", [mmcp(Tool("send_message"))]))
    make_catalog(tmp_path / "new", App("a", [mmcp(Tool("play_song"))]), App("b"))
    done = run("coverage", tmp_path / "new", "--since", tmp_path / "old")
    lines = done.out.splitlines()
    assert lines[0] == "Coverage of new"
    assert [line.split() for line in lines[1:4]] == [
        ["2", "apps"],
        ["1", "declares", "something", "for", "agents"],
        ["1", "has", "screens", "only"],
    ]
    since = done.out[done.out.index("Since old") :]
    assert "1 came, 0 went, 1 changed; capabilities: 1 came, 1 went" in since
    assert "breaking  changed  a" in since


NO_SCREEN = ", and the app has no launcher screen"
CLOSED: dict[str, tuple[dict[str, Any], str]] = {
    "closed": ({"exported": False}, "its component is not exported"),
    "disabled": ({"enabled": False}, "its component is disabled"),
    "signature": (
        {"permission": "com.example.P", "protection": "signature"},
        "callers need the permission com.example.P, which ordinary apps cannot hold",
    ),
    "unknown": (
        {"permission": "com.example.P", "protection": "unknown"},
        "callers need the permission com.example.P, whose protection level is not known",
    ),
}


@pytest.mark.parametrize("form", ["csv", "parquet"])
def test_tables_say_for_each_agent_why_it_calls_a_capability_or_not(
    run: Runner, tmp_path: Path, form: str
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
    assert run("coverage", tmp_path / "c", f"--{form}", tmp_path / "out", "--no-match").code == 0
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
