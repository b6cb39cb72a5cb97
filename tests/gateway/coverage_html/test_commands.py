"""The commands that the page shows run when they are pasted into a shell."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from droidgate.coverage.history import Snapshot
from droidgate.coverage.html.page import render_page
from droidgate.coverage.report import Coverage, ReportOptions
from gateway.coverage_html.conftest import OpenPage
from gateway.coverage_scan.catalogs import scan_into
from requirements_of_tests import CHECKOUT

COMMAND = "document.querySelector('#sheet pre.command').textContent"
CHOICE = "document.querySelector('#sheet select')"


def _run(command: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run a command as a shell does where droidgate is installed."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    environment = {**os.environ, "PATH": path, "DROIDGATE_HOME": str(folder / "home")}
    return subprocess.run(
        ["bash", "-c", command], cwd=folder, env=environment, capture_output=True, text=True, check=False
    )


@pytest.mark.slow
@pytest.mark.parametrize("name", ["it's mine; $(ls)", "-o"])
def test_the_commands_of_the_page_run_when_they_are_pasted(
    tmp_path: Path, open_page: OpenPage, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    project = tmp_path / name
    shutil.copytree(CHECKOUT / "device_shim/apps/clock-in", project)
    monkeypatch.chdir(tmp_path)
    catalog = scan_into(tmp_path / "catalog", Path(f"./{name}")).catalog
    with Coverage(Snapshot("c", catalog), (), ReportOptions(details=True, matching=False)) as coverage:
        (tmp_path / "page.html").write_text(render_page(coverage.report), encoding="utf-8")

    page = open_page(tmp_path / "page.html")
    page.run("document.querySelector('#matrix tbody th .link').click()")
    page.wait("document.querySelector('#sheet pre.command')")
    looked_at = _run(page.run(COMMAND), tmp_path)
    assert (looked_at.returncode, "clock_in_today" in looked_at.stdout) == (0, True), looked_at.stderr

    page.run("document.querySelector('#sheet table .link').click()")
    page.wait("document.querySelector('#sheet select')")
    targets = page.run(f"[...{CHOICE}.options].map((one) => one.value)")
    assert targets == list(catalog.targets)
    for target in ("appfunctions+v2", "mcp+2025-11-25"):
        page.run(f"{CHOICE}.value = {json.dumps(target)}")
        page.run(f"{CHOICE}.dispatchEvent(new Event('change', {{bubbles: true}}))")
        made = _run(page.run(COMMAND), tmp_path)
        assert made.returncode == 0, made.stderr
        assert (tmp_path / "out/fidelity.json").is_file()
        shutil.rmtree(tmp_path / "out")
