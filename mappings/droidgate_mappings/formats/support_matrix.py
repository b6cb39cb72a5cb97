"""The support matrix: what each dialect can carry, and what becomes of the rest."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Final, get_args

from droidgate_mappings.fit import losses
from droidgate_mappings.fit.losses import Loss, kind_level
from droidgate_mappings.fit.type_fit import blank_type
from droidgate_mappings.formats.format import Format
from droidgate_mappings.model.findings import Level
from droidgate_mappings.model.types import TYPE_KINDS
from droidgate_mappings.records import dataclass
from droidgate_mappings.tables.capacity import (
    AccessField,
    CapabilityField,
    Capacity,
    Constraint,
    ProviderField,
)

_CONSTRAINED: Final[dict[str, tuple[str, ...]]] = {
    "enum": ("string", "int32", "int64", "float", "double", "boolean"),
    "pattern": ("string",),
    "format": ("string",),
}
"""The kinds of type that each constraint is usual for."""
_LEAVES: Final = frozenset({*TYPE_KINDS} - {"array", "object", "ref", "all-of", "one-of"})


@dataclass(frozen=True, slots=True)
class FeatureCell:
    """What becomes of one feature in one dialect: `yes`, or a level of finding, and what is written
    instead.
    """

    value: str
    note: str | None


@dataclass(frozen=True, slots=True)
class FeatureRow:
    """One feature; a cell for each column."""

    group: str
    feature: str
    cells: tuple[FeatureCell, ...]


@dataclass(frozen=True, slots=True)
class SupportMatrix:
    """The support matrix; columns are written as `--to` takes them."""

    columns: tuple[str, ...]
    rows: tuple[FeatureRow, ...]


@dataclass(frozen=True, slots=True)
class Feature:
    """One row: what it is about, and what a capacity says to it.

    Attributes:
        group: What it belongs to.
        name: The feature.
        judge: Returns the cell.
    """

    group: str
    name: str
    judge: Callable[[Capacity], FeatureCell]


def make_matrix(formats: Iterable[Format], *, only_defaults: bool = False) -> SupportMatrix:
    """Return the matrix of all dialects that are written, or of each format's default dialect."""
    columns = {
        f"{format_.id}+{dialect.id}": dialect.capacity
        for format_ in formats
        if format_.write is not None
        for dialect in (format_.dialects[:1] if only_defaults else format_.dialects)
        if dialect.capacity is not None
    }
    rows = [
        FeatureRow(
            group=item.group,
            feature=item.name,
            cells=tuple(_judge(item, capacity) for capacity in columns.values()),
        )
        for item in FEATURES
    ]
    return SupportMatrix(columns=tuple(columns), rows=tuple(rows))


def _judge(feature: Feature, capacity: Capacity) -> FeatureCell:
    # Without parameters there is nothing that the facts of a parameter could be written with.
    is_about_parameters = feature.group in {"input", "type", "constraint"}
    if is_about_parameters and capacity.input_shape == "none":
        return _structure(capacity)
    return feature.judge(capacity)


def cell_text(cell: FeatureCell) -> str:
    """Return a cell as text, such as `widened: int64`."""
    return cell.value if cell.note is None else f"{cell.value}: {cell.note}"


def _cell(value: str | Level, note: str | None = None) -> FeatureCell:
    return FeatureCell(value=str(value), note=note)


_YES: Final = _cell("yes")


_TEXTS: Final = [blank_type("string")] * 2
"""Alternatives of one kind, the usual ones."""


def _lost(loss: Loss, *lost: object, note: str | None = None) -> FeatureCell:
    """Return what becomes of something that the target lacks, by its row of the table of losses."""
    return _cell(loss.level_of(*lost), note)


def _in_text(capacity: Capacity, loss: Loss, *lost: object) -> FeatureCell:
    """Return what becomes of something that is in a description, where the dialect has one."""
    has_text = capacity.type_descriptions != "none" or "description" in capacity.capability_fields
    return _cell(loss.level_of(*lost, has_text=has_text))


def _structure(capacity: Capacity) -> FeatureCell:
    return _in_text(capacity, losses.STRUCTURE, ("kind",), "object")


def _provider_field(name: ProviderField) -> Callable[[Capacity], FeatureCell]:
    def judge(capacity: Capacity) -> FeatureCell:
        if name not in capacity.provider_fields:
            if name in {"description", "instructions"} and capacity.provider_text is not None:
                return _lost(losses.PROVIDER_TEXT, note=capacity.provider_text)
            return _lost(losses.PROVIDER_FIELD)
        if name == "component" and capacity.component is not None:
            return _lost(losses.NEW_COMPONENT, note=capacity.component)
        return _cell("yes", "required") if name in capacity.provider_defaults else _YES

    return judge


def _capability_field(name: CapabilityField) -> Callable[[Capacity], FeatureCell]:
    def judge(capacity: Capacity) -> FeatureCell:
        if name in capacity.capability_fields:
            most = capacity.most_description if name == "description" else None
            limit = None if most is None else f"at most {most:,} characters"
            return _cell("yes", "required" if name in capacity.capability_defaults else limit)
        return (
            _in_text(capacity, losses.EFFECT) if name == "effects" else _lost(losses.CAPABILITY_FIELDS[name])
        )

    return judge


