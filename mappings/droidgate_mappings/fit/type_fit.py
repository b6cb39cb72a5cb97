"""Fitting types: the shape and the facts that a dialect cannot carry, and where they go."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterator, Mapping
from functools import cache
from typing import Any, Final

from droidgate_mappings.fit import losses
from droidgate_mappings.fit.collector import Collector, Node
from droidgate_mappings.fit.description_notes import MAY_BE_NULL, constraint_note, put_first, schema_notes
from droidgate_mappings.fit.losses import Loss, is_usual_format, keyword_loss
from droidgate_mappings.model.findings import Finding, Level
from droidgate_mappings.model.json_values import Json, canonical_json, json_equal, pointer_token
from droidgate_mappings.model.leaves import different_leaves, find_leaf, leaves_of_type
from droidgate_mappings.model.names import map_names
from droidgate_mappings.model.types import (
    SCALAR_KINDS,
    AllOfType,
    AnyType,
    ArrayType,
    ObjectType,
    OneOfType,
    OpaqueType,
    Property,
    RefType,
    ScalarType,
    Type,
    TypeFacts,
)
from droidgate_mappings.text.xml_text import NOT_XML

_REPLACED: Final = frozenset({"ref", "all-of", "one-of"})
"""Kinds that never take the place of another."""

_MAX_DEPTH: Final = 100
"""More references and parts are not followed to find one kind for all of them."""

NO_FACTS: Final[dict[str, Any]] = {
    "nullable": False,
    "description": None,
    "enum": None,
    "pattern": None,
    "format": None,
    "implicit": False,
    "keywords": {},
    "extensions": {},
}
"""The facts of a type that says nothing but its kind and shape, description included."""


@cache
def blank_type(kind: str) -> Type:
    """Return a type of a kind with no facts; a `ref` is not among them."""
    if kind in SCALAR_KINDS:
        return ScalarType(kind=kind)  # type: ignore[arg-type]
    blanks: dict[str, Type] = {
        "array": ArrayType(),
        "object": ObjectType(),
        "all-of": AllOfType(),
        "one-of": OneOfType(),
        "opaque": OpaqueType(),
        "any": AnyType(),
    }
    return blanks[kind]


def replacing_kind(fit: Collector, type_: Type, depth: int = 0) -> str:
    """Return the kind that the dialect writes in place of a type that it does not carry.

    A choice or combination whose parts are all written as one kind becomes that kind.

    Args:
        type_: The type.
        depth: How many references and parts lead to it.
    """
    usual = fit.capacity.types[type_.kind].written_as
    if depth > _MAX_DEPTH:
        return usual
    if isinstance(type_, RefType):
        return _kind_of_reference(fit, type_, usual, depth)
    parts: tuple[Type, ...] = ()
    if isinstance(type_, AllOfType | OneOfType):
        parts = type_.members if isinstance(type_, AllOfType) else type_.alternatives
    kinds = {replacing_kind(fit, part, depth + 1) for part in parts}
    is_choice_of_one = isinstance(type_, OneOfType) and len(parts) == 1
    if not is_choice_of_one and fit.is_hidden(type_) and (len(kinds) != 1 or kinds == {"object"}):
        return fit.capacity.types["string"].written_as
    kind = kinds.pop() if len(kinds) == 1 else usual
    return kind if kind not in _REPLACED else usual


def _kind_of_reference(fit: Collector, reference: RefType, usual: str, depth: int) -> str:
    """Return the kind that is written in place of a reference: that of its definition."""
    if reference.name not in fit.kinds:
        fit.kinds[reference.name] = usual
        definition = fit.provider.definitions.get(reference.name)
        if definition is not None:
            kind = replacing_kind(fit, definition, depth + 1)
            fit.kinds[reference.name] = kind if kind not in _REPLACED else usual
    return fit.kinds[reference.name]


def _written_kind(fit: Collector, type_: Type) -> str:
    """Return the kind that is written of the type behind references."""
    target = fit.resolved(type_)
    is_kept = fit.capacity.types[target.kind].written_as == target.kind and _carries_shape(fit, target)
    return target.kind if is_kept else replacing_kind(fit, target)


def replace_shape(fit: Collector, type_: Type, kind: str, pointer: str, notes: list[str]) -> Type:
    """Return a type of another kind, without facts; the structure of what was goes to `notes`."""
    written = blank_type(kind)
    if isinstance(written, ArrayType) and fit.capacity.items_required:
        written = ArrayType(items=ScalarType(kind="string"))
    shape = type_.changed(NO_FACTS)
    before = dict(leaves_of_type(shape, pointer))
    definitions = fit.provider.definitions
    if kind == "string" and fit.is_object(shape):
        notes.extend(schema_notes("JSON text of", shape, definitions) or ["[The text of a JSON object]"])
    elif len(before) > 1:
        notes.extend(schema_notes("Structure", shape, definitions))
    for leaf in different_leaves(before, dict(leaves_of_type(written, pointer))):
        if leaf == f"{pointer}/kind":
            stated = fit.capacity.types[type_.kind].level
            lost = (type_, kind, fit.resolved, stated, fit.loses_null)
            fit.report(losses.KIND, leaf, *lost, kind=type_.kind, written=written.kind)
        elif leaf in before:
            report_structure(fit, shape, pointer, leaf, before[leaf])
        else:
            fit.report(losses.ITEMS_ADDED, leaf)
    return written


def report_structure(fit: Collector, type_: Type, pointer: str, leaf: str, value: Json) -> None:
    """Report a leaf of a structure that is in a note at most.

    Args:
        type_: The structure.
        pointer: Its JSON Pointer.
        leaf: The leaf's.
        value: The leaf's value.
    """
    part, field = find_leaf(type_, leaf, pointer)
    if field[0] == "extensions":
        fit.leave_out_fact(field[1], field[2], value, leaf, None)
    elif field[0] in {"qualified_name", "class_name"}:
        fit.report(losses.CLASS_NAME, leaf)
    elif field[0] == "keywords" and not isinstance(part, Property):
        fit.report(keyword_loss(part, field[1], value), leaf, keyword=field[1])
    elif field == ("format",) and not isinstance(part, Property) and is_usual_format(part, value):
        fit.report(losses.USUAL_FORMAT, leaf, value=value)
    else:
        fit.report(losses.STRUCTURE, leaf, field, value)


def move_keywords(
    fit: Collector, type_: Type, pointer: str, notes: list[str], kept_keywords: Container[str] = ()
) -> None:
    """Report a type's keywords but for the kept ones, and append those that help a caller to `notes`."""
    for keyword, value in type_.keywords.items():
        if keyword in kept_keywords:
            continue
        loss = keyword_loss(type_, keyword, value)
        fit.report(loss, f"{pointer}/keywords/{pointer_token(keyword)}", keyword=keyword)
        if loss.in_text:
            notes.append(f"[{keyword}: {canonical_json(value)}]")


