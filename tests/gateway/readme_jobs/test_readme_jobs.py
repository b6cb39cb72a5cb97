"""The README's three jobs, typed as they are there, with an empty home folder and without adb.

`lengths` has the commands of each job and the lines that each prints. A job with more commands, or a
command with more lines, fails; `pytest tests/gateway/readme_jobs --refresh-golden` writes the table anew.
"""

import json
import re
import shlex
import shutil
import socket
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from droidgate.devices.adb_client import AdbClient, ServerAddress
from droidgate.devices.device import connect_device
from droidgate.shims.host_client import HostClient
from droidgate_mappings.formats.installed import SHIM_PACKAGE
from droidgate_phone.apps.agent import Agent, request_text
from droidgate_phone.java.intents import ComponentName
from droidgate_phone.phone import VirtualPhone, start_phone
from gateway.cli.program_runs import Run, run_in_environment
from requirements_of_tests import CHECKOUT

README = CHECKOUT / "README.md"
LENGTHS = Path(__file__).with_name("lengths")
PROGRAM = Path(sys.executable).with_name("droidgate")
AGENT = "dev.droidgate.sample.agent"
MEANT = {"CAPABILITY": "currentWeather", "NAME=VALUE": "location=Berlin", "PACKAGE": AGENT}
"""What the words in capitals are replaced with."""
RELEASES = ("30", "34", "36.1")
SCREEN = {"COLUMNS": "100", "FORCE_COLOR": "1"}
"""What makes a command print what a terminal shows."""
SCREEN_LINES = 24

pytestmark = pytest.mark.slow


def section(heading: str) -> str:
    """Return the README's text below a heading, up to the next one."""
    match = re.search(rf"^## {heading}\n(.*?)(?=^## )", README.read_text(), re.DOTALL | re.MULTILINE)
    assert match is not None
    return match[1]


def commands_of(job: str) -> list[str]:
    """Return the commands of a job: the block after the word in bold that names it."""
    match = re.search(rf"^\*\*{job}\*\*.*?^```\n(.*?)^```", section("Three jobs"), re.DOTALL | re.MULTILINE)
    assert match is not None
    return match[1].splitlines()


@dataclass
class Newcomer:
    """Somebody with a checkout, an empty home folder and no adb.

    Attributes:
        folder: The folder where commands are typed.
        variables: The environment of the commands.
        is_quick: Commands of the program run in processes that have its imports, which costs a fifth.
    """

    folder: Path
    variables: dict[str, str] = field(default_factory=dict)
    is_quick: bool = True

    def type(self, command: str) -> tuple[str, str]:
        """Run a command, and return what it prints on both streams.

        A variable that is exported holds for the commands that follow.
        """
        if command.startswith("export "):
            name, _, value = command.removeprefix("export ").partition("=")
            self.variables[name] = value
            return "", ""
        program, *arguments = shlex.split(command)
        if self.is_quick and program == "droidgate":
            run = run_in_environment(arguments, self.folder, self.variables)
        else:
            done = subprocess.run(
                command,
                shell=True,
                cwd=self.folder,
                env=self.variables,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                check=False,
                timeout=240,
            )
            run = Run(done.returncode, done.stdout, done.stderr)
        assert run.code == 0, f"{command}: {run.err}"
        assert "Traceback" not in run.err
        return run.out, run.err

    def count_lines(self, command: str) -> int:
        """Run a command, and return how many lines it prints."""
        return sum(len(text.splitlines()) for text in self.type(command))


@pytest.fixture
def newcomer(tmp_path: Path) -> Newcomer:
    programs, home, folder = (tmp_path / name for name in ("bin", "home", "checkout"))
    for path in (programs, home, folder):
        path.mkdir()
    (programs / "droidgate").symlink_to(PROGRAM)
    for name in ("sh", "cp"):
        program = shutil.which(name)
        assert program is not None
        (programs / name).symlink_to(program)
    shutil.copytree(CHECKOUT / "device_shim" / "apps", folder / "device_shim" / "apps")
    assert shutil.which("adb", path=str(programs)) is None
    return Newcomer(folder, {"HOME": str(home), "PATH": str(programs), "LANG": "C.UTF-8"})


