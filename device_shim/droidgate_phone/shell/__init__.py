"""The command language of the phone's shell, and how a command line is run."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Final

from droidgate_phone.common.streams import CommandStreams, OutputStream
from droidgate_phone.files.file_layout import SEARCH_PATH, SHELL_PROGRAM
from droidgate_phone.shell.interpreter import run_text
from droidgate_phone.shell.programs import INTERNAL_STATUS
from droidgate_phone.shell.shell_errors import (
    BROKEN_PIPE_STATUS,
    BUDGET_STATUS,
    NOT_MODELLED_STATUS,
    BudgetExceededError,
    NotModelledError,
)
from droidgate_phone.shell.shell_run import HERE, CountedOutput, ShellBudget, ShellRun
from droidgate_phone.shell.shell_state import ShellState

if TYPE_CHECKING:
    from droidgate_phone.system import AndroidSystem

__all__ = [
    "BUDGET_STATUS",
    "NOT_MODELLED_STATUS",
    "SHELL_ENVIRONMENT",
    "ShellBudget",
    "pause",
    "run_script",
    "run_shell",
]

SHELL_ENVIRONMENT: Final[Mapping[str, str]] = {
    "ANDROID_ASSETS": "/system/app",
    "ANDROID_BOOTLOGO": "1",
    "ANDROID_DATA": "/data",
    "ANDROID_ROOT": "/system",
    "ANDROID_STORAGE": "/storage",
    "ASEC_MOUNTPOINT": "/mnt/asec",
    "EXTERNAL_STORAGE": "/sdcard",
    "HOME": "/",
    "HOSTNAME": "localhost",
    "LOGNAME": "shell",
    "PATH": SEARCH_PATH,
    "SHELL": "/system/bin/sh",
    "TERM": "xterm-256color",
    "TMPDIR": "/data/local/tmp",
    "USER": "shell",
}
"""Variables of a shell that adbd starts."""


def run_shell(
    system: AndroidSystem,
    command: str,
    streams: CommandStreams,
    *,
    uid: int = 2000,
    environment: Mapping[str, str] | None = None,
    budget: ShellBudget | None = None,
) -> int:
    """Run what was typed after `adb shell` to its end, as `/system/bin/sh -c` does, and return its status.

    It blocks, so it is called in a thread of its own; several may run at once.

    Args:
        system: The phone.
        command: The command line.
        streams: Standard streams; they are not closed.
        uid: Whose process the shell is.
        environment: Variables, `SHELL_ENVIRONMENT` by default.
        budget: What the run may take.

    Returns:
        0 to 255: the last command's status; 69 where the phone does not model something; 137 where the budget
        is used up; 141 where nobody reads the output any more.
    """
    return run_script(
        system, command, streams, uid=uid, environment=environment, budget=budget or ShellBudget()
    )


def run_script(  # noqa: PLR0913
    system: AndroidSystem,
    text: str,
    streams: CommandStreams,
    *,
    name: str = SHELL_PROGRAM,
    arguments: Sequence[str] = (),
    uid: int = 2000,
    environment: Mapping[str, str] | None = None,
    directory: str = "/",
    budget: ShellBudget | None = None,
) -> int:
    """Run a script; as `run_shell`, with `$0`, `$1`... and the working directory.

    A thread that already works for a run (a command that starts `sh`) goes on with that one's budget.
    """
    run = HERE.run
    own = run is None
    if run is None:
        run = ShellRun(budget or ShellBudget())
        # An isinstance check of a protocol takes 20 times as long.
        if (on_hang_up := getattr(streams, "on_hang_up", None)) is not None:
            on_hang_up(functools.partial(run.stop, BrokenPipeError("the other side is gone")))
    output = CountedOutput(streams.output, run) if own else streams.output
    error = output if own and streams.error is streams.output else streams.error
    variables = {**(SHELL_ENVIRONMENT if environment is None else environment), "PWD": directory}
    state = ShellState(
        system=system,
        run=run,
        descriptors={0: streams.input, 1: output, 2: error},
        uid=uid,
        name=name,
        arguments=tuple(arguments),
        variables=variables,
        exported=frozenset(variables),
        directory=directory,
        depth=HERE.depth + 1 if not own else 0,
    )
    if not own:
        run.require("depth", state.depth)
        return run_text(state, text)
    return _run_to_the_end(state, run, text)


def pause(seconds: float) -> None:
    """Wait, but not beyond the end of the run that this thread works for."""
    (HERE.run or ShellRun(ShellBudget())).sleep(seconds)


def _run_to_the_end(state: ShellState, run: ShellRun, text: str) -> int:
    before, HERE.run, HERE.depth = (HERE.run, HERE.depth), run, 0
    error_stream = state.output(2)
    try:
        return run_text(state, text)
    except Exception as error:  # noqa: BLE001 - a command line must never end the phone
        run.stop(error)
        return _refuse(error_stream, run.refusal or error)
    finally:
        HERE.run, HERE.depth = before


def _refuse(stream: OutputStream, reason: Exception) -> int:
    if isinstance(reason, NotModelledError):
        status, text = NOT_MODELLED_STATUS, f"{reason} is not modelled"
    elif isinstance(reason, BudgetExceededError | RecursionError):
        text = str(reason) if isinstance(reason, BudgetExceededError) else "commands are nested too deep"
        status, text = BUDGET_STATUS, f"the command line was ended: {text}"
    else:
        status, text = INTERNAL_STATUS, f"the shell failed inside: {type(reason).__name__}: {reason}"
    try:
        (stream.uncounted if isinstance(stream, CountedOutput) else stream).write(
            f"droidgate phone: {text}\n".encode("utf-8", "surrogateescape")
        )
    except BrokenPipeError:
        return BROKEN_PIPE_STATUS
    return status
