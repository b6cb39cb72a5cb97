"""The one door through which a reader accepts what a specification does not allow.

Every leniency names its row in `droidgate_mappings/tables/divergences`. In strict mode, and for rows that
are switched off, the same call is an error.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Final, TypeVar

from droidgate_mappings.model.capability import Place
from droidgate_mappings.model.errors import DroidgateError, InputError
from droidgate_mappings.model.findings import Finding, Level, finding_code
from droidgate_mappings.records import dataclass, field
from droidgate_mappings.tables.loading import load_divergences
from droidgate_mappings.text.json_text import JsonParser, parse_json

_code = partial(finding_code, module=__name__)

LENIENT_READ: Final = _code(
    "lenient-read", "The reader accepted what the specification does not allow; `rule` names the registry row"
)

DECLARATION_UNREAD: Final = _code(
    "declaration-unread", "A part of a file that may declare capabilities is not read, so they are missing"
)
LOST_IN_READING: Final = _code(
    "lost-in-reading",
    "A part of the source that the specification does not allow is left out; `rule` names the registry row",
)

Part = TypeVar("Part")
Read = TypeVar("Read")

_MAX_REASON: Final = 300
_STRICT_HINT: Final = "it is accepted without strict reading"

USED_ROWS: set[str] = set()
"""Ids of the rows that this process has used; the tests hold it against the registry."""

ROWS_OFF: set[str] = set()
"""Ids of the rows that are errors in this process; tests show so that each row is needed."""


def crash_report(error: Exception, place: str | None, *, part: str = "a capability") -> InputError:
    """Return the problem that a scan reports for a part of an app that droidgate crashed at."""
    reason = f"{type(error).__name__}: {error}"[:_MAX_REASON]
    return InputError(f"{part} is left out: internal error: {reason}", place=place, hint="report the app")


@dataclass(slots=True)
class ReadingContext:
    """How a reader should behave, and where it reports what it accepted.

    Attributes:
        strict: Every leniency is an error.
        findings: What was accepted beyond the specification, in order.
        rows_off: Ids of the rows that are switched off.
        parse: Reads the JSON texts inside what is read; another one has other limits.
        keeps_going: A crash while one capability is read loses that capability alone; a scan reads so.
        crashes: What was lost so.
    """

    strict: bool = False
    findings: list[Finding] = field(default_factory=list)
    rows_off: frozenset[str] = field(default_factory=lambda: frozenset(ROWS_OFF))
    parse: JsonParser = parse_json
    keeps_going: bool = False
    crashes: list[InputError] = field(default_factory=list)

    def read_each(
        self, parts: Iterable[Part], read: Callable[[Part], Read], place: Callable[[Part], str]
    ) -> Iterator[Read]:
        """Yield what each part of a source is read as, in order.

        Args:
            parts: What is read: tools, elements, functions.
            read: Reads one.
            place: Returns where one is, for the report of a crash.

        Raises:
            InputError: a part is not what it should be.
        """
        for part in parts:
            try:
                value = read(part)
            except (DroidgateError, MemoryError):
                raise
            except Exception as error:
                if not self.keeps_going:
                    raise
                self.crashes.append(crash_report(error, place(part)))
            else:
                yield value

    def allow(
        self,
        row_id: str,
        message: str,
        *,
        pointer: str = "",
        source: Place | None = None,
        hint: str | None = None,
        lost: bool = False,
    ) -> None:
        """Accept something by a registry row, and report it.

        Args:
            row_id: The row, which must be marked lenient.
            message: What was accepted and how it was read, one sentence.
            pointer: Where in the source document: JSON Pointer or XPath.
            source: Path and line.
            hint: How to write it rightly.
            lost: A part of the source is left out, so that no target can have it.

        Raises:
            InputError: in strict mode or where the row is switched off.
            KeyError: the registry has no such row, or it is not lenient.
        """
        row = load_divergences()[row_id]
        if not row.lenient:
            raise KeyError(row_id)
        USED_ROWS.add(row_id)
        if self.strict or row_id in self.rows_off:
            place = str(source) if source is not None else None
            raise InputError(f"{message} ({row_id})", place=place, hint=hint or _STRICT_HINT)
        self.findings.append(
            Finding(
                code=LOST_IN_READING if lost else LENIENT_READ,
                level=Level.DROPPED if lost else Level.READ,
                pointer=pointer,
                message=message,
                source=source,
                rule=row_id,
                hint=hint,
            )
        )
