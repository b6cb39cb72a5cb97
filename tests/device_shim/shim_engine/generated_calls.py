"""Calls made up by a seeded generator, for both engines to answer alike.

A plan decides what a call is about, so that most reach a backend and every token comes up; everything else is
drawn: types, values, forms of requests, odd texts, answers of backends.
"""

import json
from collections.abc import Callable, Iterator, Mapping
from decimal import Decimal
from typing import Any

from device_shim.shim_engine.generated_types import Maker
from droidgate_mappings.model.json_values import Json, canonical_json
from droidgate_mappings.tables.failure_tokens import load_failure_tokens

APPROVED = {"signer": "sha256:01", "version_code": 3, "digest": "sha256:02"}
TOKENS = tuple(load_failure_tokens())
PLANS = {
    "success": 32,
    "failure": 13,
    "silent": 3,
    "died": 3,
    "odd-answer": 14,
    "version": 3,
    "unknown": 3,
    "arguments": 7,
    "denied": 4,
    "drift": 5,
    "gone": 2,
    "switched-off": 3,
    "busy": 3,
    "odd-request": 5,
}
"""What a call is about -> how often, in a hundred."""

_FORMS = {
    "S0": ("mobile-mcp-request", True, "args", False),
    "S1": ("mobile-mcp-request", True, "input", False),
    "MM-4": ("request", False, "args", True),
    "MM-5": ("request", False, "input", True),
    "MM-6": ("request", False, "input", True),
    "MM-6-args": ("request", False, "args", True),
}
_PACKAGES = {
    "mmcp-activity": "com.a",
    "mmcp-broadcast": "com.b",
    "app-function": "com.c",
    "mobile-mcp": "com.d",
}
_EFFECTS: tuple[Json, ...] = (None, {}, {"read_only": True}, {"read_only": False, "destructive": True})
_RETURN = "androidAppfunctionsReturnValue"
_CODES = (
    1000, 1001, 1002, 1003, 1500, 1999, 2000, 2001, 2001, 2001, 2500, 3000, 3500, 3500, 3500, 3501, 0, 4000,
)  # fmt: skip
_SAID = (*TOKENS, *("needs_user", "canceled") * 5)
_TEXTS = (
    "Done", "", "null", "Error: no", "Unknown tool: x", "Error: Missing path", "Error: Invalid path",
    "Errors", "denied", "Unknown capability ID: x", "Missing args.", "\u00e9\U0001f600", '{"a":1,}', "[1,2",
    "1e5",
)  # fmt: skip


