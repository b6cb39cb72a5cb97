"""APKs made by hand from AOSP's ResourceTypes.h and PKWARE's APPNOTE: what tests break on purpose.

Nothing here is shared with the writer or the reader under test.
"""

import io
import struct
import zipfile
import zlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

ANDROID = "http://schemas.android.com/apk/res/android"
NOTHING = 0xFFFFFFFF
REFERENCE, STRING, FLOAT, DIMENSION, FRACTION = 1, 3, 4, 5, 6
INT_DEC, INT_HEX, INT_BOOLEAN, COLOR_RGB4 = 0x10, 0x11, 0x12, 0x1F

ATTRIBUTE_IDS = {
    "label": 0x01010001, "name": 0x01010003, "permission": 0x01010006, "enabled": 0x0101000E,
    "exported": 0x01010010, "description": 0x01010020, "value": 0x01010024, "resource": 0x01010025,
    "targetActivity": 0x01010202, "minSdkVersion": 0x0101020C, "versionCode": 0x0101021B,
    "versionName": 0x0101021C, "targetSdkVersion": 0x01010270, "versionCodeMajor": 0x01010576,
    "foregroundServiceType": 0x01010599,
}  # fmt: skip

Value = str | tuple[int, int]
"""A string, or type and data."""


def chunk(kind: int, header: bytes, body: bytes = b"") -> bytes:
    """Return a chunk; `header` is what follows the eight bytes that all headers begin with."""
    return struct.pack("<HHI", kind, 8 + len(header), 8 + len(header) + len(body)) + header + body


def string_pool(strings: Sequence[str], *, utf8: bool = False) -> bytes:
    encoded = [_utf8(string) if utf8 else _utf16(string) for string in strings]
    offsets = [sum(map(len, encoded[:number])) for number in range(len(encoded))]
    content = b"".join(encoded)
    content += bytes(-len(content) % 4)
    start = 28 + 4 * len(strings)
    header = struct.pack("<5I", len(strings), 0, 0x100 if utf8 else 0, start, 0)
    return chunk(1, header, struct.pack(f"<{len(offsets)}I", *offsets) + content)


def _utf16(text: str) -> bytes:
    data = text.encode("utf-16-le", "surrogatepass")
    length = len(data) // 2
    prefix = struct.pack("<H", length)
    if length > 0x7FFF:
        prefix = struct.pack("<HH", 0x8000 | length >> 16, length & 0xFFFF)
    return prefix + data + b"\0\0"


def _utf8(text: str) -> bytes:
    units = text.encode("utf-16-le", "surrogatepass")
    wide = "".join(map(chr, struct.unpack(f"<{len(units) // 2}H", units)))
    data = wide.encode("utf-8", "surrogatepass")  # as aapt2: a surrogate pair is two of three bytes each

    def length(number: int) -> bytes:
        return bytes([0x80 | number >> 8, number & 0xFF]) if number > 0x7F else bytes([number])

    return length(len(wide)) + length(len(data)) + data + b"\0"


@dataclass
class Node:
    """An element: attributes by name, `android:` before those of Android's namespace."""

    tag: str
    attributes: Mapping[str, Value] = field(default_factory=dict)
    children: Sequence["Node | str"] = ()
    line: int = 1


def element(tag: str, attributes: Mapping[str, Value] | None = None, *children: Node | str) -> Node:
    return Node(tag, attributes or {}, children)


def axml(
    root: Node, *, utf8: bool = False, stripped: bool = False, with_map: bool = True, tail: bytes = b""
) -> bytes:
    """Return compiled XML; with `stripped`, the names of Android's attributes are empty."""
    writer = _Axml(root, stripped=stripped)
    body = string_pool(writer.strings, utf8=utf8)
    if with_map:
        body += chunk(0x0180, b"", struct.pack(f"<{len(writer.ids)}I", *writer.ids))
    return chunk(3, b"", body + b"".join(writer.nodes)) + tail


