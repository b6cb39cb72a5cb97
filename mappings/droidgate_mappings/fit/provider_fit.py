"""Fitting a provider: its fields, definitions and capabilities, with their names, inputs, outputs and access.

A rule of access that nothing enforces in the target is a security finding.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

from droidgate_mappings.fit import losses
from droidgate_mappings.fit.collector import Collector, Node
from droidgate_mappings.fit.description_notes import put_first, schema_notes
from droidgate_mappings.fit.losses import TRUSTED_LEVEL
from droidgate_mappings.fit.type_fit import (
    blank_type,
    fit_facts,
    fit_moved,
    fit_property,
    fit_type,
    property_names,
    renames_parameters,
    report_structure,
    should_unwrap,
    unwrap,
)
from droidgate_mappings.json_schema import NAMESPACE
from droidgate_mappings.model.capability import (
    Capability,
    CapabilityAccess,
    ComponentAccess,
    Effects,
    Provider,
    definitions_of,
)
from droidgate_mappings.model.findings import Finding, at_least
from droidgate_mappings.model.json_values import pointer_token
from droidgate_mappings.model.leaves import different_leaves, find_leaf, leaves_of_type
from droidgate_mappings.model.names import NameEntry, map_names
from droidgate_mappings.model.type_qualities import may_be_object
from droidgate_mappings.model.types import (
    AnyType,
    Extensions,
    ObjectType,
    OneOfType,
    Property,
    RefType,
    ScalarType,
    Type,
    as_extensions,
)
from droidgate_mappings.records import dataclass
from droidgate_mappings.tables.capacity import Capacity
from droidgate_mappings.tables.loading import FormatTables, find_binding, find_format_tables

_EXPORTED: Final = "/access/exported"
_PERMISSION: Final = "/access/permission"


def is_restriction(field: str, value: Any) -> bool:
    """Return whether the value of an access rule keeps some callers out, at some time or in some place."""
    if field in {"exported", "enabled_by_default"}:
        return value is False
    if field == "enabled":
        return value is not True
    if field == "restrict_callers":
        return value is True
    return value not in {None, ""} and not (field == "access_level" and value == TRUSTED_LEVEL)


def fit_component_access(fit: Collector) -> ComponentAccess:
    """Return a provider's access as the dialect writes it; each rule that gets lost is a security finding."""
    access = fit.provider.access
    changes: dict[str, Any] = {"permission": _fit_permission(fit)}
    if changes["permission"] != access.permission:
        changes["protection_level"] = None
    if access.exported is None and not fit.comes_from_target and fit.capacity.component is not None:
        fit.report(losses.EXPORTED_STATED, _EXPORTED)
        changes["exported"] = True
    elif (
        access.exported is False
        and not fit.comes_from_target
        and find_binding(fit.provider.protocol) is not None
    ):
        fit.report(losses.EXPORTED_TO_ANDROID, _EXPORTED)
        changes["exported"] = True
    elif access.exported is not True:
        changes["exported"] = _carried(fit, "exported", access.exported, True, _EXPORTED)
    if access.enabled is not True:
        changes["enabled"] = _carried(fit, "enabled", access.enabled, True, "/access/enabled")
    return access.changed(changes)


def fit_capability_access(fit: Collector, capability: Capability, pointer: str) -> CapabilityAccess:
    """Return a capability's access as the dialect writes it; each rule that gets lost is a security finding.

    Args:
        fit: Collects the findings.
        capability: The capability.
        pointer: Its JSON Pointer.
    """
    access = capability.access
    if access == _OPEN:
        return access
    changes = {
        name: _carried(fit, name, value, default, f"{pointer}/access/{name}")
        for name, default in _OPEN
        if (value := getattr(access, name)) != default
    }
    return access.changed(changes)


_OPEN: Final = CapabilityAccess()