_CONSTRAINTS: Final = ("enum", "pattern", "format")
_WORDS_WITH_NAMES: Final = frozenset(
    {"dependencies", "dependentRequired", "dependentSchemas", "propertyNames", "propertyOrdering", "required"}
    | {"allOf", "anyOf", "else", "if", "not", "oneOf", "patternProperties", "then"}
)
"""Keywords that speak of properties by name, so that they say something else where a name changes."""


def _is_plain_text(value: Json) -> bool:
    """Return whether a value is text that XML's attributes hold as it is."""
    return isinstance(value, str) and value == value.strip() and not NOT_XML.search(value)


def _is_integer_of(bits: int) -> Callable[[Json], bool]:
    limit = 2 ** (bits - 1)
    return lambda value: isinstance(value, int) and not isinstance(value, bool) and -limit <= value < limit


_KIND_CHECKS: Final[dict[str, Callable[[Json], bool]]] = {
    "string": _is_plain_text,
    "int32": _is_integer_of(32),
    "int64": _is_integer_of(64),
}
"""Kind of a scalar -> whether a value is of it."""


def _with_original_names(pointer: str, originals: Mapping[tuple[str, str], str]) -> str:
    """Return a pointer into a fitted type with the names of the source.

    Args:
        pointer: The pointer.
        originals: Pointer of the parent and written token -> the source's token.
    """
    path = ""
    for token in pointer.split("/")[1:] if originals else ():
        path = f"{path}/{originals.get((path, token), token)}"
    return path or pointer


