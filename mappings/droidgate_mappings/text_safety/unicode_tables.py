"""Tables of Unicode's character data, from `unicode_tables.json`.

A table is a text: code points in hexadecimal and ranges of them, separated by blanks. In `confusables` each
part is a character and what it looks like: `1D6DB=2202`.
"""

from __future__ import annotations

import json
from functools import cache
from importlib.resources import files


@cache
def unicode_table(name: str) -> str:
    """Return a table.

    Args:
        name: `hidden` (nobody sees them, or they change how others are seen), `joining` (letters, marks and
            digits of the scripts whose words are written with joiners, UAX 31), `emoji` (UTS 51),
            `pictographs` (what an emoji ZWJ sequence joins, UTS 51), `ideographs` (which have variants,
            UTS 37), `mongolian` (letters that a Mongolian variation selector may follow), `standard_bases`
            (the other bases of standardized variants) or `confusables` (UTS 39).

    Raises:
        KeyError: there is no such table.
    """
    return _tables()[name]


@cache
def _tables() -> dict[str, str]:
    text = files("droidgate_mappings.text_safety").joinpath("unicode_tables.json").read_text("utf-8")
    tables: dict[str, str] = json.loads(text)
    return tables
