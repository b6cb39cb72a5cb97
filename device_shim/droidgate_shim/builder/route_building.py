"""From what source apps declare to the route table and to what the shim itself declares.

Both come from one prepared capability each: the engine reads the one (shim-engine.md 2), agents read
the other.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from droidgate_mappings.fit import Loss, fit_provider, losses
from droidgate_mappings.formats.shim_frontend import SHIM_SOURCE, split_pointer
from droidgate_mappings.model.capability import (
    Capability,
    CapabilityAccess,
    Effects,
    Place,
    Provider,
    reachable_definitions,
)
from droidgate_mappings.model.errors import InputError, UsageError
from droidgate_mappings.model.findings import Finding, Level, finding_code
from droidgate_mappings.model.json_values import Json, canonical_json
from droidgate_mappings.model.names import NameRule, map_names, name_suffix
from droidgate_mappings.model.types import Extensions, ObjectType, Property, ScalarType, Type
from droidgate_mappings.records import dataclass, field
from droidgate_mappings.tables.capacity import Capacity
from droidgate_mappings.text.nearest_names import suggest_name
from droidgate_mappings.text_safety import hidden_characters, look_alikes, without_hidden
from droidgate_mappings.text_safety.marks import TextMark
from droidgate_mobile_mcp.format import FORMAT_ID as MOBILE_MCP, TABLES as MOBILE_MCP_TABLES
from droidgate_shim.builder.route_types import (
    dangling_references,
    engine_refuses,
    renamed_references,
    resolved,
    type_json,
    with_resolved_properties,
    without_dangling,
    without_hidden_texts,
)
from droidgate_shim.builder.shim_callability import backends, capability_pointer
from droidgate_shim.builder.source_app import SourceApp
from droidgate_shim.builder.text_checks import capability_marks, look_alike_finding, text_findings
from droidgate_shim.deadlines import DEFAULT_DEADLINE_MS

TABLE_FORMAT: Final = 1
RESULT: Final = "result"

_ID_IN_SHIM: Final = Loss(
    losses.NEW_NAME.code, Level.RENAMED, "{original!r} of {package} is called {written!r} in the shim"
)
_ANY_VALUE: Final = Loss(
    losses.DANGLING_REFERENCE.code, Level.WIDENED, "not defined, so any value is allowed: {names}"
)
_TEXT_OUTPUT: Final = Loss(
    finding_code(
        "shim-output-added",
        "The source declares no result; the shim declares its text as the output `result`",
        __name__,
    ),
    Level.DEFAULTED,
    f"{{capability}} declares no result; its text is the output {RESULT!r}",
)
_VALUE_OUTPUT: Final = Loss(
    losses.SINGLE_OUTPUT.code, Level.RENAMED, f"the result of {{capability}} is the output {RESULT!r}"
)
ROUTE_REFUSED: Final = finding_code(
    "shim-route-refused", "A capability whose types are beyond the limits of the shim's engine", __name__
)

_MOBILE_MCP_1_0: Final = MOBILE_MCP_TABLES.dialects[0]
_MOST_NAMED: Final = 10
_VOID: Final = ScalarType(kind="null")
_TEXT_RESULT: Final = ScalarType(kind="string", description="The answer, as text")


@dataclass(frozen=True, slots=True)
class BuiltRoute:
    """One capability of a shim.

    Attributes:
        app: The app behind it.
        provider: What of the app declares it.
        source: As it is declared there.
        offered: As the shim offers it to every kind of agent: its id, parameters by their names in the shim,
            and the outputs as an object, a `null` scalar where there are none.
        declared: As the Mobile-MCP descriptor has it.
        document: As `routes.json` has it.
        marks: What deserves a second look in its texts; pointers begin below the capability.
    """

    app: SourceApp
    provider: Provider
    source: Capability
    offered: Capability
    declared: Capability
    document: Mapping[str, Json]
    marks: tuple[TextMark, ...] = ()

    @property
    def id(self) -> str:
        """Its id in the shim."""
        return self.offered.id


@dataclass(frozen=True, slots=True)
class ShimRoutes:
    """The routes of one shim.

    Attributes:
        routes: In the order of the apps and of their declarations.
        definitions: What their types refer to.
        findings: What changed on the way. Pointers address the routes by position, and a capability that is
            left out by its component and id.
    """

    routes: tuple[BuiltRoute, ...] = ()
    definitions: Mapping[str, Type] = field(default_factory=dict)
    findings: tuple[Finding, ...] = ()

    def table(self) -> dict[str, Json]:
        """Return the content of `assets/routes.json`."""
        return {
            "format": TABLE_FORMAT,
            "definitions": {name: type_json(definition) for name, definition in self.definitions.items()},
            "routes": [dict(route.document) for route in self.routes],
        }


def check_selection(apps: Sequence[SourceApp], only: Collection[str]) -> None:
    """Check that every name of a selection is one of a capability.

    Raises:
        UsageError: a name is not one of a capability.
    """
    names = {name for app in apps for candidate in _candidates([app]) for name in candidate.names()}
    for name in sorted(set(only) - names):
        ids = sorted({candidate.capability.id for candidate in _candidates(apps)})
        message = f"no capability is called {name!r}"
        raise UsageError(message, hint=suggest_name(name, ids, most=_MOST_NAMED))


def plan_routes(
    apps: Sequence[SourceApp], *, only: Collection[str] = (), deadline_ms: int | None = None
) -> ShimRoutes:
    """Return the routes of one shim for some apps.

    Args:
        apps: The apps whose capabilities it offers.
        only: Ids of capabilities, alone or behind their package and a slash; all where it is empty.
        deadline_ms: How long a call may take; 30 s, a broadcast 10 s, where it is None.
    """
    candidates = list(_candidates(apps))
    id_rule = _capacity().id_rule
    rule = NameRule(allowed=r"[\s\S]") if id_rule is None else id_rule.rule()
    ids = map_names([(candidate.capability.id, candidate.key) for candidate in candidates], rule)
    planner = _Planner(deadline_ms)
    for candidate in candidates:
        if only and not set(only) & candidate.names():
            continue
        shim_id = ids[candidate.key]
        if shim_id != candidate.capability.id:
            original, package = candidate.capability.id, candidate.app.package
            planner.add_loss(
                _ID_IN_SHIM, candidate, "/id", original=original, package=package, written=shim_id
            )
        planner.groups.setdefault((candidate.app.package, candidate.provider_key), []).append(
            (candidate, shim_id)
        )
    return planner.plan()


@dataclass(frozen=True, slots=True)
class _Candidate:
    app: SourceApp
    provider: Provider
    capability: Capability

    @property
    def provider_key(self) -> str:
        return f"{self.app.package}/{self.provider.protocol}/{self.provider.component}"

    @property
    def key(self) -> str:
        return f"{self.provider_key}/{self.capability.id}"

    @property
    def source(self) -> Place | None:
        return self.capability.source or self.provider.source

    def names(self) -> frozenset[str]:
        return frozenset({self.capability.id, f"{self.app.package}/{self.capability.id}"})


def _candidates(apps: Iterable[SourceApp]) -> Iterator[_Candidate]:
    for app in apps:
        for provider in app.providers:
            if app.digest_of(provider) is not None:
                for capability in provider.capabilities:
                    yield _Candidate(app, provider, capability)


def _capacity() -> Capacity:
    if _MOBILE_MCP_1_0.capacity is None:
        raise TypeError(_MOBILE_MCP_1_0.id)
    return _MOBILE_MCP_1_0.capacity


class _Scope:
    """The definitions of one provider, by their names in the route table.

    Args:
        names: Name in the provider -> name in the table.
        declared: The provider's definitions.

    Attributes:
        definitions: Name in the table -> type.
    """

    def __init__(self, names: Mapping[str, str], declared: Mapping[str, Type]) -> None:
        self._names = names
        self._declared = declared
        self.definitions = {names[name]: self.own(item) for name, item in declared.items()}
        self._refusals: dict[str, str | None] = {}

    def own(self, type_: Type) -> Type:
        """Return a type of the provider whose references are the table's; those to nothing are any value."""
        closed_type = without_hidden_texts(without_dangling(type_, self._declared))
        return renamed_references(closed_type, self._names)

    def refusal(self, capability: Capability) -> str | None:
        """Return why the engine would refuse a definition that a capability reaches, or None."""
        for name in sorted(reachable_definitions(capability, self.definitions)):
            if name not in self._refusals:
                self._refusals[name] = engine_refuses({name: type_json(self.definitions[name])})
            if self._refusals[name] is not None:
                return self._refusals[name]
        return None


