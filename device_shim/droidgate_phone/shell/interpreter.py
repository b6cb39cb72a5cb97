"""Runs commands, those of the shell itself (`echo` and `printf` among them) and programs."""

from __future__ import annotations

import contextlib
import posixpath
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Final

from droidgate_phone.common.clocks import Signal
from droidgate_phone.files.phone_files import SEARCH, VirtualFileError
from droidgate_phone.shell.expansion import expand_fields, expand_text
from droidgate_phone.shell.kept_threads import KeptThreads
from droidgate_phone.shell.parsing import (
    AndOr,
    Background,
    Command,
    Parser,
    Pipeline,
    Redirection,
    Simple,
    Text,
)
from droidgate_phone.shell.programs import start_program
from droidgate_phone.shell.shell_errors import (
    BROKEN_PIPE_STATUS,
    BudgetExceededError,
    CommandError,
    NotModelledError,
    ShellExit,
    ShellSyntaxError,
)
from droidgate_phone.shell.shell_run import HERE, Pipe, ShellBudget, ShellRun, Stream
from droidgate_phone.shell.shell_state import ShellState

_SIMPLE: Final = {
    "a": b"\a", "b": b"\b", "e": b"\x1b", "f": b"\f", "n": b"\n", "r": b"\r", "t": b"\t", "v": b"\v",
    "\\": b"\\",
}  # fmt: skip
_ESCAPE: Final = re.compile(
    r"\\(0[0-7]{0,3}|[1-7][0-7]{0,2}|x[0-9a-fA-F]{1,2}|u[0-9a-fA-F]{1,4}|U[0-9a-fA-F]{1,8}|.)", re.DOTALL
)
_OPTIONS: Final = re.compile("-[neE]+")


def echo_bytes(arguments: Sequence[str]) -> bytes:
    r"""Return what mksh's `echo` writes: -E keeps escapes as they are, -n and `\c` leave out the newline."""
    expand, newline = True, True
    index = 0
    while index < len(arguments) and _OPTIONS.fullmatch(arguments[index]):
        for letter in arguments[index][1:]:
            newline = newline and letter != "n"
            expand = {"e": True, "E": False}.get(letter, expand)
        index += 1
    text = " ".join(arguments[index:])
    data = _encoded(text)
    if expand:
        data, ended = _unescape(text)
        newline = newline and not ended
    return data + (b"\n" if newline else b"")


def _unescape(text: str) -> tuple[bytes, bool]:
    r"""Return the bytes of a text with backslash escapes, and whether `\c` is in it."""
    content = bytearray()
    ended = False
    position = 0
    for match in _ESCAPE.finditer(text):
        content += _encoded(text[position : match.start()])
        position = match.end()
        escape = match.group(1)
        letter, digits = escape[0], escape[1:]
        if letter == "c":
            ended = True
        elif letter == "0":
            content.append(int(escape, 8) & 0xFF)
        elif letter == "x" and digits:
            content.append(int(digits, 16))
        elif letter in "uU" and digits:
            content += chr(min(int(digits, 16), 0xFFFD)).encode("utf-8", "surrogatepass")
        else:
            content += _SIMPLE.get(letter) or _encoded(match.group())
    return bytes(content + _encoded(text[position:])), ended


