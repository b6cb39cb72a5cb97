"""Pages of commands that take long or change a phone: run once, then drawn at each width.

Together with `test_terminal_pages.py`, every command's page has golden files.
"""

import io
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import replace
from pathlib import Path

import pytest

from conftest import Golden
from droidgate.cli import run
from droidgate.cli.output import pages
from droidgate.cli.output.pages import Block, Heading, Line, Table, draw_page, drawn_height, short_page
from droidgate_phone.apps.sample_apps import sample_apps_directory
from droidgate_phone.apps.sample_packages import sample_packages
from droidgate_phone.phone import VirtualPhone, start_phone
from gateway.cli.program_runs import Runner
from gateway.cli.test_terminal_pages import Terminal, check_drawn
from gateway.migrate.projects import copy_module

CLOCK = str(sample_apps_directory() / "clock-in")
WEATHER = "currentWeather"
AGENT = "dev.droidgate.sample.agent"
UNSTABLE = {
    r"\b[0-9a-f]{12}\b": "0123456789ab",
    r"\b[0-9a-f]{64}\b": "0123456789abcdef" * 4,
    r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d": "2026-11-23 12:00:00",
}
"""Texts of a run that differ in the next one, as patterns, and what is shown in their place."""

PAGES_OF_SHIMS = {
    "shim-install": ("shim", "install", "--from", "adb:"),
    "shim-grant": ("shim", "grant", "--agent", AGENT, "--capability", WEATHER),
    "shim-status-installed": ("shim", "status"),
    "shim-status-details": ("shim", "status", "--details"),
    "shim-doctor-installed": ("shim", "doctor"),
    "shim-doctor-details": ("shim", "doctor", "--details"),
    "shim-call": ("shim", "call", WEATHER, "--args", '{"location": "Berlin"}'),
    "shim-revoke": ("shim", "revoke", "--agent", AGENT, "--capability", WEATHER),
    "shim-sync": ("shim", "sync"),
    "call-explain": ("call", WEATHER, "--args", '{"location": "Berlin"}', "--explain"),
    "call": ("call", WEATHER, "--args", '{"location": "Berlin"}', "--yes"),
    "pins-approve-yes": ("pins", "approve", WEATHER, "--yes"),
    "pins-remove": ("pins", "remove", WEATHER),
    "serve-plan": ("serve", "--plan"),
    "discover-details": ("discover", "--include-shims", "--details"),
    "shim-uninstall": ("shim", "uninstall", "--all"),
}
"""In the order of a user's work; each command meets what those before it did."""
PAGES_OF_VIRTUAL_PHONES = {
    "phone-status-none": ("phone", "status"),
    "phone-start": ("phone", "start"),
    "phone-status": ("phone", "status"),
    "phone-apps": ("phone", "apps"),
    "phone-install": ("phone", "install", "app.apk"),
    "phone-push": ("phone", "push", "app.apk"),
    "phone-stop": ("phone", "stop"),
}
"""In the order of a user's work, too."""
UNSTABLE_COLUMNS = {"MS": "12", "PROCESS": "12345"}


class ShortPage(list[Block]):
    """A whole page that a terminal shows about a screen of."""


def record(arguments: Sequence[str], monkeypatch: pytest.MonkeyPatch) -> list[Sequence[Block]]:
    """Run a command as on a terminal and return the pages that it draws, before they are shortened."""
    recorded: list[Sequence[Block]] = []
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr(pages, "short_page", lambda blocks, _: ShortPage(blocks))
    monkeypatch.setattr(pages, "draw_page", lambda blocks, _: recorded.append(blocks))
    with redirect_stdout(Terminal()), redirect_stderr(io.StringIO()):
        code = run(arguments)
    assert code == 0, arguments
    return recorded


def stable_block(block: Block, changed: Mapping[str, str]) -> Block:
    """Return a block without the texts that differ from run to run."""

    def stable(text: str) -> str:
        for pattern, shown in changed.items():
            text = re.sub(pattern, shown, text)
        return text

    if isinstance(block, Table):
        rows = [
            [
                UNSTABLE_COLUMNS.get(column, stable(cell))
                for column, cell in zip(block.columns, row, strict=True)
            ]
            for row in block.rows
        ]
        return replace(block, rows=rows)
    return replace(block, text=stable(block.text))


def stable_page(page: Iterable[Block], changed: Mapping[str, str]) -> Sequence[Block]:
    blocks = [stable_block(block, changed) for block in page]
    return ShortPage(blocks) if isinstance(page, ShortPage) else blocks


def check_recorded(
    name: str, recorded: Sequence[Sequence[Block]], golden: Golden, monkeypatch: pytest.MonkeyPatch
) -> None:
    def draw(terminal: Terminal) -> None:
        for page in recorded:
            draw_page(short_page(page, drawn_height) if isinstance(page, ShortPage) else page, terminal)

    check_drawn(name, draw, golden, monkeypatch)


@pytest.fixture
def phone() -> Iterator[VirtualPhone]:
    with start_phone(server_port=0) as started:
        yield started


