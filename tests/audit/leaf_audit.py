"""The leaf audit: which facts of a source are different in the target, and whether the findings say the same."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from audit.declared import (
    Declared,
    Shape,
    Tool,
    folded_steps,
    leaves_of,
    leaves_of_shape,
    reached_definitions,
    shapes_of,
    token,
)
from audit.findings import Finding, Renamed, is_below, speaks_of, split, without_folds, without_suffix

_WRAPPER: Final = "result"
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
            `not-in-text` (called moved, and not there), `milder` (the level is below the harm).
        code: The finding's code, or the empty text.
    """

    kind: str
    pointer: str
    code: str = ""
    level: str = ""
    detail: str = ""


@dataclass(slots=True)
class Comparison:
    """A source and a target, made comparable.

    Attributes:
        target: As it is written.
        restored: The target with the source's names, and without the wrapper of outputs.
        findings: With pointers into the source as this folder's readers see it.
        written_names: The target's name of a property by its pointer in the source.
        unwrapped: Pointers of the outputs that the target wraps.
        before: The leaves of the source.
        after: The leaves of the restored target.
    """

    source: Declared
    target: Declared
    restored: Declared
    findings: list[Finding]
    written_names: dict[str, str]
    unwrapped: set[str]
    before: dict[str, Any]
    after: dict[str, Any]

    @property
    def differences(self) -> list[str]:
        """The pointers of facts that only one side has, or that have different values."""
        changed = [
            one for one, value in self.before.items() if not _same(value, self.after.get(one, _MISSING))
        ]
        return changed + [one for one in self.after if one not in self.before]


_MISSING: Final = object()


def _same(left: Any, right: Any) -> bool:
    if left is _MISSING or right is _MISSING:
        return False
    return json.dumps(left, sort_keys=True) == json.dumps(right, sort_keys=True)


def compare(
    source: Declared, target: Declared, findings: Iterable[Finding], renamed: Iterable[Renamed]
) -> Comparison:
    """Return source and target with comparable pointers."""
    folded = {
        one: steps for pointer, shape in shapes_of(source) for one, steps in folded_steps(shape, pointer)
    }
    # Unused definitions count as well: where a target keeps them, findings speak of them.
    for name, shape in source.definitions.items():
        folded.update(folded_steps(shape, f"/definitions/{token(name)}"))
    unwrapped = {f"/capabilities/{position}/output" for position in _wrapped(source, target)}
    placed = [replace(one, pointer=_placed(one.pointer, folded, unwrapped)) for one in findings]
    written = {_placed(one.pointer, folded, unwrapped): one for one in renamed}
    names = {(pointer.rpartition("/")[0], one.written): one.original for pointer, one in written.items()}
    restored = _Restored(target, names, unwrapped).declared()
    restored = _Restored(restored, _definition_names(source, restored), set()).declared()
    kept = [name for name in source.definitions if name in restored.definitions]
    return Comparison(
        source=source,
        target=target,
        restored=restored,
        findings=placed,
        written_names={pointer: one.written for pointer, one in written.items()},
        unwrapped=unwrapped,
        before=leaves_of(source, kept),
        after=leaves_of(restored, kept),
    )


def _definition_names(source: Declared, target: Declared) -> dict[tuple[str, str], str]:
    """Return the source's names of the target's definitions, from the references at the same places.

    Two tools of a source may have different definitions of one name; in the target they are apart.
    """
    names: dict[tuple[str, str], str] = {}
    pending: list[tuple[Shape | None, Shape | None]] = []
    for before, after in zip(source.tools, target.tools, strict=True):
        pending += [(before.input, after.input), (before.output, after.output)]
    while pending:
        left, right = pending.pop()
        if left is None or right is None:
            continue
        if left.kind == right.kind == "ref" and ("/definitions", right.name) not in names:
            names["/definitions", right.name or ""] = left.name or ""
            pending.append(
                (source.definitions.get(left.name or ""), target.definitions.get(right.name or ""))
            )
        steps = dict(right.steps())
        pending += [(inner, steps.get(one)) for one, inner in left.steps()]
    unknown = [name for name in target.definitions if "@" in name and ("/definitions", name) not in names]
    for name in unknown:
        alike = [
            one
            for one in source.definitions
            if without_suffix(f"/definitions/{token(one)}") == without_suffix(f"/definitions/{token(name)}")
        ]
        left_over = [one for one in alike if one not in names.values()]
        if left_over:
            names["/definitions", name] = max(
                left_over, key=lambda one: _likeness(source.definitions[one], target.definitions[name])
            )
    return names


def _likeness(left: Shape, right: Shape) -> int:
    """Return how many facts two types share."""
    after = dict(leaves_of_shape(right, ""))
    return sum(_same(value, after.get(pointer, _MISSING)) for pointer, value in leaves_of_shape(left, ""))