def _access(name: AccessField) -> Callable[[Capacity], FeatureCell]:
    def judge(capacity: Capacity) -> FeatureCell:
        if name in capacity.access_enforced:
            return _YES
        return _lost(
            losses.ACCESS_RULES[name], note="written, not enforced" if name in capacity.access else None
        )

    return judge


def _kind(kind: str) -> Callable[[Capacity], FeatureCell]:
    def judge(capacity: Capacity) -> FeatureCell:
        row = capacity.types[kind]
        if row.written_as != kind:
            # Most references lead to objects.
            referenced = blank_type("object" if kind == "ref" else kind)
            level = row.level or kind_level(referenced, row.written_as, lambda item: item)
            return _cell(level, row.written_as)
        if capacity.nested and capacity.records_only and kind in {"object", "all-of", "one-of"}:
            return _cell("yes", "objects with properties")
        if kind in _LEAVES or capacity.nested:
            return _YES
        return _cell("yes", f"nested types are {_structure(capacity).value}")

    return judge


def _constraint(name: Constraint) -> Callable[[Capacity], FeatureCell]:
    def judge(capacity: Capacity) -> FeatureCell:
        usual = _CONSTRAINED[name]
        carried = [kind for kind in usual if name in capacity.types[kind].constraints]
        if not carried:
            return _in_text(capacity, losses.CONSTRAINTS[name])
        notes = [] if len(carried) == len(usual) else [" and ".join(carried)]
        notes += (
            ["values of the type's kind"] if name == "enum" and capacity.enum_values == "matching" else []
        )
        return _cell("yes", ", ".join(notes) or None)

    return judge


def _type_descriptions(capacity: Capacity) -> FeatureCell:
    if capacity.type_descriptions == "none":
        return _in_text(capacity, losses.TYPE_DESCRIPTION)
    only = "parameters and outputs" if capacity.type_descriptions == "top" else None
    if capacity.type_description_required:
        return _cell("yes", f"{only}, required" if only else "required")
    return _cell("yes", only)


def _name_rule(rule: str) -> Callable[[Capacity], FeatureCell]:
    def judge(capacity: Capacity) -> FeatureCell:
        return (
            _YES
            if getattr(capacity, rule) is None
            else _lost(losses.NEW_NAME, note="where the target cannot write it")
        )

    return judge


def _parameter_names(capacity: Capacity) -> FeatureCell:
    return _name_rule("property_rule" if capacity.parameter_rule is None else "parameter_rule")(capacity)


def _keywords(capacity: Capacity) -> FeatureCell:
    if capacity.keyword_words is not None:
        return _cell(_in_text(capacity, losses.KEYWORD_LIMIT).value, "but for a list of words")
    return _YES if capacity.keywords else _in_text(capacity, losses.KEYWORD_LIMIT)


def _words_at_the_top(capacity: Capacity) -> FeatureCell:
    if not capacity.keywords or capacity.input_shape == "object":
        return _keywords(capacity)
    return _in_text(capacity, losses.KEYWORD_LIMIT) if capacity.top_words_excluded else _YES


def _described_references(capacity: Capacity) -> FeatureCell:
    if capacity.types["ref"].written_as != "ref":
        return _kind("ref")(capacity)
    return _YES if capacity.reference_facts else _lost(losses.BARE_REFERENCE, note="choice of one")


def _exclusive_alternatives(capacity: Capacity) -> FeatureCell:
    if capacity.types["one-of"].written_as != "one-of":
        return _kind("one-of")(capacity)
    return _lost(losses.EXCLUSIVE, _TEXTS) if capacity.inclusive_only else _YES


def _output(capacity: Capacity) -> FeatureCell:
    if capacity.output_shape == "none":
        return _in_text(capacity, losses.OUTPUT_KIND, "object")
    return (
        _cell("yes", "named values; one value is called result")
        if capacity.output_shape == "object"
        else _YES
    )


def _no_output(capacity: Capacity) -> FeatureCell:
    if capacity.output_default is None:
        return _YES
    return _lost(losses.VOID_ADDED, note="text or void")


def _optional_outputs(capacity: Capacity) -> FeatureCell:
    if capacity.output_shape == "none":
        return _in_text(capacity, losses.STRUCTURE, ("required",), False)
    return _YES if capacity.output_required else _lost(losses.OPTIONAL, note="required")


def _nullable(capacity: Capacity) -> FeatureCell:
    if not capacity.nullable:
        return _in_text(capacity, losses.NULL)
    lacks = [
        word
        for word, is_carried in (
            ("definitions", capacity.nullable_definitions),
            ("items of arrays", capacity.nullable_items),
            ("parts of choices", capacity.nullable_members),
        )
        if not is_carried
    ]
    return _cell("yes", f"not of {', '.join(lacks)}") if lacks else _YES


