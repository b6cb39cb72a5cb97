"""What a descriptor declares, in a form that all four protocols share, and its leaves by JSON Pointer.

The readers of this folder fill it from the specifications alone; nothing in it comes from droidgate. Pointers
and findings are those of docs/reference/findings.md, so that a leaf and a finding can be compared.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final


@dataclass(slots=True)
class Shape:
    """A type: what values it has.

    Attributes:
        parts: The members of an all-of, or the alternatives of a one-of; null is `nullable` and no part.
        exclusive: Exactly one alternative of a one-of applies, not several.
        name: The definition that a ref names.
        keywords: JSON Schema keywords that have no attribute here.
        facts: What only its own protocol has, by the pointer steps of `extensions`.
        folded: Pointer steps that this type is written in and that mean nothing, from the outermost: those
            into choices of one, such as `alternatives/0`.
    """

    kind: str
    nullable: bool = False
    description: str | None = None
    enum: list[Any] | None = None
    pattern: str | None = None
    format: str | None = None
    keywords: dict[str, Any] = field(default_factory=dict)
    properties: dict[str, Shape] = field(default_factory=dict)
    required: frozenset[str] = frozenset()
    items: Shape | None = None
    parts: list[Shape] = field(default_factory=list)
    exclusive: bool = True
    name: str | None = None
    class_name: str | None = None
    facts: dict[str, Any] = field(default_factory=dict)
    folded: list[str] = field(default_factory=list)

    def steps(self) -> Iterator[tuple[str, Shape]]:
        """Yield each inner type with the pointer steps to it."""
        for name, inner in self.properties.items():
            yield f"properties/{token(name)}/type", inner
        if self.items is not None:
            yield "items", self.items
        word = "members" if self.kind == "all-of" else "alternatives"
        for position, inner in enumerate(self.parts):
            yield f"{word}/{position}", inner


@dataclass(slots=True)
class Tool:
    """One callable. `facts` are what only its own protocol has, by the pointer steps of `extensions`."""

    id: str
    title: str | None = None
    description: str | None = None
    version: str | None = None
    effects: dict[str, bool] = field(default_factory=dict)
    access: dict[str, Any] = field(default_factory=dict)
    input: Shape = field(default_factory=lambda: Shape("object"))
    output: Shape | None = None
    input_schema: Any = None
    output_schema: Any = None
    facts: dict[str, Any] = field(default_factory=dict)


@dataclass(slots=True)
class Declared:
    """Everything that one component declares.

    Attributes:
        definitions: Named types of all tools.
        facts: What only the protocol has, by the pointer steps of `extensions`.
        notes: JSON values without a meaning in the protocol (`_meta`, keywords that start with `x-`), in
            which a converter may keep what the protocol has no field for.
    """

    protocol: str
    package: str | None = None
    component: str | None = None
    name: str | None = None
    description: str | None = None
    instructions: str | None = None
    access: dict[str, Any] = field(default_factory=dict)
    definitions: dict[str, Shape] = field(default_factory=dict)
    tools: list[Tool] = field(default_factory=list)
    facts: dict[str, Any] = field(default_factory=dict)
    notes: list[Any] = field(default_factory=list)


def token(name: str) -> str:
    """Return a name as a token of a JSON Pointer (RFC 6901)."""
    return name.replace("~", "~0").replace("/", "~1")


def leaves_of_shape(shape: Shape, pointer: str) -> Iterator[tuple[str, Any]]:
    """Yield `(pointer, value)` for each fact of a type, inner types included."""
    yield f"{pointer}/kind", shape.kind
    if shape.nullable:
        yield f"{pointer}/nullable", True
    for word in ("description", "enum", "pattern", "format"):
        if getattr(shape, word) is not None:
            yield f"{pointer}/{word}", getattr(shape, word)
    for keyword, value in shape.keywords.items():
        yield f"{pointer}/keywords/{token(keyword)}", value
    for steps, value in shape.facts.items():
        yield f"{pointer}/extensions/{steps}", value
    if shape.kind == "ref":
        yield f"{pointer}/name", shape.name
    if not shape.exclusive:
        yield f"{pointer}/exclusive", False
    if shape.class_name is not None:
        word = "class_name" if shape.kind == "opaque" else "qualified_name"
        yield f"{pointer}/{word}", shape.class_name
    for name in shape.properties:
        yield f"{pointer}/properties/{token(name)}/required", name in shape.required
    for steps, inner in shape.steps():
        yield from leaves_of_shape(inner, f"{pointer}/{steps}")


@dataclass(slots=True)
class Spelling:
    """How a source writes its choices of one: the steps into them, by the pointer without them."""

    folded: dict[str, list[str]] = field(default_factory=dict)

    def add(self, shape: Shape, pointer: str) -> None:
        """Add a root type."""
        if shape.folded:
            self.folded[pointer] = shape.folded
        for steps, inner in shape.steps():
            self.add(inner, f"{pointer}/{steps}")

    def placed(self, pointer: str) -> str:
        """Return a pointer into the source as it is written without the steps into choices of one."""
        remaining = {node: list(steps) for node, steps in self.folded.items()}
        built = ""
        for part in pointer.split("/")[1:]:
            built = f"{built}/{part}"
            node, _, step = built.rpartition("/")
            node, _, word = node.rpartition("/")
            if remaining.get(node, [])[:1] == [f"{word}/{step}"]:
                del remaining[node][0]
                built = node
        return built


def shapes_of(declared: Declared, kept: Iterable[str] = ()) -> Iterator[tuple[str, Shape]]:
    """Yield each root type with its pointer: inputs, outputs, definitions that a tool reaches, and `kept`."""
    for position, tool in enumerate(declared.tools):
        yield f"/capabilities/{position}/input", tool.input
        if tool.output is not None:
            yield f"/capabilities/{position}/output", tool.output
    for name in dict.fromkeys([*reached_definitions(declared), *kept]):
        yield f"/definitions/{token(name)}", declared.definitions[name]


def reached_definitions(declared: Declared) -> list[str]:
    """Return the names of the definitions that tools refer to, directly or through others."""
    pending = [shape for tool in declared.tools for shape in (tool.input, tool.output) if shape is not None]
    reached: list[str] = []
    while pending:
        shape = pending.pop()
        if shape.kind == "ref" and shape.name in declared.definitions and shape.name not in reached:
            reached.append(shape.name)
            pending.append(declared.definitions[shape.name])
        pending.extend(inner for _, inner in shape.steps())
    return reached


def leaves_of(declared: Declared, kept: Iterable[str] = ()) -> dict[str, Any]:
    """Return all facts by pointer; access rules that let every caller in are left out.

    Args:
        declared: What a reader made of a descriptor.
        kept: Definitions that count although no tool reaches them.
    """
    leaves: dict[str, Any] = {}
    for word in ("package", "component", "name", "description", "instructions"):
        if getattr(declared, word) is not None:
            leaves[f"/{word}"] = getattr(declared, word)
    for word, value in declared.access.items():
        leaves[f"/access/{word}"] = value
    for word, value in declared.facts.items():
        leaves[f"/extensions/{word}"] = value
    for position, tool in enumerate(declared.tools):
        leaves.update(_leaves_of_tool(tool, f"/capabilities/{position}"))
    for pointer, shape in shapes_of(declared, kept):
        leaves.update(leaves_of_shape(shape, pointer))
    return leaves


def _leaves_of_tool(tool: Tool, pointer: str) -> Mapping[str, Any]:
    leaves: dict[str, Any] = {f"{pointer}/id": tool.id}
    for word in ("title", "description", "version"):
        if getattr(tool, word) is not None:
            leaves[f"{pointer}/{word}"] = getattr(tool, word)
    for word, value in tool.effects.items():
        leaves[f"{pointer}/effects/{word}"] = value
    for word, value in tool.access.items():
        leaves[f"{pointer}/access/{word}"] = value
    for word, value in tool.facts.items():
        leaves[f"{pointer}/extensions/{word}"] = value
    return leaves


LEVELS: Final = (
    "read", "renamed", "moved", "defaulted", "widened", "narrowed", "dropped", "impossible", "security",
)  # fmt: skip
_STEPS: Final = re.compile(
    r"(?:/capabilities/\d+/(?:input|output)|/definitions/[^/]*)"
    r"(?:/properties/[^/]*/type|/items|/members/\d+|/alternatives/\d+)*"
)
_SUFFIX: Final = re.compile(r"^(/definitions/[^/@]*)@[^/]*")
SCHEMA_WORDS: Final = frozenset(f"keywords/{word}" for word in (
    "type", "anyOf", "oneOf", "allOf", "$ref", "items", "prefixItems", "properties", "if", "then",
))  # fmt: skip
"""Keywords that say what kind of value a type has, or that hold inner types as they are written."""

_KIND_WORDS: Final = frozenset({"kind", "name", "implicit", "boolean", "exclusive", *SCHEMA_WORDS})
_NULL_WORDS: Final = frozenset({"nullable", "enum", "keywords/type", "keywords/enum"})


@dataclass(frozen=True, slots=True)
class Finding:
    """One finding of a conversion."""

    code: str
    level: str
    pointer: str
    message: str


@dataclass(frozen=True, slots=True)
class Renamed:
    """One entry of names.json."""

    pointer: str
    original: str
    written: str


def reaches(level: str, threshold: str) -> bool:
    """Return whether a level is a threshold or graver."""
    return LEVELS.index(level) >= LEVELS.index(threshold)


def split(pointer: str) -> tuple[str, str]:
    """Return the pointer of the type (or other node) that a leaf belongs to, and the leaf's word in it."""
    match = _STEPS.match(pointer)
    if match is None:
        node, _, word = pointer.rpartition("/")
        return node, word
    return match[0], pointer[match.end() + 1 :]