def _carried(fit: Collector, field: Any, value: Any, default: Any, leaf: str) -> Any:
    """Return the value that the dialect writes for one rule."""
    carried = field in fit.capacity.access
    if not is_restriction(field, value):
        if not carried:
            fit.report(losses.OPEN_ACCESS[field], leaf)
    elif not carried or (field not in fit.capacity.access_enforced and not fit.comes_from_target):
        fit.report(losses.ACCESS_RULES[field], leaf, target=fit.format_id)
    return value if carried else default


def _fit_permission(fit: Collector) -> str | None:
    """Return the permission that the component is written with."""
    stated = fit.provider.access.permission
    capacity = fit.capacity
    is_carried = "permission" in capacity.access
    binding = find_binding(fit.format_id)
    is_new = binding is not None and fit.provider.component is None and capacity.component is not None
    if fit.comes_from_target and is_carried and not is_new:
        return stated
    if not stated and stated is not None:
        fit.report(losses.OPEN_ACCESS["permission"], _PERMISSION)
        stated = None
    needed = stated
    source = find_binding(fit.provider.protocol)
    if source is not None and stated in {None, source.component}:
        needed = source.caller
    elif source is not None and "permission" in capacity.access_enforced:
        fit.report(losses.CALLER_PERMISSION, _PERMISSION, needed=source.caller, stated=stated)
    if binding is not None:
        written = binding.component if is_carried else None
        if needed not in {None, binding.caller}:
            fit.report(losses.OTHER_PERMISSION, _PERMISSION, needed=needed, caller=binding.caller)
        elif needed is None and written is not None:
            fit.report(losses.PERMISSION_ADDED, _PERMISSION, written=written, caller=binding.caller)
        elif written != stated:
            fit.report(losses.PERMISSION_AS_BEFORE, _PERMISSION, caller=binding.caller)
        return written
    if needed is None:
        return None
    if "permission" not in capacity.access_enforced:
        fit.report(losses.ACCESS_RULES["permission"], _PERMISSION, needed=needed, target=fit.format_id)
        return needed if is_carried else None
    if needed != stated:
        fit.report(losses.PERMISSION_OF_COMPONENT, _PERMISSION, needed=needed)
    return needed


_WRAPPER: Final = "result"
_EFFECT_WORDS: Final = {
    "read_only": "Read only",
    "destructive": "Destructive",
    "idempotent": "Idempotent",
    "open_world": "Open world",
}


@dataclass(frozen=True, slots=True)
class Fitted:
    """A provider as a dialect holds it, with what changed."""

    provider: Provider
    findings: tuple[Finding, ...]
    names: tuple[NameEntry, ...]


def fit_provider(provider: Provider, capacity: Capacity, format_id: str, dialect_id: str) -> Fitted:
    """Fit a provider into what a dialect can carry.

    Args:
        provider: What should be written.
        capacity: What the dialect can carry.
        format_id: The target format; names of a provider that comes from it already are kept as they are.
        dialect_id: The target dialect.

    Returns:
        The fitted provider with protocol and dialect set, one finding for each leaf in which it differs, and
        the name map.
    """
    fit = Collector(provider, capacity, format_id)
    fit.place = provider.source
    changes: dict[str, Any] = {"protocol": format_id, "dialect": dialect_id}
    changes.update(_fit_provider_fields(fit))
    changes["extensions"] = fit.fit_extensions(provider.extensions, "")
    _name_definitions(fit)
    ids = _capability_ids(fit)
    fitted = []
    for position, capability in enumerate(provider.capabilities):
        fit.place = capability.source or provider.source
        fitted.append(_fit_capability(fit, capability, f"/capabilities/{position}", ids[position]))
    changes["capabilities"] = tuple(fitted)
    changes["definitions"] = _fit_definitions(fit, fitted)
    findings = tuple(_with_losses_of_parameters(fit, finding) for finding in fit.findings)
    return Fitted(provider.changed(changes), findings, tuple(fit.names))


def _with_losses_of_parameters(fit: Collector, finding: Finding) -> Finding:
    """Return the finding about a leaf of a definition, graver where parameters lose more of it."""
    loss = fit.losses_of_parameters.get(finding.pointer)
    if loss is None or at_least(finding.level, loss.level):
        return finding
    return loss.changed({"pointer": finding.pointer})