def check_pages(
    commands: Mapping[str, Sequence[str]],
    changed: Mapping[str, str],
    golden: Golden,
    monkeypatch: pytest.MonkeyPatch,
    **environment: str,
) -> None:
    """Run commands in order, and compare the page of each with its golden files."""
    failed = []
    for name, arguments in commands.items():
        with monkeypatch.context() as patched:
            for variable, value in environment.items():
                patched.setenv(variable, value)
            recorded = record(arguments, patched)
        stable = [stable_page(page, {**changed, **UNSTABLE}) for page in recorded]
        try:
            check_recorded(name, stable, golden, monkeypatch)
        except AssertionError as error:
            failed.append(f"{name}: {error}")
    assert failed == []


@pytest.mark.slow
def test_pages_of_a_phone_with_shims_fit_each_width(
    phone: VirtualPhone, golden: Golden, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    changed = {
        re.escape(phone.serial): "127.0.0.1:5600",
        re.escape(str(tmp_path)): "~",
        r"/\S*/droidgate-home\d+": "~",
        r"(?<=  )\d+(?= ms)": "12",
    }
    server = {"ANDROID_ADB_SERVER_PORT": str(phone.server_port), "DROIDGATE_HOME": str(tmp_path)}
    check_pages(PAGES_OF_SHIMS, changed, golden, monkeypatch, **server)


@pytest.mark.slow
def test_pages_of_virtual_phones_fit_each_width(
    golden: Golden, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("app.apk").write_bytes(next(iter(sample_packages())).apk)
    changed = {
        r"127\.0\.0\.1:\d+": "127.0.0.1:5600",
        r"(?<=SERVER_PORT=)\d+": "5601",
        r"(?<=--port )\d+": "5600",
        r"(?<=process )\d+": "12345",
        r"\d{4,}(?= bytes)|\d+,\d+(?= bytes)": "12,345",
    }
    try:
        check_pages(PAGES_OF_VIRTUAL_PHONES, changed, golden, monkeypatch, DROIDGATE_HOME=str(tmp_path))
    finally:
        with monkeypatch.context() as patched:
            patched.setenv("DROIDGATE_HOME", str(tmp_path))
            run(["phone", "stop"])


@pytest.mark.slow
def test_the_demo_works_and_its_page_fits_each_width(
    droidgate: Runner, golden: Golden, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    recorded: list[Block] = []
    plain_lines = pages._plain_lines

    def keep(block: Block) -> Iterable[str]:
        recorded.append(block)
        return plain_lines(block)

    with monkeypatch.context() as patched:
        patched.setattr(pages, "_plain_lines", keep)
        shown = droidgate("demo", "--keep", "kept")
    assert (shown.code, shown.err) == (0, "")
    assert "NOT THE SAME" not in shown.out
    for app in ("clock-in", "notes", "notes-legacy", "pdf-tool", "tally", "weather", "agent"):
        assert re.search(rf"^  {app}\.apk +[\d,]+ +\d+$", shown.out, re.MULTILINE)
    converted = re.findall(r"^  (\S+) +\S+\+\S+ +\S+\+\S+ +the same", shown.out, re.MULTILINE)
    assert {app: converted.count(app) for app in converted} == dict.fromkeys(
        ("clockin", "notes", "notes.legacy", "pdftool", "tally", "weather"), 3
    )
    served = shown.out[shown.out.index("8. Call each app from an MCP client") :]
    assert re.findall(r"^  ([a-z]+)_\w+ ", served, re.MULTILINE) == [
        *("clockin", "notes", "legacy", "tally", "weather", "pdftool")
    ]
    assert droidgate("inspect", "kept/converted/0-mmcp").code == 0
    assert droidgate("inspect", "kept/apks/pdf-tool-in-weather.apk").code == 0
    changed = {
        r"127\.0\.0\.1:\d+": "127.0.0.1:5600",
        "reached by .*": "reached by adb's own program",
        r"\d+(?= ms)": "12",
        r"^\d{1,2},\d{3}$": "12,345",
    }
    check_recorded("demo", [stable_page(recorded, changed)], golden, monkeypatch)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["migrate-write", "pack", "shim-build", "install-client"])
def test_pages_of_commands_that_write_files_fit_each_width(
    name: str, golden: Golden, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    project = copy_module("pdf-tool", tmp_path)
    arguments = {
        "migrate-write": ("migrate", CLOCK, "--to", "mmcp", "--into", str(project), "--write"),
        "pack": ("pack", str(project), "-o", str(tmp_path / "app.apk")),
        "shim-build": (
            *("shim", "build", "--from", CLOCK, "--protocol", "all", "--signer", "00" * 32),
            *("-o", str(tmp_path / "shims")),
        ),
        "install-client": ("install-client", "cursor", "--project", str(tmp_path)),
    }[name]
    with monkeypatch.context() as patched:
        patched.setenv("DROIDGATE_HOME", str(tmp_path / "home"))
        recorded = record(arguments, patched)
    changed = {re.escape(str(tmp_path)): "~", r"\d{3,} bytes": "12345 bytes", **UNSTABLE}
    check_recorded(name, [stable_page(page, changed) for page in recorded], golden, monkeypatch)


def test_a_changed_text_is_replaced_in_each_kind_of_block() -> None:
    changed = {"5710": "5600"}
    assert stable_block(Heading("at 5710"), changed) == Heading("at 5600")
    assert stable_block(Line("at 5710", 1), changed) == Line("at 5600", 1)
    assert stable_block(Table(("A",), [("5710",)]), changed) == Table(("A",), [["5600"]])
