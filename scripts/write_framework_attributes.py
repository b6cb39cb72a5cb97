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
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any, Final

from droidgate_android.apk.apk_budgets import Budget, Limits
from droidgate_android.apk.resource_table import Bag, TableFile

CHECKOUT: Final = Path(__file__).resolve().parent.parent
TARGET: Final = CHECKOUT / "mappings" / "droidgate_mappings" / "tables" / "android"

_SPARSE, _PUBLIC = 0x01, 0x0002
_NO_LIMITS: Final = Limits(*[sys.maxsize] * len(fields(Limits)))
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
        table = TableFile(opened.read("resources.arsc"), place=archive.name, budget=Budget(_NO_LIMITS))
    framework = Framework()
    for package in table.packages[1]:
        for type_id, chunks in package.chunks.items():
            for chunk in chunks:
                _read_type(table, package, chunk, type_id, framework)
    _keep_final_types(framework)
    return framework


def _read_type(table: TableFile, package: Any, chunk: Any, type_id: int, framework: Framework) -> None:
    sparse = chunk.count if chunk.flags & _SPARSE else 0
    pairs = struct.unpack_from(f"<{2 * sparse}H", table.data, chunk.offsets)
    for index in pairs[::2] or range(chunk.count):
        position = table.entry_at(chunk, index)
        if position is None:
            continue
        resource_id, kind = 0x01000000 | type_id << 16 | index, package.type_name(type_id)
        framework.names.setdefault(resource_id, f"{kind}/{package.keys[table.key_at(position)]}")
        if struct.unpack_from("<H", table.data, position + 2)[0] & _PUBLIC:
            framework.is_public.add(resource_id)
        value = table.value_at(chunk, position) if kind == "attr" else None
        if isinstance(value, Bag):
            framework.attributes.setdefault(resource_id, [(key, item.data) for key, item in value.items])


def _keep_final_types(framework: Framework) -> None:
    """Forget ids that a preview release gave out: their types have a second, higher number."""
    final: dict[str, int] = {}
    for resource_id in sorted(framework.is_public):
        final.setdefault(framework.names[resource_id].partition("/")[0], resource_id >> 16)
    framework.is_public = {item for item in framework.is_public if item >> 16 in final.values()}


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
