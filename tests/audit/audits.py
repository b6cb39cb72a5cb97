"""A source and a target of a conversion: what is different, and whether the findings say the same.

The leaf audit compares facts. The instance audit takes values that only one side accepts, and looks for a
finding that is grave enough at that place.
"""

import json
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from random import Random
from typing import Any, Final

from audit.declared import (
    LEVELS,
    SCHEMA_WORDS,
    Declared,
    Finding,
    Renamed,
    Shape,
    Spelling,
    Tool,
    is_below,
    leaves_of,
    leaves_of_shape,
    place_of,
    reached_definitions,
    reaches,
    says_same,
    shapes_of,
    speaks_of,
    split,
    token,
    without_suffix,
)
from audit.made_values import Accepts, Instance, ValueMaker, acceptance_of, accepts_anything

_WRAPPER: Final = "result"


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
            item for item, value in self.before.items() if not same(value, self.after.get(item, MISSING))
        ]
        changed += [item for item in self.after if item not in self.before]
        return [item for item in changed if not self._is_nullable_anyway(item)]

    def _is_nullable_anyway(self, pointer: str) -> bool:
        """Return whether a leaf only says that null is allowed, where the target allows any value."""
        node, _, word = pointer.rpartition("/")
        return (
            word == "nullable"
            and self.after.get(f"{node}/kind") == "any"
            and f"{node}/enum" not in self.after
        )


MISSING: Final = object()


def same(left: Any, right: Any) -> bool:
    if left is MISSING or right is MISSING:
        return False
    return json.dumps(left, sort_keys=True) == json.dumps(right, sort_keys=True)


def compare(
    source: Declared, target: Declared, findings: Iterable[Finding], renamed: Iterable[Renamed]
) -> Comparison:
    """Return source and target with comparable pointers."""
    spelling = Spelling()
    for pointer, shape in shapes_of(source, source.definitions):
        spelling.add(shape, pointer)
    unwrapped = {f"/capabilities/{position}/output" for position in _wrapped(source, target)}
    leaves = leaves_of(source, source.definitions)

    def placed(pointer: str) -> str:
        return _placed(pointer, spelling, unwrapped, leaves)

    written = {placed(item.pointer): item for item in renamed}
    names = {(pointer.rpartition("/")[0], item.written): item.original for pointer, item in written.items()}
    restored = _Restored(target, names, unwrapped).declared()
    restored = _Restored(restored, _definition_names(source, restored), set()).declared()
    shared = [name for name in source.definitions if name in restored.definitions]
    before, after = leaves_of(source, shared), leaves_of(restored, shared)

    def reported_at(pointer: str) -> str:
        """Return where a finding is: a fact that only the target has is where the target has it."""
        written = _with_source_names(pointer, names)
        is_added = written in after and written not in before
        return written if is_added else _with_source_names(placed(pointer), names)

    return Comparison(
        source=source,
        target=target,
        restored=restored,
        findings=[replace(item, pointer=reported_at(item.pointer)) for item in findings],
        written_names={pointer: item.written for pointer, item in written.items()},
        unwrapped=unwrapped,
        before=before,
        after=after,
    )


def _with_source_names(pointer: str, names: Mapping[tuple[str, str], str]) -> str:
    """Return a pointer with the source's names: what moves out of a choice is named as it is written."""
    path = ""
    for word in pointer.split("/")[1:]:
        name = word.replace("~1", "/").replace("~0", "~")
        path = f"{path}/{token(names.get((path, name), name))}"
    return path


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
        pending += [(inner, steps.get(item)) for item, inner in left.steps()]
    unknown = [name for name in target.definitions if "@" in name and ("/definitions", name) not in names]
    for name in unknown:
        alike = [
            item
            for item in source.definitions
            if without_suffix(f"/definitions/{token(item)}") == without_suffix(f"/definitions/{token(name)}")
        ]
        left_over = [item for item in alike if item not in names.values()]
        if left_over:
            names["/definitions", name] = max(
                left_over, key=lambda item: _likeness(source.definitions[item], target.definitions[name])
            )
    return names


def _likeness(left: Shape, right: Shape) -> int:
    """Return how many facts two types share."""
    after = dict(leaves_of_shape(right, ""))
    return sum(same(value, after.get(pointer, MISSING)) for pointer, value in leaves_of_shape(left, ""))


def _placed(pointer: str, spelling: Spelling, unwrapped: set[str], leaves: Mapping[str, Any]) -> str:
    """Return the pointer here of a pointer as the source is written."""
    for output in unwrapped:
        inner = f"{output}/properties/{_WRAPPER}/type"
        if is_below(pointer, inner):
            pointer = output + pointer[len(inner) :]
    if "@" not in pointer or not pointer.startswith("/definitions/"):
        return spelling.placed(pointer)
    # A second definition of a name has another suffix here; it is the one whose leaf exists.
    places = map(spelling.placed, _other_suffixes(pointer, leaves))
    return next((place for place in places if place in leaves), spelling.placed(pointer))


