"""The kind of a file, by its first bytes. This module loads none of the readers of such files."""

from __future__ import annotations

from typing import Final

__all__ = ["is_binary_xml", "is_zip"]

_BINARY_XML: Final = b"\x03\x00\x08\x00"
_ZIP: Final = (b"PK\x03\x04", b"PK\x05\x06")


def is_binary_xml(data: bytes) -> bool:
    """Return whether content is compiled XML (AOSP ResourceTypes.h: `RES_XML_TYPE`, a header of 8 bytes)."""
    return data.startswith(_BINARY_XML)


def is_zip(data: bytes) -> bool:
    """Return whether content is a ZIP archive, an empty one included (APPNOTE 4.3.7 and 4.3.16)."""
    return data.startswith(_ZIP)
