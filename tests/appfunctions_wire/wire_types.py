"""Random declared types, each with values of it that AppFunctions' wire can carry."""

from typing import Any

from hypothesis import strategies as st

from droidgate.model.types import (
    AllOfType,
    AnyType,
    ArrayType,
    ObjectType,
    OneOfType,
    Property,
    RefType,
    ScalarType,
    Type,
)

Values = st.SearchStrategy[Any]
NAMES = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=5).filter(
    lambda name: name != "schemaType"
)

WHOLE = st.integers(-(2**31), 2**31 - 1)
LONG = st.integers(-(2**63), 2**63 - 1)
DOUBLE = st.floats(allow_nan=False, allow_infinity=False)
SHORT_DECIMAL = st.integers(-99_999, 99_999).map(lambda number: number / 1000)
"""Numbers of so few digits that a 32-bit float keeps them as written."""

DEFINITIONS: dict[str, Type] = {
    "com.x.Note": ObjectType(
        qualified_name="com.x.Note",
        properties={
            "title": Property(type=ScalarType(kind="string"), required=True),
            "stars": Property(type=ScalarType(kind="double")),
            "tags": Property(type=ArrayType(items=ScalarType(kind="string"))),
            "parent": Property(type=RefType(name="com.x.Note")),
        },
    ),
    "com.x.Id": ObjectType(
        qualified_name="com.x.Id", properties={"id": Property(type=ScalarType(kind="int64"), required=True)}
    ),
}


def note_values() -> Values:
    """Values of com.x.Note."""
    leaf = st.fixed_dictionaries(
        {"title": st.text(max_size=3)},
        optional={"stars": DOUBLE, "tags": st.lists(st.text(max_size=3), min_size=1, max_size=3)},
    )
    return st.recursive(
        leaf,
        lambda inner: st.builds(lambda note, parent: {**note, "parent": parent}, leaf, inner),
        max_leaves=4,
    )


def scalar_pairs(*, result: bool) -> list[tuple[Type, Values]]:
    """Single types with strategies of their values."""
    single = SHORT_DECIMAL if result else st.floats(width=32, allow_nan=False, allow_infinity=False)
    return [
        (ScalarType(kind="boolean"), st.booleans()),
        (ScalarType(kind="int32"), WHOLE),
        (ScalarType(kind="int64"), LONG),
        (ScalarType(kind="double"), DOUBLE),
        (ScalarType(kind="float"), single),
        (ScalarType(kind="string"), st.text(max_size=5)),
        (AnyType(), st.booleans() | LONG | DOUBLE | st.text(max_size=5)),
    ]


@st.composite
def typed(draw: st.DrawFn, depth: int = 2, *, result: bool = False) -> tuple[Type, Values]:
    """Draw a type that is no list, and a strategy of its values."""
    kinds = ["scalar", "ref", "one-of", "object", "all-of"] if depth else ["scalar", "ref"]
    kind = draw(st.sampled_from(kinds))
    if kind == "ref":
        return RefType(name="com.x.Note"), note_values()
    if kind == "one-of":
        notes: Values = note_values().map(lambda note: {**note, "schemaType": "com.x.Note"})
        ids: Values = st.fixed_dictionaries({"id": LONG, "schemaType": st.just("com.x.Id")})
        return OneOfType(alternatives=(RefType(name="com.x.Note"), RefType(name="com.x.Id"))), notes | ids
    if kind == "object":
        return draw(objects(depth - 1, result=result))
    if kind == "all-of":
        first, first_values = draw(objects(depth - 1, result=result))
        members = (first, RefType(name="com.x.Id"))
        merged = st.builds(lambda one, number: {**one, "id": number}, first_values, LONG)
        return AllOfType(members=members), merged
    return draw(st.sampled_from(scalar_pairs(result=result)))


@st.composite
def objects(draw: st.DrawFn, depth: int = 2, *, result: bool = False) -> tuple[ObjectType, Values]:
    """Draw an object type with at least one property, and a strategy of its values."""
    properties: dict[str, Property] = {}
    required: dict[str, Values] = {}
    optional: dict[str, Values] = {}
    for name in draw(st.lists(NAMES.filter(lambda one: one != "id"), min_size=1, max_size=3, unique=True)):
        one, values = draw(typed(depth, result=result))
        if draw(st.booleans()):
            one, values = ArrayType(items=one), st.lists(values, min_size=0 if result else 1, max_size=3)
            if isinstance(one.items, AnyType):
                values = st.lists(st.text(max_size=2), min_size=1, max_size=3)
        is_required = draw(st.booleans())
        properties[name] = Property(type=one, required=is_required)
        (required if is_required else optional)[name] = values
    return ObjectType(properties=properties), st.fixed_dictionaries(required, optional=optional)


@st.composite
def input_types_with_values(draw: st.DrawFn) -> tuple[ObjectType, dict[str, Any]]:
    """Draw an input type and parameters of it."""
    declared, values = draw(objects())
    return declared, draw(values)


@st.composite
def output_types_with_values(draw: st.DrawFn) -> tuple[Type, Any]:
    """Draw an output type and a result of it."""
    declared, values = draw(typed(result=True))
    if draw(st.booleans()) and not isinstance(declared, AnyType):
        return ArrayType(items=declared), draw(st.lists(values, max_size=3))
    return declared, draw(values)