def _placed(pointer: str, folded: Mapping[str, list[str]], unwrapped: set[str]) -> str:
    for output in unwrapped:
        inner = f"{output}/properties/{_WRAPPER}/type"
        if is_below(pointer, inner):
            pointer = output + pointer[len(inner) :]
    return without_folds(pointer, folded)


def _wrapped(source: Declared, target: Declared) -> Iterator[int]:
    """Yield the tools whose output is written as the one property `result` of an object."""
    for position, (before, after) in enumerate(zip(source.tools, target.tools, strict=True)):
        if before.output is None or after.output is None:
            continue
        is_alike = (
            before.output.kind == "object"
            and before.output.properties.keys() == after.output.properties.keys()
        )
        if not is_alike and after.output.kind == "object" and list(after.output.properties) == [_WRAPPER]:
            yield position


class _Restored:
    """A target with the source's names."""

    def __init__(self, target: Declared, names: dict[tuple[str, str], str], unwrapped: set[str]) -> None:
        self.target = target
        self.names = names
        self.unwrapped = unwrapped

    def declared(self) -> Declared:
        tools = [
            self.tool(tool, f"/capabilities/{position}") for position, tool in enumerate(self.target.tools)
        ]
        definitions = {
            (name := self.names.get(("/definitions", written), written)): self.shape(
                shape, f"/definitions/{token(name)}"
            )
            for written, shape in self.target.definitions.items()
        }
        return replace(self.target, tools=tools, definitions=definitions)

    def tool(self, tool: Tool, pointer: str) -> Tool:
        output = tool.output
        if output is not None and f"{pointer}/output" in self.unwrapped:
            output = output.properties[_WRAPPER]
        return replace(
            tool,
            input=self.shape(tool.input, f"{pointer}/input"),
            output=None if output is None else self.shape(output, f"{pointer}/output"),
        )

    def shape(self, shape: Shape, pointer: str) -> Shape:
        original = {name: self.names.get((f"{pointer}/properties", name), name) for name in shape.properties}
        word = "members" if shape.kind == "all-of" else "alternatives"
        return replace(
            shape,
            name=self.names.get(("/definitions", shape.name or ""), shape.name),
            properties={
                original[name]: self.shape(inner, f"{pointer}/properties/{token(original[name])}/type")
                for name, inner in shape.properties.items()
            },
            required=frozenset(original[name] for name in shape.required),
            items=None if shape.items is None else self.shape(shape.items, f"{pointer}/items"),
            parts=[
                self.shape(one, f"{pointer}/{word}/{position}") for position, one in enumerate(shape.parts)
            ],
        )


def problems_of_leaves(compared: Comparison) -> Iterator[Problem]:
    """Yield each difference without a finding, finding without a difference, and text that did not move."""
    differences = compared.differences
    spoken = [without_suffix(one.pointer) for one in compared.findings]
    for pointer in differences:
        if any(speaks_of(one, without_suffix(pointer)) for one in spoken) or _is_noted(compared, pointer):
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
        if finding.level == "moved" and not _is_in_text(finding, compared):
            detail = f"{compared.before.get(finding.pointer)!r}"
            yield Problem("not-in-text", finding.pointer, finding.code, finding.level, detail)


def _is_noted(compared: Comparison, pointer: str) -> bool:
    """Return whether the target keeps a fact where its protocol leaves room for anything."""
    value = compared.before.get(pointer, _MISSING)
    if split(pointer)[1] not in _NOTABLE and "/extensions/" not in pointer:
        return False
    return value is not _MISSING and any(_holds(note, value) for note in compared.target.notes)


def _holds(note: Any, value: Any) -> bool:
    if _same(note, value):
        return True
    inner = note.values() if isinstance(note, dict) else note if isinstance(note, list) else ()
    return any(_holds(one, value) for one in inner)


def _is_true(finding: Finding, compared: Comparison, differences: list[str]) -> bool:
    if finding.level in _SPELLING or (finding.level == "security" and compared.target.protocol == "mcp"):
        return True
    pointer = without_suffix(finding.pointer)
    return any(speaks_of(pointer, without_suffix(one)) for one in differences)


def _is_reached(pointer: str, declared: Declared) -> bool:
    reached = (without_suffix(f"/definitions/{token(name)}") for name in reached_definitions(declared))
    return any(is_below(without_suffix(pointer), one) for one in reached)


def _is_in_text(finding: Finding, compared: Comparison) -> bool:
    """Return whether the target's texts hold the value of a fact that is called moved."""
    value = compared.before.get(finding.pointer)
    if value is None or finding.code == "text-added":
        return True
    texts = [one for one in compared.after.values() if isinstance(one, str)]
    return any(word in text for text in texts for word in _spellings(finding.pointer, value))


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
            separator.join(json.dumps(one, ensure_ascii=False) for one in value) for separator in (", ", ",")
        ]
    return [json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)]