def _fit_provider_fields(fit: Collector) -> dict[str, Any]:
    capacity, provider = fit.capacity, fit.provider
    changes: dict[str, Any] = {}
    notes: list[str] = []
    for name in ("package", "name", "description", "instructions"):
        value = getattr(provider, name)
        if value is None or name in capacity.provider_fields:
            continue
        changes[name] = None
        if name in {"description", "instructions"} and capacity.provider_text is not None:
            place = capacity.provider_text
            fit.report_moved(losses.PROVIDER_TEXT, f"/{name}", value, name=name, place=place)
            notes += [value] if value.strip() else []
        else:
            fit.report(losses.PROVIDER_FIELD, f"/{name}", name=name)
    for name in sorted(capacity.provider_fields - {"component"}):
        value = getattr(provider, name)
        noted = name == capacity.provider_text and bool(notes)
        if value is not None:
            changes[name] = fit.clean(value, f"/{name}", quiet=noted)
        if noted:
            changes[name] = fit.add_notes(changes.get(name), notes, f"/{name}", separator="\n\n")
    changes["component"] = _fit_component(fit)
    changes["access"] = fit_component_access(fit)
    _default_fields(fit, capacity.provider_defaults, changes, "")
    return changes


def _default_fields(
    fit: Collector, defaults: Mapping[Any, str], changes: dict[str, Any], pointer: str
) -> None:
    if not defaults:
        return
    filled = {"package": fit.provider.package or fit.format_id, "id": changes.get("id", "")}
    for name, template in defaults.items():
        value = changes.get(name)
        default = fit.clean(template.format(**filled), f"{pointer}/{name}", quiet=True)
        if value is None or (not fit.comes_from_target and not value.strip() and value != default):
            changes[name] = default
            fit.report(losses.REQUIRED_FIELD, f"{pointer}/{name}", name=name, written=default)


def _fit_component(fit: Collector) -> str | None:
    capacity, component = fit.capacity, fit.provider.component
    if "component" not in capacity.provider_fields:
        if component is not None:
            fit.report(losses.COMPONENT, "/component")
        return None
    if capacity.component is None or (fit.comes_from_target and component is not None):
        return component if component is None else fit.clean(component, "/component")
    if component is None:
        fit.report(losses.COMPONENT_ADDED, "/component", written=capacity.component)
    elif component != capacity.component:
        written = capacity.component
        fit.report(losses.NEW_COMPONENT, "/component", original=component, written=written)
        fit.names.append(NameEntry(pointer="/component", original=component, written=written))
    return capacity.component


def _name_definitions(fit: Collector) -> None:
    """Decide what definitions are called, before anything refers to them."""
    rule = fit.capacity.definition_rule
    if rule is not None and not fit.comes_from_target:
        fit.definition_names = map_names(((name, name) for name in fit.provider.definitions), rule.rule())


def _fit_definitions(fit: Collector, fitted_capabilities: Iterable[Capability]) -> dict[str, Type]:
    """Return the definitions that the dialect carries, by their written names, and report the others.

    Args:
        fitted_capabilities: As they are written; where only reached definitions are written, they decide.
    """
    if not fit.provider.definitions:
        return {}
    carried = fit.capacity.definitions
    fitted: dict[str, Type] = {}
    reported: dict[str, tuple[list[Finding], list[NameEntry]]] = {}
    for name, definition in fit.provider.definitions.items() if carried != "none" else ():
        written = fit.definition_names.get(name, name)
        node = Node(f"/definitions/{pointer_token(name)}", "definition")
        with fit.apart() as reported[name]:
            if written != name:
                fit.rename(node.pointer, name, written)
            fitted[written] = fit_type(fit, definition, node)
    if carried == "reachable":
        reachable_names = definitions_of(fitted_capabilities, fitted)
        fitted = {name: item for name, item in fitted.items() if name in reachable_names}
    reached = definitions_of(fit.provider.capabilities, fit.provider.definitions)
    for name, definition in fit.provider.definitions.items():
        if fit.definition_names.get(name, name) in fitted:
            fit.findings.extend(reported[name][0])
            fit.names.extend(reported[name][1])
        else:
            _drop_definition(
                fit, name, definition, f"/definitions/{pointer_token(name)}", is_reached=name in reached
            )
    return fitted