def _has_facts(type_: Type) -> bool:
    """Return whether a type states more than its kind, its shape and its description."""
    return (
        type_.enum is not None
        or type_.pattern is not None
        or type_.format is not None
        or type_.nullable
        or type_.implicit
        or bool(type_.keywords)
        or bool(type_.extensions)
    )


def fit_type(fit: Collector, type_: Type, node: Node, *, as_kind: str | None = None) -> Type:
    """Return a type as the dialect writes it.

    Args:
        fit: Collects the findings.
        type_: The type.
        node: Where it is.
        as_kind: The kind to write in place of the type's own; None to decide by the capacity.
    """
    if type_.kind == "one-of" and should_unwrap(fit, type_):
        return unwrap(fit, type_, node.pointer, lambda inner: fit_type(fit, inner, node))
    if isinstance(type_, RefType) and _dangles(fit, type_):
        return _replace_dangling(fit, type_, node)
    if isinstance(type_, RefType) and _is_without_class(fit, type_):
        return _replace_reference(fit, type_, node, as_kind)
    if isinstance(type_, RefType) and _is_bare_reference(fit, type_, node):
        return _wrap_reference(fit, type_, node)
    notes: list[str] = []
    is_kept = (
        as_kind is None
        and fit.capacity.types[type_.kind].written_as == type_.kind
        and _carries_shape(fit, type_)
    )
    if is_kept and type_.kind in SCALAR_KINDS and not _has_facts(type_):
        return type_.changed({"description": _fit_description(fit, type_.description, node, notes)})
    kind = type_.kind if is_kept else as_kind or replacing_kind(fit, type_)
    facts = fit_facts(fit, type_, node, notes, kind=kind)
    if is_kept:
        fitted = type_
        facts.update(_fit_shape(fit, type_, node, notes))
        if isinstance(type_, AllOfType | OneOfType):
            facts["nullable"] = _lift_null(fit, type_, node, notes, is_nullable=facts["nullable"])
    else:
        fitted = replace_shape(fit, type_, kind, node.pointer, notes)
    facts["description"] = _fit_description(fit, type_.description, node, notes)
    return fitted.changed(facts)


def _carries_shape(fit: Collector, type_: Type) -> bool:
    """Return whether the dialect carries what is inside a type of a kind that it carries."""
    if type_.kind == "any":
        return type_.boolean is None or fit.capacity.keywords
    if fit.is_hidden(type_):
        return False
    return fit.capacity.nested or type_.kind in SCALAR_KINDS or type_.kind == "opaque"


def _fit_description(fit: Collector, text: str | None, node: Node, notes: list[str]) -> str | None:
    """Return the description a type is written with; notes without a place go to `outer_notes`."""
    leaf = node.leaf("description")
    carried = fit.capacity.type_descriptions
    top = node.top
    is_item = node.role == "items" and fit.capacity.as_classes
    if not is_item and (carried == "all" or (carried == "top" and top is not None)):
        if text is not None:
            text = fit.clean(text, leaf, quiet=bool(notes))
        text = fit.add_notes(text, notes, leaf)
        is_missing = text is None or (not fit.comes_from_target and not text.strip() and text != top)
        if is_missing and top is not None and fit.capacity.type_description_required:
            fit.report(losses.DESCRIPTION_ADDED, leaf, written=top)
            text = fit.clean(top, leaf, quiet=True)
        return text
    if text is not None:
        fit.report_moved(losses.ITEM_DESCRIPTION if is_item else losses.TYPE_DESCRIPTION, leaf, text)
        put_first(text, notes)
    if node.outer_notes is not None and notes:
        node.outer_notes.append(f"[{top}: {' '.join(notes)}]" if top is not None else " ".join(notes))
    return None


