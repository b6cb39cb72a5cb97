"""A target that takes longer to look at than its call may: the call has ended and does not go out (7)."""

import json
import subprocess
from pathlib import Path

import pytest

from device_shim.shim_engine.engine_samples import TABLE, s1
from requirements_of_tests import SHORT_JVM, require

PROGRAM = Path(__file__).with_name("LateTarget.java")
DEADLINE_MS = 5_000


@pytest.mark.slow
@pytest.mark.requires("javac", "java")
@pytest.mark.parametrize(
    ("takes_ms", "events"), [(DEADLINE_MS - 1, ["goes out", "timeout"]), (DEADLINE_MS, ["timeout"])]
)
def test_a_call_whose_deadline_passes_while_its_target_is_looked_at_does_not_go_out(
    core_classes: Path, tmp_path: Path, takes_ms: int, events: list[str]
) -> None:
    routes, request = tmp_path / "routes.json", tmp_path / "request.json"
    routes.write_text(json.dumps(TABLE))
    (written,) = s1("7", "fill", {"path": "a"}).values()
    request.write_text(written)
    command: list[str | Path] = [
        require("java"),
        *SHORT_JVM,
        "-cp",
        core_classes,
        PROGRAM,
        routes,
        request,
        str(takes_ms),
    ]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr[-4000:]
    assert run.stdout.split("\n")[:-1] == events
