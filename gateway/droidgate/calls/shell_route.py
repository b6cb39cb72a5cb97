"""The route through Android's own shell, for formats that say how it calls their capabilities."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from droidgate.calls.call_links import CallLink, Command, RawResult, RoutePlan
from droidgate.calls.targets import CallTarget
from droidgate.devices.activities import (
    broadcast_command,
    intent_arguments,
    send_broadcast,
    start_activity,
    start_command,
)
from droidgate.devices.device import Condition, Device
from droidgate.devices.device_errors import CommandFailedError, DeadlineError
from droidgate.devices.quoting import MAX_ARGUMENT_BYTES
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
from droidgate_mappings.values.failures import Failure, call_error

_CLEAR_TASK: Final = "--activity-clear-task"
"""Without it, Android only brings a task to the front whose intent differs in extras. It starts launcher
shortcuts with the same flag (reference app-actions 5)."""
_MARGIN_SECONDS: Final = 5.0
"""Seconds that a command may take in addition to the call that it makes."""


@dataclass(frozen=True, slots=True)
class _Prepared:
    call: ShellCall
    request: ShellRequest
    command: Command
    query: ShellCommand | None


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
        commands = (command,) if query is None else (query.arguments, command)
        return RoutePlan(self.id, self.title, commands, _Prepared(call, request, command, query))

    def check_enabled(self, plan: RoutePlan, link: CallLink) -> bool | None:
        """Return what the shell says of the capability; None where it has no command for that."""
        query = plan.payload.query
        if query is None:
            return None
        with link.hop("ask whether it is enabled", query.arguments):
            return self.calls.read_enabled(_run(link.device, query, link.seconds))

    def send(self, plan: RoutePlan, target: CallTarget, link: CallLink) -> RawResult:
        """Run the command, once.

        Raises:
            CallError: the call failed.
            ConditionError: the condition of the link does not hold; nothing was called.
            DeviceError: the device failed; whether the call was made is not known.
        """
        prepared: _Prepared = plan.payload
        call, request = prepared.call, prepared.request
        with link.hop(self.title, prepared.command):
            try:
                output = _send(link.device, request, call, link.condition)
            except DeadlineError as error:
                raise call_error(Failure("timeout", error.message)) from error
        result = self.calls.read(call, output)
        if result.token is not None:
            raise call_error(Failure(result.token, result.message, result.code))
        declared = None if result.is_missing else target.capability
        return RawResult(result.value, declared, target.provider.definitions, result.note)


def _call_of(target: CallTarget, arguments: Mapping[str, Json], link: CallLink) -> ShellCall:
    seconds = max(1, math.ceil(link.seconds))
    return ShellCall(target.named_provider, target.capability, arguments, link.facts, seconds)


def _command_of(request: ShellRequest, call: ShellCall) -> Command:
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


def _send(device: Device, request: ShellRequest, call: ShellCall, condition: Condition | None) -> ShellAnswer:
    deadline = call.seconds + _MARGIN_SECONDS
    if isinstance(request, ShellCommand):
        return _run(device, request, deadline, condition)
    intent = _intent_of(request, call)
    if isinstance(request, OrderedBroadcast):
        left = send_broadcast(device, intent, deadline=deadline, condition=condition)
        return BroadcastOutput(left.result, left.data)
    try:
        start = start_activity(device, intent, deadline=deadline, condition=condition)
    except CommandFailedError as error:
        raise call_error(Failure("unavailable", error.message)) from error
    return ScreenOutput(start.activity, start.warning, start.status == "timeout")


def _run(
    device: Device, command: ShellCommand, deadline: float, condition: Condition | None = None
) -> ShellOutput:
    result = device.run(command.arguments, deadline=deadline, condition=condition)
    return ShellOutput(result.text, result.error_text, result.exit_status)