class _Axml:
    def __init__(self, root: Node, *, stripped: bool) -> None:
        names = sorted(set(_attribute_names(root)), key=lambda item: ATTRIBUTE_IDS.get(item, 0))
        names = [item for item in names if item in ATTRIBUTE_IDS]
        self.ids = [ATTRIBUTE_IDS[item] for item in names]
        self.strings = ["" if stripped else item for item in names]
        self._android_names = {name: number for number, name in enumerate(names)}
        self.nodes: list[bytes] = []
        self._write(root)

    def string(self, text: str) -> int:
        first = len(self._android_names)
        if text not in self.strings[first:]:
            self.strings.append(text)
        return self.strings.index(text, first)

    def _write(self, node: Node | str) -> None:
        if isinstance(node, str):
            number = self.string(node)
            text = struct.pack("<IHBBI", number, 8, 0, STRING, number)
            self.nodes.append(chunk(0x0104, struct.pack("<II", 1, NOTHING), text))
            return
        name = self.string(node.tag)
        attributes = b"".join(self._attribute(key, value) for key, value in node.attributes.items())
        fixed = struct.pack("<IIHHHHHH", NOTHING, name, 20, 20, len(node.attributes), 0, 0, 0)
        self.nodes.append(chunk(0x0102, struct.pack("<II", node.line, NOTHING), fixed + attributes))
        for child in node.children:
            self._write(child)
        self.nodes.append(
            chunk(0x0103, struct.pack("<II", node.line, NOTHING), struct.pack("<II", NOTHING, name))
        )

    def _attribute(self, key: str, value: Value) -> bytes:
        prefix, _, name = key.rpartition(":")
        in_android = prefix == "android"
        namespace = self.string(ANDROID if in_android else prefix) if prefix else NOTHING
        index = self._android_names.get(name) if in_android else None
        number = index if index is not None else self.string(name)
        kind, data = (STRING, self.string(value)) if isinstance(value, str) else value
        raw = data if kind == STRING else NOTHING
        return struct.pack("<IIIHBBI", namespace, number, raw, 8, 0, kind, data)


def _attribute_names(node: Node | str) -> list[str]:
    if isinstance(node, str):
        return []
    own = [key.removeprefix("android:") for key in node.attributes if key.startswith("android:")]
    return own + [name for child in node.children for name in _attribute_names(child)]


DEFAULT = b""


def locale(language: str, region: str = "") -> bytes:
    """Return a ResTable_config without its size field."""
    config = bytearray(60)
    config[4:6] = language.encode()
    config[6:8] = region.encode().ljust(2, b"\0")
    return bytes(config)


@dataclass
class Resource:
    """A resource: type, name, and its values by configuration; an array is a list of values."""

    type: str
    name: str
    values: Mapping[bytes, Value | list[Value]]


def table(
    resources: Sequence[Resource],
    *,
    package: str = "dev.droidgate.test",
    package_id: int = 0x7F,
    encoding: str = "plain",
    utf8: bool = True,
) -> bytes:
    """Return a resource table; `encoding` is `plain`, `sparse`, `offset16` or `compact`."""
    strings = list(
        dict.fromkeys(
            value
            for item in resources
            for given in item.values.values()
            for value in (given if isinstance(given, list) else [given])
            if isinstance(value, str)
        )
    )
    types = list(dict.fromkeys(item.type for item in resources))
    keys = list(dict.fromkeys(item.name for item in resources))
    chunks = b""
    for number, kind in enumerate(types, 1):
        members = [item for item in resources if item.type == kind]
        spec = struct.pack("<BBHI", number, 0, 0, len(members))
        chunks += chunk(0x0202, spec, bytes(4 * len(members)))
        for config in dict.fromkeys(config for item in members for config in item.values):
            chunks += _type_chunk(number, members, config, strings, keys, encoding)
    type_pool, key_pool = string_pool(types), string_pool(keys, utf8=utf8)
    name = package.encode("utf-16-le").ljust(256, b"\0")
    header = struct.pack("<I256s5I", package_id, name, 288, 0, 288 + len(type_pool), 0, 0)
    body = chunk(0x0200, header, type_pool + key_pool + chunks)
    return chunk(2, struct.pack("<I", 1), string_pool(strings, utf8=utf8) + body)


