"""The failure tokens: one word at the head of a failure's message, in each world's terms."""

import re
from functools import cache
from typing import Final, Literal

from droidgate_mappings.model.types import Frozen
from droidgate_mappings.tables.loading import load_table

Retry = Literal["no", "after_change", "later", "risky"]

FALLBACK: Final = "backend_failure"
"""The token of an AppFunctions code outside all categories: an app chose it."""

_TOKEN_AT_HEAD = re.compile(r"\s*([a-z][a-z_]*)\s*(?::|$)\s*")


class AppFunctionsCodes(Frozen):
    """How a token and AppFunctions' error codes meet (reference appfunctions 5.1).

    Attributes:
        write: The code that carries the token.
        read: The codes that are read as the token.
        range: First and last code of a category whose other codes are read as the token.
    """

    write: int
    read: tuple[int, ...] = ()
    range: tuple[int, int] | None = None


class FailureToken(Frozen):
    """One token.

    Attributes:
        token: The word.
        meaning: What failed, one sentence.
        app_functions: Its AppFunctions error codes.
        mcp_error: `result` for a tool result with isError, or the code of a JSON-RPC error.
        exit_code: Of `droidgate call` (docs/reference/exit-codes.md).
        retry: Whether the same call may be sent again: `no`, `after_change` of arguments or permissions,
            `later` (nothing ran), `risky` (it may have run).
    """

    token: str
    meaning: str
    app_functions: AppFunctionsCodes
    mcp_error: int | Literal["result"]
    exit_code: int
    retry: Retry


class FailureTokens(Frozen):
    """The whole table."""

    tokens: tuple[FailureToken, ...]


@cache
def load_failure_tokens() -> dict[str, FailureToken]:
    """Return the tokens by name, in the order of the table.

    Raises:
        ValueError: the TOML does not fit the schema.
    """
    return {token.token: token for token in load_table("failure_tokens.toml", FailureTokens).tokens}


def token_of_code(code: int) -> str:
    """Return the token of an AppFunctions error code: its own, its category's, or `backend_failure`."""
    tokens = load_failure_tokens().values()
    for token in tokens:
        if code in token.app_functions.read:
            return token.token
    for token in tokens:
        limits = token.app_functions.range
        if limits is not None and limits[0] <= code <= limits[1]:
            return token.token
    return FALLBACK


def write_failure(token: str, text: str) -> str:
    """Return a failure's message: the token, and the text after a colon where there is one.

    Raises:
        KeyError: there is no such token.
    """
    token_text = load_failure_tokens()[token].token
    return f"{token_text}: {text}" if text else token_text


def read_failure(message: str) -> tuple[str | None, str]:
    """Split a failure's message into its token and its text; no token where it begins with none."""
    match = _TOKEN_AT_HEAD.match(message)
    if match is None or match[1] not in load_failure_tokens():
        return None, message
    return match[1], message[match.end() :]
