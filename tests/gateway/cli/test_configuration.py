"""Defaults from droidgate.toml and from a pyproject.toml; neither is trusted."""

import json
import os
import re
from pathlib import Path

import pytest
import typer

from droidgate.cli.config.config_file import MOST_BYTES, find_configuration
from droidgate.cli.config.settings import SETTINGS, commands_of, settings_of
from droidgate.cli.program import build_app
from droidgate.cli.shared_options import AndroidRelease
from droidgate_phone.system.releases import known_releases
from gateway.cli.program_runs import Run, Runner
from gateway.cli.samples import TIMER, write_project
from requirements_of_tests import CHECKOUT

LENIENT = TIMER.replace('required="false"', 'required="no"')


@pytest.fixture(autouse=True)
def _project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "project" / "below"
    folder.mkdir(parents=True)
    (tmp_path / "project" / ".git").mkdir()
    monkeypatch.chdir(folder)
    monkeypatch.setenv("HOME", str(tmp_path))
    write_project(Path("timer"))
    Path("lenient.xml").write_text(LENIENT)


def _error_of(run: Run) -> str:
    assert (run.code, run.out) == (2, "")
    first, second = run.err.splitlines()
    assert second.startswith("hint: ")
    return first


STRICT, MCP_ONLY = "strict = true\n", 'format = ["mcp"]\n'
PROJECT = "[project]\nname = 'droidgate'\n"

# Files, options, and how the reading of a lenient Mobile-MCP descriptor ends.
DEFAULTS = {
    "built in": ({}, (), 0),
    "in the working folder": ({"droidgate.toml": STRICT}, (), 3),
    "in a pyproject": ({"pyproject.toml": f"[tool.droidgate]\n{STRICT}"}, (), 3),
    "in a folder above": ({"../droidgate.toml": STRICT}, (), 3),
    "in a pyproject above": ({"../pyproject.toml": f"{PROJECT}[tool.droidgate]\n{STRICT}"}, (), 3),
    "only the closest file counts": ({"../droidgate.toml": STRICT, "droidgate.toml": ""}, (), 0),
    "a pyproject without settings": ({"pyproject.toml": PROJECT}, (), 0),
    "a broken pyproject": ({"pyproject.toml": "this is [ not TOML\n"}, (), 0),
    "a pyproject of others": ({"pyproject.toml": "[tool.ruff]\nline-length = 3\n"}, (), 0),
    "a list in a file": ({"droidgate.toml": MCP_ONLY}, (), 3),
    "an option wins over a file": ({"droidgate.toml": MCP_ONLY}, ("--format", "mobile-mcp"), 0),
}  # fmt: skip


@pytest.mark.parametrize("name", DEFAULTS)
def test_a_default_comes_from_the_closest_place(droidgate: Runner, name: str) -> None:
    files, options, code = DEFAULTS[name]
    for path, text in files.items():
        Path(path).write_text(text)
    assert droidgate("inspect", "lenient.xml", *options).code == code


def test_a_setting_of_one_command_holds_for_that_command(droidgate: Runner) -> None:
    Path("droidgate.toml").write_text('[convert]\nto = "mcp"\nfail-on = "moved"\n')
    assert "tools" in json.loads(droidgate("convert", "timer", "-o", "-").out)
    assert droidgate("diff", "timer", "timer").code == 0


def test_the_search_for_a_configuration_file_ends_at_the_root_of_a_repository_and_at_home(
    tmp_path: Path,
) -> None:
    (tmp_path / "droidgate.toml").write_text("strict = true\n")
    assert find_configuration() == {}
    (tmp_path / "project" / ".git").rmdir()
    assert find_configuration() == {"strict": True}
    (tmp_path / "droidgate.toml").rename(tmp_path.parent / "droidgate.toml")
    try:
        assert find_configuration() == {}
    finally:
        (tmp_path.parent / "droidgate.toml").unlink()


@pytest.mark.parametrize(("text", "error", "hint"), [
    ('strict = true\n\n[lint]\nfail-no = "note"\n', 'droidgate.toml:4: unknown setting "lint.fail-no"', ""),
    ('[tool.droidgate.lnt]\nfail-on = "note"\n', '../pyproject.toml:1: unknown setting "lnt"',
     "did you mean lint? "),
    ('strict = "yes"\n', 'droidgate.toml:1: strict is "yes"; expected true or false', ""),
    ('\nformat = "mmcp"\n',
     'droidgate.toml:2: format is "mmcp"; expected a list of texts, such as ["mmcp"]', ""),
    ('[lint]\nfail-on = "fatal"\n',
     'droidgate.toml:2: lint.fail-on is "fatal"; expected one of note, warning, error', ""),
    ('[convert]\n# to\nto = "klingon"\n', "droidgate.toml:3: unknown format 'klingon'", ""),
    ("lint = 3\n", "droidgate.toml:1: lint is not a table", ""),
    ("strict = true\nstrict = true\n", "droidgate.toml:2: it is not TOML: Cannot overwrite a value", ""),
    ("[lint]\n" + "a." * 30_000 + "a = 1\n",
     "droidgate.toml:2: it is not TOML: More than 500 dots in a line", ""),
], ids=lambda text: text[:40])  # fmt: skip
def test_a_mistake_in_the_file_is_one_line_with_its_place(
    droidgate: Runner, text: str, error: str, hint: str
) -> None:
    Path("../pyproject.toml" if text.startswith("[tool.") else "droidgate.toml").write_text(text)
    run = droidgate("lint", "timer")
    assert _error_of(run) == f"error: {error}"
    assert run.err.splitlines()[1].startswith(f"hint: {hint}")


