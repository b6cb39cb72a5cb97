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
from dataclasses import dataclass, field
from typing import Final, TypeVar

from droidgate.coverage.document import (
    REACHES,
    AppDetail,
    CapabilityDetail,
    Details,
    FindingDetail,
    ProviderDetail,
    Report,
    Translation,
)
from droidgate.coverage.html.safe import shell_word, shortened, shortened_name, shown, shown_json
from droidgate.model.json_values import Json, one_line_json

MOST_IN_LIST: Final = 160
"""Characters of a text in the columns; the whole of a longer one is in its app's pack."""

FINDING_MARKS: Final = ("error", "warning", "note", "read", "security")
"""What the bits of a `findings` column mean, from the lowest."""

_PACK_SIZE: Final = 300_000

_Item = TypeVar("_Item")


@dataclass(frozen=True, slots=True)
class Packed:
    """The details for a page: what is read at once, and the packs."""

    columns: Json
    packs: list[str]


def pack(report: Report, details: Details, *, with_declarations: bool = True) -> Packed:
    """Return the details of a report for its page; without declarations it is smaller."""
    return _Packing(report, details, with_declarations=with_declarations).packed()


@dataclass(slots=True)
class _Shared:
    """Values that are told once and referred to by position."""

    values: list[Json] = field(default_factory=list)
    _positions: dict[Json, int] = field(default_factory=dict)

    def at(self, value: Json) -> int:
        """Return the position of a value; -1 for None."""
        if value is None:
            return -1
        found = self._positions.setdefault(value, len(self.values))
        if found == len(self.values):
            self.values.append(value)
        return found


class _Packing:
    def __init__(self, report: Report, details: Details, *, with_declarations: bool) -> None:
        self._report = report
        self._details = details
        self._with_declarations = with_declarations
        self._texts = _Shared()
        self._sets = _Shared()
        self._levels = {level: at for at, level in enumerate(report.levels)}
        self._reaches = {reach: at for at, reach in enumerate(REACHES)}
        self._use_cases = {
            one.id: at
            for at, one in enumerate(one for app_type in report.use_cases or () for one in app_type.use_cases)
        }
        self._marks: dict[str, dict[int, int]] = {"app": defaultdict(int), "capability": defaultdict(int)}
        self._findings_of: dict[int | None, list[FindingDetail]] = defaultdict(list)
        for finding in details.findings:
            self._file(finding)

    def packed(self) -> Packed:
        """Return everything."""
        packs, pack_of_app = self._packs()
        details = self._details
        columns = {
            "reaches": REACHES,
            "levels": self._report.levels,
            "agents": [shown(one.title) for one in self._report.agents],
            "conditions": {key: shown(text) for key, text in self._report.conditions.items()},
            "targets": details.targets,
            "finding_marks": FINDING_MARKS,
            "use_cases": [
                shown(one.title) for app_type in self._report.use_cases or () for one in app_type.use_cases
            ],
            "reach_profiles": [
                [
                    [
                        self._reaches[cell.reach],
                        self._levels.get(cell.level, -1) if cell.level else -1,
                        self._text(cell.reason),
                        [self._text(one) for one in cell.needs],
                    ]
                    for cell in profile.cells
                ]
                for profile in details.reach_profiles
            ],
            "level_profiles": [
                [self._levels.get(one, -1) if one else -1 for one in profile.levels]
                for profile in details.level_profiles
            ],
            "apps": {**self._app_columns(details.apps), "pack": pack_of_app},
            "providers": self._provider_columns(details.providers),
            "capabilities": self._capability_columns(details.capabilities),
            "groups": [one.members for one in details.groups],
            "protocol_titles": {one.protocol: shown(one.title) for one in self._report.protocols},
            "unplaced_pack": pack_of_app[-1] if pack_of_app else -1,
            "unplaced_count": len(self._findings_of.get(None, ())),
        }
        return Packed({**columns, "texts": self._texts.values, "sets": self._sets.values}, packs)

    def _file(self, finding: FindingDetail) -> None:
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
        return self._set_of(self._use_cases[one] for one in ids if one in self._use_cases)

    def _app_columns(self, apps: Sequence[AppDetail]) -> Json:
        marks = self._marks["app"]
        return {
            "key": [self._text(one.key) for one in apps],
            "label": [self._name(one.label) for one in apps],
            "package": [self._name(one.package or next(iter(one.sources), one.key)) for one in apps],
            "version": [self._text(one.version_name or _text_of(one.version_code)) for one in apps],
            "protocols": [self._set_of(map(self._text, one.protocols)) for one in apps],
            "is_silent": [int(one.is_silent) for one in apps],
            "has_launcher": [int(one.has_launcher) for one in apps],
            "capabilities": [one.capabilities for one in apps],
            "best": [[self._reaches[reach] for reach in one.best] for one in apps],
            "reach": [one.reach for one in apps],
            "score": [-1 if one.quality.score is None else one.quality.score for one in apps],
            "findings": [marks.get(at, 0) for at in range(len(apps))],
            "finding_count": [len(self._findings_of.get(at, ())) for at in range(len(apps))],
            "use_cases": [self._use_case_set(one.use_cases) for one in apps],
        }

    def _provider_columns(self, providers: Sequence[ProviderDetail]) -> Json:
        return {
            "app": [one.app for one in providers],
            "protocol": [self._text(one.protocol) for one in providers],
            "dialect": [self._text(one.dialect) for one in providers],
        }

    def _capability_columns(self, capabilities: Sequence[CapabilityDetail]) -> Json:
        marks = self._marks["capability"]
        return {
            "provider": [one.provider for one in capabilities],
            "id": [self._name(one.id) for one in capabilities],
            "description": [self._text(one.description) for one in capabilities],
            "tokens": [-1 if one.tokens is None else one.tokens for one in capabilities],
            "reach": [one.reach for one in capabilities],
            "levels": [one.levels for one in capabilities],
            "use_cases": [self._use_case_set(one.use_cases) for one in capabilities],
            "group": [-1 if one.group is None else one.group for one in capabilities],
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
                unplaced = [_finding_content(one) for one in self._findings_of[None]]
                texts.append(f'"unplaced":{one_line_json(unplaced)}')
            if size >= _PACK_SIZE or at == last:
                packs.append(_deflated("{" + ",".join(texts) + "}"))
                texts, size = [], 0
        return packs, pack_of_app

    def _app_contents(self) -> Iterator[Json]:
        details = self._details
        providers = _by(details.providers, lambda one: one.app)
        capabilities = _by(details.capabilities, lambda one: details.providers[one.provider].app)
        translations = _by(details.translations, lambda one: details.providers[one.provider].app)
        links: dict[int, list[Json]] = defaultdict(list)
        for group in details.groups:
            for link in group.links:
                why = [link.kind, link.score, [*map(shown, link.terms)], [*map(shown, link.parameters)]]
                links[link.capability].append([link.match, *why])
                links[link.match].append([link.capability, *why])
        for at, app in enumerate(details.apps):
            yield {
                **_app_content(app),
                "providers": {
                    str(position): _provider_content(one) for position, one in providers.get(at, ())
                },
                "capabilities": {
                    str(position): self._capability_content(one, links.get(position))
                    for position, one in capabilities.get(at, ())
                },
                "findings": [_finding_content(one) for one in self._findings_of.get(at, ())],
                "translations": [_translation_content(one) for _, one in translations.get(at, ())],
            }

    def _capability_content(self, one: CapabilityDetail, links: list[Json] | None) -> Json:
        content = {
            "id": shown(one.id) if len(one.id) > MOST_IN_LIST else None,
            "title": _shown_or_none(one.title),
            "description": shown(one.description)
            if one.description and len(one.description) > MOST_IN_LIST
            else None,
            "parameters": shown(one.parameters),
            "output": _shown_or_none(one.output),
            "undescribed": one.undescribed or None,
            "untyped": one.untyped or None,
            "read_only": one.read_only,
            "destructive": one.destructive,
            "enabled": one.enabled,
            "place": _shown_or_none(one.place),
            "declaration": shown_json(one.declaration) if self._with_declarations else None,
            "links": links,
        }
        return {key: value for key, value in content.items() if value is not None}


def _by(items: Iterable[_Item], app_of: Callable[[_Item], int]) -> dict[int, list[tuple[int, _Item]]]:
    """Return items with their positions by app."""
    found: dict[int, list[tuple[int, _Item]]] = defaultdict(list)
    for at, one in enumerate(items):
        found[app_of(one)].append((at, one))
    return found


def _mark_of(finding: FindingDetail) -> str:
    if finding.origin == "security":
        return "security"
    return finding.level if finding.level in FINDING_MARKS else "read"


def _app_content(app: AppDetail) -> Json:
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
        "signers": [f"{one}{' (not verified)' * (app.signers_verified is False)}" for one in app.signers],
        "sources": [shown(one) for one in app.sources],
        "word": shell_word(app.sources[0]) if app.sources else None,
        "quality": quality.model_dump(mode="json"),
    }


