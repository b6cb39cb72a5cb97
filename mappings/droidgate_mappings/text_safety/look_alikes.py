"""Names that can be taken for each other, by Unicode's table of confusable characters (UTS 39)."""

from __future__ import annotations

import re
import sys
import unicodedata
from collections.abc import Iterable, Iterator
from functools import cache
from itertools import takewhile
from typing import Final

from droidgate_mappings.text_safety.hidden import unicode_table, without_any_hidden

_ASCII: Final = range(128)


@cache
def _confusables(characters: range) -> dict[int, str]:
    """Return what each confusable character of a range looks like: a table for `str.translate`."""
    pairs = re.finditer(r"(\w+)=(\S+)", unicode_table("confusables"))
    # The table is sorted, and reading all of it takes a short command some milliseconds.
    near = takewhile(lambda pair: int(pair[1], 16) in characters, pairs)
    return {int(pair[1], 16): "".join(chr(int(part, 16)) for part in pair[2].split("+")) for pair in near}


def skeleton(name: str) -> str:
    """Return the skeleton of a name (UTS 39, section 4): two names with one skeleton look alike."""
    decomposed = unicodedata.normalize("NFD", without_any_hidden(name))
    table = _confusables(_ASCII if decomposed.isascii() else range(sys.maxunicode + 1))
    return unicodedata.normalize("NFD", decomposed.translate(table))


def folded_skeleton(name: str) -> str:
    """Return the skeleton of a name in which case, compatibility forms, `_` and `-` make no difference."""
    folded = unicodedata.normalize("NFKC", without_any_hidden(name)).casefold()
    return skeleton(skeleton(folded).casefold()).replace("_", "-")


def look_alikes(names: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Yield each name that can be taken for an earlier, different one, after that one."""
    seen: dict[tuple[str, str], str] = {}
    for name in dict.fromkeys(names):
        keys = (("as written", skeleton(name)), ("folded", folded_skeleton(name)))
        first = next((seen[key] for key in keys if key in seen), None)
        for key in keys:
            seen.setdefault(key, name)
        if first is not None:
            yield first, name
