"""The check for known vulnerabilities says that all is well only where everything was looked up."""

import runpy
from pathlib import Path
from typing import Any

import pytest

from requirements_of_tests import CHECKOUT

SCRIPT: dict[str, Any] = runpy.run_path(str(CHECKOUT / "scripts/supply_chain.py"))
PINS = frozenset({("flask", "0.5"), ("typing-extensions", "4.15.0")})

# In the form of pip-audit's README, "Audit dependencies in JSON format", with its record of Flask 0.5.
CLEAN = {"name": "typing_extensions", "version": "4.15.0", "vulns": []}
FLASK = {"name": "Flask", "version": "0.5", "vulns": []}
FLASK_WITH_A_HOLE = {
    "name": "flask",
    "version": "0.5",
    "vulns": [
        {
            "id": "PYSEC-2019-179",
            "fix_versions": ["1.0"],
            "aliases": ["CVE-2019-1010083"],
            "description": "...",
        }
    ],
}
UNKNOWN = {"name": "flask", "skip_reason": "Dependency not found and could not be audited: flask (0.5)"}


def conclusion(*reports: list[dict[str, Any]]) -> tuple[int, list[str]]:
    audit = SCRIPT["Audit"](PINS)
    for packages in reports:
        audit.add_report({"dependencies": packages, "fixes": []})
    code, lines = audit.conclusion()
    return code, lines


def test_all_is_well_where_each_package_was_looked_up() -> None:
    assert conclusion([CLEAN, FLASK]) == (0, ["no known vulnerability in 2 packages"])


@pytest.mark.parametrize("packages", [[CLEAN], [CLEAN, UNKNOWN], [CLEAN, {**FLASK, "version": "0.6"}]])
def test_a_package_that_was_not_looked_up_is_not_well(packages: list[dict[str, Any]]) -> None:
    assert conclusion(packages) == (3, ["NOT CHECKED: 1 of 2 packages: flask 0.5"])


def test_without_an_answer_nothing_is_checked() -> None:
    code, lines = conclusion()
    assert (code, lines[0]) == (3, "NOT CHECKED: 2 of 2 packages: flask 0.5, typing-extensions 4.15.0")


def test_a_second_database_completes_the_first() -> None:
    assert conclusion([CLEAN, UNKNOWN], [FLASK]) == (0, ["no known vulnerability in 2 packages"])


def test_a_known_vulnerability_is_named_with_its_fix_whatever_else_was_not_checked() -> None:
    hole = "flask 0.5: PYSEC-2019-179, CVE-2019-1010083; fixed in 1.0"
    assert conclusion([CLEAN, FLASK_WITH_A_HOLE]) == (1, [hole])
    code, lines = conclusion([FLASK_WITH_A_HOLE])
    assert (code, lines[0]) == (1, hole)
    assert lines[1].startswith("NOT CHECKED: 1 of 2")


def test_every_locked_version_is_looked_up_those_for_some_pythons_too(tmp_path: Path) -> None:
    lock = tmp_path / "lock.txt"
    lock.write_text(
        "# comment\nflask==0.5 ; python_full_version < '3.12' \\\n    --hash=sha256:00\n"
        "flask==0.6 ; python_full_version >= '3.12' \\\n    --hash=sha256:01\nrich==1.0\n"
    )
    pins = SCRIPT["pins_of"]([lock])
    assert pins == {("flask", "0.5"), ("flask", "0.6"), ("rich", "1.0")}
    assert SCRIPT["_without_second_versions"](sorted(pins)) == [
        [("flask", "0.5"), ("rich", "1.0")],
        [("flask", "0.6")],
    ]
