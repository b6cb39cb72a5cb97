"""The details of a report, small enough for a page: columns and shared texts to filter by, the rest in packs.

A browser reads the columns at once. What it shows only of the one app that somebody opens is in packs of
neighbouring apps, each a JSON text deflated (RFC 1950) and in base64, and inflated when it is asked for. All
texts are as they may be shown (`safe.shown`).
"""

from __future__ import annotations

import base64
import zlib
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Final

from droidgate.coverage.coverage_document import REACHES, CoverageReport, DetailRow, Details
from droidgate.coverage.html.views import shell_word, shortened, shortened_name
from droidgate_mappings.model.json_values import Json, one_line_json
from droidgate_mappings.records import dataclass, field
from droidgate_mappings.tables.reach import load_gates
from droidgate_mappings.text_safety import visible as shown, visible_json as shown_json

MOST_IN_LIST: Final = 160
"""Characters of a text in the columns; the whole of a longer one is in its app's pack."""

FINDING_MARKS: Final = ("error", "warning", "note", "read", "security")
"""What the bits of a `findings` column mean, from the lowest."""

_PACK_SIZE: Final = 300_000


@dataclass(frozen=True, slots=True)
class Packed:
    """The details for a page: what is read at once, and the packs."""

    columns: Json
    packs: list[str]


def pack_details(report: CoverageReport, details: Details, *, with_declarations: bool = True) -> Packed:
    """Return the details of a report for its page; without declarations it is smaller."""
    return _Packing(report, details, with_declarations=with_declarations).packed()


@dataclass(slots=True)
class _Shared:
    """Values that are written once and referred to by position."""

    values: list[Json] = field(default_factory=list)
    _positions: dict[Json, int] = field(default_factory=dict)

    def at(self, value: Json) -> int:
        """Return the position of a value; -1 for None."""
        if value is None:
            return -1
        position = self._positions.setdefault(value, len(self.values))
        if position == len(self.values):
            self.values.append(value)
        return position


