"""Each benchmark runs, in its quick form, and writes what it measured; its figures are never judged."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from requirements_of_tests import CHECKOUT, require

BENCHMARKS = CHECKOUT / "benchmarks"
NAMES = sorted(path.stem for path in BENCHMARKS.glob("[!_]*.py"))
PARTS = {
    "apk": ("aapt2", "framework-res"),
    "coverage_page": ("chromium",),
    "discover": ("adb",),
    "shim": ("javac", "java"),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_a_benchmark_runs_and_writes_what_it_measured(name: str, tmp_path: Path) -> None:
    for part in PARTS.get(name, ()):
        require(part)
    written = tmp_path / "measured.json"
    command: list[str | Path] = [sys.executable, BENCHMARKS / f"{name}.py", "--quick", "--json", written]
    run = subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path)
    assert run.returncode == 0, run.stdout + run.stderr
    measured = json.loads(written.read_text(encoding="utf-8"))
    assert measured["quick"]
    assert all(table["rows"] for table in measured["tables"].values())
    assert measured["tables"]


def test_every_published_table_is_of_a_whole_run() -> None:
    results = sorted((BENCHMARKS / "results").glob("*.json"))
    assert {path.stem for path in results} == set(NAMES)
    for path in results:
        measured = json.loads(path.read_text(encoding="utf-8"))
        assert not measured["quick"], path.name
        assert measured["tables"].keys() <= _published(path.stem), path.name


def test_a_row_of_a_published_table_is_a_line() -> None:
    for path in (BENCHMARKS / "results").glob("*.json"):
        text = path.read_text(encoding="utf-8")
        for table in json.loads(text)["tables"].values():
            assert {json.dumps(row) for row in table["rows"]} <= {
                line.strip(" ,") for line in text.splitlines()
            }


def _published(name: str) -> set[str]:
    """Return the tables of a benchmark that docs/internals/benchmarks.md shows."""
    start = f"<!-- benchmark: {name} "
    page = (CHECKOUT / "docs" / "internals" / "benchmarks.md").read_text(encoding="utf-8")
    return {
        line.removeprefix(start).removesuffix(" -->") for line in page.splitlines() if line.startswith(start)
    }
