"""Known changes of `diff --accept FILE`: each with a reason and the day until which it does not count."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from datetime import UTC, date, datetime
from pathlib import Path

from pydantic import Field, field_validator

from droidgate_mappings.compare import Change, Comparison, heaviest
from droidgate_mappings.compare.changes import CODES
from droidgate_mappings.model.errors import InputError
from droidgate_mappings.model.types import Frozen
from droidgate_mappings.records import dataclass
from droidgate_mappings.text.nearest_names import closest_name
from droidgate_mappings.text.toml_text import line_of, read_toml


class AcceptedChange(Frozen):
    """A change, or several, that somebody knows of.

    Attributes:
        code: The code of the change.
        package: The app; any by default.
        capability: The id of the capability; any, and none, by default.
        where: The place, as the page of `diff` has it; any by default.
        reason: Why it is accepted.
        until: The last day on which it is.
    """

    code: str
    package: str | None = None
    capability: str | None = None
    where: str | None = None
    reason: str = Field(min_length=1)
    until: date

    @field_validator("code")
    @classmethod
    def _check_code(cls, code: str) -> str:
        """Check that a change can have the code."""
        if code not in CODES:
            closest = closest_name(code, CODES)
            message = f'"{code}" is not a code of a change' + (
                f'; did you mean "{closest}"?' if closest else ""
            )
            raise ValueError(message)
        return code


class AcceptedChanges(Frozen):
    """The file that `--accept` takes."""

    accept: tuple[AcceptedChange, ...]


class MatchedChange(Frozen):
    """A change that does not count, why, and the last day on which it does not."""

    package: str | None
    component: str | None
    capability: str | None
    change: Change
    reason: str
    until: str


@dataclass(frozen=True, slots=True)
class Acceptance:
    """The outcome of a comparison.

    Attributes:
        left: What is left to be looked at.
        matched: The changes that do not count.
        notes: What has to be put right in the file: entries that have expired or match nothing.
    """

    left: Comparison
    matched: tuple[MatchedChange, ...] = ()
    notes: tuple[InputError, ...] = ()


def accept_changes(comparison: Comparison, path: Path, shorten: Callable[[Change, str], str]) -> Acceptance:
    """Return a comparison without the changes that a file accepts.

    Args:
        comparison: What changed.
        path: The file.
        shorten: Returns the place of a change of a capability, empty for none, as the page has it.

    Raises:
        InputError: the file cannot be read, is not TOML, or has an unknown key or a value that is refused.
    """
    try:
        data = path.read_bytes()
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror}", place=str(path)) from None
    file = _File(read_toml(data, AcceptedChanges, path=str(path)).accept, shorten)
    protocol_changes = tuple(
        item
        for item in comparison.protocol_changes
        if not file.accepts(item.change, (item.package, item.component, None))
    )
    providers = []
    for provider in comparison.providers:
        place = (provider.package, provider.component)
        changes = file.left(provider.changes, (*place, None))
        capabilities = []
        for capability in provider.capabilities:
            open_changes = file.left(capability.changes, (*place, capability.id))
            if open_changes:
                weight = heaviest(change.weight for change in open_changes)
                capabilities.append(capability.changed({"changes": open_changes, "weight": weight}))
        if changes or capabilities:
            weights = [*(item.weight for item in changes), *(item.weight for item in capabilities)]
            facts = {"changes": changes, "capabilities": tuple(capabilities), "weight": heaviest(weights)}
            providers.append(provider.changed(facts))
    left_over = comparison.changed({"providers": tuple(providers), "protocol_changes": protocol_changes})
    return Acceptance(left_over, tuple(file.matched), tuple(file.notes(data.decode(), str(path))))


class _File:
    """The entries of a file, and what they matched."""

    def __init__(self, entries: tuple[AcceptedChange, ...], shorten: Callable[[Change, str], str]) -> None:
        self.entries = entries
        self.shorten = shorten
        self.today = datetime.now(UTC).date()
        self.matched: list[MatchedChange] = []
        self.used: set[int] = set()

    def left(
        self, changes: Iterable[Change], place: tuple[str | None, str | None, str | None]
    ) -> tuple[Change, ...]:
        """Return the changes that no entry accepts."""
        return tuple(change for change in changes if not self.accepts(change, place))

    def accepts(self, change: Change, place: tuple[str | None, str | None, str | None]) -> bool:
        """Return whether an entry accepts a change of a package, a component and a capability."""
        package, component, capability = place
        facts = {
            "code": change.code,
            "package": package,
            "capability": capability,
            "where": self.shorten(change, capability or ""),
        }
        is_accepted = False
        for position, entry in enumerate(self.entries):
            if any(getattr(entry, name) not in {None, fact} for name, fact in facts.items()):
                continue
            self.used.add(position)
            if entry.until < self.today or is_accepted:
                continue
            is_accepted = True
            self.matched.append(
                MatchedChange(
                    package=package,
                    component=component,
                    capability=capability,
                    change=change,
                    reason=entry.reason,
                    until=entry.until.isoformat(),
                )
            )
        return is_accepted

    def notes(self, text: str, path: str) -> Iterable[InputError]:
        """Yield what has to be put right in the file."""
        for position, entry in enumerate(self.entries):
            line = line_of(text, ("accept", position))
            place = path if line is None else f"{path}:{line}"
            if entry.until < self.today:
                message = f"{entry.code} is no longer accepted: {entry.until} has passed"
                yield InputError(message, place=place, hint="mend the change, or set a later day")
            elif position not in self.used:
                yield InputError(f"{entry.code} matches no change", place=place, hint="remove the entry")
