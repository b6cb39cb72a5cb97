"""Runs commands."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar, Final

from droidgate_phone.files import VirtualFileError
from droidgate_phone.shell.builtins import BUILTINS, SPECIAL
from droidgate_phone.shell.conditions import evaluate_condition
from droidgate_phone.shell.errors import (
    BROKEN_PIPE_STATUS,
    BudgetExceededError,
    CommandError,
    FunctionReturn,
    LoopEnd,
    ShellError,
    ShellExit,
    ShellSyntaxError,
)
from droidgate_phone.shell.expansion import Expansion
from droidgate_phone.shell.here import HERE
from droidgate_phone.shell.parser import Parser
from droidgate_phone.shell.programs import start_program
from droidgate_phone.shell.redirecting import redirect
from droidgate_phone.shell.run import Budget, Collector, Pipe, Run, Stream
from droidgate_phone.shell.state import Options, ShellState, exported_variables
from droidgate_phone.shell.syntax import (
    AndOr,
    ArithmeticCommand,
    Background,
    Case,
    Command,
    Condition,
    For,
    Function,
    If,
    Pipeline,
    Redirected,
    Simple,
    Subshell,
    While,
)
from droidgate_phone.shell.syntax import Sequence as CommandSequence

_JOIN_SECONDS: Final = 0.5
_PATIENCE: Final = 10


class Interpreter:
    """Runs commands in one shell.

    Attributes:
        state: The shell.
        expansion: Expands words for it.
    """

    def __init__(self, state: ShellState) -> None:
        self.state = state
        self.expansion = Expansion(state, self._substitute)

    def run_text(self, text: str) -> int:
        """Run commands line by line, as they are read; return the last status.

        Raises:
            ShellSyntaxError: a line is none; those before it have been run.
        """
        parser = Parser(text)
        while (command := parser.next_line()) is not None:
            self.execute(command)
        return self.state.status

    def execute(self, command: Command) -> int:
        """Run a command and return its status, which is `$?` from then on."""
        state = self.state
        state.run.check()
        if isinstance(command, CommandSequence):
            for one in command.commands:
                self.execute(one)
            return state.status
        runner = self._RUNNERS[type(command)]
        try:
            state.status = runner(self, command)
        except CommandError as error:
            state.report(error)
            state.status = error.status
        except VirtualFileError as error:
            state.error(f"{error.filename or 'write'}: {error.strerror}")
            state.status = 1
        if state.status and state.options.errexit and not state.tested and _is_checked(command):
            raise ShellExit(state.status)
        return state.status

    def _tested(self, command: Command) -> int:
        self.state.tested += 1
        try:
            return self.execute(command)
        finally:
            self.state.tested -= 1

    def _pipeline(self, command: Pipeline) -> int:
        if len(command.commands) == 1:
            status = self._tested(command.commands[0])
        elif command.negated:
            self.state.tested += 1
            try:
                status = self._concurrent(command.commands)
            finally:
                self.state.tested -= 1
        else:
            status = self._concurrent(command.commands)
        return int(not status) if command.negated else status

    def _concurrent(self, commands: Sequence[Command]) -> int:
        """Run each command in a subshell and a thread of its own, the last one in this thread."""
        run = self.state.run
        statuses = [0] * len(commands)
        pipes = [Pipe(run) for _ in commands[1:]]
        threads: list[threading.Thread] = []
        with run.threads(len(pipes)):
            for index, one in enumerate(commands[:-1]):
                stage = self._stage(pipes, index)

                def work(index: int = index, one: Command = one, stage: ShellState = stage) -> None:
                    HERE.run, HERE.depth = run, stage.depth
                    try:
                        statuses[index] = run_process(stage, lambda shell: shell.execute(one))
                    except Exception as error:  # noqa: BLE001 - ends the run, told by the thread that began it
                        run.stop(error)
                    finally:
                        _close(pipes, index)

                threads.append(threading.Thread(target=work, name="droidgate-phone-shell", daemon=True))
                threads[-1].start()
            last = len(commands) - 1
            try:
                stage = self._stage(pipes, last)
                statuses[last] = run_process(stage, lambda shell: shell.execute(commands[last]))
            except Exception as error:
                run.stop(error)
                raise
            finally:
                _close(pipes, last)
                self._join(threads)
        run.check()
        if self.state.options.pipefail:
            return next((status for status in reversed(statuses) if status), 0)
        return statuses[-1]

    def _stage(self, pipes: Sequence[Pipe], index: int) -> ShellState:
        descriptors = dict(self.state.descriptors)
        if index > 0:
            descriptors[0] = pipes[index - 1]
        if index < len(pipes):
            descriptors[1] = pipes[index]
        return self.state.copy(descriptors)

    def _join(self, threads: Sequence[threading.Thread]) -> None:
        for thread in threads:
            patience = _PATIENCE
            while thread.is_alive() and patience:
                thread.join(_JOIN_SECONDS)
                with contextlib.suppress(BudgetExceededError):
                    self.state.run.check()
                    patience = _PATIENCE + 1
                patience -= 1

    def _substitute(self, body: Command | None) -> bytes:
        collector = Collector(self.state.run)
        state = self.state.copy({**self.state.descriptors, 1: collector})
        self.state.substitution_status = (
            0 if body is None else run_process(state, lambda shell: shell.execute(body))
        )
        return bytes(collector.data)

    def _and_or(self, command: AndOr) -> int:
        status = self._tested(command.left)
        if (status == 0) == (command.operator == "&&"):
            return self.execute(command.right)
        return status

    def _background(self, command: Background) -> int:
        """Start a command that outlives this command line, with a budget of its own."""
        run = Run(Budget())
        state = replace(self.state.copy(), run=run, depth=0)

        def work() -> None:
            HERE.run, HERE.depth = run, 0
            try:
                run_process(state, lambda shell: shell.execute(command.command))
            except Exception as error:  # noqa: BLE001 - nobody is left to be told but the log
                state.system.log.record("background-ended", reason=str(error))

        threading.Thread(target=work, name="droidgate-phone-shell", daemon=True).start()
        return 0

    def _subshell(self, command: Subshell) -> int:
        return run_process(self.state.copy(), lambda shell: shell.execute(command.body))

    def _redirected(self, command: Redirected) -> int:
        with self._streams(redirect(self.state, self.expansion, command.redirections)):
            return self.execute(command.body)

    @contextlib.contextmanager
    def _streams(self, descriptors: Mapping[int, Stream]) -> Iterator[None]:
        before = self.state.descriptors
        self.state.descriptors = descriptors
        try:
            yield
        except (CommandError, ShellError) as error:
            self.state.report(error)
            raise
        finally:
            self.state.descriptors = before

    def _if(self, command: If) -> int:
        for condition, body in command.branches:
            if self._tested(condition) == 0:
                return self.execute(body)
        return 0 if command.otherwise is None else self.execute(command.otherwise)

    def _while(self, command: While) -> int:
        status = 0
        with self._loop():
            while True:
                end, holds = self._round(lambda: int(self._tested(command.condition) == 0))
                if end or bool(holds) != command.wanted:
                    break
                end, status = self._round(lambda: self.execute(command.body))
                if end:
                    break
        return status

    def _for(self, command: For) -> int:
        values = self.state.positional if command.words is None else self.expansion.fields(command.words)
        status = 0
        with self._loop():
            for value in values:
                self.state.variables.set(command.name, value)
                end, status = self._round(lambda: self.execute(command.body))
                if end:
                    break
        return status

    @contextlib.contextmanager
    def _loop(self) -> Iterator[None]:
        self.state.loops += 1
        try:
            yield
        finally:
            self.state.loops -= 1

    def _round(self, work: Callable[[], int]) -> tuple[bool, int]:
        """Run a part of a loop once; return whether the loop is over, and the part's value."""
        self.state.run.step()
        try:
            return False, work()
        except LoopEnd as end:
            if end.levels > 1 and self.state.loops > 1:
                raise LoopEnd(end.levels - 1, again=end.again) from None
            self.state.status = 0
            return not end.again, 0

    def _case(self, command: Case) -> int:
        text = self.expansion.text(command.word)
        falling = False
        status = 0
        for item in command.items:
            if falling or any(self.expansion.pattern(one).matches(text) for one in item.patterns):
                self.state.status = 0
                status = self.execute(item.body)
                falling = item.ending == ";&"
                if not falling:
                    break
        return status

    def _function(self, command: Function) -> int:
        if command.name in SPECIAL:
            raise ShellError(f"{command.name}: is a special builtin")
        self.state.functions[command.name] = command.body
        return 0

    def _condition(self, command: Condition) -> int:
        return int(not evaluate_condition(command.words, self.state, self.expansion))

    def _arithmetic(self, command: ArithmeticCommand) -> int:
        try:
            return int(self.expansion.number(command.expression) == 0)
        except ShellError as error:
            raise CommandError(str(error), 2) from None

    def _simple(self, command: Simple) -> int:
        state = self.state
        state.run.step()
        state.substitution_status = None
        fields = self.expansion.fields(command.words)
        if not fields:
            return self._assign_only(command)
        name = fields[0]
        if name == "exec":
            return self._exec(command, fields)
        special = name in SPECIAL
        try:
            descriptors = redirect(state, self.expansion, command.redirections)
        except CommandError as error:
            if special:
                raise ShellError(str(error), error.status) from None
            raise
        if special and name not in state.functions:
            self._assign(command)
            return self._call_builtin(fields, descriptors)
        if name in state.functions:
            saved = self._assign(command, exported=True)
            try:
                return self.call_function(fields, descriptors)
            finally:
                state.variables.restore(saved)
        saved = self._assign(command, exported=True)
        try:
            if name in BUILTINS:
                return self._call_builtin(fields, descriptors)
            with self._streams(descriptors):
                return self.start(fields)
        finally:
            state.variables.restore(saved)

    def _assign_only(self, command: Simple) -> int:
        redirect(self.state, self.expansion, command.redirections)
        self._assign(command)
        return self.state.substitution_status or 0

    def _assign(self, command: Simple, *, exported: bool = False) -> dict[str, Any]:
        """Make the assignments of a command; return the variables as they were."""
        variables = self.state.variables
        saved: dict[str, Any] = {}
        for one in command.assignments:
            value = self.expansion.text(one.value, assignment=True)
            if one.appends:
                value = (variables.get(one.name) or "") + value
            self.state.run.demand_text(len(value))
            saved.setdefault(one.name, variables.values.get(one.name))
            variables.set(one.name, value)
            if exported:
                variables.mark(one.name, exported=True)
        return saved

    def _call_builtin(self, fields: Sequence[str], descriptors: Mapping[int, Stream]) -> int:
        with self._streams(descriptors):
            return BUILTINS[fields[0]](self, fields)

    def call_function(self, fields: Sequence[str], descriptors: Mapping[int, Stream]) -> int:
        """Call a function with its arguments."""
        state = self.state
        state.run.demand_depth(state.depth + 1)
        before = (state.positional, state.loops, state.depth)
        state.positional, state.loops, state.depth = tuple(fields[1:]), 0, state.depth + 1
        state.in_function += 1
        state.variables.hidden.append({})
        try:
            with self._streams(descriptors):
                return self.execute(state.functions[fields[0]])
        except FunctionReturn as end:
            return end.status
        except ShellError as error:
            state.report(error)
            return error.status
        finally:
            state.variables.restore(state.variables.hidden.pop())
            state.in_function -= 1
            state.positional, state.loops, state.depth = before

    def start(self, fields: Sequence[str]) -> int:
        """Start a program with the streams and variables of this shell."""
        return start_program(self.state, fields, self.state.variables.exported(), _run_script_file)

    def _exec(self, command: Simple, fields: Sequence[str]) -> int:
        try:
            descriptors = redirect(self.state, self.expansion, command.redirections)
        except CommandError as error:
            raise ShellError(str(error), error.status) from None
        self._assign(command, exported=len(fields) > 1)
        self.state.descriptors = descriptors
        if len(fields) == 1:
            return 0
        try:
            raise ShellExit(self.start(fields[1:]))
        except CommandError as error:
            self.state.report(error)
            raise ShellExit(error.status) from None

    _RUNNERS: ClassVar[Mapping[type[Command], Callable[[Interpreter, Any], int]]] = {
        AndOr: _and_or,
        ArithmeticCommand: _arithmetic,
        Case: _case,
        Condition: _condition,
        For: _for,
        Function: _function,
        If: _if,
        Pipeline: _pipeline,
        Redirected: _redirected,
        Simple: _simple,
        Background: _background,
        Subshell: _subshell,
        While: _while,
    }


