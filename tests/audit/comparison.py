"""A source and a target of a conversion, made comparable."""

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from audit.declared import Declared, Shape, Spelling, Tool, leaves_of, leaves_of_shape, shapes_of, token
from audit.findings import Finding, Renamed, is_below, without_suffix

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
    kept = [name for name in source.definitions if name in restored.definitions]
    return Comparison(
        source=source,
        target=target,
        restored=restored,
        findings=[
            replace(item, pointer=_with_source_names(placed(item.pointer), names)) for item in findings
        ],
        written_names={pointer: item.written for pointer, item in written.items()},
        unwrapped=unwrapped,
        before=leaves_of(source, kept),
        after=leaves_of(restored, kept),
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
    known = dict.fromkeys(item.split("/")[2] for item in leaves if item.startswith("/definitions/"))
    plain = name.partition("@")[0]
    return [f"/definitions/{item}{rest}" for item in known if item.partition("@")[0] == plain]


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
