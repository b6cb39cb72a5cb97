"""The encodings of text files that are read."""

from __future__ import annotations

import codecs
import re
from typing import Final

_ENCODING_NAME: Final = re.compile(r"[A-Za-z][A-Za-z0-9._-]{0,31}")
_ENCODING: Final = re.compile(
    r"ascii|utf-(?:8|8-sig|(?:16|32)(?:-[lb]e)?)"
    r"|(?:iso8859|iso2022|cp|koi8|mac|gb|big5|shift_jis|euc)[0-9a-z_-]*"
)
"""What `codecs` calls the encodings that are read; `punycode` would take quadratic time."""


def find_encoding(name: str) -> str | None:
    """Return Python's name of the encoding that a file declares; None for one that is not read."""
    if _ENCODING_NAME.fullmatch(name) is None:
        return None
    try:
        found = codecs.lookup(name).name
    except LookupError:
        return None
    return found if _ENCODING.fullmatch(found) is not None else None
