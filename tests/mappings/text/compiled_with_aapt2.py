"""Texts as aapt2 compiles them: one APK for many, decoded from the bytes that it writes (ResourceTypes.h)."""

import math
import struct
import subprocess
import tempfile
import zipfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from xml.sax.saxutils import escape

from requirements_of_tests import require

TYPE_REFERENCE, TYPE_STRING, TYPE_FLOAT, TYPE_DIMENSION, TYPE_FRACTION = 1, 3, 4, 5, 6
TYPE_INT_DEC, TYPE_INT_HEX, TYPE_INT_BOOLEAN, TYPE_FIRST_COLOR, TYPE_LAST_COLOR = 0x10, 0x11, 0x12, 0x1C, 0x1F
NO_INDEX = 0xFFFFFFFF
ANDROID_NAMESPACE = "http://schemas.android.com/apk/res/android"


@dataclass(frozen=True)
class CompiledValue:
    """A typed value: `text` for a string, `data` for everything else."""

    type: int
    data: int
    text: str | None

    def in_a_bundle(self) -> str | bool | int | float:
        """Return what PackageManager puts into the meta-data Bundle."""
        if self.text is not None:
            return self.text
        if self.type == TYPE_INT_BOOLEAN:
            return self.data != 0
        if self.type == TYPE_FLOAT:
            number: float = struct.unpack("<f", struct.pack("<I", self.data))[0]
            return number
        assert TYPE_INT_DEC <= self.type <= TYPE_LAST_COLOR, self
        return self.data - 2**32 if self.data >= 2**31 else self.data


class Aapt2Error(Exception):
    """What aapt2 refuses."""


def compile_texts(
    *, values: Sequence[str] = (), attributes: Sequence[str] = (), strings: Sequence[str] = ()
) -> tuple[list[CompiledValue], list[CompiledValue], list[str]]:
    """Compile one app that holds all the texts, written as given but for XML escaping; return what is in it.

    Args:
        values: For `android:value` of `<meta-data>`.
        attributes: For an attribute without a namespace in `res/xml`.
        strings: For the content of `<string>`.
    """
    elements = "".join(
        f'<meta-data android:name="k{number}" android:value={_quoted(text)}/>'
        for number, text in enumerate(values)
    )
    items = "".join(
        f'<string name="s{number}" formatted="false">{_escaped(text)}</string>'
        for number, text in enumerate(strings)
    )
    files = {
        "AndroidManifest.xml": f'<manifest xmlns:android="{ANDROID_NAMESPACE}" package="a.b">'
        f"<application>{elements}</application></manifest>",
        "res/xml/c.xml": f"<c>{''.join(f'<e v={_quoted(text)}/>' for text in attributes)}</c>",
        "res/values/s.xml": f'<resources><string name="x">x</string>{items}</resources>',
    }
    with tempfile.TemporaryDirectory() as folder:
        archive = compile_application(files, Path(folder))
        manifest, xml, table = (
            archive[name] for name in ("AndroidManifest.xml", "res/xml/c.xml", "resources.arsc")
        )
    by_name = strings_of_table(table)
    return (
        [item["value"] for name, item in elements_of_xml(manifest) if name == "meta-data"],
        [item["v"] for name, item in elements_of_xml(xml) if name == "e"],
        [by_name[f"s{number}"] for number in range(len(strings))],
    )


def compile_application(files: dict[str, str], folder: Path) -> dict[str, bytes]:
    """Compile and link a source set and return the files of its APK.

    Raises:
        Aapt2Error: with what aapt2 prints.
    """
    aapt2, framework = require("aapt2"), require("framework-res")
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8", newline="")
    compiled, apk = folder / "compiled.zip", folder / "linked.apk"
    _run(aapt2, "compile", "--dir", folder / "res", "-o", compiled)
    manifest = folder / "AndroidManifest.xml"
    linking = ["link", "-o", apk, "-I", framework, "--manifest", manifest, "--warn-manifest-validation"]
    _run(aapt2, *linking, compiled)
    with zipfile.ZipFile(apk) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def _run(*command: object) -> None:
    run = subprocess.run([str(item) for item in command], capture_output=True, check=False, timeout=60)
    if run.returncode:
        raise Aapt2Error(run.stderr.decode(errors="replace"))


def _escaped(text: str) -> str:
    return escape(text, {"\r": "&#13;"})


def _quoted(text: str) -> str:
    return '"' + escape(text, {'"': "&quot;", "\t": "&#9;", "\n": "&#10;", "\r": "&#13;"}) + '"'


def coerced(value: CompiledValue) -> str:
    """Do what XmlBlock.getAttributeValue and TypedValue.coerceToString do, from the compiled bits."""
    if value.text is not None:
        return value.text
    signed = value.data - 2**32 if value.data >= 2**31 else value.data
    if value.type == TYPE_INT_BOOLEAN:
        return "true" if value.data else "false"
    if value.type == TYPE_INT_HEX:
        return f"0x{value.data:x}"
    if TYPE_FIRST_COLOR <= value.type <= TYPE_LAST_COLOR:
        return f"#{value.data:x}"
    if value.type == TYPE_INT_DEC:
        return str(signed)
    if value.type == TYPE_FLOAT:
        return java_text(struct.unpack("<f", struct.pack("<I", value.data))[0])
    number = (signed & ~0xFF) * (1 / 256, 1 / 2**15, 1 / 2**23, 1 / 2**31)[value.data >> 4 & 3]
    unit = value.data & 15
    if value.type == TYPE_FRACTION:
        return java_text(struct.unpack("<f", struct.pack("<f", number * 100))[0]) + ("%", "%p")[unit]
    assert value.type == TYPE_DIMENSION
    return java_text(number) + ("px", "dip", "sp", "pt", "in", "mm")[unit]


