"""What the user has approved: one pin for each capability, with the declaration that was approved.

One file in the user's configuration folder, replaced as a whole. A declaration is kept with its pin, so that
a change can be shown. A file that cannot be read, or whose digests do not fit its declarations, approves
nothing: it is an error until the user looks at it.
"""

import os
from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal

from pydantic import ValidationError

from droidgate.calls.subjects import (
    CapabilityKey,
    Pin,
    check_client,
    declaration_for,
    find_capability,
    glob_matches,
    named_items,
    pin_of,
)
from droidgate.computer.private_files import exclusive_file, read_private, replace_private
from droidgate_mappings.model.capability import CapabilitySet, Provider
from droidgate_mappings.model.errors import InputError
from droidgate_mappings.model.json_values import one_line_json
from droidgate_mappings.model.types import Frozen
from droidgate_mappings.records import dataclass, field
from droidgate_mappings.text.json_text import WRITTEN, parse_json
from droidgate_mappings.user_folders import configuration_folder

if TYPE_CHECKING:
    from droidgate_mappings.compare import Comparison

FILE_NAME: Final = "pins.json"
LOCK_NAME: Final = "pins.lock"
ANY_CLIENT: Final = "*"
_LARGEST: Final = 1 << 26
_WAY_OUT: Final = "look at the file; to approve everything anew, move it away"


class PinRecord(Frozen):
    """One approval.

    Attributes:
        user: Android user number.
        package, component, protocol, capability, signer: As in `Pin`.
        digest: The pin's.
        client: Pattern of who may call on this approval.
        approved_at: When, in UTC, as ISO 8601.
        declaration: The provider with this capability alone.
    """

    user: int
    package: str
    component: str
    protocol: str
    capability: str
    signer: str
    digest: str
    client: str = ANY_CLIENT
    approved_at: str
    declaration: Provider

    @property
    def key(self) -> CapabilityKey:
        """Which capability was approved."""
        return CapabilityKey(self.user, self.package, self.component, self.protocol, self.capability)

    @property
    def pin(self) -> Pin:
        """The pin as it was approved."""
        return Pin(self.key, self.signer, self.digest)


class _PinFile(Frozen):
    version: Literal[1] = 1
    pins: tuple[PinRecord, ...] = ()


@dataclass(frozen=True, slots=True)
class PinState:
    """Whether a capability is approved as it is declared now.

    Attributes:
        kind: `approved`; `new` where it was never approved for this client; `changed` where another
            declaration, or the app of another signer, was approved.
        record: The earlier approval, None where it is new.
    """

    kind: Literal["approved", "new", "changed"]
    record: PinRecord | None = None


@dataclass(frozen=True, slots=True)
class _Reading:
    """The file as it was read: its identity, its records, and the records by their keys."""

    seen: tuple[int, ...]
    records: tuple[PinRecord, ...]
    by_key: dict[CapabilityKey, tuple[PinRecord, ...]] = field(init=False)

    def __post_init__(self) -> None:
        by_key: dict[CapabilityKey, tuple[PinRecord, ...]] = {}
        for record in self.records:
            by_key[record.key] = (*by_key.get(record.key, ()), record)
        object.__setattr__(self, "by_key", by_key)


