"""Reading resource tables (AOSP ResourceTypes.h, ResTable_*), of a base APK and its splits as one, and the
configurations that their values are for (ResTable_config).

Only where its parts begin is indexed; an entry is decoded when it is asked for. What is broken is left out
and reported as a finding, since Android too looks at what it needs only.
"""

from __future__ import annotations

import struct
from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from typing import Final

from droidgate_android.apk.apk_budgets import Budget
from droidgate_android.apk.apk_findings import BROKEN_RESOURCE_TABLE, warn
from droidgate_android.apk.byte_source import CHUNK_HEADER, NO_INDEX, ChunkType
from droidgate_android.apk.resource_qualifiers import locale_of, qualifier_of
from droidgate_android.apk.string_pool import StringPool
from droidgate_android.apk.xml_tree import REFERENCE_TYPES, TypedValue, ValueType
from droidgate_mappings.model.errors import BudgetError, InputError
from droidgate_mappings.model.findings import Finding
from droidgate_mappings.records import dataclass, field

_SIZE_FIELD: Final = 4


@dataclass(frozen=True, slots=True)
class Configuration:
    """For which device a value is.

    Attributes:
        locale: Language, script, region and variant joined by hyphens (`de`, `zh-Hant-TW`), empty for the
            default locale.
        is_default: It is for every device.
        qualifier: The resource qualifier that means it, such as `de-rDE-v21`; empty for the default
            configuration.
    """

    locale: str
    is_default: bool
    qualifier: str = ""


@lru_cache(maxsize=4096)
def read_configuration(raw: bytes) -> Configuration:
    """Return the configuration of a ResTable_config without its size field; a shorter one lacks the rest."""
    if not any(raw):
        return Configuration("", is_default=True)
    config = bytes(_SIZE_FIELD) + raw
    return Configuration(locale_of(config), is_default=False, qualifier=qualifier_of(config))


COLLAPSED_NAME: Final = "0_resource_name_obfuscated"
"""What aapt2 puts in place of every name (`--collapse-resource-names`)."""

_PACKAGE: Final = struct.Struct("<I256s4I")
_TYPE: Final = struct.Struct("<BB2xIII")
_TABLE_HEADER: Final = 12
_SPARSE: Final = 1
_OFFSET16: Final = 2
_COMPLEX: Final = 1
_COMPACT: Final = 8
_NO_ENTRY_16: Final = 0xFFFF
_MIN_VALUE: Final = 8
_MAP_ENTRY: Final = struct.Struct("<I3xBI")
_MAP_START: Final = 16
_MAX_REPORTED: Final = 8
"""Of a table in ruins, the first reasons are enough."""


@dataclass(frozen=True, slots=True)
class Bag:
    """A value made of several: an array, plurals, a style.

    Attributes:
        parent: Resource id of a style's parent, 0 without one.
        items: Key and value of each, in order; an array's keys count up.
    """

    parent: int
    items: tuple[tuple[int, TypedValue], ...]


@dataclass(frozen=True, slots=True)
class ResourceValue:
    """One value of a resource, for one configuration."""

    configuration: Configuration
    value: TypedValue | Bag


@dataclass(frozen=True, slots=True)
class _TypeChunk:
    """Where the entries of one type are, for one configuration."""

    package: _Package
    flags: int
    count: int
    offsets: int
    entries: int
    end: int
    configuration: Configuration


@dataclass(slots=True, eq=False)
class _Package:
    """One package of one file."""

    file: TableFile
    name: str
    types: StringPool | None = None
    keys: StringPool | None = None
    chunks: dict[int, list[_TypeChunk]] = field(default_factory=dict)

    def type_name(self, type_id: int) -> str | None:
        return self.types[type_id - 1] if self.types is not None and 0 < type_id <= self.types.count else None


