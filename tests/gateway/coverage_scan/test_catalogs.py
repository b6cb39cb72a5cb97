"""The same inputs give the same catalog, however they are scanned and however often the scan was ended."""

import csv
import importlib.util
import itertools
import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import time
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import droidgate
from droidgate.cli import run
from droidgate.coverage.cluster import Cluster
from droidgate.coverage.scan import ScanResult
from droidgate.shims.source_apps import open_apps
from droidgate.sources.catalogs import catalog
from droidgate.sources.catalogs.catalog import DECLARATIONS_ALONE, Catalog, query
from droidgate.sources.catalogs.catalog_files import LOG_FILE
from droidgate.sources.catalogs.catalog_rows import TABLES
from droidgate_mappings.model.errors import BudgetError, InputError, UsageError
from droidgate_phone.apps.sample_packages import filler_package, sample_packages
from gateway.cli.program_runs import run_on_terminal
from gateway.coverage_scan.catalogs import SAMPLES, ask, rows_of, scan_into
from gateway.coverage_scan.hostile_work import SLOW
from requirements_of_tests import CHECKOUT

SCAN = (
    "import sys; from gateway.coverage_scan.catalogs import scan_into; "
    "from gateway.coverage_scan.hostile_work import SLOW; "
    "from pathlib import Path; scan_into(Path(sys.argv[1]), sys.argv[2], work=SLOW, workers=2)"
)


@pytest.fixture
def cluster() -> Iterator[Any]:
    distributed = pytest.importorskip("distributed")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, dashboard_address=None, silence_logs=50
        ) as started:
            yield started


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_a_cluster_gives_the_same_catalog_and_a_worker_that_dies_loses_nothing(
    apps: Path, catalog: Catalog, cluster: Any, tmp_path: Path
) -> None:
    class Ending:
        """Ends a worker of the cluster after some results."""

        def __init__(self) -> None:
            self.left = 5

        def begin(self, total: int, done: int) -> None:
            del total, done

        def finish(self) -> None:
            pass

        def advance(self, outcome: str) -> None:
            del outcome
            self.left -= 1
            if self.left == 0:
                os.kill(next(iter(cluster.workers.values())).pid, signal.SIGKILL)

    watcher = Ending()
    result = scan_into(
        tmp_path / "clustered",
        apps,
        make_executor=lambda settings: Cluster(cluster.scheduler_address, settings, chunk=2),
        watcher=watcher,
    )
    assert watcher.left < 0
    assert rows_of(result.catalog) == rows_of(catalog)


@pytest.mark.slow
def test_a_killed_scan_is_resumed_and_completed(apps: Path, catalog: Catalog, tmp_path: Path) -> None:
    folder, chance = tmp_path / "resumed", random.Random(1)
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(item for item in sys.path if item)}
    lines = 0
    for _ in range(2):
        process = subprocess.Popen([sys.executable, "-c", SCAN, folder, apps], env=environment)
        expected = lines + chance.randint(2, 8)
        while process.poll() is None and (lines := _lines_in(folder)) < expected:
            time.sleep(0.005)
        process.kill()
        process.wait()
    assert lines > 1
    with (folder / LOG_FILE).open("ab") as log:
        log.write(b'{"source":"apps/filler0')
    result = scan_into(folder, apps, work=SLOW)
    assert result.resumed > 0
    assert rows_of(result.catalog) == rows_of(catalog)
    assert not (folder / LOG_FILE).exists()


def _lines_in(folder: Path) -> int:
    try:
        return (folder / LOG_FILE).read_bytes().count(b"\n")
    except FileNotFoundError:
        return 0


def unfinished(folder: Path, apps: Path) -> Path:
    """Leave the log of a scan that has ended without a catalog."""
    scan_into(folder, apps, keep_log=True)
    log = (folder / LOG_FILE).read_bytes()
    shutil.rmtree(folder)
    folder.mkdir()
    (folder / LOG_FILE).write_bytes(log)
    return folder / LOG_FILE


@pytest.mark.slow
def test_only_files_that_have_not_changed_since_are_resumed(apps: Path, tmp_path: Path) -> None:
    mine = shutil.copytree(apps, tmp_path / "apps")
    log = unfinished(tmp_path / "c", mine)
    assert log.exists()
    (mine / "filler002.apk").write_bytes(filler_package(44))
    (mine / "filler003.apk").unlink()
    result = scan_into(tmp_path / "c", mine)
    assert result.resumed == 18 + SAMPLES
    assert rows_of(result.catalog) == rows_of(scan_into(tmp_path / "anew", mine).catalog)


