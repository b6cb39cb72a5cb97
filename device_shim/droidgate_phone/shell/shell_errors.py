"""How a command line ends early."""

from __future__ import annotations

from typing import Final

NOT_MODELLED_STATUS: Final = 69
BUDGET_STATUS: Final = 137
BROKEN_PIPE_STATUS: Final = 141


class ShellSyntaxError(Exception):
    """The text is not a command line; the message is mksh's."""


class CommandError(Exception):
    """One command failed with a message and a status; the shell continues."""

    def __init__(self, message: str, status: int = 1) -> None:
        super().__init__(message)
        self.status = status


class NotModelledError(Exception):
    """The phone does not model this; the whole run ends with status 69."""


class BudgetExceededError(Exception):
    """The run took more than it may; the whole run ends with status 137."""


class ShellExit(Exception):  # noqa: N818
    """Ends the shell with a status: `exit`, or an error that mksh does not survive."""

    def __init__(self, status: int) -> None:
        super().__init__(status)
        self.status = status
