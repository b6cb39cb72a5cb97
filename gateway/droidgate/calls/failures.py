"""Failures of calls: a token of `mappings`, what happened, and the source's own number (DESIGN 6)."""

from __future__ import annotations

from dataclasses import dataclass

from droidgate.model.errors import DroidgateError
from droidgate_mappings.failure_tokens import load_failure_tokens, token_of_code, write_failure


@dataclass(frozen=True, slots=True)
class Failure:
    """Why a call failed.

    Attributes:
        token: One of `mappings/failure_tokens.toml`.
        text: What happened, in words; may be the app's own.
        code: The AppFunctions error code where the source gave one, kept also where the token is coarser.
    """

    token: str
    text: str = ""
    code: int | None = None

    def message(self) -> str:
        """Return the message that has the token at its head, and the token's meaning where it has no text."""
        return write_failure(self.token, self.text or load_failure_tokens()[self.token].meaning)

    def app_functions_code(self) -> int:
        """Return the code that an AppFunctions caller gets: the source's own, else the token's."""
        return load_failure_tokens()[self.token].app_functions.write if self.code is None else self.code


def failure_of_code(code: int, text: str = "") -> Failure:
    """Return the failure that an AppFunctions error code tells; the number is kept."""
    return Failure(token_of_code(code), text, code)


class CallError(DroidgateError):
    """A call that failed.

    Attributes:
        failure: Why.
        pointer: JSON Pointer of the argument or result at fault, None where it is the whole call.
    """

    exit_code = 5

    def __init__(self, failure: Failure, *, pointer: str | None = None, hint: str | None = None) -> None:
        super().__init__(failure.message(), place=pointer or None, hint=hint)
        self.failure = failure
        self.pointer = pointer
