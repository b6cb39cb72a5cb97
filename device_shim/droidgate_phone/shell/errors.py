"""How a command line ends early."""

from __future__ import annotations

from typing import Final

NOT_MODELLED_STATUS: Final = 69
BUDGET_STATUS: Final = 137
BROKEN_PIPE_STATUS: Final = 141


class ShellSyntaxError(Exception):
    """The command line is none; the text is mksh's."""


class _Told(Exception):  # noqa: N818
    """A message and a status; `reported` when the message has been written."""

    def __init__(self, message: str, status: int = 1) -> None:
        super().__init__(message)
        self.status = status
        self.reported = False


class ShellError(_Told):
    """Ends the shell that it happens in, as mksh's `errorf` does."""


class CommandError(_Told):
    """One command failed; the shell goes on."""


class NotModelledError(Exception):
    """The phone does not model this; the whole run ends with status 69."""


class BudgetExceededError(Exception):
    """The run took more than it may; the whole run ends with status 137."""


class ShellExit(Exception):  # noqa: N818
    """`exit`."""

    def __init__(self, status: int) -> None:
        super().__init__(status)
        self.status = status


class FunctionReturn(Exception):  # noqa: N818
    """`return`."""

    def __init__(self, status: int) -> None:
        super().__init__(status)
        self.status = status


class LoopEnd(Exception):  # noqa: N818
    """`break`, or `continue` where `again`; `levels` of loops are left."""

    def __init__(self, levels: int, *, again: bool) -> None:
        super().__init__(levels)
        self.levels = levels
        self.again = again
