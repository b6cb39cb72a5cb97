"""The support matrix says what fitting does."""

import pytest

from droidgate_mappings.fit import fit_provider
from droidgate_mappings.formats.format import load_formats
from droidgate_mappings.formats.support_matrix import cell_text, make_matrix
from droidgate_mappings.model.capability import Capability, CapabilityAccess, Effects, Provider
from droidgate_mappings.model.findings import Level
from droidgate_mappings.model.types import (
    AllOfType,
    AnyType,
    ArrayType,
    ObjectType,
    OpaqueType,
    Property,
    Type,
)
from droidgate_mappings.tables.capacity import Capacity
from model_types import (
    all_of,
    binary,
    boolean,
    float32,
    float64,
    int32,
    int64,
    null,
    one_of,
    optional,
    record,
    ref,
    required,
    string,
)

WRITTEN = [
    pytest.param(format_.id, dialect.id, dialect.capacity, id=f"{format_.id}+{dialect.id}")
    for format_ in load_formats().values()
    for dialect in format_.dialects
    if format_.write is not None and dialect.capacity is not None
]


def _with_parameter(item: Type, *, required: bool = True) -> Capability:
    return Capability(id="do", description="d", input=record({"p": Property(type=item, required=required)}))


TYPES: dict[str, Type] = {
    "boolean": boolean(), "int32": int32(), "int64": int64(), "float": float32(), "double": float64(),
    "string": string(), "bytes": binary(), "null": null(), "array": ArrayType(), "object": ObjectType(),
    "ref": ref("D"), "all-of": AllOfType(), "one-of": one_of(string(), boolean()),
    "opaque": OpaqueType(class_name="android.app.PendingIntent"), "any": AnyType(),
}  # fmt: skip
RECORD = record({"a": optional(string())})
RECORDS: dict[str, Type] = {
    "object": RECORD,
    "all-of": all_of(RECORD, RECORD),
    "one-of": one_of(RECORD, RECORD),
}
# Feature to a capability that has it, and the pointer of the leaf it is about.
CASES: dict[str, tuple[Capability, str]] = {
    "capability: title": (Capability(id="do", title="t", description="d"), "/title"),
    "capability: description": (Capability(id="do", description="t"), "/description"),
    "capability: version": (Capability(id="do", version="7"), "/version"),
    "capability: effects": (Capability(id="do", effects=Effects(read_only=True)), "/effects/read_only"),
    "input: optional parameters": (_with_parameter(string(), required=False), "/input/properties/p/required"),
    "output: declared output": (Capability(id="do", output=record({"r": required(string())})),
     "/output/properties/r/type/kind"),
    "output: no word about outputs": (Capability(id="do"), "/output/kind"),
    "output: optional outputs": (Capability(id="do", output=record({"r": optional(string())})),
     "/output/properties/r/required"),
    "constraint: pattern": (_with_parameter(string(pattern="^a")), "/input/properties/p/type/pattern"),
    "constraint: format": (_with_parameter(string(format="date")), "/input/properties/p/type/format"),
    "constraint: enum": (_with_parameter(string(enum=("a", "b"))), "/input/properties/p/type/enum"),
    "constraint: null allowed": (_with_parameter(string(nullable=True)), "/input/properties/p/type/nullable"),
    "constraint: other JSON Schema keywords": (_with_parameter(string(keywords={"minLength": 1})),
     "/input/properties/p/type/keywords/minLength"),
    "schema: facts of other formats": (Capability(id="do", extensions={"elsewhere": {"f": 1}}),
     "/extensions/elsewhere/f"),
    "type: a type without a name": (_with_parameter(string(implicit=True)),
     "/input/properties/p/type/implicit"),
    "access: enabled by default": (Capability(id="do", access=CapabilityAccess(enabled_by_default=False)),
     "/access/enabled_by_default"),
    "access: access level": (Capability(id="do", access=CapabilityAccess(access_level="self")),
     "/access/access_level"),
    **{
        f"type: {kind}": (_with_parameter(item), "/input/properties/p/type/kind")
        for kind, item in TYPES.items()
    },
}  # fmt: skip


def _cell(feature: str, column: str) -> str:
    matrix = make_matrix(load_formats().values())
    (row,) = (item for item in matrix.rows if f"{item.group}: {item.feature}" == feature)
    return row.cells[matrix.columns.index(column)].value


@pytest.mark.parametrize(("format_id", "dialect_id", "capacity"), WRITTEN)
@pytest.mark.parametrize("feature", CASES)
def test_a_cell_is_a_finding_level(feature: str, format_id: str, dialect_id: str, capacity: Capacity) -> None:
    capability, leaf = CASES[feature]
    kind = feature.removeprefix("type: ")
    if capacity.records_only and capacity.nested and kind in RECORDS:
        capability = _with_parameter(RECORDS[kind])
    definitions: dict[str, Type] = {"D": ObjectType()}
    provider = Provider(
        protocol="elsewhere", package="app.one", capabilities=(capability,), definitions=definitions
    )
    findings = fit_provider(provider, capacity, format_id, dialect_id).findings
    levels = {finding.level for finding in findings if finding.pointer == f"/capabilities/0{leaf}"}
    if feature == "capability: description":
        levels -= {finding.level for finding in findings if finding.code == "text-added"}
    value = _cell(feature, f"{format_id}+{dialect_id}")
    assert levels == ({Level(value)} if value != "yes" else set())


def test_columns_are_what_can_be_written() -> None:
    assert make_matrix(load_formats().values()).columns == tuple(row.id for row in WRITTEN)
    defaults = make_matrix(load_formats().values(), only_defaults=True).columns
    assert len(defaults) == len({column.partition("+")[0] for column in defaults})


def test_cells_are_words_or_levels() -> None:
    matrix = make_matrix(load_formats().values())
    assert {cell.value for row in matrix.rows for cell in row.cells} <= {"yes", *Level}
    assert {len(row.cells) for row in matrix.rows} == {len(matrix.columns)}
    assert any(cell_text(cell) == "widened: int64" for row in matrix.rows for cell in row.cells)
