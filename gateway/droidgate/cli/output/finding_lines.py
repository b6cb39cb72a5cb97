"""The lines of findings, the same on a page and in a SARIF log."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Final

from droidgate.sources.folder_files import read_bytes
from droidgate_mappings.model.errors import InputError
from droidgate_mappings.model.findings import Finding
from droidgate_mappings.text.json_text import rows_of_pointers

_QUOTES: Final = {"\\\\": "\\", '\\"': '"', "\\'": "'", "&quot;": '"', "&#34;": '"'}
_QUOTED = re.compile("|".join(map(re.escape, _QUOTES)))
"""What Android's compiler and an XML parser read as one character of JSON."""

_MOST_PLACES: Final = 100
"""How many documents of one file are searched; each costs a look at the whole file."""


def with_lines(findings: Iterable[Finding]) -> list[Finding]:
    """Return findings at the lines of their values: that of a JSON Pointer's value where a file has it."""
    listed = list(findings)
    sought: dict[tuple[str, int], list[str]] = {}
    for item in listed:
        if item.source is not None and item.source.line is not None:
            sought.setdefault((item.source.path, item.source.line), []).append(_pointer_in_file(item))
    places = Counter(path for path, _ in sought)
    found = {
        place: _rows_of_pointers(*place, pointers) if places[place[0]] <= _MOST_PLACES else {}
        for place, pointers in sought.items()
    }
    return [_at_line(item, found) for item in listed]


def _at_line(finding: Finding, found: Mapping[tuple[str, int], Mapping[str, int]]) -> Finding:
    source = finding.source
    if source is None or source.line is None:
        return finding
    line = found[source.path, source.line].get(_pointer_in_file(finding), max(1, source.line))
    return finding.changed({"source": source.changed({"line": line})})


def _pointer_in_file(finding: Finding) -> str:
    return (finding.source and finding.source.inner) or finding.pointer


def _rows_of_pointers(path: str, line: int, pointers: Sequence[str]) -> dict[str, int]:
    """Return the rows of values of the JSON that begins at a line of a file on disk, also inside XML."""
    if not any(pointers) or not path.endswith((".json", ".xml")) or not Path(path).is_file():
        return {}
    try:
        text = read_bytes(path).decode("utf-8-sig", "replace")
    except InputError:
        return {}
    rows = text.split("\n")
    json_text = "\n".join(rows[max(0, line - 1) :])
    if path.endswith(".xml"):
        before, brace, after = json_text.partition("{")
        json_text = "\n" * before.count("\n") + brace + _QUOTED.sub(lambda quoted: _QUOTES[quoted[0]], after)
    return {pointer: row + max(0, line - 1) for pointer, row in rows_of_pointers(json_text, pointers).items()}