@dataclass(slots=True)
class _Planner:
    """Plans the routes of some capabilities.

    Attributes:
        deadline_ms: As for `plan_routes`.
        groups: App and provider -> its capabilities with their ids in the shim.
        offered: Keys of the capabilities that have a route, in the order of the routes.
        reports: Capability, pointer inside of it, finding; no capability where the pointer is a whole one.
    """

    deadline_ms: int | None
    groups: dict[tuple[str, str], list[tuple[_Candidate, str]]] = field(default_factory=dict)
    offered: list[str] = field(default_factory=list)
    reports: list[tuple[_Candidate | None, str, Finding]] = field(default_factory=list)

    def plan(self) -> ShimRoutes:
        names = self.definition_names()
        routes: list[BuiltRoute] = []
        definitions: dict[str, Type] = {}
        for members in self.groups.values():
            first = members[0][0]
            own = first.provider.definitions
            scope = _Scope({name: names[first.provider_key, name] for name in own}, own)
            new_routes = self.routes_of(members, scope)
            routes.extend(new_routes)
            reached = {
                name for item in new_routes for name in reachable_definitions(item.offered, scope.definitions)
            }
            definitions.update(
                {name: definition for name, definition in scope.definitions.items() if name in reached}
            )
        by_id = {route.id: route for route in routes}
        for earlier_id, other in look_alikes(by_id):
            place = by_id[other].source.source
            pointer = f"/capabilities/{routes.index(by_id[other])}/id"
            self.reports.append((None, pointer, look_alike_finding(earlier_id, other, pointer, place)))
        return ShimRoutes(tuple(routes), definitions, tuple(dict.fromkeys(self.findings())))

    def findings(self) -> Iterator[Finding]:
        """Yield the findings; of a capability that is left out only the reason."""
        positions = {key: position for position, key in enumerate(self.offered)}
        for item, pointer, finding in self.reports:
            if item is None:
                yield finding
            elif item.key in positions:
                whole = f"/capabilities/{positions[item.key]}{pointer}"
                yield finding.changed({"pointer": whole})
            elif finding.code == ROUTE_REFUSED:
                yield finding.changed({"pointer": capability_pointer(item.provider, item.capability)})

    def definition_names(self) -> dict[tuple[str, str], str]:
        """Return provider and definition -> its name in the table; two that differ are both renamed."""
        contents: dict[str, set[str]] = {}
        providers = {members[0][0].provider_key: members[0][0].provider for members in self.groups.values()}
        for provider in providers.values():
            for name, definition in provider.definitions.items():
                contents.setdefault(name, set()).add(canonical_json(type_json(definition)))
        return {
            (key, name): name if len(contents[name]) == 1 else f"{name}_{name_suffix(f'{key}/{name}')}"
            for key, provider in providers.items()
            for name in provider.definitions
        }

    def routes_of(self, members: Sequence[tuple[_Candidate, str]], scope: _Scope) -> list[BuiltRoute]:
        """Return the routes of one provider's capabilities."""
        first = members[0][0]
        prepared = [self.prepare(item, shim_id, scope) for item, shim_id in members]
        reached = {
            name for item in prepared for name in reachable_definitions(item.offered, scope.definitions)
        }
        fitted = fit_provider(
            Provider(
                protocol=SHIM_SOURCE,
                package=first.app.package,
                source=first.provider.source,
                definitions={
                    name: definition for name, definition in scope.definitions.items() if name in reached
                },
                capabilities=tuple(_without_void(item.offered) for item in prepared),
            ),
            _capacity(),
            MOBILE_MCP,
            _MOBILE_MCP_1_0.id,
        )
        self.reports.extend(_reports_of(fitted.findings, [item for item, _ in members]))
        routes = []
        for (candidate, _), item, declared in zip(
            members, prepared, fitted.provider.capabilities, strict=True
        ):
            try:
                route = self.route(candidate, item, declared)
                reason = _refusal(route) or scope.refusal(route.offered)
            except InputError as error:
                reason = error.message
            if reason is None:
                routes.append(route)
                self.offered.append(candidate.key)
            else:
                self.refuse(candidate, reason)
        return routes

    def prepare(self, candidate: _Candidate, shim_id: str, scope: _Scope) -> _Prepared:
        """Return a capability with types that the engine and the descriptor name alike."""
        capability, definitions = candidate.capability, scope.definitions
        types = [capability.input, *([] if capability.output is None else [capability.output])]
        missing = dangling_references(types, candidate.provider.definitions)
        if missing:
            self.add_loss(_ANY_VALUE, candidate, "/input", names=", ".join(sorted(missing)))

        def own(part: Type) -> Type:
            return resolved(_without_own_facts(scope.own(part)), definitions)

        input_type = own(capability.input)
        if isinstance(input_type, ObjectType):
            input_type = with_resolved_properties(input_type, definitions).changed({"nullable": False})
        outputs, output = self.outputs_of(
            candidate, None if capability.output is None else own(capability.output)
        )
        if outputs is not None and outputs["kind"] == "fields" and isinstance(output, ObjectType):
            output = with_resolved_properties(output, definitions)
        marks = capability_marks(candidate.provider, capability)
        self.reports.extend((candidate, "", finding) for finding in text_findings(marks, capability.id))
        offered = capability.changed(
            {
                "id": shim_id,
                "title": _visible(capability.title),
                "description": _visible(capability.description),
                "input": input_type,
                "output": _offered_output(outputs, output),
                "extensions": _without_mobile_mcp(capability.extensions),
                # Android checks the app's own rules at each call that the shim makes.
                "access": CapabilityAccess(),
                "state": None,
            }
        )
        return _Prepared(offered, outputs, output, marks)

    def outputs_of(
        self, candidate: _Candidate, output: Type | None
    ) -> tuple[dict[str, Json] | None, Type | None]:
        """Return how a result becomes outputs, and its type as the engine gets it (shim-engine 2)."""
        is_void = isinstance(output, ScalarType) and output.kind == "null"
        is_empty = isinstance(output, ObjectType) and not output.properties
        answers_text = backends()[candidate.provider.protocol].answers_undeclared
        if is_void or (not answers_text and (output is None or is_empty)):
            return None, output if is_void else None
        if output is None:
            self.add_loss(_TEXT_OUTPUT, candidate, "/output", capability=candidate.capability.id)
            return {"kind": "text", "name": RESULT}, None
        if isinstance(output, ObjectType) and output.properties and not output.nullable:
            rule = _capacity().property_rule
            if rule is None or all(map(rule.rule().permits, output.properties)):
                return {"kind": "fields"}, output
        self.add_loss(_VALUE_OUTPUT, candidate, "/output", capability=candidate.capability.id)
        return {"kind": "value", "name": RESULT}, output

    def route(self, candidate: _Candidate, prepared: _Prepared, declared: Capability) -> BuiltRoute:
        """Return a route whose parameters have the descriptor's names."""
        offered = prepared.offered
        names: dict[str, str] = {}
        if isinstance(offered.input, ObjectType) and isinstance(declared.input, ObjectType):
            written = dict(zip(offered.input.properties, declared.input.properties, strict=True))
            names = {new: old for old, new in written.items() if new != old}
            properties = {written[name]: property_ for name, property_ in offered.input.properties.items()}
            offered = offered.changed({"input": offered.input.changed({"properties": properties})})
        app, backend = candidate.app, backends()[candidate.provider.protocol]
        longest = backend.longest_ms(candidate.provider)
        deadline = self.deadline_ms or DEFAULT_DEADLINE_MS
        document: dict[str, Json] = {
            "id": offered.id,
            "input": type_json(offered.input),
            **({"names": names} if names else {}),
            "outputs": prepared.outputs,
            "output": None if prepared.output is None else type_json(prepared.output),
            "backend": dict(backend.target(candidate.provider, candidate.capability)),
            "target": {
                "package": app.package,
                "signer": app.signer,
                "version_code": app.version_code,
                "digest": app.digest_of(candidate.provider),
            },
            "deadline_ms": deadline if longest is None else min(deadline, longest),
            "effects": _effects(offered.effects),
        }
        return BuiltRoute(
            app, candidate.provider, candidate.capability, offered, declared, document, prepared.marks
        )

    def refuse(self, candidate: _Candidate, reason: str) -> None:
        message = f"{candidate.capability.id} is left out: {reason}"
        finding = Finding(
            code=ROUTE_REFUSED, level=Level.WARNING, pointer="", message=message, source=candidate.source
        )
        self.reports.append((candidate, "", finding))

    def add_loss(self, loss: Loss, candidate: _Candidate, inner: str, **names: Any) -> None:
        self.reports.append((candidate, inner, loss.finding("", source=candidate.source, **names)))


