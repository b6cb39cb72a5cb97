"""The leaf audit: which facts are different in the target, and whether the findings say the same."""

import json
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import Any, Final

from audit.comparison import MISSING, Comparison, same
from audit.declared import Declared, reached_definitions, token
from audit.findings import Finding, is_below, speaks_of, split, without_suffix

_SPELLING: Final = frozenset({"read", "renamed"})
_NOTABLE: Final = frozenset(
    {"package", "component", "name", "description", "instructions", "version", "qualified_name", "class_name"}
)
"""What a target may keep in `_meta` or a keyword `x-...`: no value is accepted or refused for it."""


@dataclass(frozen=True, slots=True)
class Problem:
    """A way in which a conversion's findings are not true.

    Attributes:
        kind: `unreported` (a difference without a finding), `false-alarm` (a finding without a difference),
            `not-in-text` (called moved, and not there), `not-in-names` (called renamed, and not in the name
            map), `milder` (the level is below the harm).
        code: The finding's code, or the empty text.
    """

    kind: str
    pointer: str
    code: str = ""
    level: str = ""
    detail: str = ""


def problems_of_leaves(compared: Comparison) -> Iterator[Problem]:
    """Yield each difference without a finding, finding without a difference, and text that did not move."""
    differences = {without_suffix(item): item for item in compared.differences}
    spoken = {without_suffix(item.pointer) for item in compared.findings}
    for plain, pointer in differences.items():
        if plain in spoken or any(speaks_of(item, plain) for item in spoken) or _is_noted(compared, pointer):
            continue
        before, after = (side.get(pointer) for side in (compared.before, compared.after))
        yield Problem("unreported", pointer, detail=f"{before!r} -> {after!r}")
    for finding in compared.findings:
        if not _is_true(finding, compared, differences):
            is_unused = finding.pointer.startswith("/definitions/") and not _is_reached(
                finding.pointer, compared.source
            )
            kind = "false-alarm-unused" if is_unused else "false-alarm"
            yield Problem(kind, finding.pointer, finding.code, finding.level, finding.message)
        if not _leads_back(finding, compared):
            detail = f"{compared.before.get(finding.pointer)!r}"
            yield Problem("not-in-names", finding.pointer, finding.code, finding.level, detail)
        if finding.level == "moved" and not _is_in_text(finding, compared):
            detail = f"{compared.before.get(finding.pointer)!r}"
            yield Problem("not-in-text", finding.pointer, finding.code, finding.level, detail)


def _is_noted(compared: Comparison, pointer: str) -> bool:
    """Return whether the target keeps a fact where its protocol leaves room for anything."""
    value = compared.before.get(pointer, MISSING)
    if split(pointer)[1] not in _NOTABLE and "/extensions/" not in pointer:
        return False
    return value is not MISSING and any(_holds(note, value) for note in compared.target.notes)


def _holds(note: Any, value: Any) -> bool:
    if same(note, value):
        return True
    inner = note.values() if isinstance(note, dict) else note if isinstance(note, list) else ()
    return any(_holds(item, value) for item in inner)


def _is_true(finding: Finding, compared: Comparison, differences: Collection[str]) -> bool:
    if finding.level in _SPELLING or _is_unenforced(finding, compared):
        return True
    if finding.pointer.endswith("/unstatedBounds") and compared.target.protocol == "appfunctions":
        return True  # JSON Schema accepts other integers, AppFunctions' type 7 does not: both are int32 here.
    node, word = split(finding.pointer)
    kind = f"{node}/kind"
    if kind in compared.before and kind not in compared.after:
        return True  # The whole type is gone, and all that it said.
    if word == "kind" and any(is_below(difference, without_suffix(node)) for difference in differences):
        return True  # The kind of a type that lost what is inside.
    pointer = without_suffix(finding.pointer)
    return pointer in differences or any(speaks_of(pointer, difference) for difference in differences)


def _is_unenforced(finding: Finding, compared: Comparison) -> bool:
    """Return whether a rule holds no more, though every attribute is written.

    Those are all in `_meta` of MCP, `exported` of AppFunctions, whose services Android binds anyway, and what
    Android itself requires of the callers of an AppFunctions service with a permission of its own.
    """
    target = compared.target.protocol
    from_android = compared.source.protocol == "appfunctions" and finding.pointer == "/access/permission"
    to_android = target == "appfunctions" and finding.pointer == "/access/exported"
    return finding.level == "security" and (target == "mcp" or to_android or from_android)


def _is_reached(pointer: str, declared: Declared) -> bool:
    reached = (without_suffix(f"/definitions/{token(name)}") for name in reached_definitions(declared))
    return any(is_below(without_suffix(pointer), item) for item in reached)


def _leads_back(finding: Finding, compared: Comparison) -> bool:
    """Return whether the name map has the new name of a tool or component that is called renamed."""
    pointer = finding.pointer
    if finding.level != "renamed" or not pointer.endswith(("/id", "/component")):
        return True
    return compared.written_names.get(pointer) == compared.after.get(pointer)


def _is_in_text(finding: Finding, compared: Comparison) -> bool:
    """Return whether the target's texts hold the value of a fact that is called moved."""
    value = compared.before.get(finding.pointer)
    kind = compared.before.get(f"{split(finding.pointer)[0]}/kind")
    if value is None or finding.code == "text-added" or kind in {"any", "opaque"}:
        return True  # A text without a type says that any value is allowed, null too.
    texts = "\0".join(item for item in compared.after.values() if isinstance(item, str))
    if any(word in texts for word in _spellings(finding.pointer, value)):
        return True
    # The texts of a choice of one and of its member are one text here, and may be two there.
    breaks = [place for place, letter in enumerate(value) if letter == " "] if isinstance(value, str) else []
    return any(_has_text(value[:item], texts) and _has_text(value[item + 1 :], texts) for item in breaks)


def _has_text(text: str, texts: str) -> bool:
    return any(spelling in texts for spelling in _spellings("/description", text))


_KIND_WORDS: Final = {
    "int32": ["integer"],
    "int64": ["integer"],
    "float": ["number"],
    "double": ["number"],
    "bytes": ["base64"],
    "ref": ["$ref"],
    "all-of": ["allOf"],
    "one-of": ["oneOf", "anyOf"],
    "any": [""],
    "opaque": [""],
}


def _spellings(pointer: str, value: Any) -> list[str]:
    """Return the ways to say a fact in a text, as words or as JSON."""
    word = pointer.rpartition("/")[2]
    if word == "kind":
        return _KIND_WORDS.get(value, [value])
    if word in {"nullable", "exclusive"}:
        return ["null"] if word == "nullable" else ["anyOf"]
    if word == "required":
        return [pointer.split("/")[-2].replace("~1", "/").replace("~0", "~")]
    if isinstance(value, str):
        in_json = json.dumps(value, ensure_ascii=False)[1:-1]
        return [value, in_json, json.dumps(in_json, ensure_ascii=False)[1:-1]]
    if isinstance(value, bool):
        return ["yes" if value else "no", json.dumps(value)]
    if isinstance(value, list):
        return [
            separator.join(json.dumps(item, ensure_ascii=False) for item in value)
            for separator in (", ", ",")
        ]
    return [json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)]
