"""The instance audit: values that only one side accepts, and whether a finding grave enough says so there."""

from collections.abc import Iterator
from dataclasses import dataclass
from random import Random
from typing import Any, Final

from audit.acceptance import Accepts, acceptance_of, accepts_anything
from audit.comparison import Comparison
from audit.declared import Declared, Shape, shapes_of, token
from audit.findings import (
    LEVELS,
    SCHEMA_WORDS,
    Finding,
    is_below,
    place_of,
    reaches,
    says_same,
    split,
    without_suffix,
)
from audit.leaf_audit import Problem
from audit.made_values import Instance, ValueMaker

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
