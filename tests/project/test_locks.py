"""The locks fit what the project requires, and an environment is made of what they name or says why not."""

import ast
import importlib.metadata
import os
import re
import runpy
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from requirements_of_tests import CHECKOUT

SCRIPT: dict[str, Any] = runpy.run_path(str(CHECKOUT / "scripts/lock.py"))
LOCKS = [CHECKOUT / "locks" / f"{name}.txt" for name in SCRIPT["LOCKS"]]
PYPROJECT = CHECKOUT / "pyproject.toml"
IMPORTED = re.compile(r"^ *(?:import|from) (\w+)", re.MULTILINE)
NOT_FOUND = "type: ignore[import-not-found]"
"""On the import of a program that runs in an environment of its own."""
LINE = re.compile(r"([a-z0-9][a-z0-9-]*)==([^\s;]+)(?: ; [^\\]+)?(?: \\)?")
MISMATCH = "ERROR: THESE PACKAGES DO NOT MATCH THE HASHES FROM THE REQUIREMENTS FILE."


def packages_of(lock: Path) -> dict[str, set[tuple[str, frozenset[str]]]]:
    """Return version and hashes of each package; a line of another form fails the test."""
    found: dict[str, set[tuple[str, frozenset[str]]]] = {}
    for entry in SCRIPT["entries_of"](lock):
        first, *rest = entry.splitlines()
        match = LINE.fullmatch(first)
        assert match, first
        hashes = [re.fullmatch(r"    --hash=sha256:([0-9a-f]{64})(?: \\)?", line) for line in rest]
        assert hashes, first
        assert all(hashes), first
        digests = frozenset(hash_.group(1) for hash_ in hashes if hash_)
        found.setdefault(match.group(1), set()).add((match.group(2), digests))
    return found


@pytest.mark.parametrize("lock", LOCKS, ids=lambda path: path.name)
def test_a_lock_is_of_the_requirements_and_holds_only_versions_and_hashes(lock: Path) -> None:
    assert SCRIPT["problem_of"](lock, CHECKOUT / "pyproject.toml") is None
    assert len(packages_of(lock)) > 20


@pytest.mark.parametrize("lock", LOCKS, ids=lambda path: path.name)
def test_a_lock_repeats_nothing_of_the_lock_that_it_begins_with(lock: Path) -> None:
    entries = SCRIPT["entries_of"](lock)
    assert len(entries) == len(set(entries))


def test_an_environment_is_made_again_when_a_lock_that_its_own_begins_with_changes() -> None:
    rules = (CHECKOUT / "Makefile").read_text(encoding="utf-8").splitlines()
    (rule,) = (line for line in rules if line.startswith("$(INSTALLED_DEV): "))
    assert {"locks/run.txt", "locks/dev.txt"} <= set(rule.split())


def test_every_requirement_of_an_environment_is_in_its_lock() -> None:
    project = tomllib.loads((CHECKOUT / "pyproject.toml").read_text())["project"]
    for name, extras in SCRIPT["LOCKS"].items():
        stated = [item for extra in extras for item in project["optional-dependencies"][extra]]
        stated += [] if name == "tools" else project["dependencies"]
        stated += [] if name in {"all", "tools"} else ["hatchling"]
        names = {re.split(r"[\[<>=~;]", item)[0].strip() for item in stated} - {"droidgate"}
        assert names <= packages_of(CHECKOUT / "locks" / f"{name}.txt").keys()


def test_the_environments_share_their_versions() -> None:
    everything = packages_of(CHECKOUT / "locks/ci.txt")
    for name in ("all", "dev", "run"):
        lock = packages_of(CHECKOUT / "locks" / f"{name}.txt")
        shared = lock.keys() & everything.keys()
        assert {package: everything[package] for package in shared} == {item: lock[item] for item in shared}
        assert name == "all" or shared == lock.keys()


def _imported_from_elsewhere() -> Iterator[str]:
    """Yield the first names of the modules that mypy's files import and that the checkout has not."""
    folders = [CHECKOUT / name for name in tomllib.loads(PYPROJECT.read_text())["tool"]["mypy"]["files"]]
    ours = {path.stem for folder in folders for path in folder.iterdir()}
    for path in (path for folder in folders for path in folder.rglob("*.py")):
        text = path.read_text(encoding="utf-8")
        stated = {name.partition(".")[0] for name in IMPORTED.findall(text)}
        if stated - ours - sys.stdlib_module_names:
            lines = text.split("\n")
            for node in ast.walk(ast.parse(text)):
                if isinstance(node, ast.Import | ast.ImportFrom) and NOT_FOUND in lines[node.lineno - 1]:
                    continue
                names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
                names += [node.module or ""] if isinstance(node, ast.ImportFrom) and not node.level else []
                yield from {name.partition(".")[0] for name in names} - ours - sys.stdlib_module_names