def _drop_definition(fit: Collector, name: str, definition: Type, pointer: str, *, is_reached: bool) -> None:
    """Report a definition that the dialect leaves out.

    Args:
        name: Its name.
        definition: The definition.
        pointer: Its JSON Pointer.
        is_reached: A capability uses it, so that the structure notes show it.
    """
    for leaf, value in leaves_of_type(definition, pointer):
        field = find_leaf(definition, leaf, pointer)[1]
        if is_reached:
            report_structure(fit, definition, pointer, leaf, value)
        elif field[0] == "extensions":
            fit.leave_out_fact(field[1], field[2], value, leaf, None)
        else:
            fit.report(losses.UNUSED_DEFINITION, leaf, name=name)


def _capability_ids(fit: Collector) -> list[str]:
    ids = [capability.id for capability in fit.provider.capabilities]
    rule = fit.capacity.id_rule
    if rule is None or fit.comes_from_target:
        return ids
    keys = [f"{fit.provider.package}/{fit.provider.component}/{id_}" for id_ in ids]
    counts = Counter(ids)
    keyed = [
        (item, key if counts[item] == 1 else f"{key}/{position}")
        for position, (item, key) in enumerate(zip(ids, keys, strict=True))
    ]
    written = map_names(keyed, rule.rule())
    for position, (item, key) in enumerate(keyed):
        if written[key] != item:
            fit.rename(f"/capabilities/{position}/id", item, written[key])
    return [written[key] for _, key in keyed]


def _fit_capability(fit: Collector, capability: Capability, pointer: str, name: str) -> Capability:
    capacity = fit.capacity
    changes: dict[str, Any] = {"id": name, "title": None, "version": None, "description": None}
    notes: list[str] = []
    if capability.title is not None:
        if "title" in capacity.capability_fields:
            changes["title"] = fit.clean(capability.title, f"{pointer}/title")
        else:
            _leave_out_title(fit, capability, f"{pointer}/title", notes)
    if capability.version is not None:
        if "version" in capacity.capability_fields:
            changes["version"] = fit.clean(capability.version, f"{pointer}/version")
        else:
            fit.report(losses.CAPABILITY_FIELDS["version"], f"{pointer}/version")
    changes["access"] = fit_capability_access(fit, capability, pointer)
    changes["effects"] = _fit_effects(fit, capability.effects, pointer, notes)
    changes["input"] = _fit_input(fit, capability.input, Node(f"{pointer}/input", "input"), notes)
    changes["output"] = _fit_output(fit, capability.output, Node(f"{pointer}/output"), notes)
    changes["extensions"] = fit.fit_extensions(capability.extensions, pointer, notes)
    changes["description"] = _fit_capability_text(
        fit, capability.description, f"{pointer}/description", notes
    )
    _default_fields(fit, capacity.capability_defaults, changes, pointer)
    most, count = capacity.most_description, len(changes["description"] or "")
    if most is not None and count > most:
        fit.report(losses.LONG_DESCRIPTION, f"{pointer}/description", count=count, most=most)
    return capability.changed(changes)


def _leave_out_title(fit: Collector, capability: Capability, leaf: str, notes: list[str]) -> None:
    """Report a title that the dialect does not have; it is the description where there is no other."""
    if capability.title is not None and not capability.description:
        fit.report_moved(losses.TITLE_AS_DESCRIPTION, leaf, capability.title)
        put_first(capability.title, notes)
    else:
        fit.report(losses.CAPABILITY_FIELDS["title"], leaf)


def _fit_capability_text(fit: Collector, text: str | None, pointer: str, notes: list[str]) -> str | None:
    if "description" not in fit.capacity.capability_fields:
        if text is not None:
            fit.report(losses.CAPABILITY_FIELDS["description"], pointer)
        return None
    if text is not None:
        text = fit.clean(text, pointer, quiet=bool(notes))
    return fit.add_notes(text, notes, pointer)


