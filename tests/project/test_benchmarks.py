"""A benchmark runs in its quick form and writes what it measured; its figures are never judged."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from requirements_of_tests import CHECKOUT


@pytest.mark.slow
def test_a_benchmark_runs_and_writes_what_it_measured(tmp_path: Path) -> None:
    written = tmp_path / "measured.json"
    script = CHECKOUT / "benchmarks/translate.py"
    command: list[str | Path] = [sys.executable, script, "--quick", "--json", written]
    run = subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path)
    assert run.returncode == 0, run.stdout + run.stderr
    measured = json.loads(written.read_text(encoding="utf-8"))
    assert measured["quick"]
    assert all(table["rows"] for table in measured["tables"].values())
