"""Failures of calls: a token of `failure_tokens.toml`, what happened, and the source's own number."""

from __future__ import annotations

from collections.abc import Sequence

from droidgate_mappings.model.errors import DroidgateError
from droidgate_mappings.records import dataclass
from droidgate_mappings.tables.failure_tokens import load_failure_tokens, token_of_code, write_failure


@dataclass(frozen=True, slots=True)
class Failure:
    """Why a call failed.

    Attributes:
        token: One of `droidgate_mappings/tables/failure_tokens.toml`.
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


def failure_of_code(code: int) -> Failure:
    """Return the failure of an AppFunctions error code; the number is kept."""
    return Failure(token_of_code(code), code=code)


class CallError(DroidgateError):
    """A call that failed.

    Attributes:
        failure: Why.
        pointer: JSON Pointer of the argument or result at fault, which the message has too; None where it is
            the whole call.
        others: What else is wrong with the arguments.
    """

    exit_code = 5
    others: tuple[CallError, ...] = ()

    def __init__(self, failure: Failure, *, pointer: str | None = None, hint: str | None = None) -> None:
        super().__init__(failure.message(), hint=hint)
        self.failure = failure
        self.pointer = pointer


def first_of(errors: Sequence[CallError]) -> CallError:
    """Return the first of several errors, which has the rest of them."""
    first, *others = errors
    first.others = tuple(others)
    return first


class CallDeniedError(CallError):
    """A call that a policy forbids, or that nobody has approved."""

    exit_code = 6


def call_error(failure: Failure, *, pointer: str | None = None, hint: str | None = None) -> CallError:
    """Return the error of a failure; its exit code is that of the failure's token."""
    is_denial = load_failure_tokens()[failure.token].exit_code == CallDeniedError.exit_code
    return (CallDeniedError if is_denial else CallError)(failure, pointer=pointer, hint=hint)