class _Packing:
    def __init__(self, report: CoverageReport, details: Details, *, with_declarations: bool) -> None:
        self._report = report
        self._details = details
        self._with_declarations = with_declarations
        self._texts = _Shared()
        self._sets = _Shared()
        self._levels = {level: at for at, level in enumerate(report.levels)}
        self._reaches = {reach: at for at, reach in enumerate(REACHES)}
        self._use_cases = {
            item.id: at
            for at, item in enumerate(
                use_case for app_type in report.use_cases or () for use_case in app_type.use_cases
            )
        }
        self._marks: dict[str, dict[int, int]] = {"app": defaultdict(int), "capability": defaultdict(int)}
        self._findings_of: dict[int | None, list[DetailRow]] = defaultdict(list)
        for finding in details.findings:
            self._file(finding)

    def packed(self) -> Packed:
        """Return everything."""
        packs, pack_of_app = self._packs()
        details = self._details
        columns = {
            "reaches": REACHES,
            "levels": self._report.levels,
            "agents": [shown(agent.title) for agent in self._report.agents],
            "conditions": {key: shown(text) for key, text in self._report.conditions.items()},
            "targets": details.targets,
            "finding_marks": FINDING_MARKS,
            "use_cases": [
                shown(use_case.title)
                for app_type in self._report.use_cases or ()
                for use_case in app_type.use_cases
            ],
            "reach_profiles": [
                [
                    [
                        self._reaches[cell.reach],
                        self._levels.get(cell.level, -1) if cell.level else -1,
                        self._text(cell.reason),
                        [self._text(need) for need in cell.needs],
                        cell.gate,
                    ]
                    for cell in profile.cells
                ]
                for profile in details.reach_profiles
            ],
            "gates": {
                gate.id: [shown(gate.title), gate.owner, shown(gate.fix)]
                for gate in load_gates().values()
                if any(gate.id == cell.gate for profile in details.reach_profiles for cell in profile.cells)
            },
            "level_profiles": [
                [self._levels.get(level, -1) if level else -1 for level in profile]
                for profile in details.level_profiles
            ],
            "apps": {**self._app_columns(details.apps), "pack": pack_of_app},
            "providers": self._provider_columns(details.providers),
            "capabilities": self._capability_columns(details.capabilities),
            "groups": [group.members for group in details.groups],
            "protocol_titles": {
                protocol.protocol: shown(protocol.title) for protocol in self._report.protocols
            },
            "unplaced_pack": pack_of_app[-1] if pack_of_app else -1,
            "unplaced_count": len(self._findings_of.get(None, ())),
        }
        return Packed({**columns, "texts": self._texts.values, "sets": self._sets.values}, packs)

    def _file(self, finding: DetailRow) -> None:
        app = finding.app
        if app is None and finding.provider is not None:
            app = self._details.providers[finding.provider].app
        self._findings_of[app].append(finding)
        bit = 1 << FINDING_MARKS.index(_mark_of(finding))
        if app is not None:
            self._marks["app"][app] |= bit
        if finding.capability is not None:
            self._marks["capability"][finding.capability] |= bit

    def _text(self, text: str | None) -> int:
        return self._texts.at(None if text is None else shortened(text, MOST_IN_LIST))

    def _name(self, text: str | None) -> int:
        return self._texts.at(None if text is None else shortened_name(text, MOST_IN_LIST))

    def _set_of(self, ids: Iterable[int]) -> int:
        return self._sets.at(tuple(ids))

    def _use_case_set(self, ids: Sequence[str]) -> int:
        return self._set_of(self._use_cases[id_] for id_ in ids if id_ in self._use_cases)

    def _app_columns(self, apps: Sequence[DetailRow]) -> Json:
        marks = self._marks["app"]
        return {
            "key": [self._text(app.key) for app in apps],
            "label": [self._name(app.label) for app in apps],
            "package": [self._name(app.package or next(iter(app.sources), app.key)) for app in apps],
            "version": [self._text(app.version_name or _text_of(app.version_code)) for app in apps],
            "protocols": [self._set_of(map(self._text, app.protocols)) for app in apps],
            "is_silent": [int(app.is_silent) for app in apps],
            "is_unread": [int(app.is_unread) for app in apps],
            "has_launcher": [int(app.has_launcher) for app in apps],
            "capabilities": [app.capabilities for app in apps],
            "best": [[self._reaches[reach] for reach in app.best] for app in apps],
            "reach": [app.reach for app in apps],
            "score": [-1 if app.quality.score is None else app.quality.score for app in apps],
            "findings": [marks.get(at, 0) for at in range(len(apps))],
            "finding_count": [len(self._findings_of.get(at, ())) for at in range(len(apps))],
            "use_cases": [self._use_case_set(app.use_cases) for app in apps],
        }

    def _provider_columns(self, providers: Sequence[DetailRow]) -> Json:
        return {
            "app": [provider.app for provider in providers],
            "protocol": [self._text(provider.protocol) for provider in providers],
            "dialect": [self._text(provider.dialect) for provider in providers],
        }

    def _capability_columns(self, capabilities: Sequence[DetailRow]) -> Json:
        marks = self._marks["capability"]
        return {
            "provider": [capability.provider for capability in capabilities],
            "id": [self._name(capability.id) for capability in capabilities],
            "description": [self._text(capability.description) for capability in capabilities],
            "tokens": [-1 if capability.tokens is None else capability.tokens for capability in capabilities],
            "reach": [capability.reach for capability in capabilities],
            "levels": [capability.levels for capability in capabilities],
            "use_cases": [self._use_case_set(capability.use_cases) for capability in capabilities],
            "group": [-1 if capability.group is None else capability.group for capability in capabilities],
            "findings": [marks.get(at, 0) for at in range(len(capabilities))],
        }

    def _packs(self) -> tuple[list[str], list[int]]:
        """Return the packs, and for each app in which one it is."""
        packs: list[str] = []
        pack_of_app: list[int] = []
        texts: list[str] = []
        size = 0
        last = len(self._details.apps) - 1
        for at, content in enumerate(self._app_contents()):
            text = f'"{at}":{one_line_json(content)}'
            texts.append(text)
            size += len(text)
            pack_of_app.append(len(packs))
            if at == last and self._findings_of.get(None):
                unplaced = [_finding_content(item) for item in self._findings_of[None]]
                texts.append(f'"unplaced":{one_line_json(unplaced)}')
            if size >= _PACK_SIZE or at == last:
                packs.append(_deflate("{" + ",".join(texts) + "}"))
                texts, size = [], 0
        return packs, pack_of_app

    def _app_contents(self) -> Iterator[Json]:
        details = self._details
        providers = _by_app(details.providers, lambda item: item.app)
        capabilities = _by_app(details.capabilities, lambda item: details.providers[item.provider].app)
        translations = _by_app(details.translations, lambda item: details.providers[item.provider].app)
        links: dict[int, list[Json]] = defaultdict(list)
        for group in details.groups:
            for link in group.links:
                evidence = [link.kind, link.score, [*map(shown, link.terms)], [*map(shown, link.parameters)]]
                links[link.capability].append([link.match, *evidence])
                links[link.match].append([link.capability, *evidence])
        for at, app in enumerate(details.apps):
            yield {
                **_app_content(app),
                "providers": {
                    str(position): _provider_content(item) for position, item in providers.get(at, ())
                },
                "capabilities": {
                    str(position): self._capability_content(item, links.get(position))
                    for position, item in capabilities.get(at, ())
                },
                "findings": [_finding_content(item) for item in self._findings_of.get(at, ())],
                "translations": [_translation_content(item) for _, item in translations.get(at, ())],
            }

    def _capability_content(self, capability_detail: DetailRow, links: list[Json] | None) -> Json:
        content = {
            "id": shown(capability_detail.id) if len(capability_detail.id) > MOST_IN_LIST else None,
            "title": _shown_or_none(capability_detail.title),
            "description": shown(capability_detail.description)
            if capability_detail.description and len(capability_detail.description) > MOST_IN_LIST
            else None,
            "parameters": shown(capability_detail.parameters),
            "output": _shown_or_none(capability_detail.output),
            "undescribed": capability_detail.undescribed or None,
            "untyped": capability_detail.untyped or None,
            "read_only": capability_detail.read_only,
            "destructive": capability_detail.destructive,
            "enabled": capability_detail.enabled,
            "place": _shown_or_none(capability_detail.place),
            "declaration": shown_json(capability_detail.declaration) if self._with_declarations else None,
            "links": links,
        }
        return {key: value for key, value in content.items() if value is not None}