def _encoded(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")


_LONGEST_NUMBER: Final = 10
_TRAPPED: Final = frozenset({"EXIT", "HUP", "INT", "PIPE", "TERM"})
Builtin = Callable[[ShellState, Sequence[str]], int]


def _true(_state: ShellState, _fields: Sequence[str]) -> int:
    return 0


def _false(_state: ShellState, _fields: Sequence[str]) -> int:
    return 1


def _echo(state: ShellState, fields: Sequence[str]) -> int:
    state.output().write(echo_bytes(fields[1:]))
    return 0


def _pwd(state: ShellState, fields: Sequence[str]) -> int:
    if len(fields) > 1:
        raise NotModelledError(f"pwd {fields[1]}")
    state.write(state.directory + "\n")
    return 0


def _exit(state: ShellState, fields: Sequence[str]) -> int:
    text = fields[1] if len(fields) > 1 else str(state.status)
    if len(fields) > len(("exit", "status")):
        raise CommandError("exit: too many arguments")
    if not (text.removeprefix("-").isdecimal() and text.isascii() and len(text) <= _LONGEST_NUMBER):
        raise CommandError(f"exit: bad number: {text}")
    raise ShellExit(int(text) & 0xFF)


def _export(state: ShellState, fields: Sequence[str]) -> int:
    if len(fields) == 1:
        raise NotModelledError("export without a name")
    for argument in fields[1:]:
        name, equals, value = argument.partition("=")
        if argument.startswith("-"):
            raise NotModelledError(f"export {argument}")
        if not (name.isascii() and name.isidentifier()):
            raise CommandError(f"export: {argument}: not an identifier")
        if equals:
            state.variables[name] = value
        state.exported |= {name}
    return 0


def _cd(state: ShellState, fields: Sequence[str]) -> int:
    target = fields[1] if len(fields) > 1 else state.variables.get("HOME", "/")
    if len(fields) > len(("cd", "folder")) or target.startswith("-"):
        raise NotModelledError(f"cd {' '.join(fields[1:])}")
    path = posixpath.normpath(state.path(target or ".")).replace("//", "/")
    files = state.system.files
    try:
        if not files.stat(state.path(target or "."), uid=state.uid).is_directory:
            raise CommandError(f"cd: {path}: Not a directory", 2)
        if not files.may(path, SEARCH, uid=state.uid):
            raise CommandError(f"cd: {path}: Permission denied", 2)
    except VirtualFileError as error:
        raise CommandError(f"cd: {path}: {error.strerror}", 2) from None
    state.variables["OLDPWD"] = state.directory
    state.variables["PWD"] = state.directory = path
    return 0


def _test(state: ShellState, fields: Sequence[str]) -> int:
    arguments = list(fields[1:])
    if fields[0] == "[" and (not arguments or arguments.pop() != "]"):
        raise CommandError("[: missing ]", 2)
    match arguments:
        case []:
            holds = False
        case [text]:
            holds = bool(text)
        case ["-n" | "-z" as operator, text]:
            holds = bool(text) == (operator == "-n")
        case ["-e" | "-f" | "-d" as operator, path]:
            holds = _is_file(state, operator, path)
        case [left, "=" | "!=" as operator, right] if left not in {"!", "("}:
            holds = (left == right) == (operator == "=")
        case _:
            raise NotModelledError(f"test {' '.join(arguments)}")
    return int(not holds)


def _is_file(state: ShellState, operator: str, path: str) -> bool:
    try:
        status = state.system.files.stat(state.path(path) if path else "", uid=state.uid)
    except VirtualFileError:
        return False
    return {"-e": True, "-f": status.is_file, "-d": status.is_directory}[operator]


def _trap(state: ShellState, fields: Sequence[str]) -> int:
    _, *arguments = fields
    command, *names = arguments or ("-",)
    if command == "-" or not names or not _TRAPPED.issuperset(names):
        raise NotModelledError(f"trap {' '.join(arguments)}")
    state.traps |= dict.fromkeys(names, command)
    return 0


def _refused(_state: ShellState, fields: Sequence[str]) -> int:
    raise NotModelledError(f"the shell's `{fields[0]}`")


SPECIAL: Final = frozenset({":", "exec", "exit", "export", "trap"})
"""Builtins whose assignments stay and whose errors end the shell (POSIX 2.14)."""

BUILTINS: Final[Mapping[str, Builtin]] = {
    ":": _true,
    "[": _test,
    "cd": _cd,
    "echo": _echo,
    "exit": _exit,
    "export": _export,
    "false": _false,
    "pwd": _pwd,
    "test": _test,
    "trap": _trap,
    "true": _true,
    **dict.fromkeys(
        (
            ".", "alias", "bg", "bind", "break", "builtin", "command", "continue", "eval", "fc", "fg",
            "getopts", "global", "jobs", "let", "local", "mknod", "print", "read", "readonly", "rename",
            "return", "set", "shift", "source", "suspend", "times", "type", "typeset", "ulimit",
            "umask", "unalias", "unset", "wait", "whence",
        ),
        _refused,
    ),
}  # fmt: skip
"""Every builtin of mksh by name, those that the phone refuses included."""


THREADS: Final = KeptThreads("droidgate-phone-shell")
_JOIN_SECONDS: Final = 0.5
_PATIENCE: Final = 10


def run_text(state: ShellState, text: str) -> int:
    """Run a text line by line in a process of its own and return its status, whatever ends it.

    A syntax error ends it after the lines before have run.

    Raises:
        NotModelledError, BudgetExceededError: they end the whole run.
    """
    try:
        status = _run_lines(state, text)
    except BrokenPipeError:
        if "PIPE" not in state.traps:
            return BROKEN_PIPE_STATUS
        status = _run_trap(state, "PIPE", BROKEN_PIPE_STATUS)
    return _run_trap(state, "EXIT", status)


def _run_lines(state: ShellState, text: str) -> int:
    try:
        parser = Parser(text)
        while (commands := parser.next_line()) is not None:
            for command in commands:
                _execute(state, command)
    except ShellSyntaxError as error:
        state.error(str(error))
        return 1
    except ShellExit as end:
        return end.status & 0xFF
    return state.status & 0xFF


def _run_trap(state: ShellState, name: str, status: int) -> int:
    """Run a trap where there is one, and return the shell's status: that of `exit` in it, else as before."""
    text = state.traps.pop(name, None)
    if text is not None:
        try:
            for command in Parser(text).next_line() or ():
                _execute(state, command)
        except ShellExit as end:
            return end.status & 0xFF
    return status


def _execute(state: ShellState, command: Command) -> int:
    """Run a command and return its status, which is `$?` from then on."""
    state.run.check()
    if isinstance(command, AndOr):
        status = _execute(state, command.first)
        for operator, following in command.rest:
            if (status == 0) == (operator == "&&"):
                status = _execute(state, following)
    elif isinstance(command, Pipeline):
        status = _run_pipeline(state, command.commands)
    elif isinstance(command, Background):
        status = _start_in_background(state, command.command)
    else:
        status = _run_simple(state, command)
    state.status = status
    return status


def _run_as_process(state: ShellState, command: Simple) -> int:
    try:
        return _execute(state, command) & 0xFF
    except ShellExit as end:
        return end.status & 0xFF
    except BrokenPipeError:
        return BROKEN_PIPE_STATUS


_ENDING: Final = frozenset({"echo", "getprop", "pm list", "pm path", "printf"})
"""Commands that read no input and wait for nothing; droidgate asks `pm path | grep` before each call."""


def _run_pipeline(state: ShellState, commands: Sequence[Simple]) -> int:
    """Run each command in a subshell and a thread of its own, the last one in this thread.

    What neither reads nor waits is run in this thread, too, before the next begins: a thread takes longer.
    """
    run = state.run
    pipes = [Pipe(run, is_bounded=not _ends_by_itself(command)) for command in commands[:-1]]
    stages: list[Signal] = []

    def work(index: int, stage: ShellState) -> None:
        try:
            _run_as_process(stage, commands[index])
        except Exception as error:  # noqa: BLE001 - ends the run; reported by the thread that began it
            run.stop(error)
        finally:
            _close(pipes, index)

    def work_in_a_thread(index: int, stage: ShellState) -> None:
        HERE.run, HERE.depth = run, stage.depth
        work(index, stage)

    with run.threads(len(pipes)):
        for index, pipe in enumerate(pipes):
            stage = _stage(state, pipes, index)
            if pipe.is_bounded:
                stages.append(THREADS.start(partial(work_in_a_thread, index, stage)))
            else:
                work(index, stage)
        last = len(commands) - 1
        try:
            status = _run_as_process(_stage(state, pipes, last), commands[last])
        except Exception as error:
            run.stop(error)
            raise
        finally:
            _close(pipes, last)
            _join(run, stages)
    run.check()
    return status


def _ends_by_itself(command: Simple) -> bool:
    """Return whether a command reads no input and waits for nothing."""
    names = [word[0].text if len(word) == 1 and isinstance(word[0], Text) else "" for word in command.words]
    return " ".join(names[:1]) in _ENDING or " ".join(names[:2]) in _ENDING


def _stage(state: ShellState, pipes: Sequence[Pipe], index: int) -> ShellState:
    descriptors = dict(state.descriptors)
    if index > 0:
        descriptors[0] = pipes[index - 1]
    if index < len(pipes):
        descriptors[1] = pipes[index]
    return state.copy(descriptors)


def _close(pipes: Sequence[Pipe], index: int) -> None:
    if index < len(pipes):
        pipes[index].close_writer()
    if index > 0:
        pipes[index - 1].close_reader()


def _join(run: ShellRun, stages: Sequence[Signal]) -> None:
    """Wait for the ends of commands; those of a run that is over get a few seconds."""
    for stage in stages:
        patience = _PATIENCE
        while patience and not stage.wait(_JOIN_SECONDS):
            with contextlib.suppress(BudgetExceededError):
                run.check()
                patience = _PATIENCE + 1
            patience -= 1


def _start_in_background(state: ShellState, command: Simple) -> int:
    """Start a command that outlives this command line, with a budget of its own."""
    run = ShellRun(ShellBudget())
    copy = replace(state.copy(), run=run, depth=0)

    def work() -> None:
        HERE.run, HERE.depth = run, 0
        try:
            _run_as_process(copy, command)
        except Exception as error:  # noqa: BLE001 - only the log can still show it
            copy.system.log.record("background-ended", reason=str(error))

    THREADS.start(work)
    return 0


def _run_simple(state: ShellState, command: Simple) -> int:
    state.run.count("steps")
    fields = expand_fields(command.words, state)
    name = fields[0] if fields else ""
    descriptors = dict(state.descriptors)
    try:
        _redirect(state, command.redirections, descriptors)
    except CommandError as error:
        with _streams(state, descriptors):
            state.error(str(error))
        if name in SPECIAL:
            raise ShellExit(error.status) from None
        return error.status
    variables, exported = dict(state.variables), state.exported
    for variable, word in command.assignments:
        value = expand_text(word, state)
        state.variables[variable] = value
        if fields:
            state.exported |= {variable}
    if not fields:
        return 0
    if name == "exec":
        return _replace_shell(state, fields[1:], descriptors)
    with _streams(state, descriptors):
        try:
            return BUILTINS[name](state, fields) if name in BUILTINS else start_program(state, fields)
        except CommandError as error:
            state.error(str(error))
            if name in SPECIAL:
                raise ShellExit(error.status) from None
            return error.status
        except VirtualFileError as error:
            state.error(f"{error.filename or 'write'}: {error.strerror}")
            return 1
        finally:
            if name not in SPECIAL:
                _restore(state, command, variables, exported)


def _restore(
    state: ShellState, command: Simple, variables: Mapping[str, str], exported: frozenset[str]
) -> None:
    """Undo the assignments before a command."""
    for name, _ in command.assignments:
        if name in variables:
            state.variables[name] = variables[name]
        else:
            state.variables.pop(name, None)
        if name not in exported:
            state.exported -= {name}


def _replace_shell(state: ShellState, fields: Sequence[str], descriptors: Mapping[int, Stream]) -> int:
    """`exec`: run a program instead of the rest, or only keep the redirections."""
    state.descriptors = descriptors
    if not fields:
        return 0
    try:
        raise ShellExit(start_program(state, fields))
    except CommandError as error:
        state.error(str(error))
        raise ShellExit(error.status) from None


@contextlib.contextmanager
def _streams(state: ShellState, descriptors: Mapping[int, Stream]) -> Iterator[None]:
    before, state.descriptors = state.descriptors, descriptors
    try:
        yield
    finally:
        state.descriptors = before


def _redirect(state: ShellState, redirections: Sequence[Redirection], descriptors: dict[int, Stream]) -> None:
    """Change the descriptors that a command gets, one redirection after another.

    Raises:
        CommandError: a file cannot be opened.
    """
    for redirection in redirections:
        target = expand_text(redirection.word, state)
        if redirection.operator in {">&", "<&"}:
            stream = descriptors[int(target)]
        else:
            stream = _open(state, redirection.operator, target)
        descriptors[redirection.descriptor] = stream


def _open(state: ShellState, operator: str, target: str) -> Stream:
    files, path = state.system.files, state.path(target) if target else ""
    try:
        if operator == "<":
            return files.open_reader(path, uid=state.uid)
        return files.open_writer(path, append=operator == ">>", mode=0o644, uid=state.uid)
    except VirtualFileError as error:
        action = "open" if operator == "<" else "create"
        raise CommandError(f"can't {action} {target}: {error.strerror}") from None
