"""Completion on the command line, as a real bash asks for it, and as zsh and fish do."""

import os
import socket
import subprocess
import sys
import threading
from pathlib import Path

import pytest
import typer

from droidgate.cli import completing
from droidgate_mappings.formats.format import load_formats
from droidgate_phone.phone import VirtualPhone
from gateway.cli.program_runs import Runner
from requirements_of_tests import require

PROGRAM = Path(sys.executable).with_name("droidgate")


@pytest.fixture(autouse=True)
def _server(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let completion meet no adb server of this machine."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        monkeypatch.setenv("ANDROID_ADB_SERVER_PORT", str(free.getsockname()[1]))
    monkeypatch.delenv("ANDROID_SERIAL", raising=False)


@pytest.fixture
def its_server(phone: VirtualPhone, _server: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let completion meet the adb server of the phone."""
    monkeypatch.setenv("ANDROID_ADB_SERVER_PORT", str(phone.server_port))


def complete(line: str, *, shell: str = "bash", instruction: str = "complete") -> list[str]:
    """Return what typer's protocol offers for a line whose last word is incomplete."""
    words = line.split(" ")
    environment = {
        "COMP_WORDS": line,
        "COMP_CWORD": str(len(words) - 1),
        "_TYPER_COMPLETE_ARGS": line,
        "_TYPER_COMPLETE_FISH_ACTION": "get-args",
    }
    run = subprocess.run(
        [PROGRAM],
        env=os.environ | environment | {"_DROIDGATE_COMPLETE": f"{instruction}_{shell}"},
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert run.stderr == ""
    return [line for line in run.stdout.splitlines() if line]


slow = pytest.mark.slow


@pytest.mark.parametrize(("line", "shell", "offered"), [
    pytest.param("inspect --format ", "bash", list(load_formats()), id="every format is a source"),
    pytest.param("lint --format mo", "bash", ["mobile-agent", "mobile-mcp"], id="two formats begin alike"),
    pytest.param("discover --format appf", "bash", ["appfunctions"], id="formats that describe a phone"),
    pytest.param("help conv", "bash", ["convert"], id="a command after help"),
    pytest.param("help shim in", "bash", ["install"], id="a noun's command after help"),
    pytest.param("help nope ", "bash", [], id="nothing after an unknown command"),
    pytest.param("convert --to obs", "bash", [], marks=slow, id="what is only read is not a target"),
    pytest.param("migrate --to mm", "bash", ["mmcp"], marks=slow, id="a tree can take a format"),
    pytest.param("convert --to mmcp+", "bash", ["mmcp+1.0", "mmcp+draft", "mmcp+broadcast"], marks=slow,
        id="dialects after the plus"),
    pytest.param("convert --to mob", "zsh", ['_arguments \'*: :(("mobile-mcp":"Mobile-MCP"))\''], marks=slow,
        id="zsh shows titles"),
    pytest.param("convert --to mob", "fish", ["mobile-mcp\tMobile-MCP"], marks=slow, id="fish shows titles"),
])  # fmt: skip
def test_words_are_completed(line: str, shell: str, offered: list[str]) -> None:
    assert complete(f"droidgate {line}", shell=shell) == offered


def test_serials_are_those_of_a_running_server(phone: VirtualPhone, its_server: None) -> None:
    del its_server
    assert complete("droidgate discover --serial ") == [phone.serial]
    assert complete("droidgate shim status --serial x") == []


@pytest.mark.slow
@pytest.mark.usefixtures("its_server")
def test_shims_and_their_capabilities_are_completed(droidgate: Runner) -> None:
    assert droidgate("shim", "install", "--from", "adb:/dev.droidgate.sample.weather").code == 0
    (shim,) = complete("droidgate shim grant --shim dev.")
    assert "weather" in shim
    assert complete("droidgate shim call cur") == ["currentWeather"]
    assert complete(f"droidgate shim grant --shim {shim} --capability cur") == ["currentWeather"]
    assert complete("droidgate shim uninstall dev.droidgate.shim.") == [shim]


def test_without_a_server_none_is_started(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    started = tmp_path / "started"
    program = tmp_path / "adb"
    program.write_text(f"#!/bin/sh\ntouch {started}\n")
    program.chmod(0o755)
    monkeypatch.setenv("ADBUTILS_ADB_PATH", str(program))
    for line in ("discover --serial ", "shim call ", "shim grant --shim "):
        assert complete(f"droidgate {line}") == []
    assert not started.exists()
    assert subprocess.run([PROGRAM, "devices"], check=False, capture_output=True).returncode == 4
    assert started.exists()


def test_a_server_that_never_answers_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        monkeypatch.setenv("ANDROID_ADB_SERVER_PORT", str(silent.getsockname()[1]))
        connections = []
        thread = threading.Thread(target=lambda: connections.append(silent.accept()), daemon=True)
        thread.start()
        assert complete("droidgate discover --serial ") == []
        thread.join()
        connections[0][0].close()


def test_a_broken_configuration_does_not_disturb(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("droidgate.toml").write_text("[\n")
    assert complete("droidgate convert --to mob") == ["mobile-mcp"]


BASH_LINE = "COMP_WORDS=(droidgate convert --to mob); COMP_CWORD=3"
SCRIPTS = {
    "bash": ("", f"{BASH_LINE}; _droidgate_completion droidgate; echo ${{COMPREPLY[@]}}"),
    "fish": ("", "complete -C 'droidgate convert --to mob'"),
    "zsh": ("compdef() { : }; _arguments() { echo ${@#*:\\ :} }",
     "words=(droidgate convert --to mob); CURRENT=4; _droidgate_completion"),
}  # fmt: skip
"""What each shell runs before and after its completion script; zsh gets the functions of its line editor."""
OFFERED = {"bash": "mobile-mcp", "fish": "mobile-mcp\tMobile-MCP", "zsh": '(("mobile-mcp":"Mobile-MCP"))'}


@pytest.mark.parametrize("shell", SCRIPTS)
def test_a_real_shell_completes_with_the_script_that_it_gets(shell: str, tmp_path: Path) -> None:
    program = shell if shell == "bash" else require(shell)
    before, after = SCRIPTS[shell]
    script = "\n".join([before, *complete("", shell=shell, instruction="source"), after])
    path = f"{PROGRAM.parent}{os.pathsep}{os.environ['PATH']}"
    environment = os.environ | {"PATH": path, "HOME": str(tmp_path)}
    run = subprocess.run([program, "-c", script], env=environment, capture_output=True, text=True, check=True)
    assert run.stdout.strip() == OFFERED[shell]


@pytest.mark.usefixtures("its_server")
def test_call_completes_what_the_apps_of_the_phone_declare(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(completing, "SECONDS", 60.0)
    context = typer.Context(typer.main.get_command(typer.Typer(callback=lambda: None)))
    context.params = {"serial": None}
    clock = [("clock_in_today", "dev.droidgate.sample.clockin")]
    assert completing.complete_declared(context, "clock_") == clock
    names = [name for name, _ in completing.complete_declared(context, "createN")]
    assert names == ["createNote"], "the end of an id, once"