@pytest.mark.slow
def test_types_are_checked_with_the_packages_of_make_test_alone() -> None:
    packages = packages_of(CHECKOUT / "locks/dev.txt").keys()
    distributions = importlib.metadata.packages_distributions()
    homes = {module: distributions.get(module, []) for module in set(_imported_from_elsewhere())}
    homes = {module: [re.sub("[_.]", "-", name).lower() for name in names] for module, names in homes.items()}
    assert {"pytest", "lxml"} <= homes.keys()
    assert [module for module, names in homes.items() if packages.isdisjoint(names)] == []


def test_a_lock_of_other_requirements_is_recognized(tmp_path: Path) -> None:
    pyproject = tmp_path / "pyproject.toml"
    text = (CHECKOUT / "pyproject.toml").read_text()
    pyproject.write_text(text.replace('"rich>=', '"poor>='))
    assert "run `make lock`" in SCRIPT["problem_of"](LOCKS[0], pyproject)
    pyproject.write_text(text.replace("line-length", "line-width"))
    assert SCRIPT["problem_of"](LOCKS[0], pyproject) is None
    assert SCRIPT["problem_of"](tmp_path / "none.txt", pyproject) == "none.txt does not exist"


@pytest.fixture
def environment(tmp_path: Path) -> Path:
    """Return a folder like a virtual environment whose pip logs its calls and does as PIP_EXITS says."""
    folder = tmp_path / "environment"
    (folder / "bin").mkdir(parents=True)
    program = folder / "bin/python"
    program.write_text(
        "#!/bin/sh\n"
        f'[ "$1" = -m ] || exec "{sys.executable}" "$@"\n'
        f'echo "$@" >>"{tmp_path}/calls"\n'
        'case "$*" in *--require-hashes*) echo "$PIP_SAYS"; exit "$PIP_EXITS";; esac\n'
    )
    program.chmod(0o755)
    return folder


def _make(environment: Path, lock: str = "locks/run.txt", **variables: str) -> tuple[int, str, list[str]]:
    """Return the exit code, what is on stderr, and how pip was called."""
    given = {**os.environ, "PIP_SAYS": "", "PIP_EXITS": "0", "DROIDGATE_LOCK": "", **variables}
    command = ["scripts/make_environment", sys.executable, str(environment), ".", lock]
    run = subprocess.run(command, cwd=CHECKOUT, env=given, capture_output=True, text=True, check=False)
    calls = environment.parent / "calls"
    seen = calls.read_text().splitlines() if calls.exists() else []
    return run.returncode, run.stderr, [item.partition("--disable-pip-version-check ")[2] for item in seen]


LOCKED = "--require-hashes --requirement locks/run.txt"


def test_an_environment_is_made_of_locked_packages(environment: Path) -> None:
    code, _, calls = _make(environment)
    assert (code, calls) == (0, [LOCKED, "--no-deps --no-build-isolation --editable ."])


def test_where_a_locked_package_cannot_be_installed_the_newest_ones_are_and_that_is_said(
    environment: Path,
) -> None:
    code, said, calls = _make(environment, PIP_SAYS="ERROR: No matching distribution", PIP_EXITS="1")
    assert (code, calls) == (0, [LOCKED, "--editable ."])
    assert "pip cannot install locks/run.txt on this machine: ERROR: No matching distribution" in said
    assert "installing the newest versions, without hashes" in said


def test_a_stale_or_missing_lock_is_not_used_and_that_is_said(environment: Path) -> None:
    code, said, calls = _make(environment, "locks/none.txt")
    assert (code, calls) == (0, ["--editable ."])
    assert "none.txt does not exist; installing the newest versions, without hashes" in said


def test_a_lock_can_be_required_or_switched_off(environment: Path) -> None:
    code, said, calls = _make(environment, "locks/none.txt", DROIDGATE_LOCK="required")
    assert (code, calls) == (1, [])
    assert said.splitlines()[-1] == "droidgate: none.txt does not exist"
    code, said, calls = _make(environment, DROIDGATE_LOCK="off")
    assert (code, calls) == (0, ["--editable ."])


def test_a_file_with_another_hash_is_never_replaced_by_an_unchecked_one(environment: Path) -> None:
    code, said, calls = _make(environment, PIP_SAYS=MISMATCH, PIP_EXITS="1")
    assert (code, calls) == (1, [LOCKED])
    assert MISMATCH in said
    assert "a downloaded file is not the one that locks/run.txt names" in said
