"""Findings about what the reader does not understand, and errors that Jetpack's compiler has too."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from droidgate_appfunctions.kotlin.declarations import SourceDeclarations
from droidgate_mappings.formats.leniency import ReadingContext
from droidgate_mappings.model.errors import BudgetError, InputError
from droidgate_mappings.model.findings import Finding, Level, finding_code
from droidgate_mappings.records import dataclass, field

NOT_UNDERSTOOD: Final = finding_code(
    "kotlin-not-understood",
    "A part of Kotlin source whose meaning the sources alone do not give is left out",
    __name__,
)

MAX_TYPES: Final = 100_000
"""Data types built for one application; a real one has some hundreds."""


_MOST_NAMED: Final = 5


@dataclass(slots=True, eq=False)
class Reports:
    """Collects findings and problems, each place and message once."""

    context: ReadingContext
    problems: dict[str, InputError] = field(default_factory=dict)
    left_out: dict[str, list[str]] = field(default_factory=dict)
    reported: set[tuple[str, int, str]] = field(default_factory=set)
    built: int = 0

    def not_understood(
        self,
        message: str,
        file: SourceDeclarations,
        line: int,
        hint: str,
        *,
        lost: bool = True,
        code: str = NOT_UNDERSTOOD,
    ) -> None:
        """Report a part that is left out; with `lost` false, one that is read, perhaps unlike the compiler.

        Args:
            message: What it is.
            file: Where it is.
            line: Its 1-based line.
            hint: The fix.
            lost: It is left out.
            code: The finding's code.

        Raises:
            InputError: the context is strict.
        """
        key = (file.path, line, message)
        if key in self.reported:
            return
        self.reported.add(key)
        place = file.place(line)
        if self.context.strict:
            raise InputError(message, place=str(place), hint=hint)
        level = Level.DROPPED if lost else Level.READ
        self.context.findings.append(
            Finding(code=code, level=level, pointer="", message=message, hint=hint, source=place)
        )

    def problem(self, error: InputError, function: str | None = None) -> None:
        """Keep an error; the part that has it is left out.

        Args:
            error: The error.
            function: The id of the function that is left out, where it is one.

        Raises:
            InputError: the context is strict.
        """
        if self.context.strict:
            raise error
        self.problems.setdefault(str(error), error)
        if function is not None:
            self.left_out.setdefault(str(error), []).append(function)

    def all_problems(self) -> Iterator[InputError]:
        """Yield the errors in order of place, each with the functions that are left out because of it."""
        for text, error in sorted(self.problems.items(), key=lambda item: _order_of(item[1])):
            ids = self.left_out.get(text)
            if ids is None:
                yield error
                continue
            function_names = ", ".join(id_.rpartition("#")[2] for id_ in ids[:_MOST_NAMED])
            more = f" and {len(ids) - _MOST_NAMED} more" if len(ids) > _MOST_NAMED else ""
            message = f"{error.message}; left out: {function_names}{more}"
            reported = type(error)(message, place=error.place, hint=error.hint)
            reported.left_out = tuple(ids)
            yield reported

    def count_type(self, file: SourceDeclarations, line: int) -> None:
        """Count a data type that is built.

        Raises:
            BudgetError: there are more than `MAX_TYPES`.
        """
        self.built += 1
        if self.built > MAX_TYPES:
            message = f"the functions have more than {MAX_TYPES} data types"
            raise BudgetError(message, place=str(file.place(line)), hint="read the modules one by one")


def _order_of(error: InputError) -> tuple[str, int]:
    path, _, line = (error.place or "").rpartition(":")
    return (path, int(line)) if line.isdecimal() else (error.place or "", 0)


def refusal(message: str, file: SourceDeclarations, line: int, hint: str) -> InputError:
    """Return the error about a line."""
    return InputError(message, place=str(file.place(line)), hint=hint)