def fit_facts(
    fit: Collector, type_: Type, node: Node, notes: list[str], *, kind: str | None = None
) -> dict[str, Any]:
    """Return a type's facts (description apart) as the dialect writes them; what it cannot write goes to
    `notes`.

    Args:
        fit: Collects the findings.
        type_: The type.
        node: Where it is.
        notes: Takes what is appended to a description.
        kind: The kind that the type is written as; None where the dialect cannot hold its facts.
    """
    capacity = fit.capacity
    facts = dict(NO_FACTS)
    facts["extensions"] = fit.fit_extensions(type_.extensions, node.pointer, notes)
    for name in _CONSTRAINTS:
        value = getattr(type_, name)
        if value is None:
            continue
        is_excluded = node.role == "input" and name in capacity.top_words_excluded
        if node.role == "items" and type_.kind in capacity.item_types:
            is_excluded = name not in capacity.item_types[type_.kind].constraints
        if kind is not None and not is_excluded and carries(fit, type_, kind, name, value):
            facts[name] = value
        elif name == "format" and is_usual_format(type_, value):
            fit.report(losses.USUAL_FORMAT, node.leaf(name), value=value)
        else:
            fit.report(losses.CONSTRAINTS[name], node.leaf(name))
            notes.append(constraint_note(name, value))
    if type_.nullable:
        if kind is not None and _carries_null(fit, node):
            facts["nullable"] = True
        else:
            fit.report(losses.NULL, node.leaf("nullable"))
            notes.append(MAY_BE_NULL)
    if type_.implicit:
        if kind is not None and capacity.implicit:
            facts["implicit"] = True
        else:
            fit.report(losses.UNNAMED_TYPE, node.leaf("implicit"), type_)
    if type_.keywords:
        keywords = _carried_keywords(fit, type_, node, facts) if kind is not None else {}
        move_keywords(fit, type_, node.pointer, notes, keywords)
        facts["keywords"] = keywords
    return facts


def _carried_keywords(fit: Collector, type_: Type, node: Node, facts: Mapping[str, Any]) -> dict[str, Json]:
    """Return those keywords of a type that the dialect carries.

    Args:
        fit: Knows the dialect.
        type_: The type.
        node: Where it is.
        facts: Its enum, pattern and format as they are written.
    """
    if not fit.capacity.keywords:
        return {}
    only = fit.capacity.keyword_words
    excluded = {name for name in _CONSTRAINTS if facts[name] is None and getattr(type_, name) is not None}
    if node.role == "input":
        excluded |= fit.capacity.top_words_excluded
        if isinstance(type_, ObjectType) and renames_parameters(fit, type_):
            excluded |= _WORDS_WITH_NAMES
    if only is None and not excluded:
        return type_.keywords
    return {
        word: value
        for word, value in type_.keywords.items()
        if (only is None or word in only) and word not in excluded
    }


def _is_bare_reference(fit: Collector, reference: RefType, node: Node) -> bool:
    """Return whether the dialect writes a reference with nothing next to it; null is an alternative."""
    capacity = fit.capacity
    is_choice = reference.nullable and _carries_null(fit, node)
    return not capacity.reference_facts and capacity.types["ref"].written_as == "ref" and not is_choice


def _wrap_reference(fit: Collector, reference: RefType, node: Node) -> Type:
    """Return a reference without facts, in a choice of one where there is something to describe."""
    first = len(fit.findings)
    notes: list[str] = []
    extensions = fit_facts(fit, reference, node, notes)["extensions"]
    bare = RefType(name=_fit_reference(fit, reference, node))
    text = _fit_description(fit, reference.description, node, notes)
    if text is None:
        return bare.changed({"extensions": extensions})
    wrapped = OneOfType(alternatives=(bare,), exclusive=False, description=text, extensions=extensions)
    reported = {finding.pointer for finding in fit.findings[first:]}
    before = dict(leaves_of_type(reference, node.pointer))
    for leaf in different_leaves(before, dict(leaves_of_type(wrapped, node.pointer))):
        if leaf not in reported:
            fit.report(losses.BARE_REFERENCE, leaf)
    return wrapped


def _carries_null(fit: Collector, node: Node) -> bool:
    """Return whether the dialect carries that a type may be null, where it is."""
    capacity = fit.capacity
    if node.role == "definition":
        return capacity.nullable and capacity.nullable_definitions
    in_items = capacity.nullable_items or (fit.comes_from_target and not capacity.as_classes)
    return capacity.nullable and (node.role != "items" or in_items)