def java_text(number: float) -> str:
    """Float.toString in another way than the module's: one digit more until the float comes back."""
    if math.isnan(number) or math.isinf(number):
        return {"nan": "NaN", "inf": "Infinity", "-inf": "-Infinity"}[repr(number)]
    sign = "-" if math.copysign(1, number) < 0 else ""
    number = abs(number)
    exponent = 0 if number == 0 else math.floor(math.log10(number))
    scientific = number != 0 and not 1e-3 <= number < 1e7
    for places in range(1, 20):
        text = f"{number:.{places}e}" if scientific else f"{number:.{places}f}"
        try:
            if struct.pack("<f", float(text)) == struct.pack("<f", number):
                break
        except OverflowError:
            continue
    if scientific:
        mantissa, _, power = text.partition("e")
        return f"{sign}{mantissa}E{int(power)}"
    assert exponent < 7
    return sign + text


def elements_of_xml(data: bytes) -> Iterator[tuple[str, dict[str, CompiledValue]]]:
    """Yield the start tags of a compiled XML file, whose raw strings must be what the typed values say."""
    strings: list[str] = []
    for kind, _, start in chunks(data, 8, len(data)):
        if kind == 0x0001:
            strings = string_pool(data, start)
        elif kind == 0x0102:
            name, first, size, count = struct.unpack_from("<4xIHHH", data, start + 16)
            attributes = {}
            for offset in range(start + 16 + first, start + 16 + first + size * count, size):
                key, raw, kind_of_value, value = struct.unpack_from("<4xII3xBI", data, offset)
                text = strings[value] if kind_of_value == TYPE_STRING else None
                assert raw == NO_INDEX or strings[raw] == text
                attributes[strings[key]] = CompiledValue(kind_of_value, value, text)
            yield strings[name], attributes


def strings_of_table(data: bytes) -> dict[str, str]:
    """Return the default strings of a resource table by name; references are left out."""
    return dict(strings_by_id(data).values())


def strings_by_id(data: bytes) -> dict[int, tuple[str, str]]:
    """Return name and text of a resource table's default strings by resource id; references are left out."""
    strings: dict[int, tuple[str, str]] = {}
    values: list[str] = []
    for kind, _, start in chunks(data, 12, len(data)):
        if kind == 0x0001:
            values = string_pool(data, start)
        elif kind == 0x0200:
            types_at, keys_at = (struct.unpack_from("<I", data, start + 268 + skip)[0] for skip in (0, 8))
            types, keys = string_pool(data, start + types_at), string_pool(data, start + keys_at)
            header, size = struct.unpack_from("<2xHI", data, start)
            for inner, inner_header, at in chunks(data, start + header, start + size):
                if inner == 0x0201 and types[data[at + 8] - 1] == "string" and _is_default(data, at + 20):
                    count, entries = struct.unpack_from("<II", data, at + 12)
                    for number in range(count):
                        offset = struct.unpack_from("<I", data, at + inner_header + 4 * number)[0]
                        if offset != NO_INDEX:
                            key, type_of_value, value = struct.unpack_from(
                                "<4xI3xBI", data, at + entries + offset
                            )
                            if type_of_value == TYPE_STRING:
                                identifier = 0x7F000000 | data[at + 8] << 16 | number
                                strings[identifier] = keys[key], values[value]
    return strings


def _is_default(data: bytes, configuration: int) -> bool:
    size = struct.unpack_from("<I", data, configuration)[0]
    return not any(data[configuration + 4 : configuration + size])


def chunks(data: bytes, position: int, end: int) -> Iterator[tuple[int, int, int]]:
    """Yield type, header size and start of each chunk."""
    while position < end:
        kind, header, size = struct.unpack_from("<HHI", data, position)
        yield kind, header, position
        position += size


def string_pool(data: bytes, start: int) -> list[str]:
    """Return the strings of a pool, which is UTF-16, or modified UTF-8 with surrogate pairs."""
    header, count, flags, first = struct.unpack_from("<2xH4xI4xII", data, start)
    strings = []
    for number in range(count):
        at = start + first + struct.unpack_from("<I", data, start + header + 4 * number)[0]
        if flags & 0x100:
            _, at = _short_length(data, at)
            length, at = _short_length(data, at)
            utf16 = (
                data[at : at + length].decode("utf-8", "surrogatepass").encode("utf-16-le", "surrogatepass")
            )
        else:
            length = struct.unpack_from("<H", data, at)[0]
            at += 2
            if length & 0x8000:
                length = (length & 0x7FFF) << 16 | struct.unpack_from("<H", data, at)[0]
                at += 2
            utf16 = data[at : at + 2 * length]
        strings.append(utf16.decode("utf-16-le", "surrogatepass"))
    return strings


def _short_length(data: bytes, at: int) -> tuple[int, int]:
    return ((data[at] & 0x7F) << 8 | data[at + 1], at + 2) if data[at] & 0x80 else (data[at], at + 1)
