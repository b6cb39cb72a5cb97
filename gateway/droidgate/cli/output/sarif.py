"""Findings as a SARIF 2.1.0 log (OASIS sarif-v2.1.0-os), written for code-scanning services."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable
from pathlib import Path, PurePath
from typing import Final
from urllib.parse import quote

from droidgate.cli.output.finding_lines import with_lines
from droidgate.cli.output.markdown import plain_markdown
from droidgate.computer.version import VERSION
from droidgate.sources.source_schemes import GIT_SCHEME
from droidgate_mappings.formats.format import meaning_of
from droidgate_mappings.model.findings import Finding, Level
from droidgate_mappings.model.json_values import Json
from droidgate_mappings.text_safety import visible

_SCHEMA: Final = "https://json.schemastore.org/sarif-2.1.0.json"
_ROOT: Final = "SRCROOT"
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
    listed = with_lines(findings)
    codes = list(dict.fromkeys(item.code for item in listed))
    seen: dict[str, int] = {}
    results = [_result(item, codes.index(item.code), seen) for item in listed]
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


def _result(finding: Finding, index: int, seen: dict[str, int]) -> Json:
    address = _artifact_location(finding)
    key = "\n".join((finding.code, address["uri"], finding.pointer))
    seen[key] = seen.get(key, 0) + 1
    text = visible(finding.text if finding.hint is None else f"{finding.text}; {finding.hint}")
    physical: dict[str, Json] = {"artifactLocation": address}
    if finding.source is not None and finding.source.line is not None:
        physical["region"] = {"startLine": finding.source.line}
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
