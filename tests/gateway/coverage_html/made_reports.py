"""Made-up reports of any size: apps of several protocols, what agents reach of them, findings, a history."""

import random
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

from droidgate.coverage.conversions import LEVELS
from droidgate.coverage.coverage_document import CoverageReport, DetailRow
from droidgate.coverage.history import Snapshot
from droidgate.coverage.report import ReportedCatalog, ReportOptions
from gateway.coverage_compare.made_catalogs import (
    TARGETS,
    App,
    Declares,
    Tool,
    functions,
    make_catalog,
    mmcp,
    mobile_mcp,
    tool_list,
)
from gateway.synthetic_ecosystem.names import MadeCapability, Names

_MAKERS = {"appfunctions": functions, "mobile-mcp": mobile_mcp, "mmcp": mmcp, "mcp": tool_list}
_SETS: tuple[tuple[tuple[str, ...], int], ...] = (
    ((), 34), (("appfunctions",), 26), (("mobile-mcp",), 12), (("mmcp",), 9), (("mcp",), 4),
    (("appfunctions", "mobile-mcp"), 7), (("mmcp", "mobile-mcp"), 6),
    (("appfunctions", "mmcp", "mobile-mcp"), 2),
)  # fmt: skip
_CODES = (
    ("lint", "description-missing", "warning", "A capability or parameter has no description"),
    ("lint", "isappfunction-type", "error", "A parameter's type is none of the format's types"),
    ("lint", "name-without-word", "note", "The name has no word for what it does"),
    ("reading", "M08", "read", "The root element has no version"),
    ("security", "exported-without-permission", "warning", "Any app may call it"),
)
_WORDS = ("Pocket", "Aurora", "Harbor", "Quill", "Lantern", "Meadow", "Copper", "Orbit", "Willow", "Juniper")
_KINDS = ("Notes", "Planner", "Wallet", "Kitchen", "Transit", "Studio", "Fitness", "Market", "Chat", "Photos")
_SHARES = (0.55, 0.9)
OPENED = 3
"""How many apps can be called by more callers than before."""


@cache
def make_report(count: int, *, seed: int = 3) -> CoverageReport:
    """Return the report of so many made-up apps; the same arguments make the same."""
    apps = list(_apps(count, seed))
    with tempfile.TemporaryDirectory() as folder:
        series = [*(list(_earlier(apps, share)) for share in _SHARES), apps]
        *earlier, last = [
            Snapshot(f"ecosystem-2026-{at + 9:02}", make_catalog(Path(folder, str(at)), *items))
            for at, items in enumerate(series)
        ]
        options = ReportOptions(details=True, translate=[app.package or "" for app in apps[:4]])
        with ReportedCatalog(last, earlier, options) as coverage:
            return coverage.report


def repeated(report: CoverageReport, times: int) -> CoverageReport:
    """Return a report whose apps, with all that they declare, are there so many times."""
    details = report.details
    assert details is not None
    counts = {
        "app": len(details.apps), "provider": len(details.providers), "capability": len(details.capabilities)
    }  # fmt: skip

    def moved(items: Sequence[Any], **other: None) -> tuple[Any, ...]:
        names = [name for name in counts if name in vars(items[0])]
        return tuple(
            changed_row(item, **{name: getattr(item, name) + at * counts[name] for name in names}, **other)
            for at in range(times)
            for item in items
        )

    parts = {
        "apps": [*details.apps] * times, "providers": moved(details.providers), "groups": (),
        "capabilities": moved(details.capabilities, group=None), "findings": moved(details.findings),
    }  # fmt: skip
    return report.model_copy(update={"details": replace(details, **parts)})


def changed_row(row: DetailRow, **columns: Any) -> DetailRow:
    """Return a row of the details with other values."""
    return DetailRow(**{**vars(row), **columns})


def _apps(count: int, seed: int) -> Iterator[App]:
    draw, names = random.Random(seed), Names(seed)
    for at in range(count):
        protocols = draw.choices([item for item, _ in _SETS], [weight for _, weight in _SETS])[0]
        label = f"{_WORDS[at * 7 % len(_WORDS)]} {_KINDS[at * 5 % len(_KINDS)]}"
        findings: list[dict[str, Any]] = []
        declares = []
        # The first apps are those whose access rules were opened and that are translated.
        for number, protocol in enumerate(protocols if at >= OPENED else ("mobile-mcp",)):
            capabilities = names.capabilities(max(1, min(60, round(draw.gammavariate(1.6, 5)))))
            declares.append(_MAKERS[protocol](*(_tool(draw, protocol, item) for item in capabilities)))
            findings += _findings(draw, number, len(capabilities))
        launcher, package = draw.random() < 0.9, f"com.{label.replace(' ', '.').lower()}{at}"
        yield App(package, declares, launcher, version=2, label=label, findings=findings)


def _tool(draw: random.Random, protocol: str, made: MadeCapability) -> Tool:
    described = draw.random() < 0.88
    parameters = {item.name: item.kind for item in made.parameters}
    facts = {
        "output": "string" if draw.random() < 0.6 else None, "untyped_count": int(draw.random() < 0.03),
        "undescribed_count": 0 if described else len(parameters), "version": "1",
        "token_estimate": draw.randrange(60, 320), "read_only": draw.choice((None, True, False)),
        "place": f"res/xml/{protocol.replace('-', '_')}.xml:{draw.randrange(3, 400)}",
    }  # fmt: skip
    levels = {target: draw.choices(LEVELS, (24, 0, 24, 28, 7, 10, 2, 5, 0))[0] for target in TARGETS}
    unenforced = int(levels["mcp+2025-11-25"] == "dropped")
    name = f"Functions#{made.camel_name}" if protocol == "appfunctions" else made.snake_name
    description = made.description if described else None
    return Tool(name, description, parameters, levels, unenforced=unenforced, facts=facts)


def _findings(draw: random.Random, provider: int, capabilities: int) -> Iterator[dict[str, Any]]:
    for at in range(capabilities):
        if draw.random() < 0.3:
            origin, code, level, message = draw.choice(_CODES)
            pointer = f"/capabilities/{at}/description"
            finding = {"origin": origin, "code": code, "level": level, "message": message, "pointer": pointer}
            yield {"provider": provider, "capability": at, "hint": "add a description", **finding}


def _earlier(apps: list[App], share: float) -> Iterator[App]:
    """Yield the apps as they were: fewer, with other words here and there, and the first ones closed."""
    for at, app in enumerate(apps[: round(len(apps) * share)]):
        declares: list[Declares] = []
        for item in app.declares:
            tools = list(item.tools)[at % 5 == 1 :]
            access = {"permission": "com.example.CALL"} if at < OPENED else {}
            declares.append(Declares(**{**vars(item), "tools": tools, "access": access}))
        yield App(app.package, declares, app.has_launcher, version=1, label=app.label)
    yield App("com.example.gone", [mmcp(Tool("create_note"))])
