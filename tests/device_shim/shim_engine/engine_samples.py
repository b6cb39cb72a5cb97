"""One small route table, and what an agent sends to it; typed by hand from shim-engine.md 2 and 3."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, TypeVar

from droidgate_shim.engine.authority import Carrier, read_policy
from droidgate_shim.engine.engine import Answer, Effect, Engine
from droidgate_shim.engine.routes import Target, read_route_table

Made = TypeVar("Made")

AGENT = 10_101
OTHER = 10_102


def target(package: str) -> dict[str, Any]:
    return {"package": package, "signer": "aa", "version_code": 3, "digest": "d1"}


PDF: dict[str, Any] = {
    "id": "fill",
    "input": {
        "kind": "object",
        "properties": {
            "path": {"type": {"kind": "string"}, "required": True},
            "pages": {"type": {"kind": "int32", "keywords": {"minimum": 1}}},
        },
    },
    "names": {"path": "file"},
    "outputs": {"kind": "fields"},
    "output": {
        "kind": "object",
        "properties": {
            "ok": {"type": {"kind": "boolean"}, "required": True},
            "written": {"type": {"kind": "int32"}},
        },
    },
    "backend": {"kind": "mmcp-activity", "component": "a.pdf/.Tools", "tool": "fill_form"},
    "target": target("a.pdf"),
    "deadline_ms": 5_000,
}
WEATHER: dict[str, Any] = {
    "id": "weather",
    "input": {"kind": "object", "properties": {"place": {"type": {"kind": "string"}}}},
    "outputs": {"kind": "text", "name": "result"},
    "backend": {"kind": "mmcp-broadcast", "component": "a.weather/.Receiver", "tool": "get_weather"},
    "target": target("a.weather"),
}
NOTE: dict[str, Any] = {
    "id": "note",
    "input": {"kind": "object", "properties": {"title": {"type": {"kind": "string"}}}},
    "outputs": {"kind": "value", "name": "id"},
    "output": {"kind": "int64"},
    "backend": {"kind": "app-function", "package": "a.notes", "function": "N#create"},
    "target": target("a.notes"),
}
CLOCK: dict[str, Any] = {
    "id": "clock",
    "input": {"kind": "object", "properties": {"date": {"type": {"kind": "string"}}}},
    "outputs": None,
    "backend": {
        "kind": "mobile-mcp",
        "component": "a.clock/.Service",
        "capability": "clock_in",
        "dialect": "S1",
    },
    "target": target("a.clock"),
}  # fmt: skip
TABLE: dict[str, Any] = {"format": 1, "definitions": {}, "routes": [PDF, WEATHER, NOTE, CLOCK]}
ANY_APP: dict[str, Any] = {"grants": [{"caller": "any-app", "capability": "*"}]}


def as_approved(target: Target) -> Target | None:
    return target


def target_of(signer: str, version_code: int, digest: str) -> Target:
    """Return an app that is installed."""
    return Target(package="a.app", signer=signer, version_code=version_code, digest=digest)


def engine(policy: Mapping[str, Any] | None = None, **installed: Target | None) -> Engine:
    """Return an engine of the sample table; `installed` is what differs from what was approved."""

    def find(target: Target) -> Target | None:
        name = target.package.removeprefix("a.")
        return installed[name] if name in installed else as_approved(target)

    allowed = read_policy(dict(ANY_APP if policy is None else policy))
    return Engine(read_route_table(TABLE), allowed, find, new_id=lambda: "n-1")


def submit(
    shim: Engine, now: int, carrier: Carrier, caller: int, extras: Mapping[str, Any], to: object, **how: bool
) -> list[Effect]:
    """Have a request admitted and received, as the edges do."""
    refused = shim.admit(now, carrier, caller, extras, to)
    return refused or shim.receive(now, carrier, caller, extras, to, **how)


def s1(request_id: str, capability: str, arguments: Mapping[str, Any]) -> dict[str, str]:
    """Return a request as the second edition of the specification has it."""
    request = {"id": request_id, "capability": {"id": capability, "input": dict(arguments)}}
    return {"mobile-mcp-request": json.dumps({"mobile-mcp-request": {"version": "1.0", "request": request}})}


def only(kind: type[Made], effects: list[Effect]) -> Made:
    """Return the one effect, which is of this kind."""
    (effect,) = effects
    assert isinstance(effect, kind)
    return effect


def response_of(answer: Answer) -> dict[str, Any]:
    """Return the response inside an answer in one of the specification's forms."""
    document = json.loads(answer.extras["mobile-mcp-response"])
    assert document["mobile-mcp-response"]["version"] == "1.0"
    response: dict[str, Any] = document["mobile-mcp-response"]["response"]
    return response