class CallMaker(Maker):
    """Makes calls."""

    def calls(self, count: int) -> Iterator[dict[str, Json]]:
        """Yield so many vectors' inputs."""
        for _ in range(count):
            yield self.call()

    def call(self) -> dict[str, Json]:
        """Return one vector's input."""
        plan = self.random.choices(list(PLANS), list(PLANS.values()))[0]
        route = self.route()
        arguments = self.arguments(route, wrong=plan == "arguments")
        dialect = self.random.choice(list(_FORMS))
        carrier = (
            "start" if dialect in {"MM-4", "MM-5"} else "bind" if dialect[:4] == "MM-6" else self.carrier()
        )
        capability = "gone" if plan == "unknown" else route["id"]
        extras = self.request(dialect, capability, arguments, version=plan == "version")
        case: dict[str, Json] = {
            "op": "call",
            "routes": {"format": 1, "definitions": self.types.written(), "routes": [route]},
            "policy": self.policy(plan, route, carrier),
            "carrier": carrier,
            "caller": 10001,
            "extras": self.garbled(extras) if plan == "odd-request" else extras,
            "backend": self.answer(plan, route),
        }
        targets = self.targets(plan, route)
        if targets is not None:
            case["targets"] = targets
        if self.random.random() < 0.1:
            case["asking"] = self.decision()
        return {**case, "approved": True} if self.random.random() < 0.1 else case

    def questions(self, count: int) -> Iterator[dict[str, Json]]:
        """Yield so many calls with asking on; about half of them have the user asked."""
        for _ in range(count):
            case = {**self.call(), "asking": self.decision()}
            if self.random.random() < 0.7:
                case["policy"] = {**case["policy"], "grants": []}
            yield case

    def decision(self) -> Json:
        token = self.random.choice(("denied", "needs_user"))
        refusal: Json = {"token": token, "text": self.text()}
        return self.random.choice(("yes", "yes", "silent", refusal))

    def carrier(self) -> str:
        return self.random.choice(("start", "bind"))

    def route(self) -> dict[str, Any]:
        kind = self.random.choice(list(_PACKAGES))
        package = _PACKAGES[kind]
        backend: dict[str, Json] = {"kind": kind}
        if kind == "app-function":
            backend |= {"package": package, "function": "f#f"}
        elif kind == "mobile-mcp":
            dialect = self.random.choice(list(_FORMS))
            backend |= {"component": f"{package}/{package}.T", "capability": "c", "dialect": dialect}
        else:
            backend |= {"component": f"{package}/{package}.T", "tool": "t"}
        declared = self.types.object(3, plain=kind == "app-function")
        names = list(declared["properties"])
        output, outputs = self.outputs(plain=kind == "app-function")
        return {
            "id": "cap",
            "input": declared,
            "names": {name: f"{name}_there" for name in names if self.random.random() < 0.2},
            "outputs": outputs,
            "output": output,
            "backend": backend,
            "target": {"package": package, **APPROVED},
            "effects": self.random.choice(_EFFECTS),
        }

    def outputs(self, *, plain: bool) -> tuple[Json, Json]:
        kind = self.random.choices(("fields", "value", "text", "none"), (5, 4, 2, 1))[0]
        if kind == "fields":
            return self.types.object(3, plain=plain), {"kind": "fields"}
        if kind == "value":
            return self.types.type(2, plain=plain), {"kind": "value", "name": "result"}
        return None, {"kind": "text", "name": "result"} if kind == "text" else None

    def arguments(self, route: Mapping[str, Any], *, wrong: bool) -> dict[str, Json]:
        """Return arguments that fit, some written as texts; or some that most likely do not."""
        made: dict[str, Json] = self.values.value(route["input"], bent=0.15)
        if wrong:
            names = list(route["input"]["properties"])
            if names and self.random.random() < 0.8:
                made[self.random.choice(names)] = self.values.anything(2)
            else:
                made = dict(list(made.items())[1:])
        if self.random.random() < 0.1:
            made[self.random.choice(("extra", "p0_there", "schemaType"))] = self.values.anything(1)
        return made

    def request(self, dialect: str, capability: str, arguments: Json, *, version: bool) -> dict[str, Json]:
        extra, wrapped, key, as_text = _FORMS[dialect]
        if version and not wrapped:
            extra, wrapped, as_text = "mobile-mcp-request", True, False
        if isinstance(arguments, dict) and self.random.random() < 0.08:
            arguments = [
                {"name": name, "type": "string", "value": value} for name, value in arguments.items()
            ]
        if as_text != (self.random.random() < 0.08):
            arguments = canonical_json(arguments)
        request_id: Json = self.random.choice(("u-1", "\u00e9", 7, "u-1", "u-1"))
        inner: Json = {"id": request_id, "capability": {"id": capability, key: arguments}}
        if wrapped:
            named: Json = self.random.choice(("2.0", "1.1", 2, True, "")) if version else "1.0"
            if not version and self.random.random() < 0.1:
                named = self.random.choice((1, "1", None))
            inner = {"mobile-mcp-request": {"version": named, "request": inner}}
        return {extra: canonical_json(inner)}

    def garbled(self, extras: dict[str, Json]) -> dict[str, Json]:
        """Return a request that something is wrong with, or odd about."""
        extra, text = next(iter(extras.items()))
        ways: tuple[Callable[[], dict[str, Json]], ...] = (
            lambda: {extra: text[: self.random.randrange(len(text))]},
            lambda: {extra: self.cut_out(text)},
            lambda: {"request" if extra != "request" else "mobile-mcp-request": text},
            lambda: {"mcp_command_json": text, "mcp_request_id": "u-1"},
            lambda: {extra: text.replace('"id"', self.random.choice(('"Id"', '"id":1,"x"', '"version"')), 1)},
            lambda: {extra: self.without_a_member(text)},
            lambda: {extra: canonical_json(self.values.anything(3))},
            lambda: {"nothing": text},
        )
        return self.random.choice(ways)()

    def cut_out(self, text: str) -> str:
        at = self.random.randrange(len(text))
        return text[:at] + self.random.choice(("", "\\", '"', "}", "\ud83d"[:0], "1")) + text[at + 1 :]

    def without_a_member(self, text: str) -> str:
        document = json.loads(text, parse_float=Decimal)
        node = document
        while True:
            name = self.random.choice(list(node))
            inner = node[name]
            if not isinstance(inner, dict) or not inner or self.random.random() < 0.4:
                node[name] = self.values.anything(1)
                if self.random.random() < 0.5:
                    del node[name]
                return canonical_json(document)
            node = inner

    def policy(self, plan: str, route: Mapping[str, Any], carrier: str) -> Json:
        is_read_only = (route["effects"] or {}).get("read_only") is True
        is_own = carrier == "bind" or (is_read_only and self.random.random() < 0.7)
        mine = {"caller": 10001 if is_own else "any-app", "capability": route["id"]}
        other = {"caller": self.random.choice((10001, 10002)), "capability": "other"}
        every = {"caller": "any-app", "capability": "*"}
        policy: dict[str, Json] = {"grants": [self.random.choice((mine, every))]}
        if plan == "denied":
            choices: tuple[list[Json], ...] = ([], [other], [{"caller": 10002, "capability": "*"}])
            if carrier == "start" and not is_read_only:
                choices = (*choices, [{"caller": 10001, "capability": "*"}])
            policy["grants"] = self.random.choice(choices)
        if self.random.random() < 0.2:
            policy["grants"].append(other)
        if self.random.random() < 0.1:
            policy["app"] = self.values.anything(1)
        if plan == "switched-off":
            policy["switched_off"] = ["cap"]
        if plan == "busy":
            policy["limits"] = {self.random.choice(("open", "open_per_caller", "burst")): 0}
        return policy

    def targets(self, plan: str, route: Mapping[str, Any]) -> Json:
        package = route["target"]["package"]
        if plan == "gone":
            return {}
        if plan == "drift":
            change = self.random.choice(
                ({"digest": "x"}, {"digest": "x"}, {"signer": "x"}, {"version_code": 4})
            )
            return {package: {**APPROVED, **change}}
        return {package: APPROVED} if self.random.random() < 0.2 else None

    def answer(self, plan: str, route: Mapping[str, Any]) -> Json:
        if plan in {"silent", "died"}:
            return {plan: True}
        backend = route["backend"]
        if plan == "failure":
            return self.failure(backend)
        output = route["output"]
        value = self.values.anything(2) if output is None else self.values.value(output, bent=0.1)
        if plan == "odd-answer":
            value = self.odd(value)
        if backend["kind"] == "app-function":
            return {"document": self.document(value, output, odd=plan == "odd-answer")}
        if backend["kind"] == "mobile-mcp":
            return {"extras": self.response(backend["dialect"], value, odd=plan == "odd-answer")}
        text = canonical_json(value) if plan != "odd-answer" or self.random.random() < 0.6 else self.text()
        code = self.random.choice((-1, -1, 0, 1, 2)) if plan == "odd-answer" else -1
        if backend["kind"] == "mmcp-broadcast":
            return {"code": code, "data": text if self.random.random() < 0.95 else None}
        return {"code": code, "extras": {self.random.choice(("result",) * 9 + ("error",)): text}}

    def failure(self, backend: Mapping[str, Any]) -> Json:
        message = self.message()
        if backend["kind"] == "app-function":
            return {"error": {"code": self.random.choice(_CODES), "message": message}}
        if backend["kind"] == "mobile-mcp":
            return {"extras": self.wrapped(backend["dialect"], {"status": "failure", "message": message})}
        if backend["kind"] == "mmcp-broadcast":
            if self.random.random() < 0.5:
                return {"code": 1, "data": canonical_json({"error": message})}
            return {"code": 0, "data": f"Error: {message}"}
        if self.random.random() < 0.1:
            return {"code": 0, "extras": {}}
        if self.random.random() < 0.2:
            return {"code": -1, "extras": {"result": f"Error: {message}"}}
        return {"code": 0, "extras": {self.random.choice(("error", "result")): message}}

    def message(self) -> str:
        if self.random.random() < 0.2:
            return self.text()
        return f"{self.random.choice(_SAID)}{self.random.choice((': x', ':x', '', ' : x', ' x'))}"

    def text(self) -> str:
        return self.random.choice(_TEXTS)

    def odd(self, value: Json) -> Json:
        if isinstance(value, dict) and value and self.random.random() < 0.6:
            name = self.random.choice(list(value))
            if self.random.random() < 0.5:
                return {key: member for key, member in value.items() if key != name}
            return {**value, name: self.values.anything(1), "more": 1}
        return self.values.anything(2)

    def document(self, value: Json, output: Json, *, odd: bool) -> Json:
        if odd and self.random.random() < 0.3:
            value = self.values.anything(2)
        if value is None:
            return {"schemaType": "", "properties": {}}
        if isinstance(value, dict) and self.random.random() < 0.3:
            return self.values.document(value, output)
        returned = self.values.property(value, output)
        return {"schemaType": "", "properties": {} if returned is None else {_RETURN: returned}}

    def response(self, dialect: str, value: Json, *, odd: bool) -> dict[str, str]:
        outputs = value if isinstance(value, dict) else {"result": value}
        output: Json = outputs
        if _FORMS[dialect][2] == "args" or (odd and self.random.random() < 0.3):
            output = [{"name": name, "type": "string", "value": value} for name, value in outputs.items()]
        inner: dict[str, Json] = {"status": "success", "capability": {"id": "c", "output": output}}
        if odd and self.random.random() < 0.4:
            name = self.random.choice(("status", "capability"))
            inner[name] = self.random.choice(("ok", None, {"id": "c"}, 5))
        extras = self.wrapped(dialect, inner)
        if odd and self.random.random() < 0.1:
            extras = {name: text[:-1] for name, text in extras.items()}
        return extras

    @staticmethod
    def wrapped(dialect: str, inner: dict[str, Json]) -> dict[str, str]:
        inner = {"id": "*", **inner}
        if _FORMS[dialect][1]:
            document = {"mobile-mcp-response": {"version": "1.0", "response": inner}}
            return {"mobile-mcp-response": canonical_json(document)}
        return {"response": canonical_json(inner), "mcp_request_id": "*"}
