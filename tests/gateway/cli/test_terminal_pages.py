"""What a terminal of 60, 80, 100 or 140 columns shows, with colours and without: each page has a golden file.

Pages of commands that take long or change a phone are recorded by one run, and drawn at each width.
"""

import io
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, strategies as st
from rich.cells import cell_len
from rich.console import Console

from conftest import Golden
from droidgate.cli import run
from droidgate.cli.output import pages
from droidgate.cli.output.pages import Block, Table, draw_page, short_page
from droidgate.cli.output.tables import draw_table
from droidgate_phone.apps.sample_packages import sample_packages
from droidgate_phone.phone import VirtualPhone, start_phone
from droidgate_shim.builder.sample_apps import sample_apps_directory
from gateway.cli.program_runs import Runner, Terminal, run_on_terminal, run_process
from gateway.migration.projects import copy_module
from requirements_of_tests import CHECKOUT

WIDTHS = (60, 80, 100, 140)
_STYLE = re.compile("\x1b\\[[0-9;]*m")

PAGES = {
    "inspect": ("inspect", "clock-in"),
    "inspect-apps": ("inspect", "device_shim/apps"),
    "convert": ("convert", "clock-in", "--to", "mmcp", "-o", "OUT"),
    "lint": ("lint", "LINTED"),
    "diff": ("diff", "OLD", "NEW"),
    "formats": ("formats",),
    "matrix": ("formats", "--matrix"),
}
PAGES_OF_A_CATALOG = {
    "scan": ("scan", "device_shim/apps", "--catalog", "apps"),
    "coverage": ("coverage", "apps"),
    "coverage-details": ("coverage", "apps", "--details"),
    "sql": ("catalog", "sql", "apps", "SELECT package, capabilities FROM providers ORDER BY 1"),
}
PAGES_OF_A_PHONE = {
    "devices": ("devices",),
    "discover": ("discover",),
    "shim-status": ("shim", "status"),
    "shim-doctor": ("shim", "doctor"),
}


Draw = Callable[[Terminal], object]


def printing(arguments: tuple[str, ...]) -> Draw:
    """Return what prints on the terminal what the program prints on standard output."""

    def draw(terminal: Terminal) -> None:
        with redirect_stdout(terminal):
            run(arguments)

    return draw


def _filled(arguments: tuple[str, ...], folder: Path) -> tuple[str, ...]:
    """Return arguments with the places of samples and files."""
    places = {
        "OUT": str(folder),
        "LINTED": "docs/examples/lint/app_functions_v2.xml",
        "OLD": str(CHECKOUT / "docs/examples/diff/old.json"),
        "NEW": str(CHECKOUT / "docs/examples/diff/new.json"),
        "clock-in": "device_shim/apps/clock-in",
    }
    return tuple(places.get(word, word) for word in arguments)


def _without_styles(text: str) -> str:
    return _STYLE.sub("", text)


class ShortPage(list[Block]):
    """A whole page that a terminal shows about a screen of."""


class Pages:
    """Draws pages on terminals, and compares them with their golden files."""

    def __init__(self, golden: Golden, monkeypatch: pytest.MonkeyPatch) -> None:
        self._golden, self._monkeypatch = golden, monkeypatch

    def drawn(self, draw: Draw, width: int, *, coloured: bool) -> str:
        """Return what is drawn on a terminal of a width."""
        terminal = Terminal()
        with self._monkeypatch.context() as patched:
            patched.setenv("COLUMNS", str(width))
            patched.setenv("TERM", "xterm-256color")
            for name in ("FORCE_COLOR", "NO_COLOR"):
                patched.delenv(name, raising=False)
            if not coloured:
                patched.setenv("NO_COLOR", "1")
            draw(terminal)
        return terminal.getvalue()

    def check(self, name: str, draw: Draw, changed: Mapping[str, str] | None = None) -> None:
        """Compare a page at each width with its golden file, which has colours; without, it says the same.

        Args:
            name: The golden page.
            draw: What draws the page on a terminal.
            changed: Texts that differ in each run, to texts of the same length.
        """
        pages = []
        for width in WIDTHS:
            plain = self.drawn(draw, width, coloured=False)
            coloured = self.drawn(draw, width, coloured=True)
            assert _without_styles(coloured) == _without_styles(plain)
            assert plain == _without_styles(plain) or "\x1b[1m" in plain
            lines = _without_styles(plain).splitlines()
            assert [line for line in lines if cell_len(line) > width or line.endswith(" ")] == []
            pages += [f"{f' {width} columns ':=^{width}}", *(line.rstrip() for line in coloured.splitlines())]
        text = "\n".join([*pages, ""])
        for here, present in (changed or {}).items():
            text = text.replace(here, present)
        self._golden(f"terminal/{name}.ansi", text)

    def check_blocks(
        self, name: str, recorded: Sequence[Sequence[Block]], changed: Mapping[str, str]
    ) -> None:
        """Compare recorded pages, in which texts that match patterns differ from run to run."""
        stable = [stable_page(page, changed) for page in recorded]

        def draw(terminal: Terminal) -> None:
            for page in stable:
                draw_page(
                    short_page(page, on_terminal=True) if isinstance(page, ShortPage) else page, terminal
                )

        self.check(name, draw)

    def check_runs(
        self, commands: Mapping[str, Sequence[str]], changed: Mapping[str, str], **environment: str
    ) -> None:
        """Run commands in order as on a terminal, and compare the pages of each before they are shortened."""
        failed = []
        for name, arguments in commands.items():
            recorded: list[Sequence[Block]] = []
            with self._monkeypatch.context() as patched:
                for variable, value in {**environment, "TERM": "xterm"}.items():
                    patched.setenv(variable, value)
                patched.setattr(pages, "short_page", lambda blocks, **_: ShortPage(blocks))
                patched.setattr(pages, "draw_page", lambda blocks, _, to=recorded: to.append(blocks))
                with redirect_stdout(Terminal()), redirect_stderr(io.StringIO()):
                    assert run(arguments) == 0, arguments
            try:
                self.check_blocks(name, recorded, {**changed, **UNSTABLE})
            except AssertionError as error:
                failed.append(f"{name}: {error}")
        assert failed == []