def _fit_effects(fit: Collector, effects: Effects | None, pointer: str, notes: list[str]) -> Effects | None:
    if effects is None or "effects" in fit.capacity.capability_fields:
        return effects
    for name, words in _EFFECT_WORDS.items():
        value = getattr(effects, name)
        if value is not None:
            fit.report(losses.EFFECT, f"{pointer}/effects/{name}")
            notes.append(f"[{words}: {'yes' if value else 'no'}]")
    return None


def _fit_input(fit: Collector, type_: Type, node: Node, notes: list[str]) -> Type:
    if fit.capacity.input_shape == "any":
        return fit_type(fit, type_, node)
    if fit.capacity.input_shape == "typed-object" and may_be_object(type_):
        return _fit_typed_object(fit, type_, node)
    if fit.capacity.input_shape in {"object", "plain-object"}:
        if isinstance(type_, ObjectType):
            return _fit_input_object(fit, type_, node, notes)
        inlined = _fit_referenced_parameters(fit, type_, node, notes)
        if inlined is not None:
            return inlined
    notes.extend(schema_notes("Parameters", type_, fit.provider.definitions))
    for leaf, value in leaves_of_type(type_, node.pointer):
        if leaf != node.leaf("kind"):
            report_structure(fit, type_, node.pointer, leaf, value)
        elif value != "object":
            fit.report(losses.INPUT_KIND, leaf, type_, "object", fit.resolved)
    if fit.capacity.input_shape == "plain-object":
        return _fit_input_object(fit, ObjectType(), node, notes)
    return ObjectType()


def _fit_input_object(fit: Collector, type_: ObjectType, node: Node, notes: list[str]) -> Type:
    """Return an input with parameters in the shape that the dialect requires."""
    if fit.capacity.input_shape == "object":
        return _fit_parameters(fit, type_, node, notes, carries_required=fit.capacity.input_required)
    fitted = _fit_typed_object(fit, type_, node)
    if type_.properties or "properties" in fitted.keywords:
        return fitted
    fit.report(losses.PROPERTIES_STATED, node.leaf("keywords/properties"))
    return fitted.changed({"keywords": {**fitted.keywords, "properties": {}}})


def _fit_referenced_parameters(fit: Collector, type_: Type, node: Node, notes: list[str]) -> Type | None:
    """Return the parameters of an input that is a reference to an object.

    Losses of the parameters are reported at the definition, where the source has them.

    Returns:
        None where the input is something else, or where the target cannot have a parameter's name or a
        word of the object at the top.
    """
    name = ""
    target: Type | None = type_
    seen: set[str] = set()
    while isinstance(target, RefType) and not target.nullable and target.name not in seen:
        name = target.name
        target = fit.provider.definitions.get(name)
        seen.add(name)
    if not isinstance(target, ObjectType) or target.nullable:
        return None
    if renames_parameters(fit, target):
        return None
    excluded = fit.capacity.top_words_excluded
    if (target.enum is not None and "enum" in excluded) or not excluded.isdisjoint(target.keywords):
        return None
    place = f"/definitions/{pointer_token(name)}"
    with fit.apart() as (lost, names):
        fitted = _fit_input_object(fit, target, node, notes)
    fit.names.extend(names)
    for finding in lost:
        leaf = place + finding.pointer.removeprefix(node.pointer)
        fit.losses_of_parameters.setdefault(leaf, finding)
    before = dict(leaves_of_type(type_, node.pointer))
    for leaf in different_leaves(before, dict(leaves_of_type(fitted, node.pointer))):
        fit.report(losses.INPUT_REFERENCE, leaf, name=name)
    return fitted


def _fit_output(fit: Collector, type_: Type | None, node: Node, notes: list[str]) -> Type | None:
    capacity = fit.capacity
    if type_ is None:
        if capacity.output_default is None:
            return None
        return _default_output(fit, node.pointer)
    if _is_unknown_output(fit, type_):
        _leave_out_unknown(fit, type_, node, notes)
        return None
    fit.capacity = capacity.outputs or capacity
    fitted = _fit_declared_output(fit, type_, node, notes, capacity)
    fit.capacity = capacity
    return fitted