def _free_ports() -> Iterator[int]:
    with socket.socket() as first, socket.socket() as second:
        for free in (first, second):
            free.bind(("127.0.0.1", 0))
        yield from [first.getsockname()[1], second.getsockname()[1]]


def play(job: str, newcomer: Newcomer, *, release: str | None = None) -> dict[str, int]:
    """Type the commands of a job, and return how many lines each prints.

    Args:
        job: As the README names it.
        newcomer: Who types them.
        release: The Android release of the phone, which is not in the README.
    """
    ports = [str(port) for port in _free_ports()]
    lengths = {}
    try:
        for command in commands_of(job):
            typed = command.replace("5600", ports[0]).replace("5601", ports[1])
            if typed.startswith("droidgate phone start") and release is not None:
                typed += f" --sdk {release}"
            lengths[command] = newcomer.count_lines(typed)
    finally:
        if release is not None:
            subprocess.run(
                ["droidgate", "phone", "stop", "--port", ports[0]],
                env=newcomer.variables,
                capture_output=True,
                check=False,
            )
    return lengths


def play_on_phone(job: str, newcomer: Newcomer, phone: VirtualPhone) -> dict[str, int]:
    """Type the commands of a job with a phone as the source, and return how many lines each prints.

    What takes the place of a folder is what the README says.
    """
    newcomer.variables["ANDROID_ADB_SERVER_PORT"] = str(phone.server_port)
    replaced = re.search(r"write `(adb:)` in place of `(\S+)`, and\s+`(adb:\S+)`", section("Three jobs"))
    assert replaced is not None
    every, folder, app = replaced.groups()
    lengths = {}
    for command in commands_of(job):
        typed = command
        if command.startswith("droidgate "):
            typed = command.replace(f"{folder}/pdf-tool", app).replace(f" {folder} ", f" {every} ")
        lengths[command] = newcomer.count_lines(typed)
    return lengths


def check_lengths(name: str, lengths: dict[str, int], *, refresh: bool) -> None:
    """Compare the lines of a job's commands with the table, or write them there."""
    file = LENGTHS / f"{name}.json"
    if refresh:
        file.write_text(json.dumps(lengths, indent=2) + "\n")
        return
    expected = json.loads(file.read_text())
    assert len(lengths) <= len(expected), "more commands than before"
    grown = {
        command: (lines, expected.get(command))
        for command, lines in lengths.items()
        if lines > expected.get(command, 0)
    }
    assert grown == {}, "more lines than before; shorten them, or --refresh-golden if each is worth it"


@pytest.fixture
def refresh(request: pytest.FixtureRequest) -> bool:
    return bool(request.config.getoption("refresh_golden"))


@pytest.mark.parametrize("release", RELEASES, ids="API {}".format)
def test_expose_works_by_the_instruction_of_the_readme(
    newcomer: Newcomer, release: str, *, refresh: bool
) -> None:
    newcomer.is_quick = release != RELEASES[-1]
    newcomer.variables |= SCREEN
    lengths = play("Expose", newcomer, release=release)
    assert {command: lines for command, lines in lengths.items() if lines > SCREEN_LINES} == {}
    check_lengths(f"expose-{release}", lengths, refresh=refresh)
    home = Path(newcomer.variables["HOME"])
    assert {path.name for path in home.iterdir()} == {".cache", ".config", ".local"}


def test_migrate_works_by_the_instruction_of_the_readme(newcomer: Newcomer, *, refresh: bool) -> None:
    check_lengths("migrate", play("Migrate", newcomer), refresh=refresh)
    output, _ = newcomer.type("droidgate inspect out/weather")
    assert "mobile-mcp+1.0" in output


def test_compare_works_by_the_instruction_of_the_readme(newcomer: Newcomer, *, refresh: bool) -> None:
    check_lengths("compare", play("Compare", newcomer), refresh=refresh)
    assert (newcomer.folder / "out" / "apps.html").read_text().startswith("<!DOCTYPE html>")