def test_help_and_commands_without_settings_need_no_valid_file(droidgate: Runner) -> None:
    Path("droidgate.toml").write_text("[\n")
    for words in (("lint", "--help"), ("help", "lint"), ("-h",)):
        assert droidgate(*words).code == 0
    assert droidgate("formats").code == 0
    assert droidgate("lint", "timer").code == 2


def test_a_file_cannot_name_files_keys_devices_or_agents_nor_raise_a_limit() -> None:
    assert {setting.key for setting in SETTINGS} == {
        *("all", "details", "fail-on", "format", "language", "no-match", "sdk", "search", "strict", "to")
    }


def test_a_checked_out_folder_makes_no_command_write_or_connect(droidgate: Runner) -> None:
    before = sorted(str(path) for path in Path("..").rglob("*"))
    for line in ('output = "/tmp/x"', 'key = "key.pem"', 'serial = "evil:5555"', "force = true"):
        Path("droidgate.toml").write_text(f"[convert]\n{line}\n")
        assert droidgate("convert", "timer", "--to", "mcp", "-o", "-").code == 2
    Path("droidgate.toml").unlink()
    assert sorted(str(path) for path in Path("..").rglob("*")) == before


@pytest.mark.parametrize("data", [
    b"a = " + b"[" * 60_000, b"a" + b".a" * 30_000 + b" = 1", b"a = " + b"1" * 60_000,
    b"a = '''\n" + b"a\n" * 30_000, b"\xff\xfe", b"strict = true\n" + b"#" * MOST_BYTES,
    b"[lint]\n" + b"\n".join(b'"fail-on%d" = 1' % number for number in range(3000)), b'"\\u001b[2J" = 1\n',
    b'"' + b"x" * 60_000 + b'" = 1',
], ids=["nested", "dotted", "digits", "open", "bytes", "large", "keys", "escape", "long"])  # fmt: skip
def test_a_hostile_file_is_one_error_of_usual_length(droidgate: Runner, data: bytes) -> None:
    Path("droidgate.toml").write_bytes(data)
    error = _error_of(droidgate("lint", "timer"))
    assert error.startswith("error: droidgate.toml")
    assert len(error) < 300
    assert error.isprintable()


def test_a_pipe_in_the_place_of_the_file_is_not_waited_for(droidgate: Runner) -> None:
    os.mkfifo("droidgate.toml")
    assert _error_of(droidgate("lint", "timer")) == "error: droidgate.toml: it is not a regular file"


def test_a_working_folder_that_is_gone_has_no_file(droidgate: Runner, tmp_path: Path) -> None:
    source = Path("timer").absolute()
    (tmp_path / "gone").mkdir()
    os.chdir(tmp_path / "gone")
    (tmp_path / "gone").rmdir()
    assert droidgate("lint", source).code == 0


def test_each_setting_is_an_option_and_takes_what_the_option_takes() -> None:
    commands = dict(commands_of(typer.main.get_command(build_app())))
    bound = {
        (setting.name, parameter.is_flag, parameter.multiple)
        for path, command in commands.items()
        for setting in settings_of(path)
        for parameter in command.params
        if f"--{setting.key}" in parameter.opts
    }
    assert bound == {
        (setting.name, setting.kind == "flag", setting.kind == "formats") for setting in SETTINGS
    }


@pytest.mark.parametrize("setting", [item for item in SETTINGS if item.choices], ids=lambda item: item.name)
def test_the_choices_of_a_setting_are_those_of_its_option(droidgate: Runner, setting: object) -> None:
    command, key, choices = (getattr(setting, name) for name in ("command", "key", "choices"))
    error = _error_of(droidgate(*command.split(), f"--{key}", "fatal"))
    assert error.partition("'fatal' is not one of ")[2] == ", ".join(map(repr, choices))


def test_the_releases_that_can_be_set_are_those_that_the_virtual_phone_has() -> None:
    assert tuple(release.value for release in AndroidRelease) == known_releases()


def test_the_example_of_the_docs_is_read() -> None:
    page = (CHECKOUT / "docs" / "reference" / "configuration.md").read_text()
    (block,) = re.findall(r"^```toml\n(.*?)^```", page, re.DOTALL | re.MULTILINE)
    Path("droidgate.toml").write_text(block)
    assert find_configuration()["lint.fail-on"] == "warning"