def _other_suffixes(pointer: str, leaves: Iterable[str]) -> list[str]:
    """Return a pointer below each of the definitions that have its name."""
    name = pointer.split("/")[2]
    rest = pointer.removeprefix(f"/definitions/{name}")
    names = dict.fromkeys(item.split("/")[2] for item in leaves if item.startswith("/definitions/"))
    plain = name.partition("@")[0]
    return [f"/definitions/{item}{rest}" for item in names if item.partition("@")[0] == plain]


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
                self.shape(item, f"{pointer}/{word}/{position}") for position, item in enumerate(shape.parts)
            ],
        )


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
    "bytes": "base64",
    "ref": "$ref",
    "all-of": "allOf",
    "one-of": "oneOf anyOf",
    **dict.fromkeys(("int32", "int64"), "integer"),
    **dict.fromkeys(("float", "double"), "number"),
    **dict.fromkeys(("any", "opaque"), ""),
}


def _spellings(pointer: str, value: Any) -> list[str]:
    """Return the ways to say a fact in a text, as words or as JSON."""
    word = pointer.rpartition("/")[2]
    if word == "kind":
        return str(_KIND_WORDS.get(value, value)).split(" ")
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


MUTATED: Final = 30
"""Mutated values of a schema, at most."""
_AROUND: Final = frozenset({"kind", "name", "exclusive", "nullable", *SCHEMA_WORDS})
"""What a finding about a type speaks of, if it also is about the types inside."""


def problems_of_instances(compared: Comparison, seed: int) -> Iterator[Problem]:
    """Yield each value that one side accepts and the other refuses without a grave finding at its place."""
    maker = ValueMaker(Random(seed), compared.source.definitions, compared.source.protocol in {"mcp", "mmcp"})
    for root in _roots(compared):
        # A mutated value says something of its place only where both sides take the value before it.
        for instance in maker.instances(root.shape, root.pointer, MUTATED, root.is_taken_by_both):
            threshold = root.harm(instance.value)
            if threshold:
                yield from _judge(compared, root.pointer, instance, threshold)


@dataclass(frozen=True, slots=True)
class _Root:
    """The input or output of one tool, on both sides."""

    compared: Comparison
    pointer: str
    shape: Shape
    by_source: Accepts
    by_target: Accepts

    def is_taken_by_both(self, value: Any) -> bool:
        """Return whether source and target accept a value."""
        return self.by_source(value) and self.by_target(self.written(value))

    def written(self, value: Any) -> Any:
        """Return a value as the target has it."""
        return written_value(self.compared, value, self.shape, self.pointer)

    def harm(self, value: Any) -> str:
        """Return `widened` or `narrowed` where the target decides otherwise about a value, else no text."""
        is_taken = self.by_source(value)
        if is_taken == self.by_target(self.written(value)):
            return ""
        return "narrowed" if is_taken else "widened"


def _roots(compared: Comparison) -> Iterator[_Root]:
    source, target = compared.source, compared.target
    for position, (before, after) in enumerate(zip(source.tools, target.tools, strict=True)):
        sides = (
            ("input", before.input, before.input_schema, after.input, after.input_schema),
            ("output", before.output, before.output_schema, after.output, after.output_schema),
        )
        for word, shape, schema, other, other_schema in sides:
            if shape is None or _has_kind(shape, "opaque", source):
                continue
            mine = acceptance_of(source, shape, schema)
            theirs = accepts_anything if other is None else acceptance_of(target, other, other_schema)
            yield _Root(compared, f"/capabilities/{position}/{word}", shape, mine, theirs)


def _has_kind(shape: Shape, kind: str, declared: Declared) -> bool:
    """Return whether a type is or holds values of a kind, such as platform objects that JSON cannot hold."""
    seen: set[str] = set()
    pending = [shape]
    while pending:
        item = pending.pop()
        if item.kind == kind:
            return True
        if item.kind == "ref" and item.name in declared.definitions and item.name not in seen:
            seen.add(item.name)
            pending.append(declared.definitions[item.name])
        pending.extend(inner for _, inner in item.steps())
    return False


def written_value(compared: Comparison, value: Any, shape: Shape, pointer: str) -> Any:
    """Return a value of the source as the target has it: with its names, in its wrapper."""
    after = target_output(compared, pointer)
    if shape.kind == "null" and after is not None and after.kind == "object":
        return {}  # nothing is returned, in a protocol whose results are objects
    renamed = _renamed(compared, value, shape, pointer) if compared.written_names else value
    return {"result": renamed} if pointer in compared.unwrapped else renamed