class TableFile:
    """One `resources.arsc`.

    Args:
        data: The file.
        place: How errors name it.
        budget: Counts chunks and characters.

    Attributes:
        packages: Its packages by id.
        problem: Why the rest of it could not be indexed, or None.

    Raises:
        InputError: it is not a resource table at all.
        BudgetError: it has too many parts.
    """

    def __init__(self, data: bytes, *, place: str, budget: Budget) -> None:
        self.data = data
        self.place = place
        self.strings: StringPool | None = None
        self.packages: dict[int, list[_Package]] = {}
        self.problem: str | None = None
        self._budget = budget
        if len(data) < _TABLE_HEADER or CHUNK_HEADER.unpack_from(data)[0] != ChunkType.TABLE:
            raise InputError("it is not a resource table", place=place)
        try:
            self._index()
        except BudgetError:
            raise
        except InputError as error:
            self.problem = error.message
        except struct.error:
            self.problem = "resource table: it is cut off"

    def _chunks(self, position: int, end: int) -> Iterator[tuple[int, int, int, int]]:
        """Yield type, start, header size and end of each chunk."""
        while position + CHUNK_HEADER.size <= end:
            kind, header, size = CHUNK_HEADER.unpack_from(self.data, position)
            if size < CHUNK_HEADER.size or header > size or position + size > end:
                raise InputError("resource table: a chunk has an impossible size", place=self.place)
            self._budget.spend_chunk(self.place)
            yield kind, position, header, position + size
            position += size

    def _index(self) -> None:
        header, size = CHUNK_HEADER.unpack_from(self.data)[1:]
        for kind, start, header_size, end in self._chunks(
            max(header, _TABLE_HEADER), min(size, len(self.data))
        ):
            if kind == ChunkType.STRING_POOL and self.strings is None:
                self.strings = StringPool(self.data, start, end, self.place, self._budget)
            elif kind == ChunkType.TABLE_PACKAGE:
                self._index_package(start, header_size, end)

    def _index_package(self, start: int, header: int, end: int) -> None:
        if header < CHUNK_HEADER.size + _PACKAGE.size:
            raise InputError("resource table: a package has no header", place=self.place)
        identifier, name, types, _, keys, _ = _PACKAGE.unpack_from(self.data, start + CHUNK_HEADER.size)
        package = _Package(self, name.decode("utf-16-le", "replace").partition("\0")[0])
        self.packages.setdefault(identifier, []).append(package)
        if types:
            package.types = StringPool(self.data, start + types, end, self.place, self._budget)
        if keys:
            package.keys = StringPool(self.data, start + keys, end, self.place, self._budget)
        for kind, position, header_size, chunk_end in self._chunks(start + header, end):
            if kind == ChunkType.TABLE_TYPE:
                self._index_type(package, position, header_size, chunk_end)

    def _index_type(self, package: _Package, start: int, header: int, end: int) -> None:
        data = self.data
        fixed = CHUNK_HEADER.size + _TYPE.size
        if header < fixed:
            raise InputError("resource table: a type has no header", place=self.place)
        type_id, flags, count, entries, size = _TYPE.unpack_from(data, start + CHUNK_HEADER.size)
        configuration_at = start + fixed
        raw = data[configuration_at : configuration_at + min(max(size, 4) - 4, header - fixed)]
        step = 2 if flags & _OFFSET16 and not flags & _SPARSE else 4
        if count * step > end - start - header:
            raise InputError(
                "resource table: a type declares more entries than it has room for", place=self.place
            )
        chunk = _TypeChunk(
            package, flags, count, start + header, start + entries, end, read_configuration(raw)
        )
        package.chunks.setdefault(type_id, []).append(chunk)

    def entry_at(self, chunk: _TypeChunk, index: int) -> int | None:
        """Return where an entry begins, None where the chunk has none of that index."""
        data = self.data
        if chunk.flags & _SPARSE:
            offset = self._sparse_offset(chunk, index)
        elif index >= chunk.count:
            return None
        elif chunk.flags & _OFFSET16:
            short = struct.unpack_from("<H", data, chunk.offsets + 2 * index)[0]
            offset = None if short == _NO_ENTRY_16 else short * 4
        else:
            long = struct.unpack_from("<I", data, chunk.offsets + 4 * index)[0]
            offset = None if long == NO_INDEX else long
        if offset is None:
            return None
        if chunk.entries + offset + _MIN_VALUE > chunk.end:
            raise InputError("resource table: an entry begins outside of its type", place=self.place)
        return chunk.entries + offset

    def _sparse_offset(self, chunk: _TypeChunk, index: int) -> int | None:
        pairs = memoryview(self.data)[chunk.offsets : chunk.offsets + 4 * chunk.count]

        def index_at(number: int) -> int:
            return pairs[4 * number] | pairs[4 * number + 1] << 8

        position = bisect_left(range(chunk.count), index, key=index_at)
        if position == chunk.count or index_at(position) != index:
            return None
        return (pairs[4 * position + 2] | pairs[4 * position + 3] << 8) * 4

    def key_at(self, position: int) -> int:
        """Return the index of an entry's name."""
        size, flags, key = struct.unpack_from("<HHI", self.data, position)
        return int(size if flags & _COMPACT else key)

    def value_at(self, chunk: _TypeChunk, position: int) -> TypedValue | Bag:
        """Return the value of an entry.

        Raises:
            InputError: it does not fit into its type.
        """
        size, flags, data = struct.unpack_from("<HHI", self.data, position)
        if flags & _COMPACT:
            return self._typed(flags >> 8, data)
        if flags & _COMPLEX:
            return self._bag(chunk, position)
        if position + size + _MIN_VALUE > chunk.end:
            raise InputError("resource table: a value ends outside of its type", place=self.place)
        kind, data = struct.unpack_from("<3xBI", self.data, position + size)
        return self._typed(kind, data)

    def _bag(self, chunk: _TypeChunk, position: int) -> Bag:
        parent, count = struct.unpack_from("<8xII", self.data, position)
        start = position + _MAP_START
        if start + count * _MAP_ENTRY.size > chunk.end:
            raise InputError("resource table: a value ends outside of its type", place=self.place)
        self._budget.spend_nodes(count, self.place)
        entries = (_MAP_ENTRY.unpack_from(self.data, start + 12 * number) for number in range(count))
        return Bag(parent, tuple((name, self._typed(kind, data)) for name, kind, data in entries))

    def _typed(self, kind: int, data: int) -> TypedValue:
        if kind != ValueType.STRING:
            return TypedValue(kind, data)
        if self.strings is None:
            raise InputError("it has no strings", place=self.place)
        return TypedValue(kind, 0, self.strings[data])


