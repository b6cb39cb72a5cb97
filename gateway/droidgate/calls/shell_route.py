"""The route through Android's own shell, for formats that say how it calls their capabilities."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Final, TypeVar

from droidgate.calls.call_links import CallLink, CommandWords, RawResult, RoutePlan
from droidgate.calls.call_steps import CallSteps, Work
from droidgate.calls.targets import CallTarget
from droidgate.devices.activities import (
    broadcast_command,
    intent_arguments,
    read_activity_start,
    read_broadcast,
    start_command,
)
from droidgate.devices.device import CommandResult, Condition, Device
from droidgate.devices.device_errors import CommandFailedError, DeadlineError
from droidgate.devices.quoting import MAX_ARGUMENT_BYTES
from droidgate.devices.screen_lock import SHOW_LOCK, read_lock
from droidgate_mappings.formats.shell_calls import (
    BroadcastOutput,
    NotCarriedError,
    OrderedBroadcast,
    ScreenOutput,
    ScreenStart,
    ShellAnswer,
    ShellCall,
    ShellCalls,
    ShellCommand,
    ShellOutput,
    ShellRequest,
)
from droidgate_mappings.model.json_values import Json
from droidgate_mappings.records import dataclass
from droidgate_mappings.values.failures import Failure, call_error

_CLEAR_TASK: Final = "--activity-clear-task"
"""Without it, Android only brings a task to the front whose intent differs in extras. It starts launcher
shortcuts with the same flag (reference app-actions 5)."""
_IS_LOCKED: Final = "the phone is locked, and this opens a screen; unlock it and retry"
_MARGIN_SECONDS: Final = 5.0
"""Seconds that a command may take in addition to the call that it makes."""
_LARGE: Final = 1 << 16
"""Bytes of an answer that is read in a thread, so that other calls do not wait for that."""

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class _Prepared:
    call: ShellCall
    request: ShellRequest
    command: CommandWords
    query: ShellCommand | None


@dataclass(frozen=True, slots=True)
class _Run:
    """A command of the device; a `CallStep`."""

    device: Device
    command: CommandWords
    deadline: float
    condition: Condition | None = None

    def wait(self) -> CommandResult:
        return self.device.run(self.command, deadline=self.deadline, condition=self.condition)

    async def wait_on_loop(self) -> CommandResult:
        return await self.device.run_on_loop(self.command, deadline=self.deadline, condition=self.condition)


@dataclass(frozen=True, slots=True)
class ShellRoute:
    """Calls by a command of the device's shell.

    Attributes:
        title: The route, in a few words.
        calls: What the format says.
    """

    title: str
    calls: ShellCalls

    @property
    def id(self) -> str:
        """The format's id of the route."""
        return self.calls.route_id

    def plan(self, target: CallTarget, arguments: Mapping[str, Json], link: CallLink) -> RoutePlan:
        """Return the command that would be run.

        Raises:
            NotCarriedError: the shell cannot carry the arguments.
            UnsafeArgumentError: the app's package or component is not one that a command can name.
        """
        call = _call_of(target, arguments, link)
        request = self.calls.write(call)
        command = _command_of(request, call)
        longest = max(len(argument.encode("utf-8", "surrogatepass")) for argument in command)
        if longest > MAX_ARGUMENT_BYTES:
            text = f"the arguments take {longest:,} bytes, and a command carries {MAX_ARGUMENT_BYTES:,}"
            raise NotCarriedError(text)
        query = self.calls.write_enabled_query(call)
        first = SHOW_LOCK if isinstance(request, ScreenStart) else None if query is None else query.arguments
        commands = (command,) if first is None else (first, command)
        return RoutePlan(self.id, self.title, commands, _Prepared(call, request, command, query))

    def check_enabled(self, plan: RoutePlan, link: CallLink) -> CallSteps[bool | None]:
        """Return what the shell says of the capability; None where it has no command for that."""
        query = plan.payload.query
        if query is None:
            return None
        with link.hop("ask whether it is enabled", query.arguments):
            ran = yield _Run(link.device, query.arguments, link.seconds)
            return (yield from _reading(ran, lambda: self.calls.read_enabled(_shell_output(ran))))

    def send(self, plan: RoutePlan, target: CallTarget, link: CallLink) -> CallSteps[RawResult]:
        """Run the command, once.

        Raises:
            CallError: the call failed.
            ConditionError: the condition of the link does not hold; nothing was called.
            DeviceError: the device failed; whether the call was made is not known.
        """
        prepared: _Prepared = plan.payload
        call, request = prepared.call, prepared.request
        if isinstance(request, ScreenStart):
            with link.hop("look whether the screen is locked", SHOW_LOCK):
                if read_lock((yield _Run(link.device, SHOW_LOCK, link.seconds))):
                    raise call_error(Failure("needs_user", _IS_LOCKED))
        with link.hop(self.title, prepared.command):
            try:
                deadline = call.seconds + _MARGIN_SECONDS
                ran = yield _Run(link.device, prepared.command, deadline, link.condition)
            except DeadlineError as error:
                raise call_error(Failure("timeout", error.message)) from error
        result = yield from _reading(ran, lambda: self.calls.read(call, _output_of(request, ran)))
        if result.token is not None:
            raise call_error(Failure(result.token, result.message, result.code))
        declared = None if result.is_missing else target.capability
        return RawResult(result.value, declared, target.provider.definitions, result.note)


def _reading(ran: CommandResult, read: Callable[[], T]) -> CallSteps[T]:
    """Return what reads the output of a command."""
    if len(ran.stdout) + len(ran.stderr) <= _LARGE:
        return read()
    result: T = yield Work(read)
    return result


def _call_of(target: CallTarget, arguments: Mapping[str, Json], link: CallLink) -> ShellCall:
    seconds = max(1, math.ceil(link.seconds))
    return ShellCall(target.named_provider, target.capability, arguments, link.facts, seconds)


def _command_of(request: ShellRequest, call: ShellCall) -> CommandWords:
    if isinstance(request, ShellCommand):
        return request.arguments
    write = start_command if isinstance(request, ScreenStart) else broadcast_command
    return tuple(write(_intent_of(request, call)))


def _intent_of(request: OrderedBroadcast | ScreenStart, call: ShellCall) -> list[str]:
    user = call.facts.user
    if isinstance(request, OrderedBroadcast):
        return intent_arguments(
            component=request.component, action=request.action, strings=request.extras, user=user
        )
    intent = intent_arguments(
        component=request.component,
        package=None if request.component else request.package,
        action=request.action,
        data=request.data,
        strings=request.extras,
        user=user,
    )
    return [*intent, _CLEAR_TASK]


def _output_of(request: ShellRequest, ran: CommandResult) -> ShellAnswer:
    if isinstance(request, ShellCommand):
        return _shell_output(ran)
    if isinstance(request, OrderedBroadcast):
        broadcast = read_broadcast(ran.text, ran.exit_status, ran.error_text)
        return BroadcastOutput(broadcast.result, broadcast.data)
    try:
        start = read_activity_start(ran.text, ran.exit_status, ran.error_text)
    except CommandFailedError as error:
        raise call_error(Failure("unavailable", error.message)) from error
    return ScreenOutput(start.activity, start.warning, start.status == "timeout")


def _shell_output(ran: CommandResult) -> ShellOutput:
    return ShellOutput(ran.text, ran.error_text, ran.exit_status)
