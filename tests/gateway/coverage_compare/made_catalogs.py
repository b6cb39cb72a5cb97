"""Catalogs of rows that are typed by hand, and what they say."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

import duckdb

from droidgate.coverage.conversions import LEVELS
from droidgate.sources.catalogs.catalog import CATALOG_SCHEMA, Catalog
from droidgate.sources.catalogs.catalog_rows import (
    TABLES,
    AppRow,
    CapabilityRow,
    ConversionRow,
    FindingRow,
    ProblemRow,
    ProviderRow,
    Row,
    SourceRow,
)
from droidgate_mappings.model.capability import Provider

TARGETS = ("appfunctions+v2", "mcp+2025-11-25", "mmcp+1.0", "mmcp+broadcast", "mobile-mcp+1.0")
ACTIONS = {
    "mobile-mcp": "mobile.mcp.SERVICE",
    "mmcp": "com.example.mMCP.ACTION_TOOL_CALL",
    "broadcast": "com.example.ACTION_MMCP_INVOKE",
    "appfunctions": "android.app.appfunctions.AppFunctionService",
}
BIND_FUNCTIONS = "android.permission.BIND_APP_FUNCTION_SERVICE"


@dataclass
class Tool:
    """A capability; `levels` are its conversions by target, `exact` without one; `unenforced` its security
    findings in each.
    """

    id: str
    description: str | None = "Does something of use"
    parameters: Mapping[str, str] = field(default_factory=dict)
    levels: Mapping[str, str] = field(default_factory=dict)
    access: Mapping[str, Any] = field(default_factory=dict)
    unenforced: int = 0
    facts: Mapping[str, Any] = field(default_factory=dict)
    extensions: Mapping[str, Any] = field(default_factory=dict)


@dataclass
class Declares:
    """A provider."""

    protocol: str
    dialect: str | None
    kind: str | None
    actions: Sequence[str]
    tools: Sequence[Tool] = ()
    component: str | None = ".Tools"
    facts: Mapping[str, Any] = field(default_factory=dict)
    access: Mapping[str, Any] = field(default_factory=dict)


@dataclass
class App:
    """An application, or with `package` None a lone descriptor; `unread` are the parts of it
    that were not read, and `reason` is why nothing of it was.
    """

    package: str | None
    declares: Sequence[Declares] = ()
    has_launcher: bool = True
    version: int | None = 1
    label: str | None = None
    source: str | None = None
    signers: tuple[str, ...] = ("ab",)
    enabled: bool | None = True
    findings: Sequence[Mapping[str, Any]] = ()
    unread: Sequence[str] = ()
    reason: str | None = None


def mobile_mcp(*tools: Tool, **facts: Any) -> Declares:
    """Return a service of Mobile-MCP 1.0."""
    return Declares("mobile-mcp", "1.0", "service", [ACTIONS["mobile-mcp"]], tools, facts=facts)


def mmcp(*tools: Tool, **facts: Any) -> Declares:
    """Return an activity of mMCP 1.0."""
    return Declares("mmcp", "1.0", "activity", [ACTIONS["mmcp"]], tools, facts=facts)


def broadcast() -> Declares:
    """Return a receiver that lists its tools only when asked."""
    return Declares("mmcp", "broadcast", "receiver", [ACTIONS["broadcast"]])


def functions(*tools: Tool, **facts: Any) -> Declares:
    """Return a service of app functions."""
    reported = {"permission": BIND_FUNCTIONS, "protection": "signature", **facts}
    return Declares("appfunctions", "v2", "service", [ACTIONS["appfunctions"]], tools, facts=reported)


def tool_list(*tools: Tool) -> Declares:
    """Return a list of MCP tools in a file."""
    return Declares("mcp", "2025-11-25", None, [], tools, component=None)


def make_catalog(folder: Path, *apps: App) -> Catalog:
    """Write a catalog of some apps."""
    rows: list[Row] = [row for number, app in enumerate(apps) for row in _rows_of(f"{number:064x}", app)]
    return write_rows(folder, rows)


def _row(kind: type[Any], /, **facts: Any) -> Row:
    """Return a row whose other columns are empty."""
    row: Row = kind(**{**dict.fromkeys(column.name for column in fields(kind)), **facts})
    return row


def write_rows(folder: Path, rows: Iterable[Row]) -> Catalog:
    """Write a catalog of rows, by the documented columns."""
    listed: dict[str, list[Row]] = {name: [] for name in TABLES}
    for row in rows:
        listed[next(name for name, table in TABLES.items() if isinstance(row, table.row))].append(row)
    connection = duckdb.connect()
    for name, table in TABLES.items():
        (folder / name).mkdir(parents=True)
        lines = folder / f"{name}.jsonl"
        values = ({item.name: getattr(row, item.name) for item in fields(row)} for row in listed[name])
        lines.write_text("".join(json.dumps(value) + "\n" for value in values) or "\n")
        columns = ", ".join(f"'{column.name}': '{column.type}'" for column in table.columns)
        connection.execute(
            f"COPY (SELECT * FROM read_json('{lines}', format = 'newline_delimited',"
            f"columns = {{{columns}}}) "
            f"WHERE {table.key[0]} IS NOT NULL ORDER BY {', '.join(table.key)}) "
            f"TO '{folder}/{name}/0000.parquet' (FORMAT parquet)"
        )
        lines.unlink()
    counts = {name: len(listed_rows) for name, listed_rows in listed.items()}
    facts = {"schema": CATALOG_SCHEMA, "droidgate": "0.1.0", "targets": TARGETS, "limits": {}, "rows": counts}
    (folder / "catalog.json").write_text(json.dumps(facts))
    return Catalog.open(folder)


def _rows_of(unit: str, app: App) -> Iterator[Row]:
    source = app.source or f"{app.package}.apk"
    if app.reason is not None:
        yield _row(SourceRow, source=source, kind="apk", outcome="unreadable", reason=app.reason)
        return
    for number, place in enumerate(app.unread):
        yield _row(ProblemRow, unit=unit, problem=number, message="cut", place=place)
    yield _row(SourceRow, source=source, kind="apk", digest=unit, size=1, unit=unit, outcome="read")
    if app.package is not None:
        yield _row(
            AppRow, unit=unit, app=0, package=app.package, version_code=app.version,
            version_name=None if app.version is None else f"{app.version}.0", label=app.label, minimum_sdk=26,
            target_sdk=36, signers=app.signers, enabled=app.enabled, has_launcher=app.has_launcher,
            components=1,
        )  # fmt: skip
    for number, declared in enumerate(app.declares):
        yield _provider_row(unit, number, app, declared)
        for at, tool in enumerate(declared.tools):
            key = {"unit": unit, "provider": number, "capability": at}
            yield _capability_row(key, app, declared, tool)
            yield from (_conversion_row(key, target, tool) for target in TARGETS)
    for number, finding in enumerate(app.findings):
        facts: dict[str, Any] = {"origin": "lint", "level": "warning", "code": "made-up", "pointer": ""}
        facts |= {"message": "m", "releases": (), "variants": (), "place": "AndroidManifest.xml:3", **finding}
        yield _row(FindingRow, unit=unit, finding=number, **facts)


def _provider_row(unit: str, number: int, app: App, item: Declares) -> Row:
    declaration = {
        "protocol": item.protocol,
        "dialect": item.dialect,
        "package": app.package,
        "component": item.component,
        "capabilities": [_declared(tool) for tool in item.tools],
        **({"access": dict(item.access)} if item.access else {}),
    }
    facts = {} if item.kind is None else {"exported": True, "enabled": True, **item.facts}
    return _row(
        ProviderRow, unit=unit, provider=number, app=None if app.package is None else 0,
        protocol=item.protocol, dialect=item.dialect, package=app.package, component=item.component,
        component_kind=item.kind, actions=tuple(item.actions), capabilities=len(item.tools),
        digest=Provider.model_validate(declaration).content_digest(), declaration=json.dumps(declaration),
        place="AndroidManifest.xml:3", **facts,
    )  # fmt: skip


def _declared(tool: Tool) -> dict[str, Any]:
    properties = {name: {"type": {"kind": kind}, "required": True} for name, kind in tool.parameters.items()}
    reported: dict[str, Any] = {"id": tool.id, "input": {"kind": "object", "properties": properties}}
    if tool.extensions:
        reported["extensions"] = dict(tool.extensions)
    return reported if tool.description is None else {**reported, "description": tool.description}


def _capability_row(key: Mapping[str, Any], app: App, declared: Declares, tool: Tool) -> Row:
    count = len(tool.parameters)
    facts = {
        "parameter_count": count, "required_count": count, "undescribed_count": 0, "untyped_count": 0,
        "tool_bytes": 40, "token_estimate": 10, "place": "AndroidManifest.xml:5", "variants": (),
        **tool.facts,
    }  # fmt: skip
    return _row(
        CapabilityRow, **key, protocol=declared.protocol, dialect=declared.dialect, package=app.package,
        id=tool.id, description=tool.description, access=json.dumps(dict(tool.access)), flags="{}",
        parameters=", ".join(f"{name}:{kind}" for name, kind in tool.parameters.items()),
        digest=json.dumps(_declared(tool)), **facts,
    )  # fmt: skip


def _conversion_row(key: Mapping[str, Any], target: str, tool: Tool) -> Row:
    level = tool.levels.get(target, "exact")
    counts = {word: int(word == level) for word in LEVELS if word != "exact"} | {"security": tool.unenforced}
    return _row(ConversionRow, **key, target=target, level=level, provider_level="exact", **counts)
