"""What a dialect can carry, as data: the source of the support matrix and of every conversion's findings."""

from typing import Literal

from droidgate_mappings.model.findings import Level
from droidgate_mappings.model.names import NameRule
from droidgate_mappings.model.types import Frozen

Constraint = Literal["enum", "pattern", "format"]
ProviderField = Literal["package", "component", "name", "description", "instructions"]
CapabilityField = Literal["title", "description", "version", "effects"]
AccessField = Literal[
    "exported", "enabled", "permission", "enabled_by_default", "restrict_callers", "scope", "access_level"
]


class TypeCapacity(Frozen):
    """How a dialect writes one kind of type.

    Attributes:
        written_as: The kind that comes back when it is read again.
        level: The level of the finding where that is another kind; None where the values decide that the two
            kinds accept.
        constraints: Which of enum, pattern and format are carried.
    """

    written_as: str
    level: Level | None = None
    constraints: frozenset[Constraint] = frozenset()


class NameRuleTable(Frozen):
    """A `NameRule` as data."""

    allowed: str
    first: str = ""
    max_length: int = 1000
    replacement: str = "_"

    def rule(self) -> NameRule:
        """Return the rule."""
        return NameRule(self.allowed, self.first, self.max_length, self.replacement)


class Capacity(Frozen):
    """What one dialect can carry.

    Attributes:
        provider_fields: Provider fields with a place of their own.
        provider_text: The provider field that takes the text of description or instructions where one has no
            place.
        provider_defaults: Provider fields that must be written, and what is written where the source has
            none; `{package}` is filled in.
        component: Class name for a provider that comes from another protocol; None where no component is
            written.
        capability_fields: Capability fields with a place of their own.
        capability_defaults: Capability fields that must be written, and what is written where the source has
            none; `{id}` is filled in.
        most_description: How many characters of a capability's description are taken; None without a limit.
            A longer one is written whole, since what callers need is often at its end, and reported.
        types: Kind of type -> how it is written.
        item_types: The same for the items of arrays, where that differs.
        as_classes: Types are classes of source code: only objects have names of their own, the items of
            arrays have no description, and what may be left out may be null.
        nested: Types inside a parameter (items, properties, members, alternatives, references) are carried.
        exclusive_only: A one-of is always exclusive.
        inclusive_only: A one-of is never exclusive.
        one_of_class: Class name that is written for a one-of without one, where it must have one; its
            alternatives without names get this name and their position.
        items_required: An array must state the type of its items.
        type_descriptions: `all` types have one, or only `top` ones (parameters, outputs), or `none`.
        type_description_required: Parameters and outputs must have one; their name is written where they have
            none.
        records_only: An object declares properties, and the parts of choices and combinations are such
            objects; callers of the format do not see a capability with other ones, so these are written as
            JSON text.
        nullable: Nullability is carried.
        nullable_definitions: Nullability of a definition itself, not of a reference to it, is carried.
        nullable_members: Nullability of the parts of choices and combinations is carried.
        nullable_items: Nullability of an array's items is carried.
        nested_arrays: An array may hold arrays; else the inner ones are written as JSON text.
        keywords: JSON Schema keywords are carried.
        keyword_words: The only keywords that are carried, where not all of them are.
        top_words_excluded: Keywords that the schema of an input cannot have at its top.
        reference_facts: A reference carries facts of its own, such as a description.
        implicit: A type that names no type is carried as such.
        enum_values: `any` values, or only those `matching` the type's kind.
        qualified_names: Class names of objects are carried.
        definitions: `all`, only the `reachable` ones, or `none`.
        dangling_references: A reference to a definition that is declared elsewhere is carried.
        extensions: Ids of the formats whose extensions are carried; `*` for every format's.
        extension_facts: Format -> the only facts of it that are carried, where not all of them are.
        input_shape: `any` schema, or `object` where input is a list of parameters without facts of its own,
            or `typed-object` where it is a schema that says `type: object`, or `plain-object` where that
            schema also states `properties`, or `none` where a capability has no parameters at all.
        input_required: Parameters say whether they are required; else each counts as required.
        output_shape: `any` type, or `object` where it is a list of named values, or `typed-object` where it
            is a schema that says `type: object`, or `none`.
        output_default: Kind that is written where the source declares no output.
        output_required: Named outputs say whether they are required; else each counts as required.
        id_rule: What a capability id may be; None for any text.
        property_rule: What a property's name may be.
        parameter_rule: What the name of a parameter itself may be, where it is not as free as other
            properties.
        definition_rule: What a definition's name may be.
        text: `xml` where only the characters of XML 1.0 can be written.
        xml_fields: Provider fields that hold only the characters of XML 1.0 where `text` is `json`.
        outputs: The capacity for the types of outputs, where these can say less than inputs; whether there is
            an output and of which shape stays here.
        access: Access rules that are written and read back.
        access_enforced: Access rules among them that Android enforces where they are written.
        alike_dialects: Dialects of the same format from which a provider keeps its names and its component;
            None for all dialects.
    """

    provider_fields: frozenset[ProviderField] = frozenset()
    provider_text: ProviderField | None = None
    provider_defaults: dict[ProviderField, str] = {}
    component: str | None = None
    capability_fields: frozenset[CapabilityField] = frozenset()
    capability_defaults: dict[CapabilityField, str] = {}
    most_description: int | None = None
    types: dict[str, TypeCapacity]
    item_types: dict[str, TypeCapacity] = {}
    as_classes: bool = False
    nested: bool = True
    exclusive_only: bool = False
    inclusive_only: bool = False
    one_of_class: str | None = None
    items_required: bool = False
    type_descriptions: Literal["all", "top", "none"] = "all"
    type_description_required: bool = False
    records_only: bool = False
    nullable: bool = True
    nullable_definitions: bool = True
    nullable_members: bool = True
    nullable_items: bool = True
    nested_arrays: bool = True
    keywords: bool = True
    keyword_words: frozenset[str] | None = None
    top_words_excluded: frozenset[str] = frozenset()
    reference_facts: bool = True
    implicit: bool = True
    enum_values: Literal["any", "matching"] = "any"
    qualified_names: bool = True
    definitions: Literal["all", "reachable", "none"] = "all"
    dangling_references: bool = False
    extensions: frozenset[str] = frozenset()
    extension_facts: dict[str, frozenset[str]] = {}
    input_shape: Literal["any", "object", "typed-object", "plain-object", "none"] = "any"
    input_required: bool = True
    output_shape: Literal["any", "object", "typed-object", "none"] = "any"
    output_default: str | None = None
    output_required: bool = True
    id_rule: NameRuleTable | None = None
    property_rule: NameRuleTable | None = None
    parameter_rule: NameRuleTable | None = None
    definition_rule: NameRuleTable | None = None
    text: Literal["xml", "json"] = "json"
    xml_fields: frozenset[ProviderField] = frozenset()
    outputs: "Capacity | None" = None
    access: frozenset[AccessField] = frozenset()
    access_enforced: frozenset[AccessField] = frozenset()
    alike_dialects: frozenset[str] | None = None
