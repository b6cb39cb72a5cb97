"""`--quiet` and `--verbose`: what each leaves out or adds, for every command alike."""

import json
import logging
import re
from pathlib import Path

import pytest
import typer

from droidgate.cli.program import build_app
from droidgate_mappings.timed_steps import LOGGER, timed_step
from droidgate_phone.phone import VirtualPhone
from gateway.cli.program_runs import Runner, run_process
from gateway.cli.samples import TIMER, write_project

STEP = re.compile(r" *\d+\.\d ms  (.*)")


@pytest.fixture(autouse=True)
def _in_a_folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write_project(Path("timer"))


def _steps(err: str) -> list[str]:
    matches = [STEP.fullmatch(line) for line in err.splitlines()]
    return [match[1] for match in matches if match]


def test_every_command_takes_both_options() -> None:
    pending = [typer.main.get_command(build_app())]
    missing = []
    while pending:
        command = pending.pop()
        below = getattr(command, "commands", {})
        options = {option for parameter in command.params for option in parameter.opts}
        if not below and not {"-q", "--quiet", "-v", "--verbose"} <= options:
            missing.append(command.name)
        pending += below.values()
    assert missing == []


def test_quiet_leaves_out_notes_and_keeps_the_page(
    droidgate: Runner, phone: VirtualPhone, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANDROID_ADB_SERVER_PORT", str(phone.server_port))
    usual = droidgate("discover")
    quiet = droidgate("discover", "-q")
    assert usual.err
    assert (quiet.code, quiet.out, quiet.err) == (0, usual.out, "")


@pytest.mark.parametrize("arguments", [("-qq", "lint", "timer"), ("-q", "lint", "timer", "--quiet")])
def test_quiet_twice_leaves_out_the_page_and_keeps_the_exit_code(
    droidgate: Runner, arguments: tuple[str, ...]
) -> None:
    usual = droidgate("lint", "timer")
    run = droidgate(*arguments)
    assert usual.out
    assert (run.code, run.out, run.err) == (usual.code, "", "")


def test_quiet_never_leaves_out_data_warnings_or_errors(droidgate: Runner) -> None:
    broken = Path("timer/app/src/main/res/xml/timer.xml")
    assert json.loads(droidgate("inspect", "timer", "--json", "-qq").out)["providers"]
    assert droidgate("convert", "timer", "--to", "mcp", "-o", "-", "-qq").out.startswith("{")
    broken.write_text(TIMER.replace("</mobile", "<mobile"))
    assert droidgate("inspect", "timer", "-qq").err.startswith("warning: ")
    assert droidgate("inspect", "nowhere", "-qq").err.startswith("error: nowhere: ")


def test_one_run_leaves_nothing_to_the_next(droidgate: Runner) -> None:
    assert droidgate("inspect", "timer", "-qq").out == ""
    assert _steps(droidgate("-v", "inspect", "timer").err) == ["read timer"]
    run = droidgate("inspect", "timer")
    assert (run.out[:4], run.err) == ("Apps", "")
    assert LOGGER.handlers == []


def test_verbose_prints_each_step_on_standard_error() -> None:
    usual = run_process("convert", "timer", "--to", "mcp", "-o", "out")
    run = run_process("convert", "timer", "--to", "mcp", "-o", "again", "--verbose")
    assert run.out == usual.out.replace("out/", "again/")
    assert [step.split()[0] for step in _steps(run.err)] == ["read", "convert", "write", "write", "write"]


def test_verbose_prints_the_commands_that_the_phone_gets(
    droidgate: Runner, phone: VirtualPhone, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANDROID_ADB_SERVER_PORT", str(phone.server_port))
    steps = _steps(droidgate("discover", "-v").err)
    sent = [step.partition(" shell: ")[2] for step in steps if step.startswith(f"{phone.serial} shell: ")]
    assert any(command.startswith("cmd package query-services ") for command in sent)
    assert all(command for command in sent)


def test_quiet_and_verbose_exclude_each_other(droidgate: Runner) -> None:
    run = droidgate("-v", "inspect", "timer", "-q")
    assert (run.code, run.out) == (2, "")
    assert run.err.splitlines() == [
        "error: --quiet and --verbose exclude each other",
        "hint: choose one of them",
    ]


def test_a_step_that_fails_is_logged_as_such_and_long_ones_are_cut(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO, logger=LOGGER.name):
        with pytest.raises(ValueError, match="no"), timed_step("try"):
            raise ValueError("no")
        with timed_step("x" * 5000):
            pass
    failed, long = caplog.messages
    assert failed.endswith(" ms  try (failed)")
    assert long.endswith(" ms  " + "x" * 1000 + "...")


def test_a_step_cannot_steer_the_terminal(droidgate: Runner) -> None:
    name = "\x1b[2Jtimer.xml"
    Path(name).write_text(TIMER)
    assert _steps(droidgate("inspect", name, "-v").err) == ["read \\x1b[2Jtimer.xml"]