def _provider_content(one: ProviderDetail) -> Json:
    return {
        "component": _shown_or_none(one.component),
        "component_kind": one.component_kind,
        "exported": one.exported,
        "enabled": one.enabled,
        "enabled_in": _shown_or_none(one.enabled_in),
        "permission": _shown_or_none(one.permission),
        "protection": one.protection,
        "name": _shown_or_none(one.name),
        "description": _shown_or_none(one.description),
        "instructions": _shown_or_none(one.instructions),
        "definitions": None if one.definitions is None else shown_json(one.definitions),
        "extensions": None if one.extensions is None else shown_json(one.extensions),
        "place": _shown_or_none(one.place),
    }


def _finding_content(one: FindingDetail) -> Json:
    return [
        one.capability,
        one.origin,
        one.level,
        shown(one.code),
        shown(one.message),
        _shown_or_none(one.hint),
        _shown_or_none(one.rule),
        shown(one.pointer),
        _shown_or_none(one.place),
    ]


def _translation_content(one: Translation) -> Json:
    return {
        "provider": one.provider,
        "target": one.target,
        "files": [[shown(file.path), shown(file.text)] for file in one.files],
        "findings": [
            [shown(each.code), each.level, shown(each.pointer), shown(each.message)] for each in one.findings
        ],
        "problem": _shown_or_none(one.problem),
    }


def _shown_or_none(text: str | None) -> str | None:
    return None if text is None else shown(text)


def _text_of(number: int | None) -> str | None:
    return None if number is None else str(number)


def _deflated(text: str) -> str:
    return base64.b64encode(zlib.compress(text.encode())).decode("ascii")