def _is_unknown_output(fit: Collector, type_: Type) -> bool:
    """Return whether a reader of the target's own format could not know an output.

    Another kind in its place would be a guess about what the app's own code returns.
    """
    if fit.provider.protocol != fit.format_id or type_ != AnyType(description=type_.description):
        return False
    return fit.capacity.types["any"].written_as != "any" and fit.capacity.output_shape == "any"


def _leave_out_unknown(fit: Collector, type_: Type, node: Node, notes: list[str]) -> None:
    """Report that an output is not written; its description is appended to the capability's."""
    fit.report(losses.UNKNOWN_OUTPUT, node.leaf("kind"))
    if type_.description is not None:
        fit.report_moved(losses.OWN_DESCRIPTION, node.leaf("description"), type_.description)
        put_first(f"Returns: {type_.description}", notes)


def _default_output(fit: Collector, pointer: str) -> Type:
    """Return what is written for an output that the source does not declare: void, or a text named
    `result` where the source's protocol returns text then.
    """
    tables = find_format_tables(fit.provider.protocol)
    if tables is None or not tables.returns_text:
        fit.report(losses.VOID_ADDED, f"{pointer}/kind")
        return ScalarType(kind="null")
    leaf = f"{pointer}/properties/{_WRAPPER}"
    for each in (f"{pointer}/kind", f"{leaf}/required", f"{leaf}/type/kind"):
        fit.report(losses.TEXT_OUTPUT_ADDED, each)
    return _TEXT_OUTPUT


_TEXT_OUTPUT: Final = ObjectType(
    properties={_WRAPPER: Property(type=ScalarType(kind="string"), required=True)}
)


def _fit_declared_output(
    fit: Collector, type_: Type, node: Node, notes: list[str], capacity: Capacity
) -> Type | None:
    """Return an output in the shape of `capacity`; its types are fitted into `fit.capacity`."""
    if capacity.output_shape == "any":
        return fit_type(fit, type_, node)
    if capacity.output_shape == "none":
        # The schema of a value of any type is empty, and shows no null.
        may_be_null = ["[Returns: may be null]"] if type_.nullable else []
        notes.extend(schema_notes("Returns", type_, fit.provider.definitions) or may_be_null)
        for leaf, value in leaves_of_type(type_, node.pointer):
            if leaf == node.leaf("kind"):
                fit.report(losses.OUTPUT_KIND, leaf, value)
            else:
                report_structure(fit, type_, node.pointer, leaf, value)
        return None
    if capacity.output_shape == "typed-object":
        if fit.is_object(type_):
            return _fit_typed_object(fit, type_, node)
    elif isinstance(type_, ObjectType):
        return _fit_parameters(fit, type_, node, notes, carries_required=capacity.output_required)
    return _wrap_output(fit, type_, node.pointer, notes)


def _fit_typed_object(fit: Collector, type_: Type, node: Node) -> Type:
    """Return a type whose JSON Schema says `type: object` in one word, at its top."""
    if isinstance(type_, OneOfType) and should_unwrap(fit, type_):
        return unwrap(fit, type_, node.pointer, lambda inner: _fit_typed_object(fit, inner, node))
    fitted = fit_type(fit, type_, node)
    if fitted.kind != "object" and fitted.keywords.get("type") == "object":
        return fitted
    if fitted.kind != "object":
        fit.report(losses.OBJECT_STATED, node.leaf("keywords/type"), fit.is_object(type_))
        return fitted.changed({"keywords": {**fitted.keywords, "type": "object"}})
    if fitted.nullable:
        fit.report(losses.NULL_OF_OBJECT, node.leaf("nullable"))
    if fitted.implicit:
        fit.report(losses.UNNAMED_TYPE, node.leaf("implicit"), fitted)
    if "type" in fitted.keywords:
        fit.report(losses.TYPE_KEYWORD, node.leaf("keywords/type"))
    keywords = {word: value for word, value in fitted.keywords.items() if word != "type"}
    return fitted.changed({"nullable": False, "implicit": False, "keywords": keywords})


