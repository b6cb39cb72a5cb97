"""Options, profiles and fixtures that all tests share."""

import difflib
import os
from collections.abc import Callable
from pathlib import Path

import hypothesis
import pytest

import requirements_of_tests

GOLDEN_DIRECTORY = Path(__file__).resolve().parent / "golden"
REFRESH_HINT = "if it should be as it is now: make refresh-golden"

Golden = Callable[[str, str | bytes], None]

hypothesis.settings.register_profile("default", deadline=None)
hypothesis.settings.register_profile("ci", deadline=None, max_examples=200, derandomize=True, print_blob=True)
hypothesis.settings.register_profile(
    "fuzz",
    deadline=None,
    max_examples=100_000,
    suppress_health_check=[hypothesis.HealthCheck.too_slow],
)
hypothesis.settings.load_profile("default")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--refresh-golden", action="store_true", help="write what tests see into tests/golden")


def pytest_configure() -> None:
    demanded = os.environ.get(requirements_of_tests.REQUIRE_VARIABLE, "")
    try:
        requirements_of_tests.demanded_names(demanded)
    except ValueError as error:
        raise pytest.UsageError(str(error)) from None


def pytest_runtest_setup(item: pytest.Item) -> None:
    for marker in item.iter_markers("requires"):
        for name in marker.args:
            requirements_of_tests.require(name)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    reasons = [
        report.longrepr[2]
        for report in terminalreporter.stats.get("skipped", [])
        if isinstance(report.longrepr, tuple)
    ]
    lines = requirements_of_tests.lines_about_left_out(reasons)
    if lines:
        terminalreporter.section("left out")
        for line in lines:
            terminalreporter.write_line(line)


@pytest.fixture
def golden(request: pytest.FixtureRequest) -> Golden:
    """Compare with tests/golden/NAME, or write it under --refresh-golden: golden(name, text_or_bytes)."""
    refresh = bool(request.config.getoption("refresh_golden"))

    def compare(name: str, actual: str | bytes) -> None:
        path = GOLDEN_DIRECTORY / name
        data = actual.encode() if isinstance(actual, str) else actual
        if refresh:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
            return
        if not path.is_file():
            pytest.fail(f"tests/golden/{name} does not exist; {REFRESH_HINT}", pytrace=False)
        expected = path.read_bytes()
        if data != expected:
            pytest.fail(f"{_difference(name, expected, data)}\n{REFRESH_HINT}", pytrace=False)

    return compare


def _difference(name: str, expected: bytes, actual: bytes) -> str:
    try:
        before, after = expected.decode(), actual.decode()
    except UnicodeDecodeError:
        return f"tests/golden/{name} ({len(expected)} bytes) is not what is made now ({len(actual)} bytes)"
    lines = difflib.unified_diff(
        before.splitlines(keepends=True), after.splitlines(keepends=True), f"tests/golden/{name}", "now"
    )
    return "".join(line if line.endswith("\n") else f"{line}\n\\ no newline at the end\n" for line in lines)
