"""Capacities made by chance, with every flag of `Capacity` in every combination; fitting to a dialect."""

from random import Random
from typing import Any

from droidgate_mappings.fit import Fitted, fit_provider
from droidgate_mappings.formats.format import Writing, find_format
from droidgate_mappings.model.capability import Provider
from droidgate_mappings.model.findings import Level
from droidgate_mappings.model.types import TYPE_KINDS
from droidgate_mappings.tables.capacity import Capacity

_RULES = (
    None,
    {"allowed": "[A-Za-z0-9_-]", "max_length": 64},
    {"allowed": "[a-z]", "first": "[a-z]", "max_length": 20},
    {"allowed": "[A-Za-z0-9_]", "first": "[A-Za-z_]", "max_length": 40},
)
_PROVIDER_FIELDS = ("package", "component", "name", "description", "instructions")
_ACCESS_FIELDS = (
    "exported", "enabled", "permission", "enabled_by_default", "restrict_callers", "scope", "access_level",
)  # fmt: skip
_CAPABILITY_FIELDS = ("title", "description", "version", "effects")
_SHARES = {
    "type_description_required": 0.3, "nullable": 0.6, "implicit": 0.5, "qualified_names": 0.5,
    "input_required": 0.6, "output_required": 0.6, "dangling_references": 0.5,
}  # fmt: skip
"""Flags that depend on no other, and how often they are set."""


def _some(random: Random, values: tuple[str, ...]) -> list[str]:
    return [value for value in values if random.random() < 0.6]


def _type_rows(random: Random, *, references: bool) -> dict[str, Any]:
    rows: dict[str, Any] = {}
    simplest = random.choice(("string", "any"))
    for kind in TYPE_KINDS:
        carried = kind == simplest or (random.random() < 0.7 and (references or kind != "ref"))
        written = kind if carried else simplest
        rows[kind] = {
            "written_as": written,
            "level": random.choice((None, "impossible")),
            "constraints": _some(random, ("enum", "pattern", "format")),
        }
    return rows


def random_capacity(random: Random) -> Capacity:
    """Return a capacity made by chance."""

    def chance(share: float) -> bool:
        return random.random() < share

    provider_fields, access = _some(random, _PROVIDER_FIELDS), _some(random, _ACCESS_FIELDS)
    capability_fields = _some(random, _CAPABILITY_FIELDS)
    nested = chance(0.6)
    definitions = random.choice(("all", "reachable", "none"))
    types = _type_rows(random, references=nested and definitions != "none")
    is_schema = nested and chance(0.3)
    if is_schema:
        types = {kind: {**row, "written_as": kind} for kind, row in types.items()}
        definitions = "all"
    has_text, has_null = (types[kind]["written_as"] == kind for kind in ("string", "null"))
    shapes = ("any", "object", "none", *(["typed-object"] * 3 if is_schema else []))
    input_shape = random.choice((*shapes, *(["plain-object"] * 3 if is_schema else [])))
    output_shape = random.choice(shapes)
    is_plain = input_shape == "plain-object"
    alternatives = random.choice(("exclusive", "inclusive", "both", "both"))
    keeps_references = not is_plain or output_shape == "typed-object" or alternatives == "exclusive"
    texts = [name for name in provider_fields if name in {"description", "instructions"}]
    titles = [name for name in ("title", "description") if name in capability_fields]
    return Capacity.model_validate(
        {
            **{name: chance(share) for name, share in _SHARES.items()},
            "access": access,
            "access_enforced": _some(random, tuple(access)),
            "provider_fields": provider_fields,
            "provider_text": random.choice([None, *texts]),
            "provider_defaults": {"name": "{package}"} if "name" in provider_fields and chance(0.4) else {},
            "component": random.choice((None, ".New")),
            "capability_fields": capability_fields,
            "capability_defaults": {name: "{id}" for name in titles if chance(0.3)},
            "most_description": random.choice((None, 30)),
            "types": types,
            "nested": nested,
            "exclusive_only": alternatives == "exclusive",
            "inclusive_only": alternatives == "inclusive",
            "items_required": nested and has_text and chance(0.4),
            "type_descriptions": "all" if is_schema else random.choice(("all", "top", "none")),
            "records_only": not is_schema and has_text and chance(0.3),
            "nullable_members": is_schema or chance(0.7),
            "nullable_items": is_schema or chance(0.7),
            "nested_arrays": is_schema or not has_text or chance(0.7),
            "keywords": is_schema or chance(0.5),
            "keyword_words": random.choice((None, None, ["title", "type", "enum", "properties", "required"])),
            "top_words_excluded": ["anyOf", "enum", "not"] if is_plain and chance(0.6) else [],
            "reference_facts": keeps_references or chance(0.4),
            "enum_values": random.choice(("any", "matching")),
            "definitions": definitions,
            "extensions": random.choice((["*"], [], ["invented-format"])),
            "input_shape": input_shape,
            "output_shape": output_shape,
            "output_default": "null" if output_shape == "any" and has_null and chance(0.3) else None,
            "id_rule": random.choice(_RULES),
            "property_rule": random.choice(_RULES),
            "parameter_rule": random.choice((None, *_RULES)),
            "definition_rule": random.choice(_RULES),
            "text": random.choice(("xml", "json")),
        }
    )


def everything(**changes: Any) -> Capacity:
    """Return a capacity that carries everything, but for what is changed; `types` are merged kind by kind."""
    constraints = ["enum", "pattern", "format"]
    access = list(_ACCESS_FIELDS)
    types = {kind: {"written_as": kind, "constraints": constraints} for kind in TYPE_KINDS}
    stated = {
        "access": access,
        "access_enforced": access,
        "provider_fields": _PROVIDER_FIELDS,
        "capability_fields": _CAPABILITY_FIELDS,
        "extensions": ["*"],
        **changes,
        "types": {**types, **changes.get("types", {})},
    }
    return Capacity.model_validate(stated)


def fit_for(provider: Provider, target: str) -> Fitted:
    """Fit a provider to a dialect, `FORMAT+DIALECT`, or to the first one of a format."""
    item, dialect = find_format(target)
    assert dialect.capacity is not None
    return fit_provider(provider, dialect.capacity, item.id, dialect.id)


def write_for(provider: Provider, target: str) -> Writing:
    """Write a provider in a dialect, as `fit_for` names it."""
    item, dialect = find_format(target)
    assert item.write is not None
    return item.write(provider, dialect)


def facts_of(result: Fitted | Writing, below: str = "") -> dict[str, tuple[str, Level]]:
    """Return code and level of each finding by its pointer, of those below a pointer without it."""
    findings = [item for item in result.findings if item.pointer.startswith(below)]
    return {item.pointer.removeprefix(below): (item.code, item.level) for item in findings}