def _fit_parameters(
    fit: Collector, type_: ObjectType, node: Node, notes: list[str], *, carries_required: bool
) -> Type:
    """Return an input or output object whose own facts are appended to the capability's description."""
    own_notes: list[str] = []
    facts = fit_facts(fit, type_, node, own_notes)
    if type_.description is not None:
        fit.report_moved(losses.OWN_DESCRIPTION, node.leaf("description"), type_.description)
        put_first(type_.description, own_notes)
    if type_.qualified_name is not None:
        fit.report(losses.CLASS_NAME, node.leaf("qualified_name"))
    notes.extend(own_notes)
    written = property_names(fit, type_, node)
    properties: dict[str, Property] = {}
    for name, property_ in type_.properties.items():
        inner = Node(node.leaf(f"properties/{pointer_token(name)}"), top=written[name], outer_notes=notes)
        properties[written[name]] = fit_property(fit, property_, inner, carries_required=carries_required)
    return blank_type("object").changed({"properties": properties, **facts})


def _wrap_output(fit: Collector, type_: Type, pointer: str, notes: list[str]) -> Type:
    """Return an object with the one value as its only property."""
    inner = Node(f"{pointer}/properties/{_WRAPPER}", top=_WRAPPER, outer_notes=notes)
    # How a schema lays out its definitions is a fact of the root, whichever type that is.
    of_root = {facts: property_ for facts, property_ in type_.extensions.items() if facts == NAMESPACE}
    of_value = {facts: property_ for facts, property_ in type_.extensions.items() if facts != NAMESPACE}

    def write() -> Type:
        if isinstance(type_, ScalarType) and type_.kind == "null":
            return ObjectType()
        value = Property(type=type_.changed({"extensions": of_value}), required=True)
        property_ = fit_property(fit, value, inner)
        extensions = fit.fit_extensions(of_root, pointer)
        return ObjectType(properties={_WRAPPER: property_}, extensions=extensions)

    return fit_moved(
        fit, type_, write, pointer, losses.SINGLE_OUTPUT, moved_from=pointer, moved_to=inner.leaf("type")
    )


def without_facts(
    extensions: Extensions,
    tables: FormatTables,
    is_left_out: Callable[[str], bool],
    pointer: str,
    findings: list[Finding],
) -> Extensions:
    """Return extensions without those facts of the target's own format that its dialect cannot hold.

    Args:
        extensions: Of one part of the provider.
        tables: Of the target format.
        is_left_out: Whether a fact is left out, by its name.
        pointer: JSON Pointer of the part.
        findings: Takes a finding for each fact that was left out.
    """
    facts = extensions.get(tables.id, {})
    other_facts = {fact: value for fact, value in facts.items() if not is_left_out(fact)}
    if len(other_facts) == len(facts):
        return extensions
    for fact in facts:
        if fact not in other_facts:
            leaf = f"{pointer}/extensions/{tables.id}/{pointer_token(fact)}"
            loss = losses.FACT_OF_NOTATION if fact in tables.notations else losses.OWN_FACT
            findings.append(loss.finding(leaf, fact=fact))
    return as_extensions(tables.id, other_facts, extensions)


def without_own_facts(
    provider: Provider, tables: FormatTables, is_left_out: Callable[[str], bool], findings: list[Finding]
) -> Provider:
    """Return a provider without such facts of its own and of its capabilities; see `without_facts`."""
    capabilities = []
    for position, each in enumerate(provider.capabilities):
        pointer = f"/capabilities/{position}"
        extensions = without_facts(each.extensions, tables, is_left_out, pointer, findings)
        capabilities.append(each.changed({"extensions": extensions}))
    extensions = without_facts(provider.extensions, tables, is_left_out, "", findings)
    return provider.changed({"extensions": extensions, "capabilities": tuple(capabilities)})