@pytest.fixture
def drawing(golden: Golden, monkeypatch: pytest.MonkeyPatch) -> Pages:
    return Pages(golden, monkeypatch)


@pytest.mark.usefixtures("own_folder")
@pytest.mark.parametrize("name", PAGES)
def test_a_page_fits_each_width_and_is_the_same_without_colours(name: str, drawing: Pages) -> None:
    for folder in ("docs", "device_shim"):
        Path(folder).symlink_to(CHECKOUT / folder)
    arguments = _filled(PAGES[name], Path("out"))
    run(arguments)
    drawing.check(name, printing(arguments))


@pytest.fixture(scope="module")
def catalog(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with the sample apps and their catalog."""
    folder = tmp_path_factory.mktemp("scanned")
    (folder / "device_shim").symlink_to(CHECKOUT / "device_shim")
    scan = run_process(*PAGES_OF_A_CATALOG["scan"], cwd=folder)
    assert scan.code == 0, scan.err
    return folder


@pytest.mark.slow
@pytest.mark.parametrize("name", PAGES_OF_A_CATALOG)
def test_a_page_about_a_catalog_fits_each_width(
    name: str, catalog: Path, drawing: Pages, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(catalog)
    drawing.check(name, printing(PAGES_OF_A_CATALOG[name]))


@pytest.mark.parametrize("name", PAGES_OF_A_PHONE)
def test_a_page_about_a_phone_fits_each_width(name: str, phone: VirtualPhone, drawing: Pages) -> None:
    serial = "127.0.0.1:" + "5" * len(phone.serial.partition(":")[2])
    drawing.check(name, printing(PAGES_OF_A_PHONE[name]), {phone.serial: serial})


def test_forced_colours_are_piped(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(CHECKOUT)
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("FORCE_COLOR", "1")
    run(_filled(PAGES["lint"], Path()))
    assert "\x1b[31merror\x1b[0m" in capsys.readouterr().out


def test_a_real_terminal_shows_the_same_page(drawing: Pages, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(CHECKOUT)
    arguments = _filled(PAGES["inspect"], Path())
    output = run_on_terminal(*arguments, COLUMNS="80", NO_COLOR="1")
    assert output.replace("\r\n", "\n") == drawing.drawn(printing(arguments), 80, coloured=False)


CELLS = st.text(st.sampled_from("ab c-日é"), max_size=30)


@given(
    rows=st.lists(st.lists(CELLS, min_size=4, max_size=4), max_size=6),
    columns=st.lists(st.text(st.sampled_from("AB"), min_size=1, max_size=9), min_size=4, max_size=4),
    width=st.integers(20, 160),
)
def test_no_line_is_too_wide_and_no_word_is_lost(
    rows: list[list[str]], columns: list[str], width: int
) -> None:
    stream = io.StringIO()
    draw_table(columns, rows, {}, Console(file=stream, width=width, no_color=True))
    drawn = stream.getvalue()
    assert [line for line in drawn.splitlines() if cell_len(line) > width] == []
    written = "".join("".join(cell.split()) for row in (columns, *rows) for cell in row if cell != "-")
    assert sorted("".join(drawn.split()).replace("-", "")) == sorted(written.replace("-", ""))


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


def stable_block(block: Block, changed: Mapping[str, str]) -> Block:
    """Return a block without the texts that differ from run to run."""

    def stable(text: str) -> str:
        for pattern, replacement in changed.items():
            text = re.sub(pattern, replacement, text)
        return text

    if not isinstance(block, Table):
        return replace(block, text=stable(block.text))
    rows = [zip(block.columns, row, strict=True) for row in block.rows]
    return replace(
        block, rows=[[UNSTABLE_COLUMNS.get(name, stable(cell)) for name, cell in row] for row in rows]
    )


def stable_page(page: Iterable[Block], changed: Mapping[str, str]) -> Sequence[Block]:
    blocks = [stable_block(block, changed) for block in page]
    return ShortPage(blocks) if isinstance(page, ShortPage) else blocks


@pytest.mark.slow
def test_pages_of_a_phone_with_shims_fit_each_width(drawing: Pages, tmp_path: Path) -> None:
    (tmp_path / "config").mkdir()
    (tmp_path / "config" / "policy.toml").write_text("programs_may_approve = true\n")
    with start_phone(server_port=0) as phone:
        changed = {
            re.escape(phone.serial): "127.0.0.1:5600",
            re.escape(str(tmp_path)): "~",
            r"/\S*/droidgate-home\d+": "~",
            r"(?<=  )\d+(?= ms)": "12",
        }
        server = {"ANDROID_ADB_SERVER_PORT": str(phone.server_port), "DROIDGATE_HOME": str(tmp_path)}
        drawing.check_runs(PAGES_OF_SHIMS, changed, **server)


@pytest.mark.slow
@pytest.mark.usefixtures("own_folder")
def test_pages_of_virtual_phones_fit_each_width(drawing: Pages) -> None:
    Path("app.apk").write_bytes(next(iter(sample_packages())).apk)
    changed = {
        r"127\.0\.0\.1:\d+": "127.0.0.1:5600",
        r"(?<=SERVER_PORT=)\d+": "5601",
        r"(?<=--port )\d+": "5600",
        r"(?<=process )\d+": "12345",
        r"\d{4,}(?= bytes)|\d+,\d+(?= bytes)": "12,345",
    }
    try:
        drawing.check_runs(PAGES_OF_VIRTUAL_PHONES, changed)
    finally:
        run(["phone", "stop"])


@pytest.mark.slow
@pytest.mark.usefixtures("own_folder")
def test_the_demo_works_and_its_page_fits_each_width(
    droidgate: Runner, drawing: Pages, monkeypatch: pytest.MonkeyPatch
) -> None:
    recorded: list[Block] = []
    plain_lines = pages._plain_lines

    def keep(block: Block) -> Iterable[str]:
        recorded.append(block)
        return plain_lines(block)

    with monkeypatch.context() as patched:
        patched.setattr(pages, "_plain_lines", keep)
        result = droidgate("demo")
    assert (result.code, result.err) == (0, "")
    assert "NOT THE SAME" not in result.out
    for app in ("clock-in", "notes", "notes-legacy", "pdf-tool", "tally", "weather", "agent"):
        assert re.search(rf"^  {app}\.apk +[\d,]+ +\d+$", result.out, re.MULTILINE)
    converted = re.findall(r"^  (\S+) +\S+\+\S+ +\S+\+\S+ +the same", result.out, re.MULTILINE)
    assert {app: converted.count(app) for app in converted} == dict.fromkeys(
        ("clockin", "notes", "notes.legacy", "pdftool", "tally", "weather"), 3
    )
    served = result.out[result.out.index("8. Call each app from an MCP client") :]
    assert re.findall(r"^  ([a-z]+)_\w+ ", served, re.MULTILINE) == [
        *("clockin", "notes", "legacy", "tally", "weather", "pdftool")
    ]
    changed = {
        r"127\.0\.0\.1:\d+": "127.0.0.1:5600",
        "reached by .*": "reached by adb's own program",
        r"\d+(?= ms)": "12",
        r"^\d{1,2},\d{3}$": "12,345",
    }
    drawing.check_blocks("demo", [recorded], changed)


@pytest.mark.slow
def test_pages_of_commands_that_write_files_fit_each_width(drawing: Pages, tmp_path: Path) -> None:
    project = str(copy_module("pdf-tool", tmp_path))
    signed = ("--format", "all", "--signer", "00" * 32)
    commands = {
        "pack": ("pack", project, "-o", str(tmp_path / "app.apk")),
        "migrate-write": ("migrate", CLOCK, "--to", "mmcp", "--into", project, "--write"),
        "shim-build": ("shim", "build", "--from", CLOCK, *signed, "-o", str(tmp_path / "shims")),
        "install-client": ("install-client", "cursor", "--project", str(tmp_path)),
    }
    home = {"DROIDGATE_HOME": str(tmp_path / "home")}
    drawing.check_runs(commands, {re.escape(str(tmp_path)): "~", r"\d{3,} bytes": "12345 bytes"}, **home)
