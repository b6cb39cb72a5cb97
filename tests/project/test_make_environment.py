"""`make test` and `make demo` on a machine whose Python does not do: one line that says what to install."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from requirements_of_tests import CHECKOUT

OLD = "import sys\nsys.version_info = (3, 9, 2, 'final', 0)\n"
NO_ENSUREPIP = "import sys\nsys.modules['ensurepip'] = None\n"
BROKEN_VENV = "import venv\nvenv.create = venv.EnvBuilder.create = venv.main = None\n"


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    directory = tmp_path / "checkout"
    directory.mkdir()
    for name in ("Makefile", "pyproject.toml"):
        shutil.copy(CHECKOUT / name, directory)
    for name in ("scripts", "locks"):
        shutil.copytree(CHECKOUT / name, directory / name)
    return directory


def _python_that_starts_with(code: str, directory: Path) -> Path:
    """Return a program like the running interpreter, in which `code` ran before anything else."""
    start = directory / "start"
    start.mkdir()
    (start / "sitecustomize.py").write_text(code)
    program = directory / "python3"
    program.write_text(f'#!/bin/sh\nPYTHONPATH="{start}" exec "{sys.executable}" "$@"\n')
    program.chmod(0o755)
    return program


def _refusal(checkout: Path, target: str, python: Path | str) -> str:
    """Run make, see it fail, and return the one line that is not make's own."""
    quiet = {name: value for name, value in os.environ.items() if not name.startswith(("MAKE", "PYTHON"))}
    command = ["make", target, f"PYTHON={python}"]
    run = subprocess.run(command, cwd=checkout, env=quiet, capture_output=True, text=True, check=False)
    assert run.returncode != 0
    assert run.stdout == ""
    (line,) = (line for line in run.stderr.splitlines() if not line.startswith("make"))
    assert not (checkout / ".venv" / ".installed").exists()
    return line


@pytest.mark.parametrize("target", ["test", "demo"])
def test_python_without_the_venv_module(checkout: Path, tmp_path: Path, target: str) -> None:
    line = _refusal(checkout, target, _python_that_starts_with(NO_ENSUREPIP, tmp_path))
    assert "cannot make a virtual environment: install its venv module" in line
    assert "apt install python3-venv" in line


def test_python_whose_venv_module_fails(checkout: Path, tmp_path: Path) -> None:
    line = _refusal(checkout, "test", _python_that_starts_with(BROKEN_VENV, tmp_path))
    assert "cannot make a virtual environment" in line


def test_old_python(checkout: Path, tmp_path: Path) -> None:
    line = _refusal(checkout, "test", _python_that_starts_with(OLD, tmp_path))
    assert "is Python 3.9.2: install Python 3.11 or newer, or name another Python" in line


def test_no_python(checkout: Path, tmp_path: Path) -> None:
    line = _refusal(checkout, "demo", tmp_path / "no-such-python")
    assert "no-such-python was not found: install Python 3.11 or newer" in line


def test_python_that_does_not_run(checkout: Path) -> None:
    line = _refusal(checkout, "test", "false")
    assert line.startswith("droidgate: false does not run: install Python 3.11 or newer")