@dataclass(frozen=True, slots=True)
class _Prepared:
    offered: Capability
    outputs: dict[str, Json] | None
    output: Type | None
    marks: tuple[TextMark, ...]


def _visible(text: str | None) -> str | None:
    return None if text is None else without_hidden(text)


def _without_void(capability: Capability) -> Capability:
    return capability if capability.output != _VOID else capability.changed({"output": None})


def _reports_of(
    findings: Iterable[Finding], members: Sequence[_Candidate]
) -> Iterator[tuple[_Candidate | None, str, Finding]]:
    """Yield the findings on capabilities and definitions.

    Findings on the provider as a whole are left out: the shim causes them itself.
    """
    for finding in findings:
        inside = split_pointer(finding.pointer)
        if inside is not None:
            yield members[inside[0]], inside[1], finding
        elif finding.pointer.startswith("/definitions/"):
            yield None, finding.pointer, finding


def _offered_output(outputs: Mapping[str, Json] | None, output: Type | None) -> Type:
    if outputs is None:
        return _VOID
    if outputs["kind"] == "fields" and output is not None:
        return output
    result_type = _TEXT_RESULT if output is None else output
    return ObjectType(properties={RESULT: Property(type=result_type, required=True)})


def _names_of(type_: Type | None) -> Iterable[str]:
    return type_.properties if isinstance(type_, ObjectType) else ()