def _type_chunk(
    number: int,
    members: Sequence[Resource],
    config: bytes,
    strings: Sequence[str],
    keys: Sequence[str],
    encoding: str,
) -> bytes:
    entries = b""
    offsets: list[int | None] = []
    for member in members:
        if config not in member.values:
            offsets.append(None)
            continue
        offsets.append(len(entries))
        entries += _entry(keys.index(member.name), member.values[config], strings, encoding)
    if encoding == "sparse":
        present = [(index, offset) for index, offset in enumerate(offsets) if offset is not None]
        table_of_offsets = b"".join(struct.pack("<HH", index, offset // 4) for index, offset in present)
        flags, count = 1, len(present)
    elif encoding in {"offset16", "compact"}:
        numbers = [0xFFFF if offset is None else offset // 4 for offset in offsets]
        table_of_offsets = struct.pack(f"<{len(numbers)}H", *numbers)
        table_of_offsets += bytes(-len(table_of_offsets) % 4)
        flags, count = 2, len(numbers)
    else:
        table_of_offsets = b"".join(
            struct.pack("<I", NOTHING if offset is None else offset) for offset in offsets
        )
        flags, count = 0, len(offsets)
    size = 64
    configuration = struct.pack("<I", size) + config.ljust(size - 4, b"\0")
    header_size = 20 + size
    fixed = struct.pack("<BBHII", number, flags, 0, count, header_size + len(table_of_offsets))
    return chunk(0x0201, fixed + configuration, table_of_offsets + entries)


def _entry(key: int, value: Value | list[Value], strings: Sequence[str], encoding: str) -> bytes:
    def typed(item: Value) -> tuple[int, int]:
        return (STRING, strings.index(item)) if isinstance(item, str) else item

    if isinstance(value, list):
        items = b"".join(
            struct.pack("<IHBBI", 0x02000000 + number, 8, 0, *typed(item))
            for number, item in enumerate(value)
        )
        return struct.pack("<HHIII", 16, 1, key, 0, len(value)) + items
    kind, data = typed(value)
    if encoding == "compact":
        return struct.pack("<HHI", key, 8 | kind << 8, data)
    return struct.pack("<HHIHBBI", 8, 0, key, 8, 0, kind, data)


def zip_of(files: Mapping[str, bytes], *, stored: Sequence[str] = ("resources.arsc",)) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, data in files.items():
            method = zipfile.ZIP_STORED if name in stored else zipfile.ZIP_DEFLATED
            archive.writestr(zipfile.ZipInfo(name), data, method)
    return buffer.getvalue()


def local_header(
    name: bytes, data: bytes, *, method: int = 0, flags: int = 0, size: int | None = None
) -> bytes:
    """Return an entry as it is in the file: its header, name and content as given."""
    declared = len(data) if size is None else size
    fields = (20, flags, method, 0, 33, zlib.crc32(data), len(data), declared, len(name), 0)
    return struct.pack("<4s5H3I2H", b"PK\x03\x04", *fields) + name + data


def central_header(
    name: bytes,
    offset: int,
    *,
    crc: int = 0,
    packed: int = 0,
    size: int = 0,
    method: int = 0,
    flags: int = 0,
    extra: bytes = b"",
) -> bytes:
    fields = (20, 20, flags, method, 0, 33, crc, packed, size, len(name), len(extra), 0, 0, 0, 0, offset)
    return struct.pack("<4s6H3I5H2I", b"PK\x01\x02", *fields) + name + extra


def end_record(count: int, length: int, offset: int, comment: bytes = b"") -> bytes:
    return struct.pack("<4s4H2IH", b"PK\x05\x06", 0, 0, count, count, length, offset, len(comment)) + comment


def archive_with(entries: Iterable[tuple[bytes, bytes, dict[str, int]]], *, before: bytes = b"") -> bytes:
    """Return an archive of entries: name, content, and fields of the headers that are to be unusual."""
    body, directory, count = bytearray(before), bytearray(), 0
    for name, content, fields in entries:
        local = {key: value for key, value in fields.items() if key in {"method", "flags", "size"}}
        header = {"crc": zlib.crc32(content), "packed": len(content), "size": len(content), **fields}
        directory += central_header(name, len(body), **header)  # type: ignore[arg-type]
        body += local_header(name, content, **local)
        count += 1
    return bytes(body + directory + end_record(count, len(directory), len(body)))


MANIFEST = element(
    "manifest",
    {"android:versionCode": (INT_DEC, 7), "android:versionName": "1.2", "package": "dev.droidgate.test"},
    element("uses-sdk", {"android:minSdkVersion": (INT_DEC, 26), "android:targetSdkVersion": (INT_DEC, 36)}),
    element(
        "application",
        {"android:label": (REFERENCE, 0x7F010000)},
        element(
            "service",
            {
                "android:name": ".ToolService",
                "android:exported": (INT_BOOLEAN, NOTHING),
                "android:foregroundServiceType": (INT_HEX, 0x9),
            },
            element("intent-filter", {}, element("action", {"android:name": "mobile.mcp.SERVICE"})),
            element(
                "meta-data",
                {"android:name": "mobile.mcp.tool.name", "android:value": (REFERENCE, 0x7F010001)},
            ),
            element(
                "meta-data",
                {
                    "android:name": "mobile.mcp.tool.description",
                    "android:value": "Keeps \u20ac and \U0001f600",
                },
            ),
            element(
                "meta-data",
                {"android:name": "mobile.mcp.tool.capabilities", "android:resource": (REFERENCE, 0x7F020000)},
            ),
            element("property", {"android:name": "list", "android:resource": (REFERENCE, 0x7F030000)}),
        ),
    ),
)

DESCRIPTOR = element(
    "mobile-mcp-capabilities",
    {"version": "1.0"},
    element(
        "capability",
        {"id": "note", "version": (FLOAT, 0x3F800000), "description": (REFERENCE, 0x7F010002)},
        element(
            "input",
            {},
            element(
                "param",
                {
                    "name": "text",
                    "type": "string",
                    "required": (INT_BOOLEAN, NOTHING),
                    "description": 'a < b & "c"\n',
                },
            ),
        ),
    ),
)

RESOURCES = (
    Resource("string", "app_name", {DEFAULT: "Test", locale("de"): "Probe"}),
    Resource("string", "tool_name", {locale("de"): "Werkzeug \U0001f527", DEFAULT: (REFERENCE, 0x7F010003)}),
    Resource("string", "about", {DEFAULT: "Takes a note"}),
    Resource("string", "real_name", {DEFAULT: "Tool \U0001f527"}),
    Resource("xml", "descriptor", {DEFAULT: "res/xml/descriptor.xml"}),
    Resource("array", "files", {DEFAULT: [(REFERENCE, 0x7F020000), "loose", (REFERENCE, 0x7F010002)]}),
)


def whole_app(*, encoding: str = "plain", utf8: bool = True, stripped: bool = False) -> dict[str, bytes]:
    """Return the files of an app with everything in it that a reader looks at."""
    return {
        "AndroidManifest.xml": axml(MANIFEST, stripped=stripped),
        "resources.arsc": table(RESOURCES, encoding=encoding, utf8=utf8),
        "res/xml/descriptor.xml": axml(DESCRIPTOR, utf8=utf8),
        "assets/tools.json": b'{"tools": []}',
        "classes.dex": b"dex\n035\0",
    }