Loader = Callable[[], "TableFile | None"]


class ResourceTable:
    """The resources of an app: its base's table and those of its splits.

    Args:
        loaders: What gives each file's table, the base first; called when it is first needed.
        place: How errors name the whole.
        budget: Counts lookups.
        findings: Takes a finding for each part that cannot be read.
    """

    def __init__(
        self, loaders: Sequence[Loader], *, place: str, budget: Budget, findings: list[Finding]
    ) -> None:
        self._loaders = list(reversed(loaders))
        self._place = place
        self._budget = budget
        self._findings = findings
        self._files: list[TableFile] = []
        self._reported: set[tuple[str, str]] = set()
        self._values: dict[int, list[ResourceValue]] = {}
        self._chosen: dict[int, TypedValue | Bag | None] = {}
        self._identifiers: dict[str, int] = {}
        self._references: dict[int, str | None] = {}
        self._indexed: set[str] = set()

    @property
    def files(self) -> Sequence[TableFile]:
        """The tables of all files, base first."""
        return list(self._tables())

    def _tables(self) -> Iterator[TableFile]:
        number = 0
        while number < len(self._files) or self._load_next():
            yield self._files[number]
            number += 1

    def _load_next(self) -> bool:
        while self._loaders:
            file = self._loaders.pop()()
            if file is not None:
                if file.problem is not None:
                    self._report(file.place, file.problem)
                self._files.append(file)
                return True
        return False

    def _report(self, place: str, reason: str) -> None:
        if (place, reason) not in self._reported and len(self._reported) < _MAX_REPORTED:
            self._reported.add((place, reason))
            message = f"the resource table is broken: {reason}"
            hint = "references into that part stay unresolved"
            self._findings.append(warn(BROKEN_RESOURCE_TABLE, message, place, hint=hint))

    def _report_error(self, file: TableFile, error: InputError | struct.error) -> None:
        """Report what is broken in a table; what would take too much is raised."""
        if isinstance(error, BudgetError):
            raise error
        self._report(
            file.place, error.message if isinstance(error, InputError) else "resource table: it is cut off"
        )

    def _entries(self, identifier: int) -> Iterator[tuple[_TypeChunk, int]]:
        """Yield type and position of each entry of a resource; what is broken is reported and left out."""
        package_id, type_id, index = identifier >> 24, identifier >> 16 & 0xFF, identifier & 0xFFFF
        for file in self._tables():
            for package in file.packages.get(package_id, ()):
                for chunk in package.chunks.get(type_id, ()):
                    self._budget.spend_lookup(self._place)
                    try:
                        position = file.entry_at(chunk, index)
                    except (InputError, struct.error) as error:
                        self._report_error(file, error)
                        continue
                    if position is not None:
                        yield chunk, position

    def values_of(self, identifier: int) -> list[ResourceValue]:
        """Return all values of a resource, those of the base first, each in the table's order."""
        values = self._values.get(identifier)
        if values is None:
            values = self._values[identifier] = list(self._read_values(identifier))
        return values

    def _read_values(self, identifier: int) -> Iterator[ResourceValue]:
        for chunk, position in self._entries(identifier):
            value = self._value(chunk, position)
            if value is not None:
                yield ResourceValue(chunk.configuration, value)

    def _value(self, chunk: _TypeChunk, position: int) -> TypedValue | Bag | None:
        file = chunk.package.file
        try:
            return file.value_at(chunk, position)
        except (InputError, struct.error) as error:
            self._report_error(file, error)
            return None

    def default_value(self, identifier: int) -> TypedValue | Bag | None:
        """Return a resource's value for a device of no special kind: the default configuration's, else one
        for the default locale, else the first; None where there is none.
        """
        if identifier not in self._chosen:
            self._chosen[identifier] = self._choose(identifier)
        return self._chosen[identifier]

    def _choose(self, identifier: int) -> TypedValue | Bag | None:
        fallback: tuple[_TypeChunk, int] | None = None
        for chunk, position in self._entries(identifier):
            if chunk.configuration.is_default:
                value = self._value(chunk, position)
                if value is not None:
                    return value
            elif fallback is None or (fallback[0].configuration.locale and not chunk.configuration.locale):
                fallback = (chunk, position)
        return None if fallback is None else self._value(*fallback)

    def resolve(self, value: TypedValue) -> TypedValue | None:
        """Follow references to a simple value; None where they lead nowhere, in circles, to a bag or to
        `@null`.
        """
        for _ in range(self._budget.limits.references):
            if value.type not in REFERENCE_TYPES:
                return value
            target = self.default_value(value.data) if value.data else None
            if not isinstance(target, TypedValue):
                return None
            value = target
        return None if value.type in REFERENCE_TYPES else value

    def items_of(self, identifier: int) -> tuple[TypedValue, ...] | None:
        """Return the items of an array; None where the resource is not an array."""
        for _ in range(self._budget.limits.references):
            target = self.default_value(identifier)
            if isinstance(target, Bag):
                return tuple(value for _, value in target.items)
            if target is None or target.type not in REFERENCE_TYPES:
                return None
            identifier = target.data
        return None

    def reference_to(self, identifier: int) -> str | None:
        """Return `@type/name` of a resource of the app, None where it has none of that id.

        A name that another resource of the type has too, or that aapt2 has collapsed, is replaced by the id:
        `@xml/0x7f020001`. `find` knows both forms.
        """
        if identifier not in self._references:
            self._references[identifier] = self._make_reference(identifier)
        return self._references[identifier]

    def _make_reference(self, identifier: int) -> str | None:
        kind_and_name = next(self._names(identifier), None)
        if kind_and_name is None:
            return None
        kind, name = kind_and_name
        reference = f"@{kind}/{name}"
        is_usable = name and name != COLLAPSED_NAME and not any(map(str.isspace, name))
        if not is_usable or self._identifiers.setdefault(reference, identifier) != identifier:
            reference = f"@{kind}/{identifier:#010x}"
            self._identifiers[reference] = identifier
        return reference

    def _names(self, identifier: int) -> Iterator[tuple[str, str]]:
        for chunk, position in self._entries(identifier):
            package = chunk.package
            try:
                kind = package.type_name(identifier >> 16 & 0xFF)
                if kind is not None and package.keys is not None:
                    yield kind, package.keys[package.file.key_at(position)]
            except (InputError, struct.error) as error:
                self._report_error(package.file, error)

    def find(self, reference: str) -> int | None:
        """Return the id of `@type/name` or of what `reference_to` gives, None where the app has none such."""
        kind = reference.removeprefix("@").partition("/")[0]
        if reference not in self._identifiers and kind not in self._indexed:
            self._indexed.add(kind)
            for identifier in self._all_identifiers(kind):
                self.reference_to(identifier)
        return self._identifiers.get(reference)

    def identifiers_of_type(self, kind: str) -> list[int]:
        """Return the ids of the resources of a type (`xml`, `raw`) that have a value, ascending."""
        return sorted(
            {
                identifier
                for identifier in self._all_identifiers(kind)
                if next(self._entries(identifier), None)
            }
        )

    def _all_identifiers(self, kind: str) -> Iterator[int]:
        for file in self._tables():
            for package_id, packages in file.packages.items():
                for package in packages:
                    for type_id, chunks in package.chunks.items():
                        if self._is_type(package, type_id, kind):
                            count = max(map(_highest_index, chunks)) + 1
                            base = package_id << 24 | type_id << 16
                            yield from range(base, base + count)

    def _is_type(self, package: _Package, type_id: int, kind: str) -> bool:
        try:
            return package.type_name(type_id) == kind
        except InputError as error:
            self._report_error(package.file, error)
            return False


def _highest_index(chunk: _TypeChunk) -> int:
    if not chunk.flags & _SPARSE or not chunk.count:
        return chunk.count - 1
    last: int = struct.unpack_from("<H", chunk.package.file.data, chunk.offsets + 4 * (chunk.count - 1))[0]
    return last
