#!/usr/bin/env python3
"""Lists what an installation consists of, and looks for known vulnerabilities: `supply_chain.py sbom|audit`.

Both work on `locks/`, with the tools of `locks/tools.txt`: `make sbom` and `make audit` install them.

`audit` exits with 0 only where every locked version was looked up and none is known to be vulnerable, with 1
where one is, and with 3 where some could not be looked up: no answer of a database is not a good one.
"""

import argparse
import json
import re
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

CHECKOUT = Path(__file__).resolve().parent.parent
LOCKS = CHECKOUT / "locks"
LOCK_OF_COMPONENTS = LOCKS / "all.txt"
# pip-audit's names of databases; the second is asked about what the first does not know.
DATABASES = ("pypi", "osv")
VULNERABLE, NOT_CHECKED = 1, 3
_SHOWN = 5

Pin = tuple[str, str]


@dataclass
class Audit:
    """What databases said about pinned packages.

    Attributes:
        pins: All names and versions to look up.
        checked: Those that a database knows.
        vulnerable: One line for each known vulnerability.
        reasons: Why a database did not answer.
    """

    pins: frozenset[Pin]
    checked: set[Pin] = field(default_factory=set)
    vulnerable: list[str] = field(default_factory=list)
    reasons: list[str] = field(default_factory=list)

    @property
    def unchecked(self) -> list[Pin]:
        """Return what no database has answered for."""
        return sorted(self.pins - self.checked)

    def add_report(self, report: dict[str, Any]) -> None:
        """Add the JSON report of one run of pip-audit; packages that it skipped stay unchecked."""
        for package in report["dependencies"]:
            if (
                "skip_reason" in package
                or (pin := (normalized(package["name"]), package["version"])) in self.checked
            ):
                continue
            self.checked.add(pin)
            self.vulnerable += [_line_about(pin, item) for item in package["vulns"]]

    def conclusion(self) -> tuple[int, list[str]]:
        """Return the exit code and the lines to print."""
        lines = sorted(self.vulnerable)
        if self.unchecked:
            names = [f"{name} {version}" for name, version in self.unchecked[:_SHOWN]]
            more = len(self.unchecked) - len(names)
            shown = ", ".join(names) + (f" and {more} more" if more else "")
            lines.append(f"NOT CHECKED: {len(self.unchecked)} of {len(self.pins)} packages: {shown}")
            lines += [f"  {reason}" for reason in self.reasons]
        if not lines:
            lines.append(f"no known vulnerability in {len(self.pins)} packages")
        return VULNERABLE if self.vulnerable else NOT_CHECKED if self.unchecked else 0, lines


def normalized(name: str) -> str:
    """Return a package's name as locks write it (PyPA, Names and normalization)."""
    return re.sub(r"[-_.]+", "-", name).lower()


def _line_about(pin: Pin, vulnerability: dict[str, Any]) -> str:
    names = ", ".join([vulnerability["id"], *vulnerability.get("aliases", ())])
    fixed = ", ".join(vulnerability.get("fix_versions", ())) or "no version"
    return f"{pin[0]} {pin[1]}: {names}; fixed in {fixed}"


def pins_of(locks: Iterable[Path]) -> frozenset[Pin]:
    """Return the names and versions that locks hold."""
    texts = [lock.read_text(encoding="utf-8") for lock in locks]
    return frozenset(re.findall(r"^([a-z0-9-]+)==([^\s;\\]+)", "\n".join(texts), flags=re.MULTILINE))


def audit() -> int:
    """Look up all locked packages, print what is found, and return the exit code."""
    result = Audit(pins_of(sorted(LOCKS.glob("*.txt"))))
    for database in DATABASES:
        for pins in _without_second_versions(result.unchecked):
            _ask(database, pins, result)
    code, lines = result.conclusion()
    print("\n".join(lines), file=sys.stderr if code else sys.stdout)
    return code


def _without_second_versions(pins: Sequence[Pin]) -> list[list[Pin]]:
    """Return lists in which each name occurs once: a lock may hold one version for each Python."""
    lists: list[dict[str, str]] = []
    for name, version in pins:
        free = next((list_ for list_ in lists if name not in list_), None)
        if free is None:
            lists.append(free := {})
        free[name] = version
    return [list(list_.items()) for list_ in lists]


def _ask(database: str, pins: Sequence[Pin], result: Audit) -> None:
    with tempfile.TemporaryDirectory() as folder:
        requirements = Path(folder) / "pins.txt"
        requirements.write_text("".join(f"{name}=={version}\n" for name, version in pins), encoding="utf-8")
        command = [sys.executable, "-m", "pip_audit", "--vulnerability-service", database, "--format", "json"]
        command += [
            "--progress-spinner",
            "off",
            "--disable-pip",
            "--no-deps",
            "--requirement",
            str(requirements),
        ]
        run = subprocess.run(command, capture_output=True, text=True, check=False)
    try:
        report = json.loads(run.stdout)
    except ValueError:
        last = (run.stderr.strip() or "no output").splitlines()[-1]
        result.reasons.append(f"{database}: {last}")
        return
    result.add_report(report)
    skipped = {item["skip_reason"] for item in report["dependencies"] if "skip_reason" in item}
    if skipped:
        result.reasons.append(f"{database}: {len(skipped)} packages skipped, for example: {min(skipped)}")


def write_components() -> int:
    """Write dist/droidgate-VERSION.cdx.json and return the exit code."""
    project = tomllib.loads((CHECKOUT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    target = CHECKOUT / "dist" / f"droidgate-{project['version']}.cdx.json"
    target.parent.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        uv = [sys.executable, "-m", "uv", "--quiet"]
        install = [
            "pip",
            "install",
            "--python",
            folder,
            "--require-hashes",
            "--requirement",
            str(LOCK_OF_COMPONENTS),
        ]
        describe = ["cyclonedx_py", "environment", "--pyproject", "pyproject.toml", "--output-reproducible"]
        for command in (
            [*uv, "venv", folder],
            [*uv, *install],
            [sys.executable, "-m", *describe, "--output-file", str(target), folder],
        ):
            run = subprocess.run(command, cwd=CHECKOUT, check=False)
            if run.returncode:
                print(
                    f"droidgate: {command[2]} exited with {run.returncode}; no list was written",
                    file=sys.stderr,
                )
                return 1
    components = json.loads(target.read_text(encoding="utf-8"))["components"]
    print(f"{target.relative_to(CHECKOUT)}: {len(components)} components")
    return 0


def main() -> None:
    """Do what the command line asks for."""
    parser = argparse.ArgumentParser(description="List components, or look for known vulnerabilities.")
    parser.add_argument("command", choices=("sbom", "audit"))
    sys.exit(audit() if parser.parse_args().command == "audit" else write_components())


if __name__ == "__main__":
    main()
