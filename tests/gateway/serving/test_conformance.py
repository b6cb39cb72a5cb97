"""The official conformance suite against our own application.

The server's class, transport and front door are those of `droidgate serve`; only the provider of tools is the
suite's fixtures.
"""

import json
import subprocess
import tomllib
from pathlib import Path
from typing import Any

import pytest

from gateway.serving.fixture_tools import FixtureTools
from gateway.serving.running_servers import running_server
from requirements_of_tests import node, require

NOT_OFFERED = tomllib.loads(
    (Path(__file__).parent / "conformance_not_offered.toml").read_text(encoding="utf-8")
)


def run_suite(revision: str, folder: Path) -> list[tuple[str, dict[str, Any]]]:
    suite = require("mcp-conformance")
    with running_server(FixtureTools(), token=None) as server:
        command = [str(node()), str(suite), "server", "--url", server.url, "--requirements", revision]
        run = subprocess.run(
            [*command, "-o", str(folder)], capture_output=True, text=True, check=False, timeout=280
        )
    files = sorted(folder.rglob("checks.json"))
    assert files, run.stdout + run.stderr
    return [(path.parent.name, check) for path in files for check in json.loads(path.read_text())]


@pytest.mark.slow
@pytest.mark.parametrize(("revision", "least_passed"), [("2025-11-25", 70), ("2026-07-28", 177)])
def test_the_server_fails_in_exactly_the_checks_for_what_it_does_not_offer(
    revision: str, least_passed: int, tmp_path: Path
) -> None:
    checks = [
        (check["id"], check["status"], check.get("errorMessage"))
        for _, check in run_suite(revision, tmp_path)
    ]
    failed = {name: message for name, status, message in checks if status in {"FAILURE", "WARNING"}}
    assert failed.keys() == NOT_OFFERED[revision].keys(), failed
    assert sum(status == "SUCCESS" for _, status, _ in checks) >= least_passed


def test_each_check_that_is_not_passed_has_a_reason() -> None:
    used = {
        reason
        for name in ("2025-11-25", "2026-07-28")
        for row in NOT_OFFERED[name].values()
        for reason in row
    }
    assert used == NOT_OFFERED["reasons"].keys()