def place_of(leaf: str) -> str:
    """Return the pointer of what a leaf speaks about: a type, or the property that is required."""
    return leaf.removesuffix("/required") if leaf.endswith("/required") else split(leaf)[0]


def without_suffix(pointer: str) -> str:
    """Return a pointer without what sets apart definitions of one name (`Node@3fa2`)."""
    return _SUFFIX.sub(r"\1", pointer) if "@" in pointer else pointer


def is_below(pointer: str, node: str) -> bool:
    """Return whether a pointer is a node or inside it."""
    return pointer == node or pointer.startswith(f"{node}/")


def says_same(finding: str, leaf: str) -> bool:
    """Return whether two pointers are equal, or both say what kind of value one type has, or whether null."""
    (node, word), (leaf_node, leaf_word) = split(finding), split(leaf)
    if node != leaf_node:
        return False
    return word == leaf_word or any(word in item and leaf_word in item for item in (_KIND_WORDS, _NULL_WORDS))


def speaks_of(finding: str, leaf: str) -> bool:
    """Return whether a finding at one pointer is about a leaf at another.

    It is where both are equal; where both say what kind of value a type has, in different words; and where
    one is a keyword that holds the type of the other as it is written.
    """
    if says_same(finding, leaf):
        return True
    (node, word), (leaf_node, leaf_word) = split(finding), split(leaf)
    if node == leaf_node:
        return False
    if is_below(leaf_node, node):
        return word in SCHEMA_WORDS
    return is_below(node, leaf_node) and leaf_word in SCHEMA_WORDS
