"""Fitting a provider and its capabilities."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from droidgate_mappings.fit.access import fit_capability_access, fit_component_access
from droidgate_mappings.fit.codes import (
    CLASS_DROPPED,
    COMPONENT_RENAMED,
    DEFINITION_DROPPED,
    FIELD_DEFAULTED,
    FIELD_DROPPED,
    FIELD_MOVED,
    NOTATION_DROPPED,
    NULLABLE_MOVED,
    OUTPUT_DEFAULTED,
    OUTPUT_DROPPED,
    OUTPUT_UNKNOWN,
    OUTPUT_WRAPPED,
    REFERENCE_INLINED,
    STRUCTURE_MOVED,
    TEXT_MOVED,
    TYPE_STATED,
)
from droidgate_mappings.fit.harm import implicit_level, kind_level, structure_level
from droidgate_mappings.fit.objects import may_be_object
from droidgate_mappings.fit.types import TypeFit
from droidgate_mappings.json_schema import NAMESPACE
from droidgate_mappings.model.capability import Capability, Effects, Provider, reachable_definitions
from droidgate_mappings.model.findings import Finding, Level, at_least
from droidgate_mappings.model.json_values import pointer_token
from droidgate_mappings.model.leaves import different_leaves, find_leaf, leaves_of_type
from droidgate_mappings.model.names import NameEntry, map_names
from droidgate_mappings.model.types import AnyType, ObjectType, OneOfType, Property, RefType, ScalarType, Type
from droidgate_mappings.tables.capacity import Capacity
from droidgate_mappings.tables.loading import find_format_tables

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
    return _ProviderFit(provider, capacity, format_id).fit(dialect_id)


@dataclass(slots=True)
class _ProviderFit(TypeFit):
    """Fits one provider.

    Attributes:
        losses_of_parameters: JSON Pointer of a definition's leaf -> what parameters that are read through
            the definition lose of it.
    """

    losses_of_parameters: dict[str, Finding] = field(default_factory=dict)

    def fit(self, dialect_id: str) -> Fitted:
        provider = self.provider
        self.place = provider.source
        changes: dict[str, Any] = {"protocol": self.format_id, "dialect": dialect_id}
        changes.update(self.fit_provider_fields())
        changes["extensions"] = self.fit_extensions(provider.extensions, "")
        self.name_definitions()
        ids = self.capability_ids()
        fitted = []
        for position, capability in enumerate(provider.capabilities):
            self.place = capability.source or provider.source
            fitted.append(self.fit_capability(capability, f"/capabilities/{position}", ids[position]))
        changes["capabilities"] = tuple(fitted)
        changes["definitions"] = self.fit_definitions(fitted)
        findings = tuple(map(self.with_losses_of_parameters, self.findings))
        return Fitted(provider.changed(changes), findings, tuple(self.names))

    def with_losses_of_parameters(self, finding: Finding) -> Finding:
        """Return the finding about a leaf of a definition, graver where parameters lose more of it."""
        loss = self.losses_of_parameters.get(finding.pointer)
        if loss is None or at_least(finding.level, loss.level):
            return finding
        return loss.model_copy(update={"pointer": finding.pointer})

    def fit_provider_fields(self) -> dict[str, Any]:
        capacity, provider = self.capacity, self.provider
        changes: dict[str, Any] = {}
        notes: list[str] = []
        for name in ("package", "name", "description", "instructions"):
            value = getattr(provider, name)
            if value is None or name in capacity.provider_fields:
                continue
            changes[name] = None
            if name in {"description", "instructions"} and capacity.provider_text is not None:
                message = f"the provider's {name} moved into its {capacity.provider_text}"
                self.report_moved(TEXT_MOVED, f"/{name}", message, value)
                notes += [value] if value.strip() else []
            else:
                message = f"the target does not have the provider's {name}"
                self.report(FIELD_DROPPED, Level.DROPPED, f"/{name}", message)
        for name in sorted(capacity.provider_fields - {"component"}):
            value = getattr(provider, name)
            noted = name == capacity.provider_text and bool(notes)
            if value is not None:
                changes[name] = self.clean(value, f"/{name}", quiet=noted)
            if noted:
                changes[name] = self.add_notes(changes.get(name), notes, f"/{name}", separator="\n\n")
        changes["component"] = self.fit_component()
        changes["access"] = fit_component_access(self)
        self.default_fields(capacity.provider_defaults, changes, "")
        return changes

    def default_fields(self, defaults: Mapping[Any, str], changes: dict[str, Any], pointer: str) -> None:
        filled = {"package": self.provider.package or self.format_id, "id": changes.get("id", "")}
        for name, template in defaults.items():
            value = changes.get(name)
            default = self.clean(template.format(**filled), f"{pointer}/{name}", quiet=True)
            if value is None or (not self.own and not value.strip() and value != default):
                changes[name] = default
                message = f"the target requires {name}; {changes[name]!r} is written"
                self.report(FIELD_DEFAULTED, Level.DEFAULTED, f"{pointer}/{name}", message)

    def fit_component(self) -> str | None:
        capacity, component = self.capacity, self.provider.component
        if "component" not in capacity.provider_fields:
            if component is not None:
                self.report(FIELD_DROPPED, Level.DROPPED, "/component", "the target does not have components")
            return None
        if capacity.component is None or (self.own and component is not None):
            return component if component is None else self.clean(component, "/component")
        if component is None:
            self.report(
                FIELD_DEFAULTED,
                Level.DEFAULTED,
                "/component",
                f"the target's component is {capacity.component}",
            )
        elif component != capacity.component:
            message = f"component renamed from {component} to {capacity.component}"
            self.report(COMPONENT_RENAMED, Level.RENAMED, "/component", message)
            self.names.append(NameEntry(pointer="/component", original=component, written=capacity.component))
        return capacity.component

    def name_definitions(self) -> None:
        """Decide what definitions are called, before anything refers to them."""
        rule = self.capacity.definition_rule
        if rule is not None and not self.own:
            self.definition_names = map_names(
                ((name, name) for name in self.provider.definitions), rule.rule()
            )

    def fit_definitions(self, fitted_capabilities: Iterable[Capability]) -> dict[str, Type]:
        """Return the definitions that the dialect carries, by their written names, and report the others.

        Args:
            fitted_capabilities: As they are written; where only reached definitions are written, they decide.
        """
        if not self.provider.definitions:
            return {}
        carried = self.capacity.definitions
        fitted: dict[str, Type] = {}
        reported: dict[str, tuple[list[Finding], list[NameEntry]]] = {}
        outer = self.findings, self.names
        for name, definition in self.provider.definitions.items() if carried != "none" else ():
            self.findings, self.names = reported[name] = [], []
            written = self.definition_names.get(name, name)
            if written != name:
                self.rename(f"/definitions/{pointer_token(name)}", name, written)
            fitted[written] = self.fit_type(definition, f"/definitions/{pointer_token(name)}")
        self.findings, self.names = outer
        if carried == "reachable":
            kept = {
                name
                for fitted_capability in fitted_capabilities
                for name in reachable_definitions(fitted_capability, fitted)
            }
            fitted = {name: item for name, item in fitted.items() if name in kept}
        reached = self.reached_definitions()
        for name, definition in self.provider.definitions.items():
            if self.definition_names.get(name, name) in fitted:
                self.findings.extend(reported[name][0])
                self.names.extend(reported[name][1])
            else:
                self.drop_definition(
                    name, definition, f"/definitions/{pointer_token(name)}", is_reached=name in reached
                )
        return fitted

    def reached_definitions(self) -> set[str]:
        """Return the definitions that the capabilities reach in the source."""
        definitions = self.provider.definitions
        return {
            name
            for capability in self.provider.capabilities
            for name in reachable_definitions(capability, definitions)
        }

    def drop_definition(self, name: str, definition: Type, pointer: str, *, is_reached: bool) -> None:
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
                self.report_structure(definition, pointer, leaf, value)
            elif field[0] == "extensions":
                self.leave_out_fact(field[1], field[2], value, leaf, None)
            else:
                message = f"no capability uses the definition {name!r}; it is left out"
                self.report(DEFINITION_DROPPED, Level.RENAMED, leaf, message)

    def capability_ids(self) -> list[str]:
        ids = [capability.id for capability in self.provider.capabilities]
        rule = self.capacity.id_rule
        if rule is None or self.own:
            return ids
        keys = [f"{self.provider.package}/{self.provider.component}/{id_}" for id_ in ids]
        keyed = [
            (item, key if ids.count(item) == 1 else f"{key}/{position}")
            for position, (item, key) in enumerate(zip(ids, keys, strict=True))
        ]
        written = map_names(keyed, rule.rule())
        for position, (item, key) in enumerate(keyed):
            if written[key] != item:
                self.rename(f"/capabilities/{position}/id", item, written[key])
        return [written[key] for _, key in keyed]

    def fit_capability(self, capability: Capability, pointer: str, name: str) -> Capability:
        capacity = self.capacity
        changes: dict[str, Any] = {"id": name, "title": None, "version": None, "description": None}
        notes: list[str] = []
        if capability.title is not None:
            if "title" in capacity.capability_fields:
                changes["title"] = self.clean(capability.title, f"{pointer}/title")
            else:
                self.leave_out_title(capability, f"{pointer}/title", notes)
        if capability.version is not None:
            if "version" in capacity.capability_fields:
                changes["version"] = self.clean(capability.version, f"{pointer}/version")
            else:
                self.report(
                    FIELD_DROPPED,
                    Level.DROPPED,
                    f"{pointer}/version",
                    "capabilities of the target have no version",
                )
        changes["access"] = fit_capability_access(self, capability, pointer)
        changes["effects"] = self.fit_effects(capability.effects, pointer, notes)
        changes["input"] = self.fit_input(capability.input, f"{pointer}/input", notes)
        changes["output"] = self.fit_output(capability.output, f"{pointer}/output", notes)
        changes["extensions"] = self.fit_extensions(capability.extensions, pointer, notes)
        changes["description"] = self.fit_capability_text(
            capability.description, f"{pointer}/description", notes
        )
        self.default_fields(capacity.capability_defaults, changes, pointer)
        return capability.changed(changes)

    def leave_out_title(self, capability: Capability, leaf: str, notes: list[str]) -> None:
        """Report a title that the dialect does not have; it is the description where there is no other."""
        if capability.title is not None and not capability.description:
            self.report_moved(FIELD_MOVED, leaf, "the title moved into the description", capability.title)
            self.put_first(capability.title, notes)
        else:
            self.report(FIELD_DROPPED, Level.DROPPED, leaf, "capabilities of the target have no title")

    def fit_capability_text(self, text: str | None, pointer: str, notes: list[str]) -> str | None:
        if "description" not in self.capacity.capability_fields:
            if text is not None:
                self.report(
                    FIELD_DROPPED, Level.DROPPED, pointer, "capabilities of the target have no description"
                )
            return None
        if text is not None:
            text = self.clean(text, pointer, quiet=bool(notes))
        return self.add_notes(text, notes, pointer)

    def fit_effects(self, effects: Effects | None, pointer: str, notes: list[str]) -> Effects | None:
        if effects is None or "effects" in self.capacity.capability_fields:
            return effects
        for name, words in _EFFECT_WORDS.items():
            value = getattr(effects, name)
            if value is not None:
                self.report(
                    FIELD_MOVED,
                    self.moved,
                    f"{pointer}/effects/{name}",
                    "the hint is appended to the description",
                )
                notes.append(f"[{words}: {'yes' if value else 'no'}]")
        return None

    def fit_input(self, type_: Type, pointer: str, notes: list[str]) -> Type:
        if self.capacity.input_shape == "any":
            return self.fit_type(type_, pointer)
        if self.capacity.input_shape == "typed-object" and may_be_object(type_):
            return self.fit_typed_object(type_, pointer)
        if self.capacity.input_shape in {"object", "plain-object"}:
            if isinstance(type_, ObjectType):
                return self.fit_input_object(type_, pointer, notes)
            inlined = self.fit_referenced_parameters(type_, pointer, notes)
            if inlined is not None:
                return inlined
        self.move_whole(type_, pointer, "Parameters", STRUCTURE_MOVED, notes)
        if self.capacity.input_shape == "plain-object":
            return self.fit_input_object(ObjectType(), pointer, notes)
        return ObjectType()

    def fit_input_object(self, type_: ObjectType, pointer: str, notes: list[str]) -> Type:
        """Return an input with parameters in the shape that the dialect requires."""
        if self.capacity.input_shape == "object":
            return self.fit_parameters(type_, pointer, notes, carries_required=self.capacity.input_required)
        fitted = self.fit_typed_object(type_, pointer)
        if type_.properties or "properties" in fitted.keywords:
            return fitted
        message = "the target requires `properties`, also where there are none"
        self.report(TYPE_STATED, Level.RENAMED, f"{pointer}/keywords/properties", message)
        return fitted.changed({"keywords": {**fitted.keywords, "properties": {}}})

    def fit_referenced_parameters(self, type_: Type, pointer: str, notes: list[str]) -> Type | None:
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
            target = self.provider.definitions.get(name)
            seen.add(name)
        if not isinstance(target, ObjectType) or target.nullable:
            return None
        if self.renames_parameters(target, pointer):
            return None
        excluded = self.capacity.top_words_excluded
        if (target.enum is not None and "enum" in excluded) or not excluded.isdisjoint(target.keywords):
            return None
        place = f"/definitions/{pointer_token(name)}"
        outer, self.findings = self.findings, []
        fitted = self.fit_input_object(target, pointer, notes)
        losses, self.findings = self.findings, outer
        for finding in losses:
            leaf = place + finding.pointer.removeprefix(pointer)
            self.losses_of_parameters.setdefault(leaf, finding)
        message = f"the parameters are those of {name!r}, which the input refers to"
        before = dict(leaves_of_type(type_, pointer))
        for leaf in different_leaves(before, dict(leaves_of_type(fitted, pointer))):
            self.report(REFERENCE_INLINED, Level.RENAMED, leaf, message)
        return fitted

    def fit_output(self, type_: Type | None, pointer: str, notes: list[str]) -> Type | None:
        capacity = self.capacity
        if type_ is None:
            if capacity.output_default is None:
                return None
            return self.default_output(pointer)
        if self.is_unknown_output(type_):
            self.leave_out_unknown(type_, pointer, notes)
            return None
        self.capacity = capacity.outputs or capacity
        fitted = self.fit_declared_output(type_, pointer, notes, capacity)
        self.capacity = capacity
        return fitted

    def is_unknown_output(self, type_: Type) -> bool:
        """Return whether a reader of the target's own format could not know an output.

        Another kind in its place would be a guess about what the app's own code returns.
        """
        if self.provider.protocol != self.format_id or type_ != AnyType(description=type_.description):
            return False
        return self.capacity.types["any"].written_as != "any" and self.capacity.output_shape == "any"

    def leave_out_unknown(self, type_: Type, pointer: str, notes: list[str]) -> None:
        """Report that an output is not written; its description is appended to the capability's."""
        message = "the source does not give the type of the output; none is written"
        self.report(OUTPUT_UNKNOWN, Level.DROPPED, f"{pointer}/kind", message)
        if type_.description is not None:
            message = "it is appended to the capability's description"
            self.report_moved(TEXT_MOVED, f"{pointer}/description", message, type_.description)
            self.put_first(f"Returns: {type_.description}", notes)

    def default_output(self, pointer: str) -> Type:
        """Return what is written for an output that the source does not declare: void, or a text named
        `result` where the source's protocol returns text then.
        """
        tables = find_format_tables(self.provider.protocol)
        if tables is None or not tables.returns_text:
            message = "the source does not declare an output; void is written"
            self.report(OUTPUT_DEFAULTED, Level.DEFAULTED, f"{pointer}/kind", message)
            return ScalarType(kind="null")
        message = "the source does not declare an output; a text named 'result' is written"
        leaf = f"{pointer}/properties/{_WRAPPER}"
        for each in (f"{pointer}/kind", f"{leaf}/required", f"{leaf}/type/kind"):
            self.report(OUTPUT_DEFAULTED, Level.DEFAULTED, each, message)
        text = Property(type=ScalarType(kind="string"), required=True)
        return ObjectType(properties={_WRAPPER: text})

    def fit_declared_output(
        self, type_: Type, pointer: str, notes: list[str], capacity: Capacity
    ) -> Type | None:
        """Return an output in the shape that `capacity` tells; its types are fitted into `self.capacity`."""
        if capacity.output_shape == "any":
            return self.fit_type(type_, pointer)
        if capacity.output_shape == "none":
            self.move_whole(type_, pointer, "Returns", OUTPUT_DROPPED, notes)
            return None
        if capacity.output_shape == "typed-object":
            if self.is_object(type_):
                return self.fit_typed_object(type_, pointer)
        elif isinstance(type_, ObjectType):
            return self.fit_parameters(type_, pointer, notes, carries_required=capacity.output_required)
        return self.wrap_output(type_, pointer, notes)

    def fit_typed_object(self, type_: Type, pointer: str) -> Type:
        """Return a type whose JSON Schema says `type: object` in one word, at its top."""
        if isinstance(type_, OneOfType) and self.should_unwrap(type_):
            return self.unwrap(type_, pointer, lambda inner: self.fit_typed_object(inner, pointer))
        fitted = self.fit_type(type_, pointer)
        if fitted.kind != "object" and fitted.keywords.get("type") == "object":
            return fitted
        if fitted.kind != "object":
            is_object = self.is_object(type_)
            level = Level.RENAMED if is_object else Level.NARROWED
            message = "the target requires a schema of `type: object`"
            self.report(TYPE_STATED, level, f"{pointer}/keywords/type", message)
            return fitted.model_copy(update={"keywords": {**fitted.keywords, "type": "object"}})
        if fitted.nullable:
            message = "the target requires an object here, and null is not one"
            self.report(NULLABLE_MOVED, Level.NARROWED, f"{pointer}/nullable", message)
        if fitted.implicit:
            message = "the target names the type, which the schema leaves open"
            self.report(NOTATION_DROPPED, implicit_level(fitted), f"{pointer}/implicit", message)
        if "type" in fitted.keywords:
            message = "the target writes 'type' in its usual way"
            self.report(NOTATION_DROPPED, Level.RENAMED, f"{pointer}/keywords/type", message)
        keywords = {word: value for word, value in fitted.keywords.items() if word != "type"}
        return fitted.model_copy(update={"nullable": False, "implicit": False, "keywords": keywords})

    def move_whole(self, type_: Type, pointer: str, label: str, code: str, notes: list[str]) -> None:
        """Report a whole type that is in a note only, leaf by leaf.

        Args:
            type_: The type.
            pointer: Its JSON Pointer.
            label: What the note is of.
            code: `STRUCTURE_MOVED` where the dialect writes an object in its place, `OUTPUT_DROPPED` where it
                writes nothing.
            notes: Takes the note.
        """
        notes.extend(self.schema_notes(label, type_))
        for leaf, value in leaves_of_type(type_, pointer):
            if leaf != f"{pointer}/kind":
                self.report_structure(type_, pointer, leaf, value)
            elif code == OUTPUT_DROPPED:
                level = self.in_text(structure_level(("kind",), value))
                self.report(code, level, leaf, "the target does not declare outputs")
            elif value != "object":
                level = kind_level(type_, "object", self.resolved)
                self.report(code, self.in_text(level), leaf, "the target takes named parameters")

    def fit_parameters(
        self, type_: Type, pointer: str, notes: list[str], *, carries_required: bool
    ) -> ObjectType:
        """Return an input or output object whose own facts are appended to the capability's description."""
        if not isinstance(type_, ObjectType):
            raise TypeError(type_.kind)
        own_notes: list[str] = []
        facts = self.fit_facts(type_, pointer, own_notes)
        if type_.description is not None:
            message = "it is appended to the capability's description"
            self.report_moved(TEXT_MOVED, f"{pointer}/description", message, type_.description)
            self.put_first(type_.description, own_notes)
        if type_.qualified_name is not None:
            self.report(
                CLASS_DROPPED,
                Level.DROPPED,
                f"{pointer}/qualified_name",
                "the target does not have class names",
            )
        notes.extend(own_notes)
        written = self.property_names(type_, pointer)
        properties: dict[str, Property] = {}
        for name, property_ in type_.properties.items():
            inner = f"{pointer}/properties/{pointer_token(name)}"
            properties[written[name]] = self.fit_property(
                property_, inner, top=written[name], carries_required=carries_required, spill=notes
            )
        return ObjectType(properties=properties, **facts)

    def wrap_output(self, type_: Type, pointer: str, notes: list[str]) -> Type:
        """Return an object with the one value as its only property."""
        if isinstance(type_, ScalarType) and type_.kind == "null":
            return self.fit_wrapped(type_, pointer, ObjectType)
        inner = f"{pointer}/properties/{_WRAPPER}"
        # How a schema lays out its definitions is a fact of the root, whichever type that is.
        of_root = {facts: property_ for facts, property_ in type_.extensions.items() if facts == NAMESPACE}
        of_value = {facts: property_ for facts, property_ in type_.extensions.items() if facts != NAMESPACE}

        def fit() -> Type:
            value = Property(type=type_.model_copy(update={"extensions": of_value}), required=True)
            property_ = self.fit_property(value, inner, top=_WRAPPER, spill=notes)
            extensions = self.fit_extensions(of_root, pointer)
            return ObjectType(properties={_WRAPPER: property_}, extensions=extensions)

        return self.fit_wrapped(type_, pointer, fit)

    def fit_wrapped(self, type_: Type, pointer: str, fit: Callable[[], Type]) -> Type:
        """Return what `fit` makes of an output, reported as wrapped."""
        return self.fit_moved(
            type_,
            fit,
            pointer,
            moved_from=pointer,
            moved_to=f"{pointer}/properties/{_WRAPPER}/type",
            code=OUTPUT_WRAPPED,
            message=f"the output is written as an object with {_WRAPPER!r}",
        )
