"""The check for known vulnerabilities says that all is well only where everything was looked up."""

import runpy
from typing import Any

import pytest

from requirements_of_tests import CHECKOUT

SCRIPT: dict[str, Any] = runpy.run_path(str(CHECKOUT / "scripts/supply_chain.py"))

# In the form of pip-audit's README, "Audit dependencies in JSON format", with its record of Flask 0.5.
CLEAN = {"name": "typing_extensions", "version": "1", "vulns": []}
FLASK = {"name": "Flask", "version": "0.5", "vulns": []}
HOLE = {"id": "PYSEC-2019-179", "fix_versions": ["1.0"], "aliases": ["CVE-2019-1010083"], "description": "-"}
UNKNOWN = {"name": "flask", "skip_reason": "Dependency not found and could not be audited: flask (0.5)"}


@pytest.mark.parametrize(("reports", "code", "first_line"), [
    ([[CLEAN, FLASK]],                    0, "no known vulnerability in 2 packages"),
    ([[CLEAN, UNKNOWN], [FLASK]],         0, "no known vulnerability in 2 packages"),
    ([[CLEAN]],                           3, "NOT CHECKED: 1 of 2 packages: flask 0.5"),
    ([[CLEAN, UNKNOWN]],                  3, "NOT CHECKED: 1 of 2 packages: flask 0.5"),
    ([[CLEAN, {**FLASK, "version": "2"}]],3, "NOT CHECKED: 1 of 2 packages: flask 0.5"),
    ([],                                  3, "NOT CHECKED: 2 of 2 packages: flask 0.5, typing-extensions 1"),
    ([[{**FLASK, "vulns": [HOLE]}]],      1, "flask 0.5: PYSEC-2019-179, CVE-2019-1010083; fixed in 1.0"),
])  # fmt: skip
def test_an_audit_ends_well_only_where_each_package_was_looked_up(
    reports: list[list[dict[str, Any]]], code: int, first_line: str
) -> None:
    audit = SCRIPT["Audit"](frozenset({("flask", "0.5"), ("typing-extensions", "1")}))
    for packages in reports:
        audit.add_report({"dependencies": packages, "fixes": []})
    found, lines = audit.conclusion()
    assert (found, lines[0]) == (code, first_line)