def _by_app(
    items: Iterable[DetailRow], app_of: Callable[[DetailRow], int]
) -> dict[int, list[tuple[int, DetailRow]]]:
    """Return items with their positions by app."""
    items_by_app: dict[int, list[tuple[int, DetailRow]]] = defaultdict(list)
    for at, item in enumerate(items):
        items_by_app[app_of(item)].append((at, item))
    return items_by_app


def _mark_of(finding: DetailRow) -> str:
    if finding.origin == "security":
        return "security"
    return finding.level if finding.level in FINDING_MARKS else "read"


def _app_content(app: DetailRow) -> Json:
    quality = app.quality
    return {
        "label": _shown_or_none(app.label),
        "package": _shown_or_none(app.package),
        "key": shown(app.key),
        "description": _shown_or_none(app.description),
        "version_name": _shown_or_none(app.version_name),
        "version_code": app.version_code,
        "minimum_sdk": app.minimum_sdk,
        "target_sdk": app.target_sdk,
        "signers": [
            f"{signer}{' (not verified)' * (app.signers_verified is False)}" for signer in app.signers
        ],
        "sources": [shown(source) for source in app.sources],
        "word": shell_word(app.sources[0]) if app.sources else None,
        "quality": quality.model_dump(mode="json"),
    }


def _provider_content(provider: DetailRow) -> Json:
    return {
        "component": _shown_or_none(provider.component),
        "component_kind": provider.component_kind,
        "exported": provider.exported,
        "enabled": provider.enabled,
        "enabled_in": _shown_or_none(provider.enabled_in),
        "permission": _shown_or_none(provider.permission),
        "protection": provider.protection,
        "name": _shown_or_none(provider.name),
        "description": _shown_or_none(provider.description),
        "instructions": _shown_or_none(provider.instructions),
        "definitions": None if provider.definitions is None else shown_json(provider.definitions),
        "extensions": None if provider.extensions is None else shown_json(provider.extensions),
        "place": _shown_or_none(provider.place),
    }


def _finding_content(finding_detail: DetailRow) -> Json:
    return [
        finding_detail.capability,
        finding_detail.origin,
        finding_detail.level,
        shown(finding_detail.code),
        shown(finding_detail.message),
        _shown_or_none(finding_detail.hint),
        _shown_or_none(finding_detail.rule),
        shown(finding_detail.pointer),
        _shown_or_none(finding_detail.place),
    ]


def _translation_content(translation: DetailRow) -> Json:
    return {
        "provider": translation.provider,
        "target": translation.target,
        "files": [[shown(file.path), shown(file.text)] for file in translation.files],
        "findings": [
            [shown(each.code), each.level.value, shown(each.pointer), shown(each.message)]
            for each in translation.findings
        ],
        "problem": _shown_or_none(translation.problem),
    }


def _shown_or_none(text: str | None) -> str | None:
    return None if text is None else shown(text)


def _text_of(number: int | None) -> str | None:
    return None if number is None else str(number)


def _deflate(text: str) -> str:
    return base64.b64encode(zlib.compress(text.encode())).decode("ascii")