def target_output(compared: Comparison, pointer: str) -> Shape | None:
    """Return the target's output at a pointer; None for an input, and where the target declares none."""
    _, _, position, word = pointer.split("/")
    return compared.target.tools[int(position)].output if word == "output" else None


def _renamed(compared: Comparison, value: Any, shape: Shape | None, pointer: str) -> Any:
    if shape is None:
        return value
    if shape.kind == "ref":
        name = shape.name or ""
        return _renamed(compared, value, compared.source.definitions.get(name), f"/definitions/{token(name)}")
    if shape.kind in {"all-of", "one-of"}:
        for steps, inner in shape.steps():
            value = _renamed(compared, value, inner, f"{pointer}/{steps}")
    elif isinstance(value, list):
        return [_renamed(compared, item, shape.items, f"{pointer}/items") for item in value]
    elif isinstance(value, dict):
        places = {name: f"{pointer}/properties/{token(name)}" for name in value}
        return {
            compared.written_names.get(place, name): _renamed(
                compared, value[name], shape.properties.get(name), f"{place}/type"
            )
            for name, place in places.items()
        }
    return value


def _judge(compared: Comparison, root: str, instance: Instance, threshold: str) -> Iterator[Problem]:
    about = [
        item for item in compared.findings if item.level != "security" and _is_about(item, root, instance)
    ]
    # A value that is newly refused may be so for any type around it; one that is newly taken, for its leaf.
    leaf = without_suffix(instance.leaf) if threshold == "widened" else ""
    # Whether null is allowed is a matter of the kind, too, where the kind changed.
    leaves = [leaf, f"{leaf.removesuffix('/nullable')}/kind"] if leaf.endswith("/nullable") else [leaf]
    at_leaf = [
        item for item in about if leaf and any(says_same(without_suffix(item.pointer), two) for two in leaves)
    ]
    gravest = max(at_leaf or about, key=lambda item: LEVELS.index(item.level), default=None)
    if gravest is None:
        yield Problem(f"silently-{threshold}", instance.leaf or root, detail=repr(instance.value))
    elif not reaches(gravest.level, threshold):
        detail = f"{instance.value!r} (finding at {gravest.pointer})"
        yield Problem(f"milder-than-{threshold}", instance.leaf or root, gravest.code, gravest.level, detail)


def _is_about(finding: Finding, root: str, instance: Instance) -> bool:
    """Return whether a finding is at the place that an instance violates, inside it or around it."""
    pointer = without_suffix(finding.pointer)
    if not instance.leaf:
        return is_below(pointer, root) or pointer.startswith("/definitions/")
    own = place_of(instance.leaf)
    places = [own] if instance.leaf.endswith("/required") else [own, *instance.places]
    # What one alternative refuses another may take.
    around = [own, *instance.places, *instance.trail]
    places += [item.partition("/alternatives/")[0] for item in around if "/alternatives/" in item]
    if any(is_below(pointer, without_suffix(item)) for item in places):
        return True
    node, word = split(pointer)
    return word in _AROUND and node in {without_suffix(item) for item in (*instance.trail, *instance.places)}


def problems_of_visibility(compared: Comparison) -> Iterator[Problem]:
    """Yield each unreported type for which Jetpack's agents drop a function (reference appfunctions 2.c)."""
    if compared.target.protocol != "appfunctions" or compared.source.protocol == "appfunctions":
        return
    grave = [
        item for item in compared.findings if reaches(item.level, "narrowed") and item.level != "security"
    ]
    for root, shape in shapes_of(compared.restored):
        for pointer in _invisible(shape, root, compared.restored):
            place = without_suffix(pointer)
            if not any(is_below(without_suffix(item.pointer), place) for item in grave):
                yield Problem("invisible-to-agents", pointer)


def _invisible(shape: Shape, pointer: str, declared: Declared) -> Iterator[str]:
    is_parameters = pointer.endswith("/input") and pointer.count("/") == 3
    if shape.kind == "object" and not shape.properties and not is_parameters:
        yield pointer
    if shape.kind == "one-of" and shape.class_name is None:
        yield pointer
    if shape.kind in {"one-of", "all-of"} and not all(_is_object(part, declared) for part in shape.parts):
        yield pointer
    for steps, inner in shape.steps():
        yield from _invisible(inner, f"{pointer}/{steps}", declared)


def _is_object(shape: Shape, declared: Declared) -> bool:
    for _ in range(len(declared.definitions) + 1):
        if shape.kind == "ref" and shape.name in declared.definitions:
            shape = declared.definitions[shape.name]
    return shape.kind in {"object", "all-of"}
