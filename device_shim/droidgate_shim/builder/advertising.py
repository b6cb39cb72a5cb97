"""What a shim declares to agents: always to those of Mobile-MCP, on request to those of the other protocols.

Each protocol's own writer makes its component and files; here they are only given the shim's classes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final

from droidgate.formats import Artifact, Writing
from droidgate.installed import SHIM_PACKAGE
from droidgate.migration.manifest_edit import merge_manifest
from droidgate.model.capability import Capability, Provider, references_of
from droidgate.model.findings import Finding, Level, finding_code
from droidgate.parsing.manifest_limits import MAX_META_DATA, REFUSED_BY
from droidgate_appfunctions.constants import TABLES as FUNCTION_TABLES
from droidgate_appfunctions.write import write as write_functions
from droidgate_mappings.tables import DialectTable
from droidgate_mmcp.android_manifest import ComponentElement, write_android_manifest
from droidgate_mmcp.json_output import write_json
from droidgate_mmcp.tables import BROADCAST
from droidgate_mmcp.tables import NAMES as MMCP_NAMES
from droidgate_mmcp.tables import TABLES as MMCP_TABLES
from droidgate_mmcp.write import MANIFEST_PATH, fitting_tools, write_manifest
from droidgate_mmcp.write import fit as fit_mmcp
from droidgate_mmcp.write import write as write_mmcp
from droidgate_mobile_mcp.constants import TABLES as MOBILE_MCP_TABLES
from droidgate_mobile_mcp.write import write as write_mobile_mcp
from droidgate_shim.builder.routes import SOURCE, RoutePlan, split_pointer
from droidgate_shim.builder.shim_manifest import TOOL_SERVICE, ShimFacts

NAME_NOT_CALLED: Final = finding_code(
    "shim-name-not-called",
    "A capability's id that agents of this protocol cannot call; the others of the shim can be called",
    __name__,
)
TOOL_LEFT_OUT: Final = finding_code(
    "shim-tool-left-out",
    f"A capability that does not fit into the one manifest text that {REFUSED_BY} take; it is not "
    "advertised to mMCP agents",
    __name__,
)
FUNCTION_LEFT_OUT: Final = finding_code(
    "shim-function-left-out",
    "A capability whose parameters an app function cannot name alike; it is not advertised as one",
    __name__,
)

_ROOM_HINT: Final = "Offer fewer capabilities with --only, or build without --aggregate"
_MMCP_ACTIVITY: Final = f"{SHIM_PACKAGE}.frontends.MmcpActivity"
_MMCP_RECEIVER: Final = f"{SHIM_PACKAGE}.frontends.MmcpReceiver"
_FUNCTION_SERVICE: Final = f"{SHIM_PACKAGE}.frontends.FunctionService"


@dataclass(slots=True)
class Advertisement:
    """What is declared.

    Attributes:
        manifest: The manifest with the components.
        files: Further files of the source tree by path.
        functions: Function id -> route id.
        findings: What the protocols' forms lose.
    """

    manifest: str
    files: dict[str, str] = field(default_factory=dict)
    functions: dict[str, str] = field(default_factory=dict)
    findings: list[Finding] = field(default_factory=list)

    def add(self, artifacts: Iterable[Artifact]) -> None:
        """Take over files, and merge manifests."""
        for artifact in artifacts:
            if artifact.path == MANIFEST_PATH:
                self.manifest = merge_manifest(self.manifest, artifact.text, path=MANIFEST_PATH)
            elif artifact.role != "document":
                self.files[artifact.path] = artifact.text


def advertise(plan: RoutePlan, facts: ShimFacts, manifest: str, kinds: Iterable[str]) -> Advertisement:
    """Return what a shim declares.

    Args:
        plan: Its routes.
        facts: What its manifest says.
        manifest: Its manifest so far.
        kinds: Of `ADVERTISEMENTS`, what to declare in addition to Mobile-MCP.
    """
    made = Advertisement(manifest)
    _add_mobile_mcp(made, plan, facts)
    for kind in sorted(set(kinds)):
        ADVERTISEMENTS[kind](made, plan, facts)
    return made


def _dialect(dialect: DialectTable, component: str) -> DialectTable:
    """Return a dialect whose new components are one of the shim's classes.

    The engine reads objects as objects, so a free-form one is not declared as text.
    """
    if dialect.capacity is None:
        raise TypeError(dialect.id)
    capacity = dialect.capacity.model_copy(update={"component": component, "records_only": False})
    return dialect.model_copy(update={"capacity": capacity})


def _with_ids_of_routes(dialect: DialectTable) -> DialectTable:
    """Return a dialect that writes every id as it is: a call names the route by it."""
    if dialect.capacity is None:
        raise TypeError(dialect.id)
    return dialect.model_copy(update={"capacity": dialect.capacity.model_copy(update={"id_rule": None})})


def _add_mobile_mcp(made: Advertisement, plan: RoutePlan, facts: ShimFacts) -> None:
    provider = Provider(
        protocol=SOURCE,
        package=facts.application_id,
        name=facts.label,
        description=facts.description,
        capabilities=tuple(route.declared for route in plan.routes),
    )
    written = write_mobile_mcp(provider, _dialect(MOBILE_MCP_TABLES.dialects[0], TOOL_SERVICE))
    made.add(written.artifacts)
    made.findings.extend(
        finding for finding in written.findings if finding.pointer.startswith("/capabilities/")
    )


def _offered(plan: RoutePlan, facts: ShimFacts, capabilities: Sequence[Capability]) -> Provider:
    return Provider(
        protocol=SOURCE,
        package=facts.application_id,
        name=facts.label,
        instructions=facts.description,
        definitions=dict(plan.definitions),
        capabilities=tuple(capabilities),
    )


def _write_mmcp(made: Advertisement, plan: RoutePlan, facts: ShimFacts) -> Writing | None:
    """Return the mMCP manifest with the tools that fit into it, None where none does."""
    dialect = _with_ids_of_routes(_dialect(MMCP_TABLES.dialects[0], _MMCP_ACTIVITY))
    whole = fit_mmcp(_offered(plan, facts, [other.offered for other in plan.routes]), dialect)
    kept = fitting_tools(whole.provider)
    findings = [finding for finding in whole.findings if finding.pointer.startswith("/capabilities/")]
    for position, route in enumerate(plan.routes):
        if position not in kept:
            message = (
                f"{route.id!r} does not fit into the manifest for mMCP agents, "
                f"of which {REFUSED_BY} take {MAX_META_DATA:,} characters"
            )
            findings.append(_of_route(TOOL_LEFT_OUT, position, message, _ROOM_HINT))
    made.findings.extend(item for item in findings if item not in made.findings)
    if not kept:
        return None
    return write_mmcp(_offered(plan, facts, [plan.routes[item].offered for item in kept]), dialect)


def _add_mmcp(made: Advertisement, plan: RoutePlan, facts: ShimFacts) -> None:
    written = _write_mmcp(made, plan, facts)
    if written is not None:
        made.add(written.artifacts)


def _add_broadcast(made: Advertisement, plan: RoutePlan, facts: ShimFacts) -> None:
    written = _write_mmcp(made, plan, facts)
    if written is None:
        return
    provider = written.provider
    component = ComponentElement(
        element="receiver",
        name=_MMCP_RECEIVER,
        actions=(MMCP_NAMES["discovery_action"], MMCP_NAMES["invoke_action"]),
        meta_data={MMCP_NAMES["manifest_meta_data"]: write_json(write_manifest(provider))},
    )
    made.add([Artifact(MANIFEST_PATH, write_android_manifest(provider, component), "manifest")])
    capacity = next(dialect.capacity for dialect in MMCP_TABLES.dialects if dialect.id == BROADCAST)
    rule = None if capacity is None or capacity.id_rule is None else capacity.id_rule.rule()
    for position, route in enumerate(plan.routes):
        if rule is not None and not rule.permits(route.id):
            message = f"clients of the broadcast dialect cannot give {route.id!r} to a language model"
            made.findings.append(_of_route(NAME_NOT_CALLED, position, message))


def _add_functions(made: Advertisement, plan: RoutePlan, facts: ShimFacts) -> None:
    dialect = _dialect(FUNCTION_TABLES.dialects[0], _FUNCTION_SERVICE)
    whole = write_functions(_offered(plan, facts, [other.offered for other in plan.routes]), dialect)
    renamed = {name.pointer for name in whole.names if "/properties/" in name.pointer}
    definitions_renamed = any(pointer.startswith("/definitions/") for pointer in renamed)
    kept: dict[int, Capability] = {}
    for position, route in enumerate(plan.routes):
        pointer = f"/capabilities/{position}/"
        reaches = definitions_renamed and _has_references(route.offered)
        if reaches or any(item.startswith(pointer) for item in renamed):
            message = f"{route.id!r} has names that no app function can have, and is not advertised as one"
            made.findings.append(_of_route(FUNCTION_LEFT_OUT, position, message))
        else:
            kept[position] = route.offered
    written = whole
    if len(kept) < len(plan.routes):
        written = write_functions(_offered(plan, facts, [*kept.values()]), dialect)
    made.add(written.artifacts)
    made.findings.extend(_of_routes(written.findings, [*kept]))
    for capability, function in zip(kept.values(), written.provider.capabilities, strict=True):
        made.functions[function.id] = capability.id


def _has_references(capability: Capability) -> bool:
    types = [capability.input, *([] if capability.output is None else [capability.output])]
    return any(True for type_ in types for _ in references_of(type_))


def _of_routes(findings: Iterable[Finding], positions: Sequence[int]) -> Iterator[Finding]:
    """Yield findings on capabilities, by the positions that they have among the routes."""
    for finding in findings:
        inside = split_pointer(finding.pointer)
        if inside is not None:
            pointer = f"/capabilities/{positions[inside[0]]}{inside[1]}"
            yield finding if pointer == finding.pointer else finding.model_copy(update={"pointer": pointer})


def _of_route(code: str, position: int, message: str, hint: str | None = None) -> Finding:
    pointer = f"/capabilities/{position}"
    return Finding(code=code, level=Level.WARNING, pointer=pointer, message=message, hint=hint)


ADVERTISEMENTS: Final[dict[str, Callable[[Advertisement, RoutePlan, ShimFacts], None]]] = {
    "appfunctions": _add_functions,
    "mmcp": _add_mmcp,
    "mmcp-broadcast": _add_broadcast,
}
"""What can be declared in addition to Mobile-MCP, and what adds it."""
