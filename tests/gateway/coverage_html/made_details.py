"""Made-up apps, capabilities and findings: what a page shows one by one."""

import random
from collections import Counter
from collections.abc import Sequence
from itertools import pairwise

from droidgate.coverage import coverage_document as d, coverage_document as s
from droidgate.coverage.reach import Reaching, Standing, agents, reach_of_app
from droidgate_mappings.model.json_values import one_line_json
from droidgate_mappings.tables.taxonomy import load_taxonomy
from gateway.synthetic_ecosystem.names import MadeCapability, Names

LEVELS = ("exact", "read", "renamed", "moved", "defaulted", "widened", "narrowed", "dropped", "impossible")
PROTOCOLS = {
    "appfunctions": ("AppFunctions", "v2"),
    "mobile-mcp": ("Mobile-MCP", "1.0"),
    "mmcp": ("mMCP", "1.0"),
    "mcp": ("MCP", "2025-11-25"),
    "observed": ("Observed protocols", "capapp-v1"),
}
TARGETS = (
    "appfunctions+v2", "appfunctions+v1", "appfunctions+platform", "mcp+2025-11-25", "mcp+2026-07-28",
    "mmcp+1.0", "mmcp+draft", "mmcp+broadcast", "mobile-mcp+1.0", "mobile-mcp+prototype",
)  # fmt: skip
_INTERFACES = {
    "mobile-mcp": "mobile-mcp",
    "mmcp": "mmcp-activity",
    "appfunctions": "app-function",
    "mcp": "mcp",
}
_SETS: tuple[tuple[tuple[str, ...], int], ...] = (
    ((), 34), (("appfunctions",), 26), (("mobile-mcp",), 12), (("mmcp",), 9),
    (("appfunctions", "mobile-mcp"), 7), (("mmcp", "mobile-mcp"), 4), (("observed",), 4), (("mcp",), 2),
    (("appfunctions", "mmcp", "mobile-mcp"), 2),
)  # fmt: skip
_CODES = (
    ("lint", "description-missing", "warning", "A capability or parameter has no description"),
    ("lint", "isappfunction-type", "error", "A parameter's type is none of the format's types"),
    ("lint", "name-without-word", "note", "The name has no word for what it does"),
    ("reading", "M08", "read", "The root element has no version"),
    (
        "security",
        "exported-without-permission",
        "warning",
        "Any app may call it, and it asks for no permission",
    ),
    ("security", "text-reads-as-command", "warning", "A text reads as if it wanted to command a model"),
)
_WORDS = [
    "Pocket", "Aurora", "Harbor", "Quill", "Lantern", "Meadow", "Copper", "Orbit", "Willow", "Juniper",
    "Tidal", "Ember", "Atlas", "Clover", "Drift", "Maple",
]  # fmt: skip
_KINDS = [
    "Notes", "Planner", "Wallet", "Kitchen", "Transit", "Studio", "Fitness", "Market", "Chat", "Photos",
    "Home", "Weather", "Reader", "Music",
]  # fmt: skip