def _lifts_null(fit: Collector) -> bool:
    """Return whether a choice or combination says that null is allowed, and its parts cannot."""
    return fit.capacity.nullable and not fit.capacity.nullable_members and not fit.comes_from_target


def _lift_null(
    fit: Collector, type_: AllOfType | OneOfType, node: Node, notes: list[str], *, is_nullable: bool
) -> bool:
    """Return whether a choice or combination is written as nullable, where its parts cannot be."""
    if not _lifts_null(fit):
        return is_nullable
    is_added = not is_nullable and _parts_allow_null(type_)
    is_lost = is_added and not _carries_null(fit, node)
    if is_lost:
        notes.append(MAY_BE_NULL)
    for leaf in _nullable_parts(type_, node.pointer):
        fit.report(losses.NULL if is_lost else losses.NULL_OF_PART, leaf)
    if is_added and not is_lost:
        fit.report(losses.NULL_OF_WHOLE, node.leaf("nullable"))
    return is_nullable or (is_added and not is_lost)


def carries(fit: Collector, type_: Type, kind: str, name: str, value: Any) -> bool:
    """Return whether the dialect carries a constraint of a type that is written as `kind`."""
    types = fit.capacity.types
    if name not in types[type_.kind].constraints or name not in types[kind].constraints:
        return False
    if name != "enum":
        return fit.capacity.text != "xml" or (bool(value) and _is_plain_text(value))
    if fit.capacity.enum_values == "any":
        return True
    matches = _KIND_CHECKS.get(kind)
    return matches is not None and bool(value) and all(map(matches, value))


def _fit_shape(fit: Collector, type_: Type, node: Node, notes: list[str]) -> dict[str, Any]:
    """Return the changed shape fields of a type whose kind and inner types the dialect carries; what items
    cannot hold goes to `notes`.
    """
    pointer = node.pointer
    if type_.kind in SCALAR_KINDS:
        return {}
    if isinstance(type_, ObjectType):
        written = property_names(fit, type_, node)
        properties = {
            written[name]: fit_property(fit, property_, Node(f"{pointer}/properties/{pointer_token(name)}"))
            for name, property_ in type_.properties.items()
        }
        return {"properties": properties, **_fit_class(fit, type_, pointer)}
    if isinstance(type_, ArrayType):
        outer_notes = notes if fit.capacity.as_classes else None
        return {"items": _fit_items(fit, type_, Node(f"{pointer}/items", "items", None, outer_notes))}
    if isinstance(type_, AllOfType):
        members = tuple(
            _fit_part(fit, member, f"{pointer}/members/{position}")
            for position, member in enumerate(type_.members)
        )
        return {"members": members, **_fit_class(fit, type_, pointer)}
    if isinstance(type_, OneOfType):
        return {**_fit_alternatives(fit, type_, pointer), **_fit_class(fit, type_, pointer)}
    if isinstance(type_, RefType):
        return {"name": _fit_reference(fit, type_, node)}
    if isinstance(type_, OpaqueType) and type_.class_name is not None:
        return {"class_name": fit.clean(type_.class_name, f"{pointer}/class_name")}
    return {}


def _fit_items(fit: Collector, array: ArrayType, node: Node) -> Type | None:
    """Return what an array holds; `node` is where it holds it."""
    if array.items is not None:
        is_nested = isinstance(fit.resolved(array.items), ArrayType) and not fit.comes_from_target
        as_kind = "string" if is_nested and not fit.capacity.nested_arrays else None
        kind = _written_kind(fit, array.items)
        if kind in fit.capacity.item_types and fit.capacity.item_types[kind].written_as != kind:
            as_kind = fit.capacity.item_types[kind].written_as
        return fit_type(fit, array.items, node, as_kind=as_kind)
    if not fit.capacity.items_required:
        return None
    fit.report(losses.ITEMS_ADDED, node.leaf("kind"))
    return ScalarType(kind="string")


def _fit_alternatives(fit: Collector, choice: OneOfType, pointer: str) -> dict[str, Any]:
    """Return the alternatives of a one-of, and whether exactly one applies."""
    alternatives = tuple(
        _fit_alternative(fit, choice, position, f"{pointer}/alternatives/{position}")
        for position in range(len(choice.alternatives))
    )
    is_limited = fit.capacity.inclusive_only if choice.exclusive else fit.capacity.exclusive_only
    if not is_limited:
        return {"alternatives": alternatives}
    loss = losses.EXCLUSIVE if choice.exclusive else losses.INCLUSIVE
    fit.report(loss, f"{pointer}/exclusive", [fit.resolved(each) for each in choice.alternatives])
    return {"alternatives": alternatives, "exclusive": not choice.exclusive}


