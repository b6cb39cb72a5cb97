"""Findings as a SARIF 2.1.0 log (OASIS sarif-v2.1.0-os), written for code-scanning services."""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path, PurePath
from typing import Final
from urllib.parse import quote

from droidgate.cli.output.markdown import plain_markdown
from droidgate.computer.version import VERSION
from droidgate.sources.folder_files import read_bytes
from droidgate.sources.source_schemes import GIT_SCHEME
from droidgate_mappings.formats.format import meaning_of
from droidgate_mappings.model.errors import InputError
from droidgate_mappings.model.findings import Finding, Level
from droidgate_mappings.model.json_values import Json
from droidgate_mappings.text.json_text import rows_of_pointers
from droidgate_mappings.text_safety import visible

_SCHEMA: Final = "https://json.schemastore.org/sarif-2.1.0.json"
_ROOT: Final = "SRCROOT"
_QUOTES: Final = {"\\\\": "\\", '\\"': '"', "\\'": "'", "&quot;": '"', "&#34;": '"'}
_QUOTED = re.compile("|".join(map(re.escape, _QUOTES)))
"""What Android's compiler and an XML parser read as one character of JSON."""

_MOST_PLACES: Final = 100
"""How many documents of one file are searched; each costs a look at the whole file."""

_BRACKET: Final = re.compile(r"[\\\[\]]")
_LEVELS: Final = {
    Level.READ: "note",
    Level.RENAMED: "note",
    Level.MOVED: "note",
    Level.WIDENED: "warning",
    Level.DEFAULTED: "warning",
    Level.DROPPED: "warning",
    Level.NARROWED: "warning",
    Level.IMPOSSIBLE: "error",
    Level.SECURITY: "error",
    Level.NOTE: "note",
    Level.WARNING: "warning",
    Level.ERROR: "error",
}


def sarif_log(findings: Iterable[Finding]) -> Json:
    """Return a log with one run: one result for each finding, one rule for each code that occurs.

    Paths below the working folder are relative to it. A fingerprint is made from code, path and pointer, so
    it stays when lines move or words change.
    """
    listed = list(findings)
    rows = _rows_in_files(listed)
    codes = list(dict.fromkeys(item.code for item in listed))
    seen: dict[str, int] = {}
    results = [
        _result(item, codes.index(item.code), seen, row) for item, row in zip(listed, rows, strict=True)
    ]
    driver = {
        "name": "droidgate",
        "version": VERSION,
        "semanticVersion": VERSION,
        "rules": [_rule(code) for code in codes],
    }
    run = {
        "tool": {"driver": driver},
        "columnKind": "utf16CodeUnits",
        "originalUriBaseIds": {_ROOT: {"description": {"text": "The folder that droidgate ran in"}}},
        "results": results,
    }
    return {"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]}


def _rule(code: str) -> Json:
    meaning = meaning_of(code) or code
    return {
        "id": code,
        "shortDescription": {"text": meaning},
        "fullDescription": {"text": meaning},
        "help": {"text": f"{meaning}."},
    }


def _rows_in_files(findings: Sequence[Finding]) -> list[int | None]:
    """Return the row of each finding, that of a JSON Pointer's value where it can be found in the file.

    Code scanning shows a finding in a pull request only where its row is changed.
    """
    sought: dict[tuple[str, int], list[str]] = {}
    for item in findings:
        if item.source is not None and item.source.line is not None:
            sought.setdefault((item.source.path, item.source.line), []).append(_pointer_in_file(item))
    places = Counter(path for path, _ in sought)
    found = {
        place: _rows_of_pointers(*place, pointers) if places[place[0]] <= _MOST_PLACES else {}
        for place, pointers in sought.items()
    }
    return [
        None
        if item.source is None or item.source.line is None
        else found[item.source.path, item.source.line].get(_pointer_in_file(item), max(1, item.source.line))
        for item in findings
    ]


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


def _result(finding: Finding, index: int, seen: dict[str, int], row: int | None) -> Json:
    address = _artifact_location(finding)
    key = "\n".join((finding.code, address["uri"], finding.pointer))
    seen[key] = seen.get(key, 0) + 1
    text = visible(finding.text if finding.hint is None else f"{finding.text}; {finding.hint}")
    physical: dict[str, Json] = {"artifactLocation": address}
    if row is not None:
        physical["region"] = {"startLine": row}
    location: dict[str, Json] = {"physicalLocation": physical}
    if finding.pointer:
        location["logicalLocations"] = [{"fullyQualifiedName": visible(finding.pointer)}]
    properties = {
        "level": finding.level.value,
        **({"rule": finding.rule} if finding.rule is not None else {}),
        **({"variants": list(finding.variants)} if finding.variants else {}),
    }
    return {
        "ruleId": finding.code,
        "ruleIndex": index,
        "level": _LEVELS[finding.level],
        "message": {"text": _as_text(text), "markdown": plain_markdown(text)},
        "locations": [location],
        "partialFingerprints": {"droidgate/v1": _fingerprint(f"{key}\n{seen[key]}")},
        "properties": properties,
    }


def _as_text(text: str) -> str:
    """Return a plain text message without links (section 3.11.6): brackets and backslashes are escaped."""
    return _BRACKET.sub(r"\\\g<0>", text)


def _fingerprint(key: str) -> str:
    return hashlib.sha256(key.encode("utf-8", "surrogatepass")).hexdigest()


def _artifact_location(finding: Finding) -> dict[str, str]:
    """Return the location of a finding; `stdin` for a source without a file."""
    path = finding.source.path if finding.source is not None else "-"
    if path.startswith(GIT_SCHEME):
        path = path.split(":", 2)[-1]
    if path in {"", "-"}:
        return {"uri": "stdin"}
    absolute = Path(path).absolute()
    try:
        relative: PurePath = absolute.relative_to(Path.cwd())
    except ValueError:
        return {"uri": "file://" + _quote_path(absolute.as_posix())}
    return {"uri": _quote_path(relative.as_posix()), "uriBaseId": _ROOT}


def _quote_path(path: str) -> str:
    return quote(path, safe="/!", errors="surrogatepass")
