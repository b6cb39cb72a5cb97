"""Calls of app functions by `cmd app_function` (reference appfunctions 6). No I/O."""

from __future__ import annotations

from typing import Final

from droidgate_android.app_search.listing import without_notices
from droidgate_appfunctions.discovery import EXECUTE, ROUTE
from droidgate_appfunctions.shell_output import read_shell_output
from droidgate_appfunctions.wire import AppFunctionWireError, read_result, write_parameters
from droidgate_mappings.formats.shell_calls import (
    BroadcastOutput,
    NotCarriedError,
    ShellCall,
    ShellCommand,
    ShellOutput,
    ShellResult,
)
from droidgate_mappings.model.json_values import one_line_json
from droidgate_mappings.model.types import OpaqueType, ScalarType, Type

_COMMAND: Final = ("cmd", "app_function")
_IS_ENABLED: Final = "is-enabled"
_TIMEOUT: Final = "--timeout-duration"
_FROM_A_SHIM: Final = "call it through a shim: droidgate shim install --from adb:"


class AppFunctionShellCalls:
    """How Android's shell calls app functions."""

    route_id = ROUTE

    def write(self, call: ShellCall) -> ShellCommand:
        """Return `cmd app_function execute-app-function` with its options.

        Raises:
            NotCarriedError: the shell cannot carry the arguments, or does not print the result as JSON.
        """
        options = call.facts.shell_commands.get(EXECUTE, frozenset())
        # The shells that print JSON of any result are those that take a time limit (reference 6.1).
        if _TIMEOUT not in options:
            message = "the shell of this build does not print the results of app functions as JSON"
            raise NotCarriedError(message, hint=_FROM_A_SHIM)
        try:
            parameters = write_parameters(call.arguments, call.capability.input, call.provider.definitions)
        except AppFunctionWireError as error:
            raise NotCarriedError(error.message, pointer=error.pointer, hint=error.hint) from None
        return ShellCommand(
            (
                *_COMMAND,
                EXECUTE,
                *_identity(call),
                "--parameters",
                one_line_json(parameters),
                *_user(call),
                _TIMEOUT,
                str(call.seconds),
            )
        )

    def read(self, call: ShellCall, output: ShellOutput | BroadcastOutput) -> ShellResult:
        """Return the result, unwrapped by its declared type, or why there is none."""
        if isinstance(output, BroadcastOutput):
            raise TypeError(output)
        answered = read_shell_output(output.text or output.error_text, output.exit_status)
        if answered.document is None:
            return ShellResult(token=answered.token, message=answered.message, code=answered.code)
        declared = call.capability.output
        try:
            value = read_result(answered.document, declared, call.provider.definitions)
        except AppFunctionWireError as error:
            return ShellResult(token=error.token, message=f"{error.pointer}: {error.message}")
        is_opaque = isinstance(declared, OpaqueType)
        is_missing = value is None and declared is not None and not _may_be_nothing(declared)
        note = "the shell does not print an object of the platform" if is_opaque else None
        return ShellResult(value, is_missing=is_missing or is_opaque, note=note)

    def write_enabled_query(self, call: ShellCall) -> ShellCommand | None:
        """Return `cmd app_function is-enabled`, which newer shells have."""
        if _IS_ENABLED not in call.facts.shell_commands:
            return None
        return ShellCommand(state_command(call.provider.package or "", call.capability.id, call.facts.user))

    def read_enabled(self, output: ShellOutput) -> bool | None:
        """Return what `is-enabled` printed: `true` or `false`; None for an error."""
        return read_state(output.text)


def state_command(package: str, function: str, user: int) -> tuple[str, ...]:
    """Return the command that says whether a function can be called (reference 6.2)."""
    return (*_COMMAND, _IS_ENABLED, "--package", package, "--function", function, "--user", str(user))


def read_state(text: str) -> bool | None:
    """Return what `is-enabled` printed: `true` or `false`; None for an error."""
    return {"true": True, "false": False}.get(without_notices(text).strip())


def _may_be_nothing(declared: Type) -> bool:
    return declared.nullable or (isinstance(declared, ScalarType) and declared.kind == "null")


def _identity(call: ShellCall) -> tuple[str, ...]:
    return ("--package", call.provider.package or "", "--function", call.capability.id)


def _user(call: ShellCall) -> tuple[str, ...]:
    return ("--user", str(call.facts.user))