def _fit_part(fit: Collector, part: Type, pointer: str) -> Type:
    """Return a part of a choice or combination; `_lift_null` writes whether null is allowed."""
    return fit_type(fit, without_null(part) if _lifts_null(fit) else part, Node(pointer))


def _fit_alternative(fit: Collector, choice: OneOfType, position: int, pointer: str) -> Type:
    """Return an alternative, with a class name where the dialect chooses by it."""
    fitted = _fit_part(fit, choice.alternatives[position], pointer)
    if (
        fit.capacity.one_of_class is None
        or fit.comes_from_target
        or not isinstance(fitted, ObjectType | AllOfType)
        or fitted.qualified_name is not None
    ):
        return fitted
    name = f"{choice.qualified_name or fit.capacity.one_of_class}${position}"
    fit.report(losses.PART_CLASS_ADDED, f"{pointer}/qualified_name", written=name)
    return fitted.changed({"qualified_name": name})


def _fit_class(
    fit: Collector, type_: ObjectType | AllOfType | OneOfType, pointer: str
) -> dict[str, str | None]:
    """Return the class name of a composite type."""
    name = type_.qualified_name
    leaf = f"{pointer}/qualified_name"
    if name is None:
        default = fit.capacity.one_of_class
        if default is None or not isinstance(type_, OneOfType):
            return {}
        fit.report(losses.CHOICE_CLASS_ADDED, leaf, written=default)
        return {"qualified_name": default}
    if not fit.capacity.qualified_names:
        fit.report(losses.CLASS_NAME, leaf)
        return {"qualified_name": None}
    return {"qualified_name": fit.clean(name, leaf)}


def _fit_reference(fit: Collector, reference: RefType, node: Node) -> str:
    """Return the name a reference is written with."""
    name = fit.definition_names.get(reference.name, reference.name)
    if name != reference.name:
        fit.report(losses.NEW_NAME, node.leaf("name"), original=reference.name, written=name)
    return name


def fit_property(
    fit: Collector, property_: Property, node: Node, *, carries_required: bool = True
) -> Property:
    """Return a property as the dialect writes it; `node` is where the property is."""
    required = property_.required
    if not required and not carries_required:
        fit.report(losses.OPTIONAL, node.leaf("required"))
        required = True
    type_ = fit_type(fit, property_.type, Node(node.leaf("type"), *node[1:]))
    if fit.capacity.as_classes and not required and not type_.nullable:
        fit.report(losses.NULL_ADDED, node.leaf("type/nullable"))
        type_ = type_.changed({"nullable": True})
    return property_.changed(
        {
            "type": type_,
            "required": required,
            "extensions": fit.fit_extensions(property_.extensions, node.pointer),
        }
    )


def property_names(fit: Collector, object_type: ObjectType, node: Node) -> dict[str, str]:
    """Return the written name of each property, and report those that differ."""
    written = _written_names(fit, object_type, is_input=node.role == "input")
    for name, target in written.items():
        if target != name:
            fit.rename(node.leaf(f"properties/{pointer_token(name)}"), name, target)
    return written


def renames_parameters(fit: Collector, taken: ObjectType) -> bool:
    """Return whether a parameter of a capability's input has another name in the target."""
    return any(old != new for old, new in _written_names(fit, taken, is_input=True).items())


def _written_names(fit: Collector, object_type: ObjectType, *, is_input: bool) -> dict[str, str]:
    """Return the written name of each property."""
    capacity = fit.capacity
    is_free = capacity.parameter_rule is None or not is_input
    rule = capacity.property_rule if is_free else capacity.parameter_rule
    if rule is None or fit.comes_from_target:
        return {name: name for name in object_type.properties}
    return map_names(((name, name) for name in object_type.properties), rule.rule())


