"""The text of META-INF/MANIFEST.MF and of the `.SF` files (AOSP StrictJarManifestReader)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from droidgate_android.apk.signing_block import BrokenSignatureError

_HEADER: Final = re.compile(rb"([0-9A-Za-z_-]{1,70}): ((?:[^\r\n\0]++|(?:\r\n|\n|\r) )*+)((?:\r\n|\n|\r)*+)")
_BREAK: Final = re.compile(rb"\r\n|\n|\r")
_CONTINUED: Final = re.compile(rb"(?:\r\n|\n|\r) ")


@dataclass(slots=True)
class JarManifest:
    """A manifest or a `.SF` file.

    Attributes:
        data: Its bytes.
        main: The attributes of the first section by their names in lower case.
        main_end: Where the first section ends.
        sections: The attributes of each other section by its `Name`.
        ranges: Where each section begins and ends.
        repeated: Names that more than one section has.
    """

    data: bytes
    main: Mapping[str, str] = field(default_factory=dict)
    main_end: int = 0
    sections: dict[str, dict[str, str]] = field(default_factory=dict)
    ranges: dict[str, tuple[int, int]] = field(default_factory=dict)
    repeated: list[str] = field(default_factory=list)


def parse_jar_manifest(data: bytes) -> JarManifest:
    """Return the sections of a manifest.

    Raises:
        BrokenSignatureError: it is not one.
    """
    manifest = JarManifest(data)
    position, headers = _section(data, 0)
    manifest.main, manifest.main_end = dict(headers), position
    while position < len(data):
        start = position
        position, headers = _section(data, position)
        if not headers:
            break
        if headers[0][0] != "name":
            raise BrokenSignatureError("a section of its JAR manifest has no name")
        name = headers[0][1]
        if name in manifest.sections:
            manifest.repeated.append(name)
        manifest.sections.setdefault(name, {}).update(headers[1:])
        manifest.ranges[name] = start, position
    return manifest


def _section(data: bytes, position: int) -> tuple[int, list[tuple[str, str]]]:
    """Return where a section ends, and its attributes in order."""
    headers: list[tuple[str, str]] = []
    while position < len(data):
        found = _HEADER.match(data, position)
        if found is None:
            raise BrokenSignatureError("its JAR manifest is broken")
        position = found.end()
        breaks = len(_BREAK.findall(found[3]))
        if not breaks:
            break  # a line without an end does not count
        value = _CONTINUED.sub(b"", found[2]).decode("utf-8", "surrogateescape")
        headers.append((found[1].decode("ascii").lower(), value))
        if breaks > 1:
            break
    return position, headers