@dataclass(slots=True)
class PinStore:
    """The user's pins; several processes may use one store.

    Attributes:
        folder: Where they are kept; the user's configuration folder by default.
        path: The file.
    """

    folder: Path = field(default_factory=configuration_folder)
    path: Path = field(init=False)
    _read: _Reading | None = None

    def __post_init__(self) -> None:
        self.path = self.folder / FILE_NAME

    @property
    def is_read(self) -> bool:
        """Whether the file is as it was last read, so that `check` takes no time."""
        return self._read is not None and self._read.seen == _identity_of(self.path)

    def check(self, pin: Pin, *, client: str = ANY_CLIENT) -> PinState:
        """Return whether a capability is approved as it is declared now.

        Args:
            pin: The capability's.
            client: Who calls.

        Raises:
            InputError: the file of pins cannot be used.
        """
        records = self._reading().by_key.get(pin.key, ())
        earlier = [record for record in records if glob_matches(record.client, client)]
        for record in earlier:
            if record.pin == pin:
                return PinState("approved", record)
        return PinState("changed", earlier[-1]) if earlier else PinState("new")

    def approve(self, pin: Pin, declaration: Provider, *, client: str = ANY_CLIENT) -> PinRecord:
        """Approve a capability as it is declared now, in place of an earlier approval for the same clients.

        Args:
            pin: The capability's.
            declaration: The provider that declares it.
            client: Pattern of the clients that may call on this approval.

        Raises:
            InputError: the file of pins cannot be used, or the pin is not that of the declaration.
            UsageError: no client can match the pattern.
            WriteError: it cannot be written.
        """
        check_client(client)
        key = pin.key
        record = PinRecord(
            user=key.user,
            package=key.package,
            component=key.component,
            protocol=key.protocol,
            capability=key.capability,
            signer=pin.signer,
            digest=pin.digest,
            client=client,
            approved_at=datetime.now(UTC).isoformat(timespec="seconds"),
            declaration=declaration_for(declaration, key.capability),
        )
        _check_record(record, str(self.path))
        self._change(
            lambda records: (
                *(known for known in records if (known.key, known.client) != (key, client)),
                record,
            )
        )
        return record

    def remove(self, patterns: Sequence[str]) -> tuple[PinRecord, ...]:
        """Remove the pins of the capabilities that patterns name, as in `named_items`; return them.

        Raises:
            InputError: the file of pins cannot be used.
            WriteError: it cannot be written.
        """
        removed: tuple[PinRecord, ...] = ()

        def without(records: tuple[PinRecord, ...]) -> Iterable[PinRecord]:
            nonlocal removed
            removed = named_items(patterns, records)
            return (record for record in records if record not in removed)

        self._change(without)
        return removed

    def list(self) -> tuple[PinRecord, ...]:
        """Return all pins, oldest first.

        Raises:
            InputError: the file of pins cannot be used.
        """
        return self._reading().records

    def _reading(self) -> _Reading:
        seen = _identity_of(self.path)
        if self._read is None or self._read.seen != seen:
            data = read_private(self.path, largest=_LARGEST)
            # A file that is replaced during the read has another identity, so the next call reads it again.
            self._read = _Reading(seen, () if data is None else _read_records(data, str(self.path)))
        return self._read

    def _change(self, change: Callable[[tuple[PinRecord, ...]], Iterable[PinRecord]]) -> None:
        with exclusive_file(self.folder / LOCK_NAME):
            before = self.list()
            after = tuple(change(before))
            if after != before:
                replace_private(self.path, _encode_pins(after))


def diff(record: PinRecord, now: Provider) -> "Comparison":
    """Return what changed in a capability since it was approved.

    Args:
        record: The approval.
        now: The provider that declares the capability now.
    """
    from droidgate_mappings.compare import compare_sets

    try:
        declared: tuple[Provider, ...] = (declaration_for(now, record.capability),)
    except KeyError:
        declared = ()
    return compare_sets(CapabilitySet(providers=(record.declaration,)), CapabilitySet(providers=declared))


def _identity_of(path: Path) -> tuple[int, ...]:
    try:
        status = os.lstat(path)
    except (OSError, ValueError):
        return ()
    return (status.st_ino, status.st_mtime_ns, status.st_size, status.st_mode, status.st_uid)


def _encode_pins(records: Iterable[PinRecord]) -> bytes:
    lines = ",\n".join(one_line_json(record.model_dump()) for record in records)
    return f'{{"version":1,"pins":[\n{lines}\n]}}\n'.encode()


def _read_records(data: bytes, place: str) -> tuple[PinRecord, ...]:
    try:
        value = parse_json(data.decode(), path=place, limits=WRITTEN)
        records = _PinFile.model_validate(value).pins
    except UnicodeDecodeError:
        raise InputError("the file of pins is not UTF-8", place=place, hint=_WAY_OUT) from None
    except InputError as error:
        raise InputError(
            f"the file of pins is damaged: {error.message}", place=error.place, hint=_WAY_OUT
        ) from None
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        where = "/".join(map(str, first["loc"]))
        message = f"the file of pins is damaged: {first['msg'].lower()} (at {where})"
        raise InputError(message, place=place, hint=_WAY_OUT) from None
    for record in records:
        _check_record(record, place)
    return records


def _check_record(record: PinRecord, place: str) -> None:
    try:
        find_capability(record.declaration, record.capability)
        pin = pin_of(record.declaration, record.capability, user=record.user, signer=record.signer)
    except KeyError:
        pin = None
    if pin != record.pin:
        message = f'the pin of "{record.package}/{record.capability}" is not that of its declaration'
        raise InputError(message, place=place, hint=_WAY_OUT)