def should_unwrap(fit: Collector, choice: OneOfType) -> bool:
    """Return whether a choice is one of one that the dialect does not write as a choice."""
    if len(choice.alternatives) != 1:
        return False
    capacity = fit.capacity
    carried = (
        capacity.nested and capacity.types["one-of"].written_as == "one-of" and not fit.is_hidden(choice)
    )
    if carried and (choice.exclusive or not capacity.exclusive_only):
        return False
    inner = choice.alternatives[0]
    if choice.keywords.keys() & inner.keywords.keys() & losses.ASSERTIONS:
        return False
    return all(
        getattr(choice, name) is None or getattr(inner, name) is None
        for name in ("enum", "pattern", "format")
    )


def unwrap(fit: Collector, choice: OneOfType, pointer: str, write: Callable[[Type], Type]) -> Type:
    """Return the only alternative of a choice, with the facts of both, as `write` writes it there.

    An annotation of the choice replaces another value of the same annotation in the alternative.
    """
    (inner,) = choice.alternatives
    keywords = {}
    for keyword, value in inner.keywords.items():
        if json_equal(choice.keywords.get(keyword, value), value):
            keywords[keyword] = value
        else:
            leaf = f"{pointer}/alternatives/0/keywords/{pointer_token(keyword)}"
            fit.report(losses.KEYWORD_GONE, leaf, keyword=keyword)
    inner = inner.changed({"keywords": keywords})
    choice = choice.changed({"alternatives": (inner,)})
    texts = [text for text in (choice.description, inner.description) if text is not None]
    merged = inner.changed(
        {
            "nullable": choice.nullable or (inner.nullable and not _excludes_null(choice)),
            "description": " ".join(texts) if texts else None,
            "enum": inner.enum if choice.enum is None else choice.enum,
            "pattern": inner.pattern if choice.pattern is None else choice.pattern,
            "format": inner.format if choice.format is None else choice.format,
            "keywords": {**inner.keywords, **choice.keywords},
            "extensions": {
                namespace: {**inner.extensions.get(namespace, {}), **choice.extensions.get(namespace, {})}
                for namespace in (*inner.extensions, *choice.extensions)
            },
        }
    )
    return fit_moved(
        fit,
        choice,
        lambda: write(merged),
        pointer,
        losses.CHOICE_OF_ONE,
        moved_from=f"{pointer}/alternatives/0",
    )


def _dangles(fit: Collector, reference: RefType) -> bool:
    """Return whether a reference leads nowhere and the dialect cannot say so."""
    is_kept = fit.comes_from_target and fit.capacity.dangling_references and not fit.capacity.as_classes
    return reference.name not in fit.provider.definitions and not is_kept


def _is_without_class(fit: Collector, reference: RefType) -> bool:
    """Return whether a reference leads to what has no name of its own in source code."""
    return fit.capacity.as_classes and _written_kind(fit, reference) not in {"object", "all-of", "one-of"}


def _replace_reference(fit: Collector, reference: RefType, node: Node, as_kind: str | None) -> Type:
    """Return the type that a reference leads to, with the facts of both; any type for a circle.

    What is lost of the definition here has no leaf of its own: the gravest loss is reported at the name.
    """
    target = fit.resolved(reference)
    if isinstance(target, RefType):
        return _replace_dangling(fit, reference, node)
    texts = [text for text in (reference.description, target.description) if text]
    merged = target.changed(
        {
            "nullable": reference.nullable or target.nullable,
            "description": " ".join(dict.fromkeys(texts)) or None,
        }
    )
    lost: list[Finding] = []

    def write() -> Type:
        fitted = fit_type(fit, merged, node, as_kind=as_kind)
        lost.extend(fit.findings)
        return fitted

    fitted = fit_moved(fit, reference, write, node.pointer, losses.INLINED, name=reference.name)
    gravest = max(lost, key=lambda finding: finding.level, default=None)
    if gravest is not None and gravest.level > Level.RENAMED:
        leaf = node.leaf("name")
        at_name = gravest.changed({"pointer": leaf})
        fit.findings[:] = [at_name if finding.pointer == leaf else finding for finding in fit.findings]
    return fitted


