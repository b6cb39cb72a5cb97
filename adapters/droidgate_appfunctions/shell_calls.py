"""Calls of app functions by `cmd app_function`: the command, and what it answered (reference appfunctions 6).

Without I/O. The shell says errors on standard output, in some generations with exit status 0, so the text
decides.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from typing import Final

from droidgate_android.app_search.printed_listing import without_notices
from droidgate_appfunctions.format import EXECUTE, ROUTE
from droidgate_appfunctions.wire import (
    RETURN_KEY,
    AppFunctionWireError,
    can_be_written,
    read_result,
    write_parameters,
)
from droidgate_mappings.formats.installed import INSTALL_SHIM
from droidgate_mappings.formats.shell_calls import (
    NotCarriedError,
    ShellAnswer,
    ShellCall,
    ShellCommand,
    ShellOutput,
    ShellResult,
)
from droidgate_mappings.model.capability import Capability
from droidgate_mappings.model.errors import InputError
from droidgate_mappings.model.json_values import Json, one_line_json
from droidgate_mappings.model.types import OpaqueType, ScalarType, Type
from droidgate_mappings.records import dataclass
from droidgate_mappings.tables.app_functions import ShellFailure, load_shell_texts
from droidgate_mappings.tables.failure_tokens import token_of_code
from droidgate_mappings.text.json_text import parse_json

_MAX_MESSAGE: Final = 2000
_MALFORMED: Final = "malformed_response"


@dataclass(frozen=True, slots=True)
class ShellOutcome:
    """A response document, or a failure.

    Attributes:
        document: The response, for `wire.read_result`; None on failure.
        token: The failure token, None on success.
        code: AppFunctions' error code where the text has it.
        message: The shell's text, or why its answer is not a response; empty on success.
    """

    document: dict[str, Json] | None = None
    token: str | None = None
    code: int | None = None
    message: str = ""

    @property
    def failed(self) -> bool:
        """There is not a response."""
        return self.document is None


def read_shell_output(stdout: str, exit_status: int) -> ShellOutcome:
    """Read the answer of `execute-app-function`.

    Args:
        stdout: Everything that it printed on standard output.
        exit_status: Its exit status; -1 arrives as 255.

    Returns:
        The response document, or the failure with its token. A list of documents, as an early shell prints
        it, is the list of returned documents.
    """
    text = without_notices(stdout).strip(" \t\n")
    if exit_status == 0 and text.startswith(("{", "[")):
        return _read_document(text)
    failure = _find_failure(text)
    if failure is not None:
        return failure
    if not text:
        reason = f"the shell printed nothing and ended with status {exit_status}"
        return ShellOutcome(token=_MALFORMED, message=reason)
    token = _MALFORMED if exit_status == 0 else "backend_failure"
    return ShellOutcome(token=token, message=text[:_MAX_MESSAGE])


def _read_document(text: str) -> ShellOutcome:
    try:
        read = parse_json(text, path="<result>")
    except InputError as error:
        return ShellOutcome(token=_MALFORMED, message=f"the result is {error.message}")
    if isinstance(read, list):
        read = {RETURN_KEY: read} if read else {}
    return ShellOutcome(document=read)


@cache
def _failures() -> tuple[tuple[re.Pattern[str], ShellFailure], ...]:
    return tuple(
        (re.compile(failure.pattern, re.MULTILINE), failure) for failure in load_shell_texts().failures
    )


def _find_failure(text: str) -> ShellOutcome | None:
    for pattern, failure in _failures():
        match = pattern.search(text)
        if match is None:
            continue
        stated_code = match.groupdict().get("code")
        code = int(stated_code) if stated_code is not None else failure.code
        token = failure.token
        if stated_code is not None and code is not None:
            token = token_of_code(code)
        return ShellOutcome(token=token, code=code, message=text[:_MAX_MESSAGE])
    return None


_COMMAND: Final = ("cmd", "app_function")
_IS_ENABLED: Final = "is-enabled"
_TIMEOUT: Final = "--timeout-duration"
_FROM_A_SHIM: Final = f"call it through a shim: {INSTALL_SHIM}"


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
                *("--package", call.provider.package or "", "--function", call.capability.id),
                "--parameters",
                one_line_json(parameters),
                *("--user", str(call.facts.user)),
                _TIMEOUT,
                str(call.seconds),
            )
        )

    def why_never(self, capability: Capability, definitions: Mapping[str, Type]) -> str | None:
        """Return that a required value is one that the shell carries never; None where some are carried."""
        if can_be_written(capability.input, definitions):
            return None
        return "the shell does not carry its arguments"

    def read(self, call: ShellCall, output: ShellAnswer) -> ShellResult:
        """Return the result, unwrapped by its declared type, or why there is none."""
        if not isinstance(output, ShellOutput):
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