def _is_checked(command: Command) -> bool:
    """Return whether `set -e` ends the shell where this fails."""
    if isinstance(command, Pipeline):
        return not command.negated
    return isinstance(command, Simple | Subshell | Condition | ArithmeticCommand)


def _close(pipes: Sequence[Pipe], index: int) -> None:
    if index < len(pipes):
        pipes[index].close_writer()
    if index > 0:
        pipes[index - 1].close_reader()


def run_process(state: ShellState, work: Callable[[Interpreter], int]) -> int:
    """Run something as a process of its own: whatever ends it becomes its status.

    Raises:
        NotModelledError, BudgetExceededError: they end the whole run.
    """
    try:
        return work(Interpreter(state)) & 0xFF
    except (ShellExit, FunctionReturn) as end:
        return end.status & 0xFF
    except LoopEnd:
        return 0
    except ShellSyntaxError as error:
        state.error(str(error))
        return 1
    except (ShellError, CommandError) as error:
        state.report(error)
        return error.status
    except BrokenPipeError:
        return BROKEN_PIPE_STATUS
    except VirtualFileError as error:
        state.error(f"{error.filename or 'write'}: {error.strerror}")
        return 1
    except RecursionError:
        raise BudgetExceededError("commands are nested too deep") from None


def _run_script_file(state: ShellState, text: str, fields: Sequence[str]) -> int:
    child = new_shell(state, fields[0], fields[1:])
    return run_process(child, lambda shell: shell.run_text(text))


def new_shell(state: ShellState, name: str, arguments: Sequence[str]) -> ShellState:
    """Return the state of a shell that is started as a program: only the environment goes along."""
    child = state.copy()
    child.name = name
    child.positional = tuple(arguments)
    child.variables = exported_variables(state.variables.exported())
    child.functions = {}
    child.options = Options()
    child.in_function = child.tested = child.status = 0
    return child
