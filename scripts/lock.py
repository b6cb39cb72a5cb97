#!/usr/bin/env python3
"""Writes `locks/`, or checks one of its files: `lock.py write [--upgrade]`, `lock.py check FILE`.

A lock is a pip requirements file: each package with its version and the SHA-256 of all its files, for every
Python from 3.11 on and every platform (uv's universal resolution). A lock that has all of another names that
lock, and repeats nothing of it. Its first lines hold the digest of what
`pyproject.toml` requires, so that a lock of other requirements is recognized.

`write` needs uv, which `make lock` installs, and asks the package index that pip is configured for. `check`
needs the standard library only; it exits with 1 and one line on stderr where the lock does not fit.
"""

import argparse
import hashlib
import json
import os
import re
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path

CHECKOUT = Path(__file__).resolve().parent.parent
FOLDER = CHECKOUT / "locks"
DIGEST_START = "# requirements sha256:"
OLDEST_PYTHON = "3.11"

# File name and the extras in it. The others take the versions of the first, but for the tools.
LOCKS = {
    "ci": ("dev", "oracles"),
    "all": ("all",),
    "dev": ("dev",),
    "run": ("serve",),
    "tools": ("tools",),
}
_FROM_THE_FIRST = ("all", "dev", "run")
_BEGINS_WITH = {"ci": "dev", "dev": "run"}
# What builds the project is not needed where it is only listed.
_WITHOUT_BUILD = ("all", "tools")


def requirements_digest(pyproject: Path) -> str:
    """Return the SHA-256 of all requirements that the project states, in hexadecimal digits."""
    stated = tomllib.loads(pyproject.read_text(encoding="utf-8"))
    project = stated["project"]
    requirements = [
        project["requires-python"],
        stated["build-system"]["requires"],
        project["dependencies"],
        project["optional-dependencies"],
    ]
    return hashlib.sha256(json.dumps(requirements, sort_keys=True).encode()).hexdigest()


def problem_of(lock: Path, pyproject: Path) -> str | None:
    """Return why a lock cannot be used, or None."""
    try:
        lines = lock.read_text(encoding="utf-8").splitlines()
    except OSError:
        return f"{lock.name} does not exist"
    digest = next((line.removeprefix(DIGEST_START) for line in lines if line.startswith(DIGEST_START)), "")
    if digest != requirements_digest(pyproject):
        return f"{lock.name} was made for other requirements than those of pyproject.toml; run `make lock`"
    return None


def entries_of(lock: Path) -> list[str]:
    """Return the packages of a lock, those of the lock that it begins with included, each with its hashes."""
    return _entries(lock.read_text(encoding="utf-8"), lock.parent)


def _entries(text: str, folder: Path) -> list[str]:
    found: list[str] = []
    for entry in re.findall(r"^[^ #\n].*(?:\n .*)*", text, flags=re.MULTILINE):
        option, _, name = entry.partition(" ")
        found += entries_of(folder / name) if option == "--requirement" else [entry]
    return found


def write_locks(*, upgrade: bool) -> None:
    """Write all locks; versions are kept where they still fit, unless newer ones are asked for."""
    FOLDER.mkdir(exist_ok=True)
    locked: dict[str, list[str]] = {}
    for name, extras in LOCKS.items():
        constraints = locked["ci"] if name in _FROM_THE_FIRST else []
        locked[name] = _resolve(FOLDER / f"{name}.txt", extras, constraints, upgrade=upgrade)
    for name, entries in locked.items():
        (FOLDER / f"{name}.txt").write_text(_lock_text(name, entries, locked), encoding="utf-8")


def _lock_text(name: str, entries: Sequence[str], locked: Mapping[str, Sequence[str]]) -> str:
    of = f"the extras {', '.join(LOCKS[name])}" if LOCKS[name] else "no extra"
    lines = [f"# Written by `make lock`: what pyproject.toml requires with {of}."]
    lines.append(DIGEST_START + requirements_digest(CHECKOUT / "pyproject.toml"))
    first = _BEGINS_WITH.get(name)
    lines += [f"--requirement {first}.txt"] if first else []
    known = locked[first] if first else ()
    return "\n".join([*lines, *(entry for entry in entries if entry not in known), ""])


def _resolve(lock: Path, extras: Sequence[str], constraints: Sequence[str], *, upgrade: bool) -> list[str]:
    stated = tomllib.loads((CHECKOUT / "pyproject.toml").read_text(encoding="utf-8"))
    # The tools are not part of an environment that holds the project.
    alone = lock.stem == "tools"
    more = stated["project"]["optional-dependencies"]["tools"] if alone else []
    more += [] if lock.stem in _WITHOUT_BUILD else stated["build-system"]["requires"]
    with tempfile.TemporaryDirectory() as temporary:
        requirements = Path(temporary) / "requirements.in"
        requirements.write_text("".join(f"{item}\n" for item in more), encoding="utf-8")
        output = Path(temporary) / "lock.txt"
        if lock.exists() and not upgrade:
            output.write_text("\n".join(entries_of(lock)), encoding="utf-8")
        shared = Path(temporary) / "constraints.txt"
        shared.write_text("\n".join(constraints), encoding="utf-8")
        command = [
            sys.executable,
            "-m",
            "uv",
            "pip",
            "compile",
            "--quiet",
            "--universal",
            "--generate-hashes",
        ]
        command += ["--no-header", "--no-annotate", "--python-version", OLDEST_PYTHON]
        command += ["--constraints", str(shared), "--output-file", str(output), str(requirements)]
        if not alone:
            command += [part for extra in extras for part in ("--extra", extra)] + ["pyproject.toml"]
        environment = {**os.environ, **_index_of_pip()}
        subprocess.run(command, cwd=CHECKOUT, env=environment, check=True)
        return _entries(output.read_text(encoding="utf-8"), FOLDER)


def _index_of_pip() -> dict[str, str]:
    """Return uv's variables for the index that pip uses where it is not the default one."""
    variables = {"index-url": "UV_DEFAULT_INDEX", "extra-index-url": "UV_INDEX"}
    found = {}
    for setting, variable in variables.items():
        for section in (":env:", "install", "global"):
            command = [sys.executable, "-m", "pip", "config", "get", f"{section}.{setting}"]
            run = subprocess.run(command, capture_output=True, text=True, check=False)
            if run.returncode == 0 and run.stdout.strip():
                found[variable] = run.stdout.strip()
                break
    return found


def main() -> None:
    """Do what the command line asks for."""
    parser = argparse.ArgumentParser(description="Write or check the files of locks/.")
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("write").add_argument(
        "--upgrade", action="store_true", help="take the newest versions"
    )
    commands.add_parser("check").add_argument("file", type=Path)
    arguments = parser.parse_args()
    if arguments.command == "write":
        try:
            write_locks(upgrade=arguments.upgrade)
        except subprocess.CalledProcessError as error:
            sys.exit(f"droidgate: no lock was written: uv exited with {error.returncode}")
    else:
        problem = problem_of(arguments.file, CHECKOUT / "pyproject.toml")
        if problem is not None:
            sys.exit(f"droidgate: {problem}")


if __name__ == "__main__":
    main()