def _replace_dangling(fit: Collector, reference: RefType, node: Node) -> Type:
    """Return any type in place of a reference that leads nowhere."""
    any_type = AnyType(**{name: getattr(reference, name) for name in TypeFacts.model_fields})
    return fit_moved(
        fit,
        reference,
        lambda: fit_type(fit, any_type, node),
        node.pointer,
        losses.DANGLING_REFERENCE,
        name=reference.name,
    )


def fit_moved(
    fit: Collector,
    type_: Type,
    write: Callable[[], Type],
    pointer: str,
    loss: Loss,
    *,
    moved_from: str | None = None,
    moved_to: str | None = None,
    **names: Any,
) -> Type:
    """Return a type of which a part moves to another place, and report each difference.

    A difference has the finding of its new place, else `loss`; names given at the new place are reported at
    the old one, where the source has them.

    Args:
        fit: Collects the findings.
        type_: The type as it was.
        write: Fits it; its findings are at the new place.
        pointer: JSON Pointer of the type.
        loss: The move itself.
        moved_from: JSON Pointer of the part as it was; None for the type itself.
        moved_to: JSON Pointer of the part as it is written; None for the type itself.
        names: What the words of the loss name.
    """
    old, new = moved_from or pointer, moved_to or pointer
    with fit.apart() as (inner_findings, renames):
        fitted = write()
    by_pointer = {finding.pointer: finding for finding in inner_findings}
    originals = {
        (entry.pointer.rpartition("/")[0], pointer_token(entry.written)): pointer_token(entry.original)
        for entry in renames
    }
    before = dict(leaves_of_type(type_, pointer))
    for leaf in different_leaves(before, dict(leaves_of_type(fitted, pointer))):
        reported_finding = by_pointer.get(_with_original_names(leaf, originals))
        if reported_finding is None and leaf in before and leaf.startswith(old + "/"):
            reported_finding = by_pointer.get(new + leaf.removeprefix(old))
            if reported_finding is not None and reported_finding.code == losses.NOTES_ADDED.code:
                reported_finding = None
        if reported_finding is None:
            fit.report(loss, leaf, **names)
        else:
            fit.findings.append(reported_finding.changed({"pointer": leaf}))
    for entry in renames:
        fit.rename(old + entry.pointer.removeprefix(new), entry.original, entry.written)
    return fitted


def _excludes_null(type_: Type) -> bool:
    """Return whether a type lists the values that it allows, and null is not one of them."""
    listed = [type_.enum, type_.keywords.get("enum")]
    if "const" in type_.keywords:
        listed.append((type_.keywords["const"],))
    return any(isinstance(values, tuple | list) and None not in values for values in listed)


def _parts_allow_null(whole: Type) -> bool:
    """Return whether null is a value of a choice or combination because its parts state it.

    A choice allows null where a part does; an exclusive one where exactly one does. A combination allows null
    where all its parts do.
    """
    if _excludes_null(whole):
        return False
    allows = [part.nullable or _parts_allow_null(part) for part in _parts_of(whole)]
    if isinstance(whole, OneOfType):
        return sum(allows) == 1 if whole.exclusive else any(allows)
    return bool(allows) and all(allows)


def _nullable_parts(whole: Type, pointer: str) -> Iterator[str]:
    """Return pointers to the `nullable` of the parts that have it, and of parts of parts.

    Args:
        whole: A choice or combination.
        pointer: Its JSON Pointer.
    """
    word = "members" if isinstance(whole, AllOfType) else "alternatives"
    for position, part in enumerate(_parts_of(whole)):
        place = f"{pointer}/{word}/{position}"
        if part.nullable:
            yield f"{place}/nullable"
        yield from _nullable_parts(part, place)


def without_null(part: Type) -> Type:
    """Return a part of a choice or combination without `nullable`, its own parts included."""
    changes: dict[str, Any] = {"nullable": False}
    if isinstance(part, AllOfType):
        changes["members"] = tuple(map(without_null, part.members))
    elif isinstance(part, OneOfType):
        changes["alternatives"] = tuple(map(without_null, part.alternatives))
    return part.changed(changes)


def _parts_of(type_: Type) -> tuple[Type, ...]:
    if isinstance(type_, AllOfType):
        return type_.members
    return type_.alternatives if isinstance(type_, OneOfType) else ()
