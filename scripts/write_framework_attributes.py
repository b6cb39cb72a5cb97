"""Write the tables of Android's public attributes and resources into
mappings/droidgate_mappings/tables/android.

What they say is read from compiled resource tables: of Android 16 from the `android-all` jar that Robolectric
publishes on Maven Central, and of Android 10 from Debian's package `android-framework-res`, which must not
contradict it. Run it in a checkout: `.venv/bin/python scripts/write_framework_attributes.py`.
"""

from __future__ import annotations

import struct
import sys
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

CHECKOUT: Final = Path(__file__).resolve().parent.parent
TARGET: Final = CHECKOUT / "mappings" / "droidgate_mappings" / "tables" / "android"

_STRING_POOL, _PACKAGE, _TYPE = 0x0001, 0x0200, 0x0201
_UTF8, _SPARSE, _OFFSET16 = 0x100, 0x01, 0x02
_COMPLEX, _PUBLIC, _COMPACT = 0x0001, 0x0002, 0x0008
_NO_ENTRY = 0xFFFFFFFF
_ATTR_TYPE: Final = 0x01000000
_FORMATS: Final = ("reference", "string", "integer", "boolean", "color", "float", "dimension", "fraction")
_ENUM, _FLAGS = 1 << 16, 1 << 17


@dataclass
class Framework:
    """One release's public resources: `type/name` by id, and the map of every attribute by its id."""

    names: dict[int, str] = field(default_factory=dict)
    is_public: set[int] = field(default_factory=set)
    attributes: dict[int, list[tuple[int, int]]] = field(default_factory=dict)


def read_framework(archive: Path) -> Framework:
    """Read the `resources.arsc` of an archive."""
    with zipfile.ZipFile(archive) as opened:
        data = opened.read("resources.arsc")
    framework = Framework()
    for kind, _, start, end in _chunks(data, struct.unpack_from("<H", data, 2)[0], len(data)):
        if kind == _PACKAGE and data[start + 8] == 1:
            _read_package(data, start, end, framework)
    _keep_final_types(framework)
    return framework


def _chunks(data: bytes, start: int, end: int) -> Iterator[tuple[int, int, int, int]]:
    while start < end:
        kind, header, size = struct.unpack_from("<HHI", data, start)
        yield kind, header, start, start + size
        start += size


def _keep_final_types(framework: Framework) -> None:
    """Forget ids that a preview release gave out: their types have a second, higher number."""
    final: dict[str, int] = {}
    for resource_id in sorted(framework.is_public):
        final.setdefault(framework.names[resource_id].partition("/")[0], resource_id >> 16)
    framework.is_public = {item for item in framework.is_public if item >> 16 in final.values()}


def _read_package(data: bytes, start: int, end: int, framework: Framework) -> None:
    header = struct.unpack_from("<H", data, start + 2)[0]
    type_strings, _, key_strings = struct.unpack_from("<III", data, start + 12 + 256)
    types, keys = _read_pool(data, start + type_strings), _read_pool(data, start + key_strings)
    for kind, size, place, _ in _chunks(data, start + header, end):
        if kind == _TYPE:
            _read_type(data, place, size, types, keys, framework)


def _read_pool(data: bytes, start: int) -> list[str]:
    count, _, flags, first = struct.unpack_from("<IIII", data, start + 8)
    offsets = struct.unpack_from(f"<{count}I", data, start + 28)
    read = _read_utf8 if flags & _UTF8 else _read_utf16
    return [read(data, start + first + offset) for offset in offsets]


def _read_utf8(data: bytes, place: int) -> str:
    place += 2 if data[place] & 0x80 else 1
    length = data[place]
    place += 1
    if length & 0x80:
        length = (length & 0x7F) << 8 | data[place]
        place += 1
    return data[place : place + length].decode()


def _read_utf16(data: bytes, place: int) -> str:
    length = struct.unpack_from("<H", data, place)[0]
    return data[place + 2 : place + 2 + 2 * length].decode("utf-16-le")


