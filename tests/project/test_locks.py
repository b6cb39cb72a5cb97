"""The locks fit what the project requires, and an environment is made of what they name or says why not."""

import os
import re
import runpy
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from requirements_of_tests import CHECKOUT

SCRIPT: dict[str, Any] = runpy.run_path(str(CHECKOUT / "scripts/lock.py"))
LOCKS = [CHECKOUT / "locks" / f"{name}.txt" for name in SCRIPT["LOCKS"]]
ENTRY = re.compile(r"([a-z0-9-]+)==(\S+)(?: ; [^\\]+)?(?: \\\n    --hash=sha256:[0-9a-f]{64})+")
MISMATCH = "ERROR: THESE PACKAGES DO NOT MATCH THE HASHES FROM THE REQUIREMENTS FILE."


def packages_of(lock: Path) -> dict[str, set[tuple[str, ...]]]:
    """Return versions and hashes of each package; an entry of another form fails the test."""
    found: dict[str, set[tuple[str, ...]]] = {}
    for entry in SCRIPT["entries_of"](lock):
        match = ENTRY.fullmatch(entry)
        assert match, entry
        found.setdefault(match[1], set()).add((match[2], *sorted(re.findall("sha256:([0-9a-f]+)", entry))))
    return found


@pytest.mark.parametrize("lock", LOCKS, ids=lambda path: path.name)
def test_a_lock_is_of_the_requirements_and_holds_only_versions_and_hashes(lock: Path) -> None:
    assert SCRIPT["problem_of"](lock, CHECKOUT / "pyproject.toml") is None
    assert len(packages_of(lock)) > 20


def test_the_environments_share_their_versions() -> None:
    everything = packages_of(CHECKOUT / "locks/ci.txt")
    for name in ("all", "dev", "run"):
        lock = packages_of(CHECKOUT / "locks" / f"{name}.txt")
        assert [item for item in lock.keys() & everything if lock[item] != everything[item]] == []
        assert name == "all" or lock.keys() <= everything.keys()


FROM_HERE = "--no-deps --no-build-isolation --editable ."
LOCKED = "--require-hashes --requirement locks/run.txt"
NEWEST = "installing the newest versions, without hashes"


@pytest.mark.parametrize(("lock", "wish", "pip_says", "code", "calls", "message"), [
    ("run",  "",         "",         0, [LOCKED, FROM_HERE],       "Installing into"),
    ("run",  "",         "ERROR: x", 0, [LOCKED, "--editable ."],  f"on this machine: ERROR: x; {NEWEST}"),
    ("run",  "",         MISMATCH,   1, [LOCKED],                  "is not the one that locks/run.txt names"),
    ("run",  "off",      "",         0, ["--editable ."],          NEWEST),
    ("none", "",         "",         0, ["--editable ."],          f"none.txt does not exist; {NEWEST}"),
    ("none", "required", "",         1, [],                        "droidgate: none.txt does not exist"),
])  # fmt: skip
def test_an_environment_is_made_of_locked_packages_or_says_why_not(
    tmp_path: Path, lock: str, wish: str, pip_says: str, code: int, calls: list[str], message: str
) -> None:
    program = tmp_path / "environment/bin/python"
    program.parent.mkdir(parents=True)
    log = tmp_path / "calls"
    log.touch()
    program.write_text(
        f'#!/bin/sh\n[ "$1" = -m ] || exec "{sys.executable}" "$@"\necho "$@" >>"{log}"\n'
        'case "$*" in *--require-hashes*) echo "$PIP_SAYS"; [ -z "$PIP_SAYS" ];; esac\n'
    )
    program.chmod(0o755)
    command = [
        "scripts/make_environment",
        sys.executable,
        f"{tmp_path}/environment",
        ".",
        f"locks/{lock}.txt",
    ]
    environment = {**os.environ, "PIP_SAYS": pip_says, "DROIDGATE_LOCK": wish}
    run = subprocess.run(command, cwd=CHECKOUT, env=environment, capture_output=True, text=True, check=False)
    called = [line.partition("--disable-pip-version-check ")[2] for line in log.read_text().splitlines()]
    assert (run.returncode, called) == (code, calls)
    assert message in run.stderr
