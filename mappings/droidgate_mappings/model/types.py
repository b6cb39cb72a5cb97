"""The type algebra: what a parameter or a result may be.

One class per shape, each frozen, distinguished by `kind`. Every fact a source states is a field here, a JSON
Schema keyword
kept verbatim in `keywords`, or a fact of one format in `extensions[format]`; so reading and writing one
format is exact.
"""

from collections.abc import Mapping
from typing import Annotated, Any, Literal, Self, TypeAlias, get_args

from pydantic import BaseModel, ConfigDict, Field

from droidgate_mappings.model.json_values import Json

ScalarKind = Literal["boolean", "int32", "int64", "float", "double", "string", "bytes", "null"]
SCALAR_KINDS: frozenset[str] = frozenset(get_args(ScalarKind))

Extensions: TypeAlias = dict[str, dict[str, Json]]
"""Facts of one format that the model has no field for: format id -> fact -> JSON value."""


def as_extensions(format_id: str, facts: Mapping[str, Json], others: Extensions | None = None) -> Extensions:
    """Return extensions with these facts of a format; without the format where there are none.

    Args:
        format_id: The format.
        facts: All its facts, in place of those in `others`.
        others: Extensions whose facts of other formats are kept.
    """
    other_extensions = {name: values for name, values in (others or {}).items() if name != format_id}
    return {**other_extensions, format_id: dict(facts)} if facts else other_extensions


class Frozen(BaseModel):
    """Base of the model's classes: immutable, and an unknown field is an error.

    The modules that every run imports leave `from __future__ import annotations` out: Pydantic would compile
    each annotation.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    def changed(self, changes: Mapping[str, Any]) -> Self:
        """Return a copy with other field values, itself where none differs; values are not validated.

        `model_copy(update=...)` does the same at ten times the cost, and translating is mostly this.
        """
        mine = self.__dict__
        for name, value in changes.items():
            if mine[name] is not value:
                break
        else:
            return self
        copy = object.__new__(type(self))
        object.__setattr__(copy, "__dict__", {**mine, **changes})
        object.__setattr__(copy, "__pydantic_fields_set__", self.__pydantic_fields_set__ | changes.keys())
        object.__setattr__(copy, "__pydantic_extra__", None)
        object.__setattr__(copy, "__pydantic_private__", None)
        return copy


class TypeFacts(Frozen):
    """What every type may state in addition to its shape.

    Attributes:
        nullable: A null value is allowed. Apart from `Property.required`, which says whether a key may be
            left out.
        description: Text for users and language models.
        enum: The only values allowed, in source order; null is stated by `nullable` and never listed.
        pattern: An ECMA-262 regular expression that a string matches somewhere (JSON Schema `pattern`).
        format: The source's `format` word, verbatim.
        implicit: The source named no type; the shape follows from its other keywords.
        keywords: JSON Schema keywords that the algebra does not model, verbatim.
        extensions: Facts of one format.
    """

    nullable: bool = False
    description: str | None = None
    enum: tuple[Json, ...] | None = None
    pattern: str | None = None
    format: str | None = None
    implicit: bool = False
    keywords: dict[str, Json] = Field(default_factory=dict)
    extensions: Extensions = Field(default_factory=dict)


class ScalarType(TypeFacts):
    """A single value. `int32`, `int64`, `float` and `double` are Java's; `bytes` is base64 text in JSON;
    `null` is void.
    """

    kind: ScalarKind


class ArrayType(TypeFacts):
    """A list; `items` is None where the source does not say of what."""

    kind: Literal["array"] = "array"
    items: "Type | None" = None


class ObjectType(TypeFacts):
    """Named values in source order. `qualified_name` is the class name that AppFunctions gives to an
    object.
    """

    kind: Literal["object"] = "object"
    properties: "dict[str, Property]" = Field(default_factory=dict)
    qualified_name: str | None = None


class RefType(TypeFacts):
    """A reference to a definition of the provider, by its name; recursion goes through here."""

    kind: Literal["ref"] = "ref"
    name: str


class AllOfType(TypeFacts):
    """A value that every member describes."""

    kind: Literal["all-of"] = "all-of"
    members: "tuple[Type, ...]" = ()
    qualified_name: str | None = None


class OneOfType(TypeFacts):
    """A value that one alternative describes: exactly one where `exclusive`, else at least one (JSON Schema
    `anyOf`).
    """

    kind: Literal["one-of"] = "one-of"
    alternatives: "tuple[Type, ...]" = ()
    exclusive: bool = True
    qualified_name: str | None = None


class OpaqueType(TypeFacts):
    """A platform object that only travels by reference on the device, such as a PendingIntent (a
    Parcelable).
    """

    kind: Literal["opaque"] = "opaque"
    class_name: str | None = None


class AnyType(TypeFacts):
    """Any JSON value. `boolean` is the JSON Schema `true` or `false`, None for the empty schema."""

    kind: Literal["any"] = "any"
    boolean: bool | None = None


Type: TypeAlias = Annotated[
    ScalarType | ArrayType | ObjectType | RefType | AllOfType | OneOfType | OpaqueType | AnyType,
    Field(discriminator="kind"),
]

Definitions: TypeAlias = Mapping[str, Type]
"""Types by the names that references have."""

TYPE_KINDS: tuple[str, ...] = (
    *get_args(ScalarKind),
    "array",
    "object",
    "ref",
    "all-of",
    "one-of",
    "opaque",
    "any",
)
"""Every value that `kind` may have."""


class Property(Frozen):
    """A named value of an object: a parameter, an output, a field.

    Attributes:
        type: What it may be; its description is the property's description.
        required: The key must be present. Whether its value may be null is `type.nullable`.
        extensions: Facts of one format about the property, not about its type.
    """

    type: Type
    required: bool = False
    extensions: Extensions = Field(default_factory=dict)


for _model in (ArrayType, ObjectType, AllOfType, OneOfType, Property):
    _model.model_rebuild()