@pytest.mark.slow
def test_a_scan_resumes_from_a_log_torn_anywhere(apps: Path, catalog: Catalog, tmp_path: Path) -> None:
    log = unfinished(tmp_path / "c", apps)
    whole = log.read_bytes()
    for length in (0, 10, whole.index(b"\n") + 1, len(whole) // 2, len(whole) - 1):
        log.write_bytes(whole[:length])
        result = scan_into(tmp_path / "c", apps, keep_log=True)
        assert rows_of(result.catalog) == rows_of(catalog), length
        (tmp_path / "c" / "catalog.json").unlink()


def test_an_unfinished_scan_with_other_settings_is_not_resumed(apps: Path, tmp_path: Path) -> None:
    unfinished(tmp_path / "c", apps)
    with pytest.raises(UsageError, match="other settings") as raised:
        scan_into(tmp_path / "c", apps, deadline=7.0)
    assert raised.value.hint is not None
    assert "delete scan.jsonl" in raised.value.hint


@pytest.mark.slow
def test_a_second_scan_reads_only_what_is_new(apps: Path, tmp_path: Path) -> None:
    mine = shutil.copytree(apps, tmp_path / "apps")
    scan_into(tmp_path / "c", mine)
    (mine / "new.apk").write_bytes(filler_package(52))
    (mine / "filler004.apk").unlink()
    again = scan_into(tmp_path / "c", mine)
    assert again.known == 19 + SAMPLES
    assert rows_of(again.catalog) == rows_of(scan_into(tmp_path / "anew", mine).catalog)
    with_earlier = scan_into(tmp_path / "third", mine, known=(str(tmp_path / "c"),))
    assert with_earlier.known == 20 + SAMPLES
    assert rows_of(with_earlier.catalog) == rows_of(again.catalog)


@pytest.mark.slow
def test_a_catalog_is_a_source_of_another(apps: Path, catalog: Catalog, tmp_path: Path) -> None:
    more = tmp_path / "more"
    more.mkdir()
    (more / "another.apk").write_bytes(filler_package(52))
    (more / "same.apk").write_bytes((apps / "filler002.apk").read_bytes())
    merged = scan_into(tmp_path / "c", catalog.folder, more).catalog
    assert merged.rows["apps"] == catalog.rows["apps"] + 1
    names = [row[0] for row in rows_of(merged)["sources"]]
    assert names[0] == "catalog/apps/agent.apk"
    assert names[-2:] == ["more/another.apk", "more/same.apk"]


@pytest.mark.slow
def test_the_files_have_the_columns_that_are_declared(catalog: Catalog) -> None:
    for name, table in TABLES.items():
        described = [(row[0], row[1]) for row in ask(catalog, f"DESCRIBE {name}")]
        assert described == [(column.name, column.type) for column in table.columns], name
        nulls = ", ".join(
            f"count(*) - count({column.name})" for column in table.columns if not column.nullable
        )
        assert set(ask(catalog, f"SELECT {nulls} FROM {name}")[0]) <= {0}, name
        key = ", ".join(table.key)
        assert ask(catalog, f"SELECT {key} FROM {name} GROUP BY ALL HAVING count(*) > 1") == [], name
        assert ask(catalog, f"SELECT {key} FROM {name}") == ask(
            catalog, f"SELECT {key} FROM {name} ORDER BY {key}"
        ), name


def test_no_row_contains_a_path_of_this_computer(apps: Path, catalog: Catalog) -> None:
    text = repr(rows_of(catalog))
    assert str(apps) not in text
    assert str(Path.home()) not in text
    assert "/tmp" not in text


@pytest.mark.parametrize(("content", "reported"), [
    ('{"schema": "droidgate.catalog/6"}', "this droidgate reads droidgate.catalog/5"),
    ("{", "it is not a catalog"),
    ('{"schema": "droidgate.catalog/5"}', "it is not a catalog"),
    ("[]", "it is not a catalog"),
])  # fmt: skip
def test_a_catalog_of_another_version_is_refused(content: str, reported: str, tmp_path: Path) -> None:
    (tmp_path / "catalog.json").write_text(content)
    with pytest.raises(InputError, match=reported):
        Catalog.open(tmp_path)


@pytest.mark.slow
def test_the_error_about_a_folder_without_a_catalog_names_the_command_that_makes_one(
    apps: Path, tmp_path: Path
) -> None:
    with pytest.raises(InputError, match="is not a catalog"):
        Catalog.open(tmp_path)
    unfinished(tmp_path / "c", apps)
    with pytest.raises(InputError, match="not finished"):
        Catalog.open(tmp_path / "c")


def test_a_folder_with_other_things_is_not_written_into(apps: Path, tmp_path: Path) -> None:
    (tmp_path / "thesis.txt").write_text("important")
    with pytest.raises(InputError, match="not a catalog"):
        scan_into(tmp_path, apps)
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.txt"]


@pytest.mark.slow
@pytest.mark.parametrize("left", ["known-0123456789abcdef.units", "scan.kept", "building"])
def test_a_scan_replaces_the_files_of_one_that_ended_early(left: str, apps: Path, tmp_path: Path) -> None:
    place = tmp_path / "c" / left
    place.parent.mkdir()
    if left == "building":
        place.mkdir()
        place.with_name(LOG_FILE).write_bytes(b"")
    else:
        place.write_bytes(b"torn")
    result = scan_into(tmp_path / "c", apps / "agent.apk")
    assert result.outcomes == {"read": 1}
    names = {"catalog.json", *TABLES}
    assert {path.name for path in (tmp_path / "c").iterdir()} == names


FOREIGN = ["apps/mine.apk.txt", "sources/0000.parquet", "building/house.txt"]


@pytest.mark.parametrize("name", FOREIGN)
def test_a_folder_with_foreign_files_named_as_parts_of_a_catalog_is_refused(
    name: str, apps: Path, tmp_path: Path
) -> None:
    foreign = tmp_path / "c" / name
    foreign.parent.mkdir(parents=True)
    foreign.write_text("important")
    with pytest.raises(InputError, match="not a catalog"):
        scan_into(tmp_path / "c", apps / "agent.apk")
    assert [path for path in (tmp_path / "c").rglob("*") if path.is_file()] == [foreign]


@pytest.mark.slow
@pytest.mark.parametrize("begun", ["catalog", "log"])
@pytest.mark.parametrize("name", ["apps/mine.apk.txt", "building/house.txt", "building/apps/mine.apk.txt"])
def test_a_foreign_file_in_a_catalog_is_reported(name: str, begun: str, apps: Path, tmp_path: Path) -> None:
    if begun == "log":
        unfinished(tmp_path / "c", apps)
    else:
        scan_into(tmp_path / "c", apps / "agent.apk")
    foreign = tmp_path / "c" / name
    foreign.parent.mkdir(parents=True, exist_ok=True)
    foreign.write_text("important")
    with pytest.raises(InputError, match="not part of a catalog") as raised:
        scan_into(tmp_path / "c", apps / "agent.apk")
    assert raised.value.place == str(foreign.parent)
    assert foreign.read_text() == "important"


@pytest.mark.parametrize("content", [b"my own log\n", b'{"step": 1}\n{"step": 2}\n', b"no line"])
def test_a_foreign_file_with_the_name_of_the_log_is_not_removed(
    content: bytes, apps: Path, tmp_path: Path
) -> None:
    log = tmp_path / "c" / LOG_FILE
    log.parent.mkdir()
    log.write_bytes(content)
    with pytest.raises(InputError, match="it is not a log of a scan"):
        scan_into(tmp_path / "c", apps / "agent.apk")
    assert log.read_bytes() == content


def test_a_catalog_is_not_a_source_of_itself(apps: Path, tmp_path: Path) -> None:
    scan_into(tmp_path / "c", apps / "agent.apk")
    with pytest.raises(UsageError, match="cannot be one of the sources"):
        scan_into(tmp_path / "c", tmp_path / "c")


@pytest.mark.parametrize("sql", [
    "COPY apps TO '{catalog}/evil.csv'", "COPY apps TO 'evil.csv'",
    "EXPLAIN ANALYZE COPY apps TO '{catalog}/evil.csv'", "EXPORT DATABASE '{catalog}/evil'",
    "ATTACH '{catalog}/evil.db'", "CREATE TABLE evil AS SELECT 1", "DROP VIEW apps",
    "SET enable_external_access = true", "INSTALL httpfs", "LOAD httpfs", "PRAGMA database_list",
    "SELECT 1; SELECT 2", "", "SELECT * FROM read_csv('{secret}')", "SELECT * FROM read_text('{secret}')",
    "SELECT * FROM read_blob('{secret}')", "SELECT * FROM '{secret}'", "SELECT * FROM glob('{catalog}/../*')",
    "SELECT * FROM read_parquet('{other}')", "SELECT * FROM query('COPY apps TO ''{catalog}/evil.csv''')",
    "SELECT getenv('HOME')", "SELECT * FROM read_csv('http://127.0.0.1:9/x.csv')",
    "FROM enable_logging(storage := 'file', storage_path := '{catalog}/evil')",
    "FROM enable_profiling(save_location := '{catalog}/evil')",
    "FROM json_execute_serialized_sql(json_serialize_sql('FROM read_text(''{secret}'')'))",
    "FROM sniff_csv('{secret}')", "FROM parquet_metadata('{other}')", "FROM read_duckdb('{other}')",
    "FROM read_parquet('{catalog}/apps/../../*/apps/0000.parquet')", "SUMMARIZE FROM read_csv('{secret}')",
    "IMPORT DATABASE '{catalog}'", "FROM duckdb_secrets()", "FROM arrow_scan(1, 2, 3)",
    "PREPARE evil AS SELECT 1; EXECUTE evil",
])  # fmt: skip
def test_a_question_can_neither_write_nor_leave_the_catalog(
    sql: str, catalog: Catalog, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    secret = tmp_path / "secret.csv"
    secret.write_text("a,b\n1,2\n")
    other = tmp_path / "other.parquet"
    shutil.copy(catalog.folder / "apps" / "0000.parquet", other)
    before = sorted(catalog.folder.rglob("*"))
    with pytest.raises(UsageError):
        answer_of(catalog, sql.format(catalog=catalog.folder, secret=secret, other=other))
    assert sorted(catalog.folder.rglob("*")) == before
    assert sorted(path.name for path in tmp_path.iterdir()) == ["other.parquet", "secret.csv"]


@pytest.mark.slow
def test_a_catalog_may_have_any_name_in_utf_8(apps: Path, catalog: Catalog, tmp_path: Path) -> None:
    folder = tmp_path / "c[1]*'{x} \u202e"
    scan_into(folder, apps)
    again = scan_into(folder, apps)
    assert again.known == 20 + SAMPLES
    assert rows_of(again.catalog) == rows_of(catalog)
    assert rows_of(scan_into(tmp_path / "c", folder).catalog)["apps"] == rows_of(catalog)["apps"]
    assert answer_of(again.catalog, "SELECT count(*) FROM apps")[1] == [(20 + SAMPLES,)]
    for odd, reported in ((b"\xff", "must have a name in UTF-8"), (b"c?", "must have no `[?]` in its path")):
        refused = Path(os.fsdecode(os.fsencode(tmp_path) + b"/" + odd))
        with pytest.raises(InputError, match=reported):
            scan_into(refused, apps)
        assert not refused.exists()


@pytest.mark.parametrize(("harm", "reported"), [
    pytest.param(lambda file: file.unlink(), "its table apps cannot be read", id="no file"),
    pytest.param(lambda file: file.write_bytes(b""), "its table apps cannot be read", id="an empty file"),
    pytest.param(lambda file: shutil.copy(file.parents[1] / "findings/0000.parquet", file),
        "its table apps has other columns", id="the file of another table"),
])  # fmt: skip
def test_a_missing_table_is_reported_with_a_hint(
    harm: Any, reported: str, apps: Path, tmp_path: Path
) -> None:
    catalog = scan_into(tmp_path / "c", apps / "agent.apk").catalog
    harm(tmp_path / "c/apps/0000.parquet")
    for use in (catalog.connect, lambda: scan_into(tmp_path / "c", apps / "agent.apk")):
        with pytest.raises(InputError, match=reported) as raised:
            use()
        assert raised.value.hint == "delete the folder and scan again, or scan into a new one"


def test_pages_of_a_table_that_are_broken_are_one_error(apps: Path, tmp_path: Path) -> None:
    scan_into(tmp_path / "c", apps / "agent.apk")
    file = tmp_path / "c/sources/0000.parquet"
    data = bytearray(file.read_bytes())
    pages = len(data) - 8 - int.from_bytes(data[-8:-4], "little") - 4
    data[4 : 4 + pages] = b"\xff" * pages
    file.write_bytes(data)
    with pytest.raises(InputError, match="cannot be read"):
        scan_into(tmp_path / "c", apps / "agent.apk")


def test_rows_are_made_as_they_are_taken(catalog: Catalog) -> None:
    endless = "SELECT range AS n, repeat('x', 1000) FROM range(1000000000000)"
    with query(catalog, endless) as answered:
        assert [row[0] for row in itertools.islice(answered.rows, 30_000)] == list(range(30_000))


def test_a_terminal_shows_the_first_rows_and_json_has_all(
    catalog: Catalog, capsys: pytest.CaptureFixture[str]
) -> None:
    ask = ["catalog", "sql", str(catalog.folder)]
    sql = "SELECT range AS n FROM range(2500)"
    assert run([*ask, sql]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[-1] == "the first 1,000 rows; --csv and --json print all"
    assert len(lines) == 1002
    assert run([*ask, sql, "--csv"]) == 0
    assert capsys.readouterr().out.splitlines() == ["n", *map(str, range(2500))]
    assert run([*ask, sql, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["rows"] == [[item] for item in range(2500)]


def test_values_of_every_kind_stay_data(catalog: Catalog, capsys: pytest.CaptureFixture[str]) -> None:
    sql = (
        "SELECT '=cmd()' AS a, -1 AS b, NULL AS c, [1, NULL] AS d, {'k': 1.5::DOUBLE} AS e, "
        "chr(27) || '[2J' AS f, chr(8238) || 'x' AS g, 'a,\"b\"' AS h, DATE '2026-01-02' AS i, "
        "'nan'::DOUBLE AS j, 1::HUGEINT AS k"
    )
    ask = ["catalog", "sql", str(catalog.folder)]
    assert run([*ask, sql, "--csv"]) == 0
    assert list(csv.reader(capsys.readouterr().out.splitlines()))[1] == [
        *("'=cmd()", "-1", "", "[1,null]", '{"k":1.5}'),
        *("\\x1b[2J", "\\u202ex", 'a,"b"', "2026-01-02", "nan", "1"),
    ]
    assert run([*ask, sql, "--json"]) == 0
    reported = capsys.readouterr().out
    assert reported.isascii()
    row = ["=cmd()", -1, None, [1, None], {"k": 1.5}, "\x1b[2J", "\u202ex", 'a,"b"', "2026-01-02", "nan", 1]
    assert json.loads(reported)["rows"] == [row]
    assert run([*ask, "SELECT 1 WHERE false", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["rows"] == []


@pytest.mark.slow
def test_a_terminal_shows_what_a_run_does_after_a_second_until_something_is_printed(catalog: Catalog) -> None:
    endless = "SELECT count(*) FROM range(1000000000000) WHERE sin(range) > 2"
    command = ("catalog", "sql", catalog.folder)
    reported = run_on_terminal(*command, endless, "--deadline", "3", waiting_lines=True)
    *_, waiting, error = reported.split("\r\x1b[K")
    assert re.fullmatch(r"ask the catalog \([23] s\)", waiting)
    assert error.startswith("error: the query takes more than 3 seconds")
    assert "\x1b[K" not in run_on_terminal(*command, "SELECT 1", waiting_lines=True)


@pytest.mark.parametrize(("sql", "hint"), [
    ("FROM app", 'did you mean "apps"?'),
    ("SELECT packag FROM apps", 'candidate bindings: "package"'),
    ("FROM bar", "the tables are sources, apps, providers"),
    ("SELEC 1", "the tables are sources, apps, providers"),
    ("DROP VIEW apps", "the tables are sources, apps, providers"),
])  # fmt: skip
def test_the_refusal_of_a_query_lists_the_tables_and_columns(sql: str, hint: str, catalog: Catalog) -> None:
    with pytest.raises(UsageError) as raised:
        ScanResult(catalog, {}, 0, 0).ask(sql)
    assert str(raised.value.hint).startswith(hint)


def test_a_query_that_fails_at_a_value_has_no_hint_at_tables(catalog: Catalog) -> None:
    with pytest.raises(UsageError, match="Could not convert string 'x'") as raised:
        answer_of(catalog, "SELECT CAST('x' AS INTEGER)")
    assert raised.value.hint is None


def test_a_time_with_a_zone_is_answered_as_text(catalog: Catalog) -> None:
    columns, rows = answer_of(catalog, "SELECT CAST(now() AS VARCHAR) AS time")
    assert (columns, len(rows)) == ((("time", "VARCHAR"),), 1)
    if importlib.util.find_spec("pytz") is None:
        with pytest.raises(UsageError, match="a time with a zone") as raised:
            answer_of(catalog, "SELECT now()")
        assert raised.value.hint == "CAST(... AS VARCHAR) gives it as text"


def test_a_query_that_is_not_utf_8_is_refused(catalog: Catalog, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["catalog", "sql", str(catalog.folder), "SELECT '\udcff'"]) == 2
    assert capsys.readouterr().err == "error: the query is not UTF-8\n"


def test_the_documented_columns_are_those_of_the_files(catalog: Catalog) -> None:
    page = (CHECKOUT / "docs/reference/catalog.md").read_text(encoding="utf-8").partition("## Tables")[2]
    shared, *reported = page.split("### ")[1:]
    assert [part.partition("\n")[0] for part in reported] == list(TABLES)
    column = re.compile(r"^\| `(\w+)` \| ([^ |]+)", re.MULTILINE)
    types = dict(column.findall(shared))
    for name, part in zip(TABLES, reported, strict=True):
        also = re.findall(r"`(\w+)`", part.partition(" Also ")[2].partition("\n")[0])
        columns = [*column.findall(part), *((each, types[each]) for each in also)]
        described = ask(catalog, f"SELECT column_name, column_type FROM (DESCRIBE {name})")
        assert sorted(columns) == sorted(described), name


def answer_of(catalog: Catalog, sql: str) -> tuple[Any, list[Any]]:
    with query(catalog, sql) as answered:
        return answered.columns, list(answered.rows)


# A catalog is a source like the apps that it was made of


PROJECTS = Path("device_shim/apps")


@pytest.fixture(scope="module")
def projects(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A catalog of the projects of the sample apps, under their relative names."""
    return scan_into(tmp_path_factory.mktemp("projects") / "samples", PROJECTS).catalog.folder


def package_of(name: str) -> bytes:
    return next(package.apk for package in sample_packages() if package.name == name)


def places(findings: tuple[droidgate.Finding, ...], prefix: str = "") -> set[tuple[str, str, str]]:
    return {
        (finding.code, finding.message, str(finding.source).removeprefix(prefix))
        for finding in findings
        if finding.code != DECLARATIONS_ALONE
    }


@pytest.fixture(scope="module")
def mixed(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """A folder with an APK, a file that needs a leniency and one that cannot be read; its catalog."""
    folder = tmp_path_factory.mktemp("mixed")
    (folder / "a").mkdir()
    (folder / "a/broken.apk").write_bytes(b"PK\x03\x04")
    (folder / "a/tally.apk").write_bytes(package_of("tally"))
    tools = [{"name": "a", "description": None, "inputSchema": {"type": "object"}}]
    (folder / "a/tools.json").write_text(json.dumps({"tools": tools}))
    return folder / "a", scan_into(folder / "c", folder / "a").catalog.folder


def test_a_catalog_of_an_apk_has_what_the_apk_declares(mixed: tuple[Path, Path]) -> None:
    direct, read = map(droidgate.read, mixed)
    assert {provider.protocol for provider in direct} == {"mcp", "mobile-mcp"}
    assert sorted(item.content_digest() for item in read) == sorted(item.content_digest() for item in direct)


def test_a_catalog_of_projects_has_their_places_too(projects: Path) -> None:
    read, direct = droidgate.read(projects), droidgate.read(PROJECTS)
    assert [str(item.source) for item in read] == [f"{projects}/{item.source}" for item in direct]
    assert [[str(capability.source) for capability in provider.capabilities] for provider in read] == [
        [f"{projects}/{capability.source}" for capability in provider.capabilities] for provider in direct
    ]


def test_the_file_in_a_catalog_names_it_like_its_folder(projects: Path) -> None:
    read = droidgate.read(projects / "catalog.json")
    assert read.providers == droidgate.read(projects).providers
    assert Catalog.open(projects / "catalog.json") == Catalog.open(projects)


def test_reading_a_catalog_reports_what_it_does_not_contain(projects: Path) -> None:
    read = droidgate.read(projects)
    (missing,) = (finding for finding in read.findings if finding.code == DECLARATIONS_ALONE)
    assert "manifests, resources, signatures and archives of the apps are not in it" in missing.message
    assert read.applications == ()


def test_lint_of_a_catalog_reports_what_the_linters_of_the_scan_found(projects: Path) -> None:
    stored, direct = droidgate.lint(projects), droidgate.lint(PROJECTS)
    assert places(direct.findings)
    assert places(stored.findings, f"{projects}/") == places(direct.findings)


def test_strict_reading_refuses_what_the_scan_accepted_by_a_leniency(mixed: tuple[Path, Path]) -> None:
    folder, catalog = mixed
    assert places(droidgate.read(folder).findings, f"{folder}/")
    assert places(droidgate.read(catalog).findings, f"{catalog}/a/") == places(
        droidgate.read(folder).findings, f"{folder}/"
    )
    with pytest.raises(InputError, match="P05"):
        droidgate.read(catalog, strict=True)


def test_what_the_scan_could_not_read_is_a_problem_of_the_reading(mixed: tuple[Path, Path]) -> None:
    folder, catalog = mixed
    expected = [problem.message for problem in droidgate.read(folder).problems]
    assert [(problem.place, problem.message) for problem in droidgate.read(catalog).problems] == [
        (f"{catalog}/a/broken.apk", message) for message in expected
    ]


def test_a_shim_is_not_made_of_a_catalog(projects: Path) -> None:
    with pytest.raises(UsageError, match="a catalog has no APKs"):
        list(open_apps(str(projects)))


def test_the_file_in_a_catalog_is_scanned_as_the_catalog(projects: Path, tmp_path: Path) -> None:
    result = scan_into(tmp_path / "c", projects / "catalog.json")
    assert result.catalog.rows == Catalog.open(projects).rows


@pytest.mark.parametrize(
    "text", ["", "{", "[]", '{"schema": "someone/1"}', "\0" * 300], ids=lambda text: text[:30]
)
def test_a_catalog_file_of_another_program_leaves_its_folder_a_folder(text: str, tmp_path: Path) -> None:
    shutil.copytree(PROJECTS / "tally", tmp_path / "tally")
    (tmp_path / "tally/catalog.json").write_text(text)
    assert [provider.protocol for provider in droidgate.read(tmp_path / "tally")] == ["mobile-mcp"]


@pytest.mark.parametrize(("table", "column", "value", "message"), [
    ("providers", "declaration", "[]", "a row of the catalog"),
    ("providers", "declaration", '{"protocol": "mcp"}', "a row of the catalog"),
    ("providers", "declaration", '{"protocol": "no-such-format"}', "a row of the catalog"),
    ("providers", "declaration", '{"protocol": "mobile-mcp", "capabilities": 7}', "a row of the catalog"),
    ("findings", "level", "catastrophe", "does not hold a finding"),
    ("providers", "protocol", "someone-elses", "nothing in it can be read"),
])  # fmt: skip
def test_a_catalog_with_a_broken_row_fails(
    table: str, column: str, value: str, message: str, projects: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "c"
    shutil.copytree(projects, folder)
    replace_values(Catalog.open(folder), table, column, value)
    with pytest.raises(InputError, match=message):
        droidgate.read(folder)


def test_a_catalog_too_large_for_memory_is_refused(projects: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(catalog._MOST, "capabilities", 1)
    with pytest.raises(BudgetError, match="capabilities, and 1 are read at most"):
        droidgate.read(projects)


def replace_values(catalog: Catalog, table: str, column: str, value: str) -> None:
    """Write one value into every row of a column."""
    (path,) = catalog.paths_of(table)
    connection = catalog.connect()
    connection.execute(
        f"COPY (SELECT * REPLACE (CAST($1 AS VARCHAR) AS {column}) FROM {table}) "
        f"TO '{path}.new' (FORMAT parquet)",
        [value],
    )
    connection.close()
    Path(f"{path}.new").replace(path)
