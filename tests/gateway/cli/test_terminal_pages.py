"""What a terminal of 60, 80, 100 or 140 columns shows, with colours and without."""

import io
import re
from collections.abc import Callable, Mapping
from contextlib import redirect_stdout
from pathlib import Path

import pytest
from hypothesis import given, strategies as st
from rich.cells import cell_len
from rich.console import Console

from conftest import Golden
from droidgate.cli import run
from droidgate.cli.output.tables import draw_table
from droidgate_phone.apps.sample_apps import sample_apps_directory
from droidgate_phone.phone import VirtualPhone
from gateway.cli.program_runs import run_on_terminal, run_process
from requirements_of_tests import CHECKOUT

WIDTHS = (60, 80, 100, 140)
_STYLE = re.compile("\x1b\\[[0-9;]*m")

PAGES = {
    "inspect": ("inspect", "clock-in"),
    "convert": ("convert", "clock-in", "--to", "mmcp", "-o", "OUT"),
    "lint": ("lint", "LINTED"),
    "diff": ("diff", "OLD", "NEW"),
    "formats": ("formats",),
    "matrix": ("formats", "--matrix"),
    "config-show": ("config", "show"),
}
PAGES_OF_A_CATALOG = {
    "scan": ("scan", "device_shim/apps", "--catalog", "apps"),
    "coverage": ("coverage", "apps"),
    "coverage-details": ("coverage", "apps", "--details"),
    "sql": ("catalog", "sql", "--catalog", "apps", "SELECT package, capabilities FROM providers"),
}
PAGES_OF_A_PHONE = {
    "devices": ("devices",),
    "discover": ("discover",),
    "shim-status": ("shim", "status"),
    "shim-doctor": ("shim", "doctor"),
}


class Terminal(io.StringIO):
    """A stream that says that it is a terminal."""

    def isatty(self) -> bool:
        return True


Draw = Callable[[Terminal], object]


def printing(arguments: tuple[str, ...]) -> Draw:
    """Return what prints on the terminal what the program prints on standard output."""

    def draw(terminal: Terminal) -> None:
        with redirect_stdout(terminal):
            run(arguments)

    return draw


def drawn(draw: Draw, width: int, monkeypatch: pytest.MonkeyPatch, *, coloured: bool) -> str:
    """Return what is drawn on a terminal of a width."""
    terminal = Terminal()
    with monkeypatch.context() as patched:
        patched.setenv("COLUMNS", str(width))
        patched.setenv("TERM", "xterm-256color")
        patched.delenv("FORCE_COLOR", raising=False)
        if coloured:
            patched.delenv("NO_COLOR", raising=False)
        else:
            patched.setenv("NO_COLOR", "1")
        draw(terminal)
    return terminal.getvalue()


def _filled(arguments: tuple[str, ...], folder: Path) -> tuple[str, ...]:
    """Return arguments with the places of samples and files."""
    examples = CHECKOUT / "docs" / "examples"
    places = {
        "OUT": str(folder),
        "LINTED": "docs/examples/lint/app_functions_v2.xml",
        "OLD": str(examples / "diff" / "old.json"),
        "NEW": str(examples / "diff" / "new.json"),
    }
    samples = sample_apps_directory().relative_to(CHECKOUT)
    return tuple(places.get(word, str(samples / word) if word == "clock-in" else word) for word in arguments)


def _without_styles(text: str) -> str:
    return _STYLE.sub("", text)


def check_page(
    name: str,
    arguments: tuple[str, ...],
    golden: Golden,
    monkeypatch: pytest.MonkeyPatch,
    changed: Mapping[str, str] | None = None,
) -> None:
    """Compare what a command prints with its golden file; see `check_drawn`."""
    check_drawn(name, printing(arguments), golden, monkeypatch, changed)


def check_drawn(
    name: str,
    draw: Draw,
    golden: Golden,
    monkeypatch: pytest.MonkeyPatch,
    changed: Mapping[str, str] | None = None,
) -> None:
    """Compare a page at each width with its golden file, which has colours; without them it says the same.

    Args:
        name: The golden page.
        draw: What draws the page on a terminal.
        golden: The fixture.
        monkeypatch: The fixture.
        changed: Texts that differ in each run, to texts of the same length.
    """
    pages = []
    for width in WIDTHS:
        plain = drawn(draw, width, monkeypatch, coloured=False)
        coloured = drawn(draw, width, monkeypatch, coloured=True)
        assert _without_styles(coloured) == _without_styles(plain)
        assert plain == _without_styles(plain) or "\x1b[1m" in plain
        lines = [line.rstrip() for line in _without_styles(plain).splitlines()]
        assert [line for line in lines if cell_len(line) > width] == []
        pages += [f"{f' {width} columns ':=^{width}}", *(line.rstrip() for line in coloured.splitlines())]
    text = "\n".join([*pages, ""])
    for here, present in (changed or {}).items():
        text = text.replace(here, present)
    golden(f"terminal/{name}.ansi", text)


@pytest.mark.parametrize("name", PAGES)
def test_a_page_fits_each_width_and_is_the_same_without_colours(
    name: str, golden: Golden, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    for folder in ("docs", "device_shim"):
        (tmp_path / folder).symlink_to(CHECKOUT / folder)
    monkeypatch.chdir(tmp_path)
    arguments = _filled(PAGES[name], Path("out"))
    run(arguments)
    check_page(name, arguments, golden, monkeypatch)


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
    name: str, catalog: Path, golden: Golden, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(catalog)
    check_page(name, PAGES_OF_A_CATALOG[name], golden, monkeypatch)


@pytest.mark.parametrize("name", PAGES_OF_A_PHONE)
def test_a_page_about_a_phone_fits_each_width(
    name: str, phone: VirtualPhone, golden: Golden, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANDROID_ADB_SERVER_PORT", str(phone.server_port))
    serial = "127.0.0.1:" + "5" * len(phone.serial.partition(":")[2])
    check_page(name, PAGES_OF_A_PHONE[name], golden, monkeypatch, {phone.serial: serial})


def test_forced_colours_reach_a_pipe(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(CHECKOUT)
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("FORCE_COLOR", "1")
    run(_filled(PAGES["lint"], Path()))
    assert "\x1b[31merror\x1b[0m" in capsys.readouterr().out


def test_a_real_terminal_shows_the_same_page(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(CHECKOUT)
    arguments = _filled(PAGES["inspect"], Path())
    shown = run_on_terminal(*arguments, COLUMNS="80", NO_COLOR="1")
    expected = drawn(printing(arguments), 80, monkeypatch, coloured=False)
    assert shown.replace("\r\n", "\n") == expected


CELLS = st.text(st.sampled_from("ab c-日é"), max_size=30)


@given(
    rows=st.lists(st.lists(CELLS, min_size=4, max_size=4), max_size=6),
    columns=st.lists(st.text(st.sampled_from("AB"), min_size=1, max_size=9), min_size=4, max_size=4),
    width=st.integers(20, 160),
)
def test_no_line_is_wider_than_the_terminal_and_no_word_is_lost(
    rows: list[list[str]], columns: list[str], width: int
) -> None:
    stream = io.StringIO()
    draw_table(columns, rows, {}, Console(file=stream, width=width, no_color=True))
    drawn = stream.getvalue()
    assert [line for line in drawn.splitlines() if cell_len(line) > width] == []
    written = "".join("".join(cell.split()) for row in (columns, *rows) for cell in row if cell != "-")
    assert sorted("".join(drawn.split()).replace("-", "")) == sorted(written.replace("-", ""))
