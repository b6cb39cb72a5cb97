"""Options, profiles and fixtures that all tests share."""

import difflib
import os
import random
import shutil
import signal
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import hypothesis
import pytest

import requirements_of_tests
from device_commands import not_built
from droidgate_mappings.formats import leniency
from droidgate_mappings.user_folders import HOME_VARIABLE
from droidgate_phone.common.event_log import EventLog

if TYPE_CHECKING:
    from gateway.cli.program_runs import Runner

GOLDEN_DIRECTORY = Path(__file__).resolve().parent / "golden"
REFRESH_HINT = "if it should be as it is now: make refresh-golden"

SLOW_TESTS = pytest.StashKey[int]()
"""How many tests `--without-slow` left out."""

SWITCHED_OFF_ROW = pytest.StashKey[str]()
"""The divergence row without which a test runs, and has to fail."""

Golden = Callable[[str, str | bytes], None]

# How long an example takes says something about the machine's load, not about the test.
_PATIENT: dict[str, Any] = {"deadline": None, "suppress_health_check": [hypothesis.HealthCheck.too_slow]}
hypothesis.settings.register_profile("default", **_PATIENT)
hypothesis.settings.register_profile("quick", **_PATIENT, max_examples=20)
hypothesis.settings.register_profile("ci", **_PATIENT, max_examples=200, derandomize=True, print_blob=True)
hypothesis.settings.register_profile(
    "fuzz", **_PATIENT, max_examples=int(os.environ.get("DROIDGATE_FUZZ_EXAMPLES", "100000"))
)
hypothesis.settings.load_profile("default")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--refresh-golden", action="store_true", help="write what tests see into tests/golden")
    parser.addoption("--without-slow", action="store_true", help="leave out the tests that are marked `slow`")
    parser.addoption("--shuffle", type=int, metavar="SEED", help="run the tests in another order")
    parser.addoption(
        "--rows-off",
        choices=("also", "only"),
        help="run each test of a divergence row with that row switched off; it passes when the test fails",
    )


def pytest_configure(config: pytest.Config) -> None:
    # Tests, and the programs that they start, keep nothing in the folders of whoever runs them. Workers of
    # pytest-xdist take the folder from their controller's environment.
    if not hasattr(config, "workerinput"):
        home = tempfile.mkdtemp(prefix="droidgate-tests-")
        os.environ[HOME_VARIABLE] = home
        config.add_cleanup(lambda: shutil.rmtree(home, ignore_errors=True))
    # A shell starts background jobs with SIGINT ignored, which programs that tests start would inherit.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    required = os.environ.get(requirements_of_tests.REQUIRE_VARIABLE, "")
    try:
        requirements_of_tests.required_names(required)
    except ValueError as error:
        raise pytest.UsageError(str(error)) from None


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    rows_off = config.getoption("rows_off")
    if rows_off:
        as_they_are = [] if rows_off == "only" else items
        items[:] = [*as_they_are, *_items_with_rows_off(items)]
    if config.getoption("without_slow"):
        slow = [item for item in items if item.get_closest_marker("slow")]
        items[:] = [item for item in items if not item.get_closest_marker("slow")]
        config.stash[SLOW_TESTS] = len(slow)
        if hasattr(config, "workeroutput"):
            config.workeroutput["slow_tests"] = len(slow)
    seed = config.getoption("shuffle")
    if seed is not None:
        random.Random(seed).shuffle(items)


def _items_with_rows_off(items: list[pytest.Item]) -> Iterator[pytest.Item]:
    """Yield each test again for each row that it or its parameter is marked with, without that row."""
    for item in items:
        if not isinstance(item, pytest.Function):
            continue
        for row in (row for marker in item.iter_markers("row") for row in marker.args):
            again = pytest.Function.from_parent(
                item.parent,
                name=f"{item.name} without {row}",
                callspec=getattr(item, "callspec", None),
                callobj=item.obj,
                fixtureinfo=item._fixtureinfo,
                originalname=f"{item.originalname} without {row}",
            )
            again.stash[SWITCHED_OFF_ROW] = row
            again.add_marker(pytest.mark.xfail(strict=True, reason="its row is switched off"))
            yield again


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:
    """Take from a worker of pytest-xdist how many tests it left out; each worker collects them all."""
    if "slow_tests" in getattr(node, "workeroutput", {}):
        node.config.stash[SLOW_TESTS] = node.workeroutput["slow_tests"]


@pytest.fixture(autouse=True)
def switched_off_row(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    row = request.node.stash.get(SWITCHED_OFF_ROW, None)
    if row is not None:
        monkeypatch.setattr(leniency, "ROWS_OFF", {row})


@pytest.fixture(scope="session", autouse=True)
def _services_of_phones() -> Iterator[list[str]]:
    """Yield what virtual phones of this process were asked for, by programs that tests start, too."""
    services: list[str] = []
    record = EventLog.record

    def record_too(log: EventLog, event: str, **facts: Any) -> None:
        if event == "service":
            services.append(facts["service"])
        record(log, event, **facts)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(EventLog, "record", record_too)
        # The real adb names the terminal if there is one; that distinguishes its commands from droidgate's.
        patch.setenv("TERM", os.environ.get("TERM") or "dumb")
        yield services


@pytest.fixture(autouse=True)
def services_of_phones(request: pytest.FixtureRequest, _services_of_phones: list[str]) -> Iterator[list[str]]:
    """Fail a test in which a phone got a command that the quoting functions did not build.

    Tests of the phone itself are clients of their own, which send what no client should. What fixtures of a
    module send counts for the module's first test.
    """
    yield _services_of_phones
    sent = not_built(_services_of_phones)
    _services_of_phones.clear()
    assert request.path.parent.name.startswith("phone_") or sent == []


def pytest_runtest_setup(item: pytest.Item) -> None:
    for marker in item.iter_markers("requires"):
        for name in marker.args:
            requirements_of_tests.require(name)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
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
    slow = config.stash.get(SLOW_TESTS, 0)
    if slow:
        terminalreporter.write_line(f"{slow} slow tests are left to make test-all")


@pytest.fixture
def droidgate(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> "Runner":
    """Return what runs the program inside this process: `droidgate("inspect", path)`."""
    from gateway.cli.program_runs import Runner

    return Runner(capsys, monkeypatch)


@pytest.fixture
def own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Run a test in a new folder."""
    monkeypatch.chdir(tmp_path)


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
