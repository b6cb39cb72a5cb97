"""The rows of one unit: what was read and checked, flattened into tables; what a capability takes
and returns is one line, with how well it is described.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from droidgate.coverage.conversions import tool_bytes
from droidgate.coverage.scan_results import UnitRows
from droidgate.coverage.security_findings import SECURITY_ORIGIN, security_findings
from droidgate.sources.catalogs.catalog_rows import (
    AppRow,
    CapabilityRow,
    FindingRow,
    ProblemRow,
    ProviderRow,
    Row,
)
from droidgate.sources.source_results import Providers
from droidgate_mappings.formats.application import Application, Component
from droidgate_mappings.formats.leniency import crash_report
from droidgate_mappings.formats.reachability import ComponentFacts, component_facts
from droidgate_mappings.model.capability import (
    Capability,
    Effects,
    Place,
    Provider,
    declaration_of,
    stated_fields,
)
from droidgate_mappings.model.errors import DroidgateError, InputError
from droidgate_mappings.model.findings import LINT_LEVELS, Finding
from droidgate_mappings.model.json_values import canonical_json, digest_of, one_line_json
from droidgate_mappings.model.types import (
    AllOfType,
    AnyType,
    ArrayType,
    ObjectType,
    OneOfType,
    OpaqueType,
    Property,
    RefType,
    Type,
)
from droidgate_mappings.records import dataclass
from droidgate_mappings.text.token_estimates import estimate_tokens

_MAX_DEPTH: Final = 6
_MAX_SHAPE: Final = 4_000
_MAX_PARAMETERS: Final = 10_000


@dataclass(frozen=True, slots=True)
class ParameterCounts:
    """How many parameters there are, those inside of objects and arrays too.

    Attributes:
        total: All.
        required: Those that must be given, where what holds them is.
        undescribed: Those without a description, their type's included.
        untyped: Those of which nothing says what they are.
    """

    total: int
    required: int
    undescribed: int
    untyped: int


def shape_of(type_: Type, definitions: Mapping[str, Type]) -> str:
    """Return a type as one line: `text:string, count?:int32` for what a call takes.

    `?` marks what may be left out, `|null` what may be null; definitions are written out, and `...` stands
    where one contains itself and for what is too deep or too long.
    """
    if isinstance(type_, ObjectType):
        text = _members(type_, definitions, (), 0)
    else:
        text = _shape(type_, definitions, (), 0)
    return text if len(text) <= _MAX_SHAPE else text[: _MAX_SHAPE - 3] + "..."


def _members(
    object_type: ObjectType, definitions: Mapping[str, Type], inside: tuple[str, ...], depth: int
) -> str:
    return ", ".join(
        f"{name}{'' if property_.required else '?'}:{_shape(property_.type, definitions, inside, depth + 1)}"
        for name, property_ in object_type.properties.items()
    )


def _shape(type_: Type, definitions: Mapping[str, Type], inside: tuple[str, ...], depth: int) -> str:
    null = "|null" if type_.nullable else ""
    if depth > _MAX_DEPTH:
        return "..."
    if isinstance(type_, RefType):
        target = definitions.get(type_.name)
        if target is None or type_.name in inside:
            return f"...{null}"
        return _shape(target, definitions, (*inside, type_.name), depth) + null
    if isinstance(type_, ObjectType):
        return f"{{{_members(type_, definitions, inside, depth)}}}{null}"
    if isinstance(type_, ArrayType):
        items = "any" if type_.items is None else _shape(type_.items, definitions, inside, depth + 1)
        return f"[{items}]{null}"
    if isinstance(type_, AllOfType):
        return "(" + " & ".join(_shape(m, definitions, inside, depth + 1) for m in type_.members) + f"){null}"
    if isinstance(type_, OneOfType):
        parts = (_shape(m, definitions, inside, depth + 1) for m in type_.alternatives)
        return "(" + " | ".join(parts) + f"){null}"
    if isinstance(type_, OpaqueType):
        return (type_.class_name or "opaque") + null
    return type_.kind + null


def count_parameters(type_: Type, definitions: Mapping[str, Type]) -> ParameterCounts:
    """Count the parameters of what a call takes; each definition counts once."""
    total = required = undescribed = untyped = 0
    for parameter, is_required in _parameters(type_, definitions):
        total += 1
        required += is_required
        undescribed += not (parameter.type.description or _description_behind(parameter.type, definitions))
        untyped += _is_untyped(parameter.type)
    return ParameterCounts(total, required, undescribed, untyped)


def _parameters(type_: Type, definitions: Mapping[str, Type]) -> Iterator[tuple[Property, bool]]:
    pending: list[tuple[Type, bool]] = [(type_, True)]
    seen: set[str] = set()
    remaining = _MAX_PARAMETERS
    while pending and remaining:
        current, needed = pending.pop()
        if isinstance(current, RefType):
            if current.name in definitions and current.name not in seen:
                seen.add(current.name)
                pending.append((definitions[current.name], needed))
        elif isinstance(current, ObjectType):
            for property_ in current.properties.values():
                remaining -= remaining > 0
                yield property_, needed and property_.required
                pending.append((property_.type, needed and property_.required))
        elif isinstance(current, ArrayType):
            if current.items is not None:
                pending.append((current.items, False))
        elif isinstance(current, AllOfType):
            pending.extend((member, needed) for member in current.members)
        elif isinstance(current, OneOfType):
            pending.extend((member, False) for member in current.alternatives)


def _description_behind(type_: Type, definitions: Mapping[str, Type]) -> str | None:
    target = definitions.get(type_.name) if isinstance(type_, RefType) else None
    return None if target is None else target.description


def _is_untyped(type_: Type) -> bool:
    return (
        isinstance(type_, AnyType) or (isinstance(type_, ArrayType) and type_.items is None) or type_.implicit
    )


MAX_FINDINGS: Final = 2_000
"""Findings of one unit that are kept; the others are counted in a problem."""

_MAIN_ACTION: Final = "android.intent.action.MAIN"
_LAUNCHED: Final = frozenset(
    {"android.intent.category.LAUNCHER", "android.intent.category.LEANBACK_LAUNCHER"}
)
_NOT_STORED: Final = frozenset({"source", "state"})
_OF_CAPABILITY: Final = re.compile(r"/capabilities/(\d{1,9})(?:/|\Z)")


@dataclass(frozen=True, slots=True)
class Unit:
    """What one input gave.

    Attributes:
        id: Its digest.
        reading: What was read, under neutral paths.
        findings: What the linters object to.
        prefix: What places begin with that is not part of the content.
        is_installed: It is an installed app: a phone says whether it is enabled.
        enabled: What the phone says, None where it cannot be asked.
        sdk: The phone's API level, None without a phone.
    """

    id: str
    reading: Providers
    findings: Sequence[Finding] = ()
    prefix: str = "!/"
    is_installed: bool = False
    enabled: bool | None = None
    sdk: int | None = None


def rows_of_unit(unit: Unit) -> UnitRows:
    """Return the rows of a unit, by table."""
    return _UnitRows(unit).rows()


class _UnitRows:
    def __init__(self, unit: Unit) -> None:
        self._unit = unit
        reading = unit.reading
        further = (app for _, part in reading.other_variants for app in part.applications)
        # Source sets with manifests of their own belong to one app.
        self._applications = (*reading.applications, *further)
        self._providers = [*reading.providers, *(provider for provider, _ in reading.only_in_variants)]
        self._variants = [() for _ in reading.providers] + [names for _, names in reading.only_in_variants]
        self._crashes: list[InputError] = []
        self._marks: dict[int, tuple[Finding, ...]] = {}
        self._tied = [self._find_component(provider) for provider in self._providers]
        self._facts = [
            self._facts_of(provider, *tied)
            for provider, tied in zip(self._providers, self._tied, strict=True)
        ]

    def rows(self) -> UnitRows:
        apps = [self._app_row(application) for application in self._applications[:1]]
        providers: list[Row] = []
        capabilities: list[Row] = []
        for number in range(len(self._providers)):
            provider, own_capabilities = self._rows_of_provider(number)
            providers.append(provider)
            capabilities += own_capabilities
        findings: list[Row] = list(self._finding_rows())
        return {
            "apps": apps,
            "providers": providers,
            "capabilities": capabilities,
            "findings": findings[:MAX_FINDINGS],
            "problems": list(self._problem_rows(len(findings) - MAX_FINDINGS)),
        }

    def _rows_of_provider(self, number: int) -> tuple[ProviderRow, list[CapabilityRow]]:
        """Return the rows of a provider; a capability that has none is left out and reported."""
        provider = self._providers[number]
        try:
            return self._make_rows(number, provider)
        except (DroidgateError, MemoryError):
            raise
        except Exception:  # noqa: BLE001 - a mistake of ours costs the capability, not the app
            capabilities = []
            for capability in provider.capabilities:
                try:
                    self._make_rows(number, provider.changed({"capabilities": (capability,)}))
                    capabilities.append(capability)
                except MemoryError:
                    raise
                except Exception as error:  # noqa: BLE001
                    place = None if capability.source is None else str(capability.source)
                    self._crashes.append(crash_report(error, place, part=f'the capability "{capability.id}"'))
            self._providers[number] = provider.changed({"capabilities": tuple(capabilities)})
            return self._make_rows(number, self._providers[number])

    def _make_rows(self, number: int, provider: Provider) -> tuple[ProviderRow, list[CapabilityRow]]:
        capabilities = list(self._capability_rows(number, provider, tool_bytes(provider)))
        component = self._tied[number][1]
        place = None if component is None else component.place
        self._marks[number] = tuple(dict.fromkeys(security_findings(provider, self._facts[number], place)))
        return self._provider_row(number, provider), capabilities

    def _find_component(self, provider: Provider) -> tuple[Application | None, Component | None]:
        """Return the application that declares a provider, and the component that does."""
        first_application: Application | None = None
        for application in self._applications:
            if provider.package is not None and provider.package != application.package:
                continue
            first_application = application if first_application is None else first_application
            for component in application.components:
                is_named = provider.component in {component.name, application.qualified_name(component)}
                if is_named and (component.name or not provider.component):
                    return application, component
        return first_application, None

    def _facts_of(
        self, provider: Provider, application: Application | None, component: Component | None
    ) -> ComponentFacts:
        return component_facts(provider.access, None, application, component, self._unit.sdk)

    def _app_row(self, application: Application) -> AppRow:
        return AppRow(
            unit=self._unit.id,
            app=0,
            package=application.package,
            version_code=application.version_code,
            version_name=application.version_name,
            label=application.label,
            description=application.description,
            minimum_sdk=application.minimum_sdk,
            target_sdk=application.target_sdk,
            sdk=self._unit.sdk,
            signers=application.signers,
            signers_verified=application.signers_verified,
            enabled=self._unit.enabled if self._unit.is_installed else _is_enabled(application),
            has_launcher=any(
                is_launched(activity) for app in self._applications for activity in app.of_kind("activity")
            ),
            components=sum(component.kind != "application" for component in application.components),
        )

    def _provider_row(self, number: int, provider: Provider) -> ProviderRow:
        application, component = self._tied[number]
        actions = {action for part in component.filters for action in part.actions} if component else set()
        facts, is_known = self._facts[number], component is not None
        return ProviderRow(
            unit=self._unit.id,
            provider=number,
            app=None if application is None else 0,
            protocol=provider.protocol,
            dialect=provider.dialect,
            package=provider.package,
            component=provider.component,
            component_kind=None if component is None else component.kind,
            exported=facts.is_exported if is_known or not facts.is_exported else None,
            enabled=facts.is_enabled if is_known or not facts.is_enabled else None,
            enabled_in=facts.enabled_in,
            permission=facts.permission,
            protection=None if facts.permission is None else facts.protection.value,
            actions=tuple(sorted(actions)),
            name=provider.name,
            description=provider.description,
            instructions=provider.instructions,
            capabilities=len(provider.capabilities),
            digest=provider.content_digest(),
            declaration=one_line_json(stated_fields(provider, _NOT_STORED)),
            place=self._place(provider.source),
            variants=self._variants[number],
        )

    def _capability_rows(
        self, number: int, provider: Provider, sizes: Sequence[int | None]
    ) -> Iterator[CapabilityRow]:
        application, _ = self._tied[number]
        # An approval must not be remembered by a certificate whose owner did not sign.
        is_refused = application is None or application.signers_verified is False
        signers = () if application is None or is_refused else application.signers
        for at, capability in enumerate(provider.capabilities):
            pin = provider.pin(user=0, signer=signers[0], capability_id=capability.id) if signers else None
            yield self._capability_row((number, at), provider, capability, sizes[at], pin)

    def _capability_row(
        self,
        key: tuple[int, int],
        provider: Provider,
        capability: Capability,
        size: int | None,
        pin: str | None,
    ) -> CapabilityRow:
        counts = count_parameters(capability.input, provider.definitions)
        effects = capability.effects or Effects()
        return CapabilityRow(
            unit=self._unit.id,
            provider=key[0],
            capability=key[1],
            protocol=provider.protocol,
            dialect=provider.dialect,
            package=provider.package,
            id=capability.id,
            title=capability.title,
            description=capability.description,
            version=capability.version,
            parameters=shape_of(capability.input, provider.definitions),
            output=None if capability.output is None else shape_of(capability.output, provider.definitions),
            parameter_count=counts.total,
            required_count=counts.required,
            undescribed_count=counts.undescribed,
            untyped_count=counts.untyped,
            read_only=effects.read_only,
            destructive=effects.destructive,
            idempotent=effects.idempotent,
            open_world=effects.open_world,
            enabled=None if capability.state is None else capability.state.enabled,
            access=canonical_json(stated_fields(capability.access, _NOT_STORED)),
            flags=canonical_json(capability.extensions.get(provider.protocol, {})),
            tool_bytes=size,
            token_estimate=None if size is None else estimate_tokens(size),
            digest=digest_of(declaration_of(capability)),
            pin=pin,
            place=self._place(capability.source),
            variants=self._variants[key[0]],
        )

    def _finding_rows(self) -> Iterator[FindingRow]:
        for number, (origin, provider, item) in enumerate(self._findings()):
            match = _OF_CAPABILITY.match(item.pointer) if origin == SECURITY_ORIGIN else None
            yield FindingRow(
                unit=self._unit.id,
                finding=number,
                origin=origin,
                provider=provider,
                capability=int(match[1]) if match else None,
                code=item.code,
                level=item.level.value,
                pointer=item.pointer,
                message=item.message,
                hint=item.hint,
                rule=item.rule,
                releases=item.releases,
                place=self._place(item.source),
                variants=item.variants or (() if provider is None else self._variants[provider]),
            )

    def _findings(self) -> Iterator[tuple[str, int | None, Finding]]:
        for finding in self._unit.reading.findings:
            if finding.level not in LINT_LEVELS:
                yield "reading", self._provider_at(finding.source), finding
        for name, part in self._unit.reading.other_variants:
            for finding in part.findings:
                if finding.level not in LINT_LEVELS:
                    marked = finding.changed({"variants": (name,)})
                    yield "reading", self._provider_at(finding.source), marked
        for finding in dict.fromkeys(self._unit.findings):
            yield "lint", self._provider_at(finding.source), finding
        for number in range(len(self._providers)):
            yield from ((SECURITY_ORIGIN, number, mark) for mark in self._marks[number])

    def _provider_at(self, place: Place | None) -> int | None:
        """Return the only provider that is declared in a place's file, None where it is not the only one."""
        if place is None:
            return None
        numbers = [
            number
            for number, provider in enumerate(self._providers)
            if provider.source is not None and provider.source.path == place.path
        ]
        return numbers[0] if len(numbers) == 1 else None

    def _problem_rows(self, left_out: int) -> Iterator[ProblemRow]:
        unit = self._unit.id
        number = -1
        others = (problem for _, part in self._unit.reading.other_variants for problem in part.problems)
        for number, problem in enumerate((*self._unit.reading.problems, *others, *self._crashes)):
            place = problem.place and problem.place.removeprefix(self._unit.prefix)
            yield ProblemRow(
                unit=unit, problem=number, message=problem.message, hint=problem.hint, place=place
            )
        if left_out > 0:
            message = f"{left_out} further findings are left out"
            yield ProblemRow(unit=unit, problem=number + 1, message=message, hint=None, place=None)

    def _place(self, place: Place | None) -> str | None:
        return None if place is None else str(place).removeprefix(self._unit.prefix)


def _is_enabled(application: Application) -> bool:
    return all(whole.enabled for whole in application.of_kind("application"))


def is_launched(component: Component) -> bool:
    """Return whether launchers show an activity."""
    return component.enabled and any(
        _MAIN_ACTION in part.actions and not _LAUNCHED.isdisjoint(part.categories)
        for part in component.filters
    )