class DetailsMaker:
    """Makes the details of one report; the same arguments make the same."""

    def __init__(self, apps: int, *, per_app: int = 8, seed: int = 3) -> None:
        self._draw = random.Random(seed)
        self._names = Names(seed)
        self._count = apps
        self._per_app = per_app
        self._agents = agents()
        self._use_cases = [use_case.id for kind in load_taxonomy().app_types for use_case in kind.use_cases]
        self._likely = self._draw.sample(self._use_cases, len(self._use_cases) * 3 // 4)
        self._reaching = Reaching()
        self._reach_profiles: dict[tuple[d.ReachCell, ...], int] = {}
        self._cells_of_profiles: list[tuple[d.ReachCell, ...]] = []
        self._level_profiles: dict[tuple[str | None, ...], int] = {}
        self._apps: list[d.AppDetail] = []
        self._providers: list[d.ProviderDetail] = []
        self._capabilities: list[d.CapabilityDetail] = []
        self._findings: list[d.FindingDetail] = []

    def details(self) -> d.Details:
        for at in range(self._count):
            self._add_app(at)
        groups = self._groups()
        return d.Details(
            targets=TARGETS,
            reach_profiles=tuple(d.ReachProfile(cells=item) for item in self._reach_profiles),
            level_profiles=tuple(d.LevelProfile(levels=item) for item in self._level_profiles),
            apps=tuple(self._apps),
            providers=tuple(self._providers),
            capabilities=tuple(self._capabilities),
            findings=tuple(self._findings),
            groups=groups,
            translations=self._translations(),
        )

    def _add_app(self, at: int) -> None:
        draw = self._draw
        protocols = draw.choices([item for item, _ in _SETS], [weight for _, weight in _SETS])[0]
        has_launcher = draw.random() < 0.9
        label = f"{_WORDS[at * 7 % len(_WORDS)]} {_KINDS[at * 5 % len(_KINDS)]}"
        package = f"com.{label.split(maxsplit=1)[0].lower()}.{label.split()[1].lower()}{at}"
        first_finding = len(self._findings)
        made = [self._add_provider(at, package, item, has_launcher=has_launcher) for item in protocols]
        capabilities = [item for many in made for item in many]
        cells = [self._cells_at(item.reach) for item in capabilities]
        if not cells:
            cells = [self._undeclared(has_launcher=has_launcher)]
        reach = [Counter(each[agent].reach for each in cells) for agent in range(len(self._agents))]
        undescribed = sum(item.description is None for item in capabilities)
        findings = self._findings[first_finding:]
        levels = Counter(item.level for item in findings if item.origin == "lint")
        figures = s.QualityFigures(
            capabilities=len(capabilities),
            undescribed_capabilities=undescribed,
            parameters=3 * len(capabilities),
            undescribed_parameters=sum(item.undescribed for item in capabilities),
            untyped_parameters=sum(item.untyped for item in capabilities),
            poor_names=0,
            tokens=sum(item.tokens or 0 for item in capabilities),
            lint_errors=levels["error"],
            lint_warnings=levels["warning"],
            lint_notes=levels["note"],
            bent=sum(item.origin == "reading" for item in findings),
            marks=sum(item.origin == "security" for item in findings),
            score=max(0, 100 - 12 * undescribed - draw.randrange(9)) if capabilities else None,
        )
        served = sorted({item for each in capabilities for item in each.use_cases})
        self._apps.append(
            d.AppDetail(
                key=f"{package}/1",
                kind="app",
                package=package,
                label=label,
                description=None,
                version_name=f"{draw.randrange(1, 9)}.{draw.randrange(20)}",
                version_code=draw.randrange(100, 4000),
                minimum_sdk=26,
                target_sdk=36,
                signers=(f"{draw.getrandbits(256):064x}",),
                has_launcher=has_launcher,
                sources=(f"apks/{package}.apk",),
                protocols=protocols,
                is_silent=False,
                is_unread=False,
                capabilities=len(capabilities),
                best=tuple(next(each for each in s.REACHES if item[each]) for item in reach),
                reach=tuple(counts_by_reach(item if capabilities else Counter()) for item in reach),
                quality=figures,
                use_cases=tuple(served),
            )
        )

    def _add_provider(
        self, app: int, package: str, protocol: str, *, has_launcher: bool
    ) -> list[d.CapabilityDetail]:
        draw = self._draw
        at = len(self._providers)
        dialect = PROTOCOLS[protocol][1]
        self._providers.append(
            d.ProviderDetail(
                app=app,
                protocol=protocol,
                dialect=dialect,
                component=f"{package}.AgentService",
                component_kind="service",
                exported=True,
                enabled=True,
                enabled_in=None,
                permission=None if draw.random() < 0.5 else "android.permission.BIND_APP_FUNCTION_SERVICE",
                protection="signature",
                name=None,
                description=None,
                instructions=None,
                definitions=None,
                extensions=None,
                place="AndroidManifest.xml:31",
            )
        )
        number = max(1, min(60, round(draw.gammavariate(1.6, self._per_app / 1.6))))
        return [
            self._add_capability(at, app, protocol, capability, has_launcher=has_launcher)
            for capability in self._names.capabilities(number)
        ]

    def _add_capability(
        self, provider: int, app: int, protocol: str, made: MadeCapability, *, has_launcher: bool
    ) -> d.CapabilityDetail:
        draw = self._draw
        at = len(self._capabilities)
        levels = tuple(self._level(protocol, target) for target in TARGETS)
        cells = self._cells(protocol, levels, has_launcher=has_launcher)
        declaration = {
            "id": made.snake_name,
            "description": made.description,
            "input": {
                "kind": "object",
                "properties": [
                    {
                        "name": parameter.name,
                        "required": parameter.required,
                        "type": {"kind": parameter.kind, "description": parameter.description},
                    }
                    for parameter in made.parameters
                ],
            },
        }
        described = draw.random() < 0.88
        parameter = d.CapabilityDetail(
            provider=provider,
            id=made.snake_name if protocol != "appfunctions" else f"Functions#{made.camel_name}",
            title=None,
            description=made.description if described else None,
            parameters=", ".join(
                f"{parameter.name}{'' if parameter.required else '?'}:{parameter.kind}"
                for parameter in made.parameters
            ),
            output="string" if draw.random() < 0.6 else None,
            undescribed=0 if described else len(made.parameters),
            untyped=int(draw.random() < 0.03),
            read_only=draw.choice((None, True, False)),
            destructive=None,
            enabled=None,
            tokens=draw.randrange(60, 320),
            declaration=one_line_json(declaration),
            place=f"res/xml/{protocol.replace('-', '_')}.xml:{draw.randrange(3, 400)}",
            reach=self._profile_of(cells),
            levels=self._level_profiles.setdefault(levels, len(self._level_profiles)),
            use_cases=(draw.choice(self._likely),) if draw.random() < 0.4 else (),
            group=None,
        )
        self._capabilities.append(parameter)
        if draw.random() < 0.3:
            origin, code, level, message = draw.choice(_CODES)
            self._findings.append(
                d.FindingDetail(
                    app=app,
                    provider=provider,
                    capability=at,
                    origin=origin,
                    code=code,
                    level=level,
                    pointer=f"/capabilities/{at}/description",
                    message=message,
                    hint="add a description" if code == "description-missing" else None,
                    rule=None,
                    releases=(),
                    place=parameter.place,
                )
            )
        return parameter

    def _level(self, protocol: str, target: str) -> str:
        if target.startswith(f"{protocol}+"):
            weights = (92, 0, 5, 2, 0, 1, 0, 0, 0)
        elif target.startswith("mcp+"):
            weights = (55, 0, 25, 14, 2, 3, 1, 0, 0)
        elif target in ("appfunctions+v1", "mmcp+broadcast"):
            weights = (2, 0, 10, 24, 8, 10, 4, 40, 2)
        else:
            weights = (24, 0, 24, 28, 7, 10, 2, 5, 0)
        return self._draw.choices(LEVELS, weights)[0]

    def _cells(self, protocol: str, levels: Sequence[str], *, has_launcher: bool) -> tuple[d.ReachCell, ...]:
        conversions = dict(zip(TARGETS, levels, strict=True))
        standing = Standing(
            interface=_INTERFACES.get(protocol), has_launcher=has_launcher, levels=conversions
        )
        return self._reaching.cells(standing)

    def _profile_of(self, cells: tuple[d.ReachCell, ...]) -> int:
        at = self._reach_profiles.setdefault(cells, len(self._cells_of_profiles))
        if at == len(self._cells_of_profiles):
            self._cells_of_profiles.append(cells)
        return at

    def _undeclared(self, *, has_launcher: bool) -> tuple[d.ReachCell, ...]:
        return tuple(reach_of_app(has_launcher, agent.uses_screens) for agent in self._agents)

    def _cells_at(self, position: int) -> tuple[d.ReachCell, ...]:
        return self._cells_of_profiles[position]

    def _groups(self) -> tuple[d.Group, ...]:
        by_name: dict[str, list[int]] = {}
        for at, item in enumerate(self._capabilities):
            by_name.setdefault(item.id.lower(), []).append(at)
        groups: list[d.Group] = []
        for members in by_name.values():
            if len(members) < 2:
                continue
            for at in members:
                self._capabilities[at] = self._capabilities[at].model_copy(update={"group": len(groups)})
            links = tuple(
                d.GroupLink(
                    capability=right,
                    match=left,
                    kind="same-use-case",
                    score=0.875,
                    terms=("note",),
                    parameters=(),
                )
                for left, right in pairwise(members)
            )
            groups.append(d.Group(members=tuple(members), links=links))
        return tuple(groups)

    def _translations(self) -> tuple[d.DialectTranslation, ...]:
        if not self._providers:
            return ()
        return (
            d.DialectTranslation(
                provider=0,
                target="mobile-mcp+1.0",
                files=(
                    d.TranslatedFile(
                        path="res/xml/mobile_mcp.xml", text='<mobile-mcp version="1.0">\n</mobile-mcp>\n'
                    ),
                ),
                findings=(
                    d.TranslationFinding(
                        code="enum-moved",
                        level="moved",
                        pointer="/capabilities/0/input",
                        message="The allowed values are in the description",
                    ),
                ),
                problem=None,
            ),
        )


def counts_by_reach(counted: Counter[s.Reach]) -> tuple[int, int, int, int]:
    native, gateway, screens, none = (counted[item] for item in s.REACHES)
    return native, gateway, screens, none
