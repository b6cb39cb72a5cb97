"""The one tree of errors that users see.

DroidgateError
├── InputError          a descriptor, project or archive that cannot be read (exit code 3)
│   ├── EmptyError      it can be read and holds nothing to read: no app and no descriptor
│   └── BudgetError     reading it would take more than the parser's budget allows
├── UsageError          an unknown format, dialect or option value (exit code 2)
├── WriteError          a target that cannot hold what it is asked to hold (exit code 3)
└── DeviceError         a device that is not there, does not let us in, or answers wrongly (exit code 4)
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, Final

_SHOWN_OTHERS: Final = 3


class OptionHint(str):
    """A hint as Python programs read it, which names an argument; `command` is it with an option's name."""

    __slots__ = ("command",)
    command: str


def option_hint(text: str, option: str, argument: str) -> OptionHint:
    """Return a hint for commands and for Python programs.

    Args:
        text: The hint, with `{}` for what it names.
        option: How the command line names it, such as `--force`.
        argument: How Python does, such as `force=True`.
    """
    hint = OptionHint(text.replace("{}", argument, 1))
    hint.command = text.replace("{}", option, 1)
    return hint


class DroidgateError(Exception):
    """Base of every error that droidgate raises on purpose.

    Args:
        message: One sentence, without a period at its end.
        place: Where: `path`, `path:line` or `path:line:column`, or None.
        hint: The fix, one sentence, or None.
    """

    exit_code: ClassVar[int] = 70

    def __init__(self, message: str, *, place: str | None = None, hint: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.place = place
        self.hint = hint

    @property
    def command_hint(self) -> str | None:
        """The hint as a command prints it."""
        return self.hint.command if isinstance(self.hint, OptionHint) else self.hint

    @property
    def located(self) -> str:
        """The message behind its place, without the hint."""
        return f"{self.place}: {self.message}" if self.place else self.message

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.located!r})"

    def __str__(self) -> str:
        return f"{self.located}\nhint: {self.hint}" if self.hint else self.located


class InputError(DroidgateError):
    """What was given cannot be read.

    Attributes:
        others: What else of it cannot be read.
        left_out: Ids of the capabilities that are left out because of it, where they are known.
    """

    exit_code = 3
    others: tuple[InputError, ...] = ()
    left_out: tuple[str, ...] = ()

    @classmethod
    def first_of(cls, problems: Sequence[InputError]) -> InputError:
        """Return the first of several problems, which has the rest of them."""
        first, *others = problems
        first.others = tuple(others)
        return first

    def __str__(self) -> str:
        """Return the error, with the first of the others: a traceback shows nothing else of them."""
        shown = [super().__str__(), *map(DroidgateError.__str__, self.others[:_SHOWN_OTHERS])]
        more = len(self.others) - _SHOWN_OTHERS
        return "\n".join([*shown, f"and {more} more in `others` of this error"] if more > 0 else shown)


class EmptyError(InputError):
    """What was given can be read, and holds no app and no descriptor."""


class BudgetError(InputError):
    """What was given is larger or deeper than the parser's budget."""


class UsageError(DroidgateError):
    """The request itself is invalid: an unknown format, dialect or option value."""

    exit_code = 2


class WriteError(DroidgateError):
    """The target cannot hold what it is asked to hold."""

    exit_code = 3


class DeviceError(DroidgateError):
    """A device is not there, does not let us in, fails a command, or answers what it should not.

    Attributes:
        is_of_sent_call: A call of an app was sent before; the app may have made it.
    """

    exit_code = 4
    is_of_sent_call = False
