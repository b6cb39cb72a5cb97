"""What `cmd app_function execute-app-function` answered (reference appfunctions 6.2). No I/O.

The shell says errors on standard output, in some generations with exit status 0, so the text decides.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from typing import Final

from droidgate_android.app_search.listing import without_notices
from droidgate_appfunctions.wire import RETURN_KEY
from droidgate_mappings.model.errors import InputError
from droidgate_mappings.model.json_values import Json
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
        said = f"the shell printed nothing and ended with status {exit_status}"
        return ShellOutcome(token=_MALFORMED, message=said)
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
        found = pattern.search(text)
        if found is None:
            continue
        said = found.groupdict().get("code")
        code = int(said) if said is not None else failure.code
        token = failure.token
        if said is not None and code is not None:
            token = token_of_code(code)
        return ShellOutcome(token=token, code=code, message=text[:_MAX_MESSAGE])
    return None