@pytest.mark.parametrize("release", RELEASES, ids="API {}".format)
def test_migrate_and_compare_work_from_a_phone(newcomer: Newcomer, release: str, *, refresh: bool) -> None:
    with start_phone(sdk=release, server_port=0) as phone:
        lengths = play_on_phone("Migrate", newcomer, phone)
        check_lengths(f"migrate-{release}", lengths, refresh=refresh)
        lengths = play_on_phone("Compare", newcomer, phone)
        check_lengths(f"compare-{release}", lengths, refresh=refresh)
    output, _ = newcomer.type("droidgate inspect out/weather")
    assert "mobile-mcp+1.0" in output
    assert (newcomer.folder / "out" / "apps.html").read_text().startswith("<!DOCTYPE html>")


@pytest.fixture
def phone() -> Iterator[VirtualPhone]:
    with start_phone(server_port=0) as started:
        yield started


def _steps() -> dict[str, tuple[list[str], list[str]]]:
    """Return for each of the five steps its command, if it has one, and the words to expect."""
    steps = re.findall(r"^(\d)\. (.*(?:\n   .*)*)", section("On a real phone"), re.MULTILINE)
    quoted = {number: re.findall("`(.+?)`", text) for number, text in steps}
    return {number: (words[:1], words[1:]) for number, words in quoted.items()}


def test_each_command_of_the_five_steps_does_what_the_readme_states(
    newcomer: Newcomer, phone: VirtualPhone
) -> None:
    newcomer.variables["ANDROID_ADB_SERVER_PORT"] = str(phone.server_port)
    steps = _steps()
    assert list(steps) == ["1", "2", "3", "4", "5"]
    typed = []
    for do, sees in steps.values():
        for command in do:
            printed = newcomer.type(re.sub("|".join(MEANT), lambda match: MEANT[match[0]], command))
            typed.append(command)
            for word in sees:
                if word.startswith("droidgate "):
                    assert AGENT in newcomer.type(word)[0]
                else:
                    assert word in "".join(printed)
    assert [command.split()[1:3] for command in typed] == [
        ["devices"], ["shim", "install"], ["shim", "call"], ["shim", "grant"],
    ]  # fmt: skip


def _call_through(phone: VirtualPhone, shim: str) -> str:
    """Return what an agent of the phone gets when it binds the shim and calls a capability."""
    component = ComponentName(shim, f"{SHIM_PACKAGE}.frontends.ToolService")
    text = request_text("currentWeather", {"location": "Berlin"}, dialect="S0")
    agent = Agent(phone.system.app_context(AGENT))
    return str(agent.call_bound(component, text, dialect="S0"))


def test_after_the_five_steps_the_agent_calls_unasked(newcomer: Newcomer, phone: VirtualPhone) -> None:
    assert phone.server_port is not None
    newcomer.variables["ANDROID_ADB_SERVER_PORT"] = str(phone.server_port)
    newcomer.type("droidgate shim install --from adb:/dev.droidgate.sample.weather")
    shim = "dev.droidgate.shim.of.dev.droidgate.sample.weather"
    server = AdbClient(ServerAddress(port=phone.server_port))
    HostClient(connect_device(phone.serial, server=server), shim).ask(on=False)
    assert "denied" in _call_through(phone, shim)
    newcomer.type(f"droidgate shim grant --agent {AGENT} --capability currentWeather")
    assert "Berlin: light rain" in _call_through(phone, shim)


def test_what_cannot_be_tried_here_is_named_before_the_steps() -> None:
    assert "not proven on a device" in section("On a real phone").partition("\n1. ")[0]


def test_the_table_has_the_commands_of_the_readme() -> None:
    files = sorted(LENGTHS.iterdir())
    assert len(files) == 3 * len(RELEASES) + 2
    for file in files:
        job = file.stem.partition("-")[0].capitalize()
        assert list(json.loads(file.read_text())) == commands_of(job), file.name