def _refusal(route: BuiltRoute) -> str | None:
    """Return why the engine would refuse a route, None where it takes it."""
    if "" in route.document.get("names", {}).values():
        return "a parameter has no name"
    for name in (route.id, *_names_of(route.offered.input), *_names_of(route.offered.output)):
        hidden = hidden_characters(name)
        if hidden:
            return f"a name in it holds {', '.join(hidden[:5])}, which are invisible"
    return engine_refuses(dict(route.document))


def _effects(effects: Effects | None) -> dict[str, Json] | None:
    return None if effects is None else effects.model_dump(exclude_none=True)


def _without_mobile_mcp(extensions: Extensions) -> Extensions:
    """Return facts without those that only say how a Mobile-MCP descriptor was written."""
    if MOBILE_MCP not in extensions:
        return extensions
    return {format_id: facts for format_id, facts in extensions.items() if format_id != MOBILE_MCP}


def _without_own_facts(type_: Type) -> Type:
    changes: dict[str, Any] = {"extensions": _without_mobile_mcp(type_.extensions)}
    if isinstance(type_, ObjectType):
        changes["properties"] = {
            name: property_.changed(
                {
                    "type": _without_own_facts(property_.type),
                    "extensions": _without_mobile_mcp(property_.extensions),
                }
            )
            for name, property_ in type_.properties.items()
        }
    return type_.changed(changes)
