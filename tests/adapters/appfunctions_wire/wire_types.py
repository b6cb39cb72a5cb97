"""Random declared types, each with values of it that AppFunctions' wire can carry."""

from typing import Any

from hypothesis import strategies as st

from droidgate_mappings.model.types import AllOfType, AnyType, ObjectType, Property, Type
from model_types import (
    array,
    boolean,
    float32,
    float64,
    int32,
    int64,
    one_of,
    optional,
    record,
    ref,
    required,
    string,
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
    "com.x.Note": record(
        {
            "title": required(string()),
            "stars": optional(float64()),
            "tags": optional(array(string())),
            "parent": optional(ref("com.x.Note")),
        },
        qualified_name="com.x.Note",
    ),
    "com.x.Id": record({"id": required(int64())}, qualified_name="com.x.Id"),
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
        (boolean(), st.booleans()),
        (int32(), WHOLE),
        (int64(), LONG),
        (float64(), DOUBLE),
        (float32(), single),
        (string(), st.text(max_size=5)),
        (AnyType(), st.booleans() | LONG | DOUBLE | st.text(max_size=5)),
    ]


@st.composite
def typed(draw: st.DrawFn, depth: int = 2, *, result: bool = False) -> tuple[Type, Values]:
    """Draw a type that is not a list, and a strategy of its values."""
    kinds = ["scalar", "ref", "one-of", "object", "all-of"] if depth else ["scalar", "ref"]
    kind = draw(st.sampled_from(kinds))
    if kind == "ref":
        return ref("com.x.Note"), note_values()
    if kind == "one-of":
        notes: Values = note_values().map(lambda note: {**note, "schemaType": "com.x.Note"})
        ids: Values = st.fixed_dictionaries({"id": LONG, "schemaType": st.just("com.x.Id")})
        return one_of(ref("com.x.Note"), ref("com.x.Id")), notes | ids
    if kind == "object":
        return draw(objects(depth - 1, result=result))
    if kind == "all-of":
        first, first_values = draw(objects(depth - 1, result=result))
        members = (first, ref("com.x.Id"))
        merged = st.builds(lambda item, number: {**item, "id": number}, first_values, LONG)
        return AllOfType(members=members), merged
    return draw(st.sampled_from(scalar_pairs(result=result)))


@st.composite
def objects(draw: st.DrawFn, depth: int = 2, *, result: bool = False) -> tuple[ObjectType, Values]:
    """Draw an object type with at least one property, and a strategy of its values."""
    properties: dict[str, Property] = {}
    required: dict[str, Values] = {}
    optional: dict[str, Values] = {}
    for name in draw(st.lists(NAMES.filter(lambda item: item != "id"), min_size=1, max_size=3, unique=True)):
        item, values = draw(typed(depth, result=result))
        if draw(st.booleans()):
            item, values = array(item), st.lists(values, min_size=0 if result else 1, max_size=3)
            if isinstance(item.items, AnyType):
                values = st.lists(st.text(max_size=2), min_size=1, max_size=3)
        is_required = draw(st.booleans())
        properties[name] = Property(type=item, required=is_required)
        (required if is_required else optional)[name] = values
    return record(properties), st.fixed_dictionaries(required, optional=optional)


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
        return array(declared), draw(st.lists(values, max_size=3))
    return declared, draw(values)