def _read_type(
    data: bytes, start: int, header: int, types: list[str], keys: list[str], framework: Framework
) -> None:
    type_id, flags, _, count, entries = struct.unpack_from("<BBHII", data, start + 8)
    for index, offset in _offsets(data, start + header, count, flags):
        place = start + entries + offset
        size, entry_flags, key = struct.unpack_from("<HHI", data, place)
        if entry_flags & _COMPACT:
            key = size
        resource_id = 0x01000000 | type_id << 16 | index
        framework.names.setdefault(resource_id, f"{types[type_id - 1]}/{keys[key]}")
        if entry_flags & _PUBLIC:
            framework.is_public.add(resource_id)
        if entry_flags & _COMPLEX and types[type_id - 1] == "attr":
            number = struct.unpack_from("<I", data, place + 12)[0]
            pairs = (struct.unpack_from("<IHBBI", data, place + size + 12 * item) for item in range(number))
            framework.attributes.setdefault(resource_id, [(pair[0], pair[4]) for pair in pairs])


def _offsets(data: bytes, place: int, count: int, flags: int) -> Iterator[tuple[int, int]]:
    if flags & _SPARSE:
        for number in range(count):
            index, offset = struct.unpack_from("<HH", data, place + 4 * number)
            yield index, offset * 4
    elif flags & _OFFSET16:
        for index, offset in enumerate(struct.unpack_from(f"<{count}H", data, place)):
            if offset != 0xFFFF:  # noqa: PLR2004 - no entry
                yield index, offset * 4
    else:
        for index, offset in enumerate(struct.unpack_from(f"<{count}I", data, place)):
            if offset != _NO_ENTRY:
                yield index, offset


def attribute_lines(framework: Framework) -> Iterator[str]:
    """Yield a line for each public attribute: id, name, formats, and the values of enums and flags."""
    for resource_id in sorted(framework.is_public):
        kind, _, name = framework.names[resource_id].partition("/")
        if kind == "attr":
            pairs = framework.attributes.get(resource_id, [])
            mask = dict(pairs).get(_ATTR_TYPE, 0xFFFF)
            values = [
                f"{framework.names[key].partition('/')[2]}={value:#x}"
                for key, value in pairs
                if key >> 24 == 1 and key >> 16 != _ATTR_TYPE >> 16
            ]
            values.sort(key=_value_of)
            yield "\t".join((f"{resource_id:08x}", name, "|".join(_words(mask)), " ".join(values)))


def _value_of(pair: str) -> tuple[int, str]:
    name, _, value = pair.partition("=")
    return int(value, 16), name


def _words(mask: int) -> list[str]:
    words = [word for bit, word in enumerate(_FORMATS) if mask >> bit & 1]
    return words + ["enum"] * bool(mask & _ENUM) + ["flags"] * bool(mask & _FLAGS)


def resource_lines(framework: Framework) -> Iterator[str]:
    """Yield a line for each public resource that is not an attribute: id and `type/name`."""
    for resource_id in sorted(framework.is_public):
        if not framework.names[resource_id].startswith("attr/"):
            yield f"{resource_id:08x}\t{framework.names[resource_id]}"


def _check(older: Framework, newer: Framework) -> None:
    for resource_id in older.is_public:
        then, now = older.names[resource_id], newer.names.get(resource_id)
        if then != now:
            print(f"{resource_id:08x} was {then} and is {now}", file=sys.stderr)


def main() -> None:
    """Read both releases and write the tables."""
    sys.path.insert(0, str(CHECKOUT / "tests"))
    import requirements_of_tests as parts

    newer = read_framework(parts.find("framework-jar"))
    _check(read_framework(parts.find("framework-res")), newer)
    for name, lines in (("attributes.tsv", attribute_lines(newer)), ("resources.tsv", resource_lines(newer))):
        (TARGET / name).write_text("".join(f"{line}\n" for line in lines), encoding="utf-8", newline="\n")


if __name__ == "__main__":
    main()