def _dangling(capacity: Capacity) -> FeatureCell:
    return (
        _cell("yes", "of its own format")
        if capacity.dangling_references
        else _lost(losses.DANGLING_REFERENCE)
    )


def _definition_names(capacity: Capacity) -> FeatureCell:
    return (
        _definitions(capacity) if capacity.definitions == "none" else _name_rule("definition_rule")(capacity)
    )


def _definitions(capacity: Capacity) -> FeatureCell:
    if capacity.definitions == "none":
        return _structure(capacity)
    return _YES if capacity.definitions == "all" else _cell("yes", "those that are used")


def _as_text(kind: str) -> FeatureCell:
    return _cell(kind_level(blank_type(kind), "string", lambda item: item), "JSON text")


def _arrays_of_anything(capacity: Capacity) -> FeatureCell:
    return _lost(losses.ITEMS_ADDED, note="string") if capacity.items_required else _YES


def _nested_arrays(capacity: Capacity) -> FeatureCell:
    if not capacity.nested:
        return _structure(capacity)
    return _YES if capacity.nested_arrays else _as_text("array")


def _free_objects(capacity: Capacity) -> FeatureCell:
    if capacity.types["object"].written_as != "object":
        return _kind("object")(capacity)
    return _as_text("object") if capacity.records_only else _YES


def _several_alternatives(capacity: Capacity) -> FeatureCell:
    if capacity.types["one-of"].written_as != "one-of":
        return _kind("one-of")(capacity)
    return _lost(losses.INCLUSIVE, _TEXTS) if capacity.exclusive_only else _YES


def _class_names(capacity: Capacity) -> FeatureCell:
    if not capacity.qualified_names:
        return _lost(losses.CLASS_NAME)
    return _YES if capacity.one_of_class is None else _cell("yes", "required of a one-of")


def _extensions(capacity: Capacity) -> FeatureCell:
    return _YES if "*" in capacity.extensions else _lost(losses.FACT)


def _own_extensions(capacity: Capacity) -> FeatureCell:
    if not capacity.extensions:
        return _lost(losses.FACT)
    return _cell("yes", "those it has words for") if capacity.extension_facts else _YES


def _characters(capacity: Capacity) -> FeatureCell:
    if capacity.text == "xml":
        return _lost(losses.XML_CHARACTERS, note="replaced by U+FFFD")
    fields = " and ".join(sorted(capacity.xml_fields))
    return _cell("yes", f"replaced in {fields}") if fields else _YES


def _output_types(capacity: Capacity) -> FeatureCell:
    if capacity.output_shape == "none":
        return _in_text(capacity, losses.OUTPUT_KIND, "object")
    return _YES if capacity.outputs is None else _cell("yes", "fewer kinds than inputs")


FEATURES: Final = (
    *(Feature("provider", name, _provider_field(name)) for name in get_args(ProviderField)),
    Feature("capability", "id of any text", _name_rule("id_rule")),
    *(Feature("capability", name, _capability_field(name)) for name in get_args(CapabilityField)),
    *(Feature("access", name.replace("_", " "), _access(name)) for name in get_args(AccessField)),
    Feature("input", "parameters", lambda _capacity: _YES),
    Feature("input", "parameter name of any text", _parameter_names),
    Feature(
        "input",
        "optional parameters",
        lambda capacity: _YES if capacity.input_required else _lost(losses.OPTIONAL, note="required"),
    ),
    Feature(
        "input",
        "a schema that is not a list of parameters",
        lambda capacity: _YES if capacity.input_shape == "any" else _structure(capacity),
    ),
    Feature("output", "declared output", _output),
    Feature("output", "no word about outputs", _no_output),
    Feature("output", "optional outputs", _optional_outputs),
    Feature("output", "the types of inputs", _output_types),
    *(Feature("type", kind, _kind(kind)) for kind in TYPE_KINDS),
    Feature("type", "array of anything", _arrays_of_anything),
    Feature("type", "array of arrays", _nested_arrays),
    Feature("type", "object without properties", _free_objects),
    Feature("type", "several alternatives at once", _several_alternatives),
    Feature("type", "exactly one alternative", _exclusive_alternatives),
    Feature(
        "type",
        "a type without a name",
        lambda capacity: _YES if capacity.implicit else _lost(losses.UNNAMED_TYPE, _TEXTS[0]),
    ),
    *(Feature("constraint", name, _constraint(name)) for name in get_args(Constraint)),
    Feature("constraint", "null allowed", _nullable),
    Feature("constraint", "other JSON Schema keywords", _keywords),
    Feature("constraint", "`anyOf` of the whole input", _words_at_the_top),
    Feature("text", "description of types", _type_descriptions),
    Feature("text", "characters that XML cannot hold", _characters),
    Feature("schema", "definitions", _definitions),
    Feature("type", "a reference with a description", _described_references),
    Feature("schema", "definition name of any text", _definition_names),
    Feature("schema", "references to what is not declared", _dangling),
    Feature("schema", "class names", _class_names),
    Feature("schema", "facts of its own format", _own_extensions),
    Feature("schema", "facts of other formats", _extensions),
)
"""Every row."""
